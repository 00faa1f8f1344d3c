/* Goodness of fit over the detector: misfit of its areas, and where spots lie off the model. */
#include "fit/report_html.h"
#include "fit/sheet.h"

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
    return report->image->fast_pixels > report->image->slow_pixels ? report->image->fast_pixels
                                                                   : report->image->slow_pixels;
}

static void open_map(const db_html_report *report, const char *title) {
    fprintf(report->stream,
            "<figure><figcaption><b>%s</b></figcaption><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
            "role=\"img\" aria-label=\"%s\">",
            title, report->image->fast_pixels, report->image->slow_pixels, title);
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
        const int first_row = db_sheet_first_row(report->image, area->panel);
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" stroke=\"#fff\" "
                "stroke-width=\"%.1f\" fill=\"",
                area->fast_start, first_row + area->slow_start, area->fast_count, area->slow_count,
                0.1 * size);
        if (area->after.pixels == 0) {
            fputs("#eceff2\"/>", out);
            continue;
        }
        print_colour(out, chi2, most);
        fprintf(out,
                "\"><title>%zu pixels, R %.3f, correlation %.3f; start: %.2f</title></rect><text "
                "x=\"%d\" y=\"%d\" text-anchor=\"middle\" style=\"font-size:%.0fpx;fill:%s\">%.2f"
                "</text>",
                area->after.pixels, isfinite(area->after.residual) ? area->after.residual : 0,
                isfinite(area->after.correlation) ? area->after.correlation : 0,
                isfinite(area->before.chi2_reduced) ? area->before.chi2_reduced : 0,
                area->fast_start + area->fast_count / 2,
                first_row + area->slow_start + area->slow_count / 2 + (int)(0.35 * size), size,
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
        fprintf(out,
                "<rect class=\"outline\" style=\"stroke-width:%.1f\" x=\"%d\" y=\"%d\" "
                "width=\"%d\" height=\"%d\"/>",
                0.5 * width, area->fast_start,
                db_sheet_first_row(report->image, area->panel) + area->slow_start, area->fast_count,
                area->slow_count);
    }
    for (size_t b = 0; b < r->shoebox_count; b++) {
        const db_fit_shoebox *const box = &r->shoeboxes[b];
        const double *const offset = box->centroid_offset;
        if (!isfinite(offset[0])) continue;
        arrow(out, hypot(offset[0], offset[1]) > FAR ? "shift out" : "shift", box->predicted[0],
              db_sheet_first_row(report->image, box->region.panel) + box->predicted[1],
              offset[0] * stretch, offset[1] * stretch, width);
    }
    const double margin = 0.03 * longest;
    arrow(out, "shift", margin, report->image->slow_pixels - margin, stretch, 0, 1.5 * width);
    fprintf(out, "<text x=\"%.0f\" y=\"%.0f\" style=\"font-size:%.0fpx\">1 pixel</text></svg>",
            margin + stretch + 0.01 * longest, report->image->slow_pixels - margin * 0.75,
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
