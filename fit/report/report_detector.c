/* Goodness of fit over the detector: misfit of its areas, and where spots lie off the model. */
#include "fit/report/report.h"

#include <math.h>

static const double ARROW =
    40;                        /* length that stands for one pixel, in 1/1000 of the image's side */
static const double FAR = 1.5; /* pixels: drawn in another colour */

/* White to blue with the misfit, from 1 to `most`. */
static void print_colour(FILE *out, double chi2, double most) {
    static const double deep[3] = { 8, 69, 130 };
    const double weight = fmin(1, fmax(0, log(fmax(1, chi2)) / log(fmax(1.5, most))));
    fprintf(out, "rgb(%.0f,%.0f,%.0f)", 255 + weight * (deep[0] - 255),
            255 + weight * (deep[1] - 255), 255 + weight * (deep[2] - 255));
}

static int side(const db_html_report *report) {
    return report->layout->fast > report->layout->slow ? report->layout->fast
                                                       : report->layout->slow;
}

static void open_map(const db_html_report *report, const char *title) {
    fprintf(report->stream,
            "<figure><figcaption><b>%s</b></figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"%s\">",
            title, report->layout->fast, report->layout->slow, title);
}

static void area_box(const db_html_report *report, const db_fit_area *area, double box[4]) {
    db_panel_layout_box(report->layout, area->panel, area->fast_start, area->slow_start,
                        area->fast_count, area->slow_count, box);
}

static void misfit_map(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    const double size = 0.022 * side(report);
    double most = 1;
    for (size_t a = 0; a < r->area_count; a++)
        if (isfinite(r->areas[a].after.chi2_reduced))
            most = fmax(most, r->areas[a].after.chi2_reduced);
    open_map(report, "&#967;&#178; per degree of freedom of each area");
    for (size_t a = 0; a < r->area_count; a++) {
        const db_fit_area *const area = &r->areas[a];
        const double chi2 = area->after.chi2_reduced;
        double box[4];
        area_box(report, area, box);
        const double letters = fmin(size, fmin(0.35 * box[2], 0.8 * box[3]));
        fprintf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" stroke=\"#fff\" "
                "stroke-width=\"%.1f\" fill=\"",
                box[0], box[1], box[2], box[3], 0.1 * size);
        if (area->after.pixels == 0) {
            fputs("#eceff2\"/>", out);
            continue;
        }
        print_colour(out, chi2, most);
        fprintf(
            out,
            "\"><title>%zu pixels, R %.3f, correlation %.3f; start: %.2f</title></rect><text "
            "x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"font-size:%.0fpx;fill:%s\">%.2f"
            "</text>",
            area->after.pixels, isfinite(area->after.residual) ? area->after.residual : 0,
            isfinite(area->after.correlation) ? area->after.correlation : 0,
            isfinite(area->before.chi2_reduced) ? area->before.chi2_reduced : 0,
            box[0] + 0.5 * box[2], box[1] + 0.5 * box[3] + 0.35 * letters, letters,
            log(fmax(1, chi2)) > 0.5 * log(fmax(1.5, most)) ? "#fff" : "#1c2430", chi2);
    }
    fputs("</svg></figure>", out);
}

static void arrow(FILE *out, const char *class, double fast, double slow, double df, double ds,
                  double width) {
    const double length = hypot(df, ds), head = fmin(0.35 * length, 4 * width);
    const double uf = length > 0 ? df / length : 0, us = length > 0 ? ds / length : 0;
    fprintf(
        out,
        "<path class=\"%s\" style=\"stroke-width:%.1f\" d=\"M%.1f %.1fl%.1f %.1fm%.1f %.1fl%.1f "
        "%.1fl%.1f %.1f\"/>",
        class, width, fast, slow, df, ds, -head * (uf - 0.5 * us), -head * (us + 0.5 * uf),
        head * (uf - 0.5 * us), head * (us + 0.5 * uf), -head * (uf + 0.5 * us),
        -head * (us - 0.5 * uf));
}

static void shift_map(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    const int longest = side(report);
    const double stretch = ARROW * longest / 1000, width = longest / 800.0;
    open_map(report, "Observed minus model centroid of each spot");
    for (size_t a = 0; a < r->area_count; a++) {
        const db_fit_area *const area = &r->areas[a];
        double box[4];
        area_box(report, area, box);
        fprintf(out,
                "<rect class=\"outline\" style=\"stroke-width:%.1f\" x=\"%.1f\" y=\"%.1f\" "
                "width=\"%.1f\" height=\"%.1f\"/>",
                0.5 * width, box[0], box[1], box[2], box[3]);
    }
    for (size_t b = 0; b < r->shoebox_count; b++) {
        const db_fit_shoebox *const box = &r->shoeboxes[b];
        const double *const offset = box->centroid_offset;
        if (!isfinite(offset[0])) continue;
        double from[2], to[2];
        const double *const at = box->predicted;
        db_panel_layout_point(report->layout, box->region.panel, at[0], at[1], from);
        db_panel_layout_point(report->layout, box->region.panel, at[0] + stretch * offset[0],
                              at[1] + stretch * offset[1], to);
        arrow(out, hypot(offset[0], offset[1]) > FAR ? "shift out" : "shift", from[0], from[1],
              to[0] - from[0], to[1] - from[1], width);
    }
    const double margin = 0.03 * longest;
    arrow(out, "shift", margin, report->layout->slow - margin, stretch, 0, 1.5 * width);
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" style=\"font-size:%.0fpx\">1 pixel</text></svg>",
            margin + stretch + 0.01 * longest, report->layout->slow - margin * 0.75,
            0.024 * longest);
    fputs("</figure>", out);
}

void db_html_detector(const db_html_report *report) {
    if (report->result->area_count == 0) return;
    fputs("<section id=\"detector\"><h2>Over the detector</h2><div class=\"columns\">",
          report->stream);
    misfit_map(report);
    shift_map(report);
    fprintf(report->stream,
            "</div><p class=\"note\">Arrows that point the same way over a region tell of "
            "geometry or orientation that is off, arrows in all directions of noise and of spots "
            "shaped unlike the model's. Orange: more than %g pixels.</p></section>",
            FAR);
}
