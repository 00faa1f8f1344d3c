/* Convergence of the target and of each parameter over the evaluations. */
#include "fit/report/report_axis.h"
#include "fit/report/report.h"
#include "fit/report/value_with_error.h"

#include <math.h>

/* The stages follow each other along the horizontal axis; its values are the number of the
 * evaluation in all. */
static void draw_stage_bands(const db_html_report *report, const db_axis *x, double top,
                             double bottom, int with_names) {
    const db_fit_result *const r = report->result;
    for (size_t i = 0, first = 0; i < r->history_count; i++) {
        const int last_of_stage =
            i + 1 == r->history_count || r->history[i + 1].stage != r->history[i].stage;
        if (!last_of_stage) continue;
        const double from = db_axis_place(x, first == 0 ? x->low : (double)first + 0.5);
        const double to = db_axis_place(x, i + 1 == r->history_count ? x->high : (double)i + 1.5);
        const int stage = r->history[i].stage;
        fprintf(report->stream,
                "<rect class=\"band%d\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                stage % 2, from, top, to - from, bottom - top);
        if (with_names && to - from > 20) {
            fprintf(report->stream, "<text class=\"stage\" x=\"%.1f\" y=\"%.1f\">", from + 5,
                    top + 14);
            db_html_text(report->stream, db_html_stage_name(report, stage));
            fputs("</text>", report->stream);
        }
        first = i + 1;
    }
}

/* y of evaluation i: the target (parameter < 0) or a parameter's value. */
static double history_value(const db_fit_result *r, size_t i, int parameter) {
    return parameter < 0 ? r->history[i].target : r->history[i].value[parameter];
}

/* A line per stage: the target of different data does not connect. */
static void draw_history(const db_html_report *report, const db_axis *x, const db_axis *y,
                         int parameter) {
    const db_fit_result *const r = report->result;
    int open = 0;
    for (size_t i = 0; i < r->history_count; i++) {
        const double value = history_value(r, i, parameter);
        const int usable = isfinite(value) && !(y->logarithmic && value <= 0);
        const int new_stage =
            i > 0 && parameter < 0 && r->history[i].stage != r->history[i - 1].stage;
        if (open && (!usable || new_stage)) {
            fputs("\"/>", report->stream);
            open = 0;
        }
        if (!usable) continue;
        const double px = db_axis_place(x, (double)i + 1), py = db_axis_place(y, value);
        if (!open)
            fprintf(report->stream, "<polyline class=\"curve\" points=\"%.1f,%.1f ", px,
                    py); /* a point alone shows */
        open = 1;
        fprintf(report->stream, "%.1f,%.1f ", px, py);
    }
    if (open) fputs("\"/>", report->stream);
}

static int value_range(const db_fit_result *r, int parameter, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < r->history_count; i++) {
        const double value = history_value(r, i, parameter);
        if (!isfinite(value)) continue;
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
    return *low <= *high;
}

void db_html_convergence(const db_html_report *report) {
    enum {
        WIDTH = 1080,
        HEIGHT = 300,
        LEFT = 64,
        RIGHT = WIDTH - 12,
        TOP = 10,
        BOTTOM = HEIGHT - 40
    };
    const db_fit_result *const r = report->result;
    double low, high;
    fputs("<section id=\"convergence\"><h2>Convergence</h2>", report->stream);
    if (!value_range(r, -1, &low, &high)) {
        fputs("<p>No evaluation was recorded.</p></section>", report->stream);
        return;
    }
    const db_axis x = { 0.5, (double)r->history_count + 0.5, LEFT, RIGHT, 0 };
    const db_axis y = db_axis_make(low, high, BOTTOM, TOP + 18, 1);
    fprintf(report->stream,
            "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"target per "
            "evaluation\">",
            WIDTH, HEIGHT);
    draw_stage_bands(report, &x, TOP, BOTTOM, 1);
    db_axis_draw_left(report->stream, &y, 6, LEFT, RIGHT);
    db_axis_draw_bottom(report->stream, &x, 10, BOTTOM, BOTTOM);
    draw_history(report, &x, &y, -1);
    fprintf(
        report->stream,
        "<text class=\"label\" x=\"%d\" y=\"%d\" text-anchor=\"middle\">evaluation</text>"
        "<text class=\"label\" transform=\"translate(14 %d) rotate(-90)\" text-anchor=\"middle\">"
        "&#967;&#178; per degree of freedom%s</text></svg>",
        (LEFT + RIGHT) / 2, HEIGHT - 6, (TOP + BOTTOM) / 2, y.logarithmic ? " (log)" : "");
    fputs("<p class=\"note\">Stages differ in the data they use and in the width of the model's "
          "spots, so that the target "
          "jumps between them.</p></section>",
          report->stream);
}

static void draw_parameter(const db_html_report *report, int parameter) {
    enum { WIDTH = 340, HEIGHT = 170, LEFT = 66, RIGHT = WIDTH - 8, TOP = 8, BOTTOM = HEIGHT - 22 };
    const db_fit_result *const r = report->result;
    const db_parameter_info *const info = db_parameter_describe(r->parameter[parameter]);
    FILE *const out = report->stream;
    double low, high;
    if (!value_range(r, parameter, &low, &high)) return;
    const double error = isfinite(r->error[parameter]) ? r->error[parameter] : 0,
                 refined = r->refined[parameter];
    /* the final value's error band is part of the picture, unless it would squeeze the curve */
    if (error < 2 * (high - low)) {
        low = fmin(low, refined - error);
        high = fmax(high, refined + error);
    }
    const db_axis x = { 0.5, (double)r->history_count + 0.5, LEFT, RIGHT, 0 };
    const db_axis y = db_axis_make(low, high, BOTTOM, TOP, 0);
    char text[DB_VALUE_TEXT_SIZE];
    fprintf(out, "<figure><figcaption><b>%s</b> %s %s</figcaption>", r->name[parameter],
            db_value_with_error(text, refined, r->error[parameter]), info->unit);
    fprintf(
        out,
        "<svg class=\"chart\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s per evaluation\">",
        WIDTH, HEIGHT, r->name[parameter]);
    draw_stage_bands(report, &x, TOP, BOTTOM, 0);
    const double top = fmax(TOP, db_axis_place(&y, refined + error));
    const double bottom = fmin(BOTTOM, db_axis_place(&y, refined - error));
    fprintf(out, "<rect class=\"error\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>", LEFT,
            top, RIGHT - LEFT, fmax(1, bottom - top));
    db_axis_draw_left(out, &y, 4, LEFT, RIGHT);
    db_axis_draw_bottom(out, &x, 5, BOTTOM, BOTTOM);
    draw_history(report, &x, &y, parameter);
    fputs("</svg></figure>", out);
}

void db_html_parameter_curves(const db_html_report *report) {
    if (report->result->history_count == 0) return;
    fputs("<section id=\"curves\"><h2>Parameters over the evaluations</h2><div class=\"curves\">",
          report->stream);
    for (size_t p = 0; p < report->result->parameter_count; p++) draw_parameter(report, (int)p);
    fputs("</div><p class=\"note\">The orange band is the refined value with its standard "
          "error.</p></section>",
          report->stream);
}
