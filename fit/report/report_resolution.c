/* Goodness of fit by resolution: three curves over the shells. */
#include "fit/report/report_axis.h"
#include "fit/report/report.h"

#include <math.h>

enum { WIDTH = 380, HEIGHT = 230, LEFT = 52, RIGHT = WIDTH - 10, TOP = 8, BOTTOM = HEIGHT - 40 };

typedef enum quantity { CHI2, RESIDUAL, CORRELATION } quantity;

static double value_of(const db_fit_goodness *g, quantity q) {
    return q == CHI2 ? g->chi2_reduced : q == RESIDUAL ? g->residual : g->correlation;
}

/* Shells stand at the middle of their range of 1/d^2. */
static double place_of(const db_fit_shell *shell) {
    return 0.5 / (shell->d_max * shell->d_max) + 0.5 / (shell->d_min * shell->d_min);
}

static void curve(FILE *out, const db_fit_result *r, quantity q, const db_axis *x, const db_axis *y,
                  int after) {
    fprintf(out, "<polyline class=\"%s\" points=\"", after ? "curve" : "before");
    for (size_t i = 0; i < r->shell_count; i++) {
        const double v = value_of(after ? &r->shells[i].after : &r->shells[i].before, q);
        if (isfinite(v))
            fprintf(out, "%.1f,%.1f ", db_axis_place(x, place_of(&r->shells[i])),
                    db_axis_place(y, v));
    }
    fputs("\"/>", out);
    for (size_t i = 0; i < r->shell_count && after; i++) {
        const db_fit_shell *const s = &r->shells[i];
        const double v = value_of(&s->after, q);
        if (isfinite(v))
            fprintf(out,
                    "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>%.2f to %.2f "
                    "&#197;, %zu pixels: %.3f (start %.3f)</title></circle>",
                    db_axis_place(x, place_of(s)), db_axis_place(y, v), s->d_max, s->d_min,
                    s->after.pixels, v,
                    isfinite(value_of(&s->before, q)) ? value_of(&s->before, q) : 0);
    }
}

/* Round resolutions below the plot, as far as they keep clear of each other. */
static void resolution_axis(FILE *out, const db_axis *x) {
    static const double round_ones[] = { 50,  20,  10,  7,   5,   4,   3.5, 3,   2.7,
                                         2.5, 2.3, 2.2, 2.1, 2,   1.9, 1.8, 1.7, 1.6,
                                         1.5, 1.4, 1.3, 1.2, 1.1, 1,   0.9, 0.8 };
    double last = -INFINITY;
    for (size_t i = 0; i < sizeof round_ones / sizeof *round_ones; i++) {
        const double at = db_axis_place(x, 1 / (round_ones[i] * round_ones[i]));
        if (at < LEFT || at > RIGHT - 6 || at - last < 34) continue;
        last = at;
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %dV%d\"/><text class=\"tick\" x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%g</text>",
                at, TOP, BOTTOM, at, BOTTOM + 15, round_ones[i]);
    }
    fprintf(out,
            "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">resolution "
            "(&#197;)</text>",
            (LEFT + RIGHT) / 2, HEIGHT - 6);
}

static void chart(const db_html_report *report, quantity q, const char *title) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < r->shell_count; i++)
        for (int after = 0; after < 2; after++) {
            const double v = value_of(after ? &r->shells[i].after : &r->shells[i].before, q);
            if (!isfinite(v)) continue;
            low = fmin(low, v);
            high = fmax(high, v);
        }
    if (!(low <= high)) return;
    if (q == CHI2) {
        low = fmin(low, 1);
        high = fmax(high, 1);
    } else {
        low = fmin(low, 0);
        high = fmax(high, q == CORRELATION ? 1 : high);
    }
    const db_fit_shell *const last = &r->shells[r->shell_count - 1];
    const double least = 1 / (r->shells[0].d_max * r->shells[0].d_max),
                 most = 1 / (last->d_min * last->d_min);
    const db_axis x = { least, most > least ? most : 2 * least, LEFT, RIGHT, 0 },
                  y = db_axis_make(low, high, BOTTOM, TOP, q == CHI2);
    fprintf(out,
            "<figure><figcaption><b>%s</b></figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"%s by resolution\">",
            title, WIDTH, HEIGHT, title);
    db_axis_draw_left(out, &y, 5, LEFT, RIGHT);
    resolution_axis(out, &x);
    if (q == CHI2)
        fprintf(out, "<path class=\"expected\" d=\"M%d %.1fH%d\"/>", LEFT, db_axis_place(&y, 1),
                RIGHT);
    curve(out, r, q, &x, &y, 0);
    curve(out, r, q, &x, &y, 1);
    fputs("</svg></figure>", out);
}

void db_html_resolution(const db_html_report *report) {
    if (report->result->shell_count == 0) return;
    FILE *const out = report->stream;
    fputs("<section id=\"resolution\"><h2>By resolution</h2><div class=\"three\">", out);
    chart(report, CHI2, "&#967;&#178; per degree of freedom");
    chart(report, RESIDUAL, "R of the pixels");
    chart(report, CORRELATION, "Correlation");
    fputs("</div><p class=\"note\">Grey, dashed: start; blue: refined; orange: what noise alone "
          "gives. Shells hold equal numbers of pixels. R is &#931;|measured &#8722; model| / "
          "&#931;|measured &#8722; background|, correlation is that of model and measured without "
          "background; both are about pixels, noise included, and do not compare with those of "
          "merged intensities.</p></section>",
          out);
}
