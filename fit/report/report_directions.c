/* What the data determine well and badly: eigenvectors of the scaled normal matrix. */
#include "fit/verdict/direction_text.h"
#include "fit/report/report.h"

#include <math.h>
#include <string.h>

enum { MOST_LISTED = 6 };
static const double LEAST_CHANGE = 0.2; /* component from which a change is told */

static void print_changes(const db_html_report *report, const db_fit_direction *d) {
    const db_fit_result *const r = report->result;
    int first = 1;
    for (size_t i = 0; i < r->parameter_count; i++) {
        const db_parameter_info *const info = db_parameter_describe(r->parameter[i]);
        if (fabs(d->component[i]) < LEAST_CHANGE || !isfinite(d->change[i])) continue;
        fprintf(report->stream, "%s%s&nbsp;%+.2g%s%s", first ? "" : ", ", r->name[i], d->change[i],
                strcmp(info->unit, "1") == 0 ? "" : "&#8239;",
                strcmp(info->unit, "1") == 0 ? "" : info->unit);
        first = 0;
    }
    if (first) fputs("any change", report->stream);
}

void db_html_directions(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    if (r->direction_count == 0) return;
    fputs("<section id=\"directions\"><h2>What the data determine least</h2><div class=\"wide\">"
          "<table><thead><tr><th class=\"n\">condition</th><th>combination of parameters</th>"
          "<th>raises &#967;&#178; by only 1</th></tr></thead><tbody>",
          out);
    for (size_t k = 0; k < r->direction_count && k < MOST_LISTED; k++) {
        const db_fit_direction *const d = &r->direction[k];
        char text[DB_DIRECTION_TEXT_SIZE];
        if (isfinite(d->condition))
            fprintf(out, "<tr><td class=\"n\">%.3g</td>", d->condition);
        else
            fputs("<tr><td class=\"n\"><b class=\"bad\">not determined</b></td>", out);
        fprintf(out, "<td>%s</td><td class=\"meaning\">", db_direction_text(text, r, d));
        print_changes(report, d);
        fputs("</td></tr>", out);
    }
    fputs("</tbody></table></div><p class=\"note\">Eigenvectors of the normal matrix, each "
          "parameter counted in units of the error it would have if it alone were refined. "
          "Condition is the largest eigenvalue over this one: 1 to 100 is harmless; above 10 000, "
          "fix one of the parameters, tie them, or add data that tell them apart.</p></section>",
          out);
}
