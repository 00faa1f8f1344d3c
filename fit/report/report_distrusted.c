/* Single pixels that a robust target hardly lets count. */
#include "fit/report/report.h"

enum { MOST_SHOWN = 20 };

void db_html_distrusted(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    if (r->distrusted_count == 0) return;
    fprintf(out,
            "<h3>Single pixels that hardly count</h3><p class=\"note\">%zu pixel%s in use "
            "%s more than 5&#963; off the model, where the target trusts a pixel little: zingers, "
            "hot pixels, foreign spots; <i>trust</i> is the weight left to it.%s</p>"
            "<div class=\"wide\"><table id=\"distrusted\"><thead><tr><th class=\"n\">panel</th>"
            "<th class=\"n\">fast, slow</th><th class=\"n\">counts</th><th class=\"n\">model</th>"
            "<th class=\"n\">Z (&#963;)</th><th class=\"n\">trust</th></tr></thead><tbody>",
            r->distrusted_count, r->distrusted_count == 1 ? "" : "s",
            r->distrusted_count == 1 ? "is" : "are",
            r->distrusted_count > MOST_SHOWN ? " The least trusted:" : "");
    for (size_t i = 0; i < r->distrusted_listed && i < MOST_SHOWN; i++) {
        const db_fit_pixel *const p = &r->distrusted[i];
        fprintf(out,
                "<tr><td class=\"n\">%zu</td><td class=\"n\">%d, %d</td><td class=\"n\">%.6g</td>"
                "<td class=\"n\">%.4g</td><td class=\"n\">%+.1f</td><td class=\"n\">%.2g</td></tr>",
                p->panel, p->fast, p->slow, p->counts, p->model, p->z, p->trust);
    }
    fputs("</tbody></table></div>", out);
}
