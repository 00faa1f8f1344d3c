/* What became of several starts. */
#include "fit/report/report.h"

#include <math.h>

enum { MOST_LISTED = 12 };

static void print_row(FILE *out, size_t place, const db_fit_start *s) {
    fprintf(out,
            "<tr><td class=\"n\">%zu</td><td class=\"n\">%d</td><td class=\"n\">%.3f</td>"
            "<td class=\"n\">%.3f</td><td class=\"n\">%.3f</td><td class=\"n\">%.1f %%</td>",
            place, s->number, s->turn[0], s->turn[1], s->turn[2], 100 * s->explained);
    if (isfinite(s->refined_explained))
        fprintf(out, "<td class=\"n\">%.1f %%</td>", 100 * s->refined_explained);
    else
        fputs("<td></td>", out);
    fprintf(out, "<td>%s%s%s</td></tr>", s->number == 0 ? "the given one" : "",
            s->number == 0 && s->chosen ? ", " : "", s->chosen ? "chosen" : "");
}

void db_html_starts(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    const db_fit_starts *const starts = &report->config->settings.starts;
    FILE *const out = report->stream;
    if (r->start_count < 2) return;
    fprintf(out,
            "<section id=\"starts\"><h2>Starts</h2><p>%zu orientations within %g degree of the "
            "given one (seed %d).</p><div class=\"wide\"><table><thead><tr><th class=\"n\">place"
            "</th><th class=\"n\">number</th><th class=\"n\">turned about x</th><th "
            "class=\"n\">y</th><th class=\"n\">z (degree)</th><th class=\"n\">strong pixels "
            "explained after the first stage</th><th class=\"n\">after all</th><th></th></tr>"
            "</thead><tbody>",
            r->start_count, starts->misset, starts->seed);
    for (size_t i = 0; i < r->start_count; i++)
        if (i < MOST_LISTED || r->starts[i].number == 0) print_row(out, i + 1, &r->starts[i]);
    fputs("</tbody></table></div><p class=\"note\">The first stage ran from each, cut short; those "
          "that explained most went through all stages, until one explained half of the strong "
          "pixels.</p></section>",
          out);
}
