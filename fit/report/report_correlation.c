/* Correlation of the refined parameters as a coloured matrix. */
#include "fit/report/report.h"

#include <math.h>

/* Blue - white - red, as the residual pictures; readable to the colour-blind by lightness and by
 * the number. */
static void print_colour(FILE *stream, double value) {
    static const double blue[3] = { 33, 102, 172 }, red[3] = { 178, 24, 43 };
    const double *const end = value < 0 ? blue : red;
    const double weight = fmin(1, fabs(value));
    fprintf(stream, "rgb(%.0f,%.0f,%.0f)", 255 + weight * (end[0] - 255),
            255 + weight * (end[1] - 255), 255 + weight * (end[2] - 255));
}

void db_html_correlation(const db_html_report *report) {
    enum { CELL = 44, MARGIN = 128, TOP = 112 };
    const db_fit_result *const r = report->result;
    size_t own[DB_FIT_MOST_PARAMETERS],
        count = 0; /* tied parameters have no correlation of their own */
    for (size_t i = 0; i < r->parameter_count; i++)
        if (isfinite(r->error[i])) own[count++] = i;
    if (count < 2) return;
    const int extent = (int)count * CELL;
    FILE *const out = report->stream;
    fputs("<section id=\"correlation\"><h2>Correlation of the parameters</h2>", out);
    fprintf(out,
            "<svg class=\"matrix\" viewBox=\"0 0 %d %d\" style=\"max-width:%dpx\" role=\"img\" "
            "aria-label=\"correlation matrix\">",
            MARGIN + extent + 60, TOP + extent + 4, MARGIN + extent + 60);
    for (size_t i = 0; i < count; i++) {
        const char *const name = r->name[own[i]];
        const double middle = ((double)i + 0.5) * CELL;
        fprintf(out, "<text class=\"label\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>",
                MARGIN - 8, TOP + middle + 4, name);
        fprintf(out, "<text class=\"label\" transform=\"translate(%.1f %d) rotate(-45)\">%s</text>",
                MARGIN + middle, TOP - 8, name);
        for (size_t k = 0; k < count; k++) {
            const double value = r->correlation[own[i]][own[k]];
            fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"",
                    MARGIN + (int)k * CELL, TOP + (int)i * CELL, CELL - 1, CELL - 1);
            print_colour(out, isfinite(value) ? value : 0);
            fprintf(out, "\"/><text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                    fabs(value) > 0.6 ? "light" : "tick", MARGIN + ((double)k + 0.5) * CELL,
                    TOP + middle + 4);
            if (i == k)
                fputs("1", out);
            else if (isfinite(value))
                fprintf(out, "%+.2f", value);
            fputs("</text>", out);
        }
    }
    fputs("</svg></section>", out);
}
