/* The whole image: measured, model, and residual. */
#include "core/context_internal.h"
#include "fit/picture_frames.h"
#include "fit/report_html.h"

#include <math.h>

static const double RESIDUAL_LIMIT = 8; /* standard deviations at the ends of the colour scale */

static void draw_spots(const db_html_report *report, int block) {
    const db_fit_result *const r = report->result;
    for (size_t i = 0; i < r->shoebox_count; i++) {
        const db_fit_shoebox *const box = &r->shoeboxes[i];
        const char *const kind = box->strong_pixels == 0                           ? "weak"
                                 : 2 * box->strong_explained >= box->strong_pixels ? "found"
                                                                                   : "missed";
        fprintf(report->stream,
                "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>%d %d "
                "%d</title></circle>",
                kind, box->predicted[0] / block, box->predicted[1] / block,
                fmax(6, 0.6 * box->region.fast_count / block), box->hkl[0], box->hkl[1],
                box->hkl[2]);
    }
}

/* A figure that grows to the page's width when it is clicked. */
static db_status frame(const db_html_report *report, const db_picture_frames *f,
                       const float *pixels, const char *id, const char *title, db_colour_map map,
                       double low, double high, int with_spots) {
    FILE *const out = report->stream;
    char after[64];
    snprintf(after, sizeof after, "\" width=\"%d\" height=\"%d\"/>", f->fast, f->slow);
    fprintf(
        out,
        "<figure><figcaption><b>%s</b> <span class=\"scale %s\"></span>%.4g to %.4g %s</figcaption>"
        "<input type=\"checkbox\" id=\"%s\"><label for=\"%s\"><svg class=\"frame\" viewBox=\"0 0 "
        "%d %d\" role=\"img\" "
        "aria-label=\"%s image\">",
        title, map == DB_COLOUR_SIGNED ? "signed" : "grey", low, high,
        map == DB_COLOUR_SIGNED ? "&#963;" : "counts", id, id, f->fast, f->slow, title);
    const db_status status =
        db_html_picture(report, "<image href=\"", pixels, f->fast, f->slow, map, low, high, after);
    if (with_spots) draw_spots(report, f->block);
    fputs("</svg></label></figure>", out);
    return status;
}

static void circle_entry(FILE *out, const char *kind, const char *meaning) {
    fprintf(out,
            " <span class=\"entry\"><svg class=\"key\" viewBox=\"0 0 22 12\"><circle class=\"%s\" "
            "cx=\"11\" cy=\"6\" r=\"5\"/></svg>%s</span>",
            kind, meaning);
}

db_status db_html_whole_images(const db_html_report *report) {
    db_picture_frames f;
    DB_TRY(
        db_picture_frames_make(report->context, report->config, report->image, report->result, &f));
    FILE *const out = report->stream;
    fputs("<section><h2>The image</h2><div class=\"frames\">", out);
    db_status status = frame(report, &f, f.measured, "frame-measured", "Measured", DB_COLOUR_GREY,
                             f.low, f.high, 1);
    if (status == DB_OK)
        status =
            frame(report, &f, f.model, "frame-model", "Model", DB_COLOUR_GREY, f.low, f.high, 0);
    if (status == DB_OK)
        status = frame(report, &f, f.residual, "frame-residual", "Residual", DB_COLOUR_SIGNED,
                       -RESIDUAL_LIMIT, RESIDUAL_LIMIT, 0);
    fprintf(
        out,
        "</div><p class=\"note\">Click a picture to enlarge it. Each picture pixel stands for %d "
        "&#215; %d detector pixels: their maximum, or, of the residual, the sum of measured minus "
        "model in its standard deviations; neutral where there is no model or no trusted pixel. "
        "Circles:",
        f.block, f.block);
    circle_entry(out, "found", "predicted and found");
    circle_entry(out, "missed", "most of its strong pixels not explained");
    circle_entry(out, "weak", "predicted, no strong pixels");
    fputs("</p></section>", out);
    db_picture_frames_clear(&f);
    return status;
}
