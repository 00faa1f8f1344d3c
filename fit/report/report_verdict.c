/* The report's table of what the model is judged by. */
#include "fit/report/report.h"

#include <math.h>

void db_html_verdict(const db_html_report *report) {
    FILE *const out = report->stream;
    const db_fit_verdict *const v = &report->result->verdict;
    fprintf(
        out,
        "<section id=\"verdict\"><h2>May it be used?</h2><p>Judged by %zu spots that were found "
        "without a model: %zu lie at reflections that the model excites well, %zu beside them.</p>"
        "<table><thead><tr><th>test</th><th class=\"n\">found</th><th class=\"n\">at least</th>"
        "<th class=\"n\">at most</th><th></th></tr></thead><tbody>",
        v->spots, v->at, v->beside);
    for (int k = 0; k < DB_FIT_TESTS; k++) {
        const db_fit_test *const t = &v->test[k];
        const double figures[3] = { t->found, t->least, t->most };
        if (isnan(t->found)) continue;
        fputs("<tr><td>", out);
        db_html_text(out, db_fit_test_meaning((db_fit_test_kind)k));
        fputs("</td>", out);
        for (int i = 0; i < 3; i++)
            if (isfinite(figures[i]) && (i != 1 || figures[i] > 0))
                fprintf(out, "<td class=\"n\">%.3g</td>", figures[i]);
            else
                fputs("<td class=\"n\"></td>", out);
        fprintf(out, "<td>%s</td></tr>", t->passed ? "passed" : "<b class=\"bad\">failed</b>");
    }
    fputs("</tbody></table></section>", out);
}
