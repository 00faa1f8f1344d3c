/* The images: measured, model, residual, normalized residual. Pictures for reading without scripts;
 * the data that the page's script draws from instead, pixel by pixel. */
#include "base/context_internal.h"
#include "fit/pixels/geometry.h"
#include "fit/report/pixel_frames.h"
#include "fit/report/report.h"
#include "fit/report/report_packed.h"
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>

enum {
    LONGEST_SIDE = 480,    /* of a picture (pixels) */
    MOST_PIXELS = 8000000, /* of the data; larger images are reduced */
    GRID = 32              /* steps of the grid on which the script finds resolution */
};
static const double RESIDUAL_LIMIT = 6; /* standard deviations at the ends of the colour scale */

const char *const db_html_box_class[] = { "found", "missed", "weak" };

db_box_kind db_html_box_kind(const db_fit_shoebox *box) {
    return box->strong_pixels == 0                           ? DB_BOX_WEAK
           : 2 * box->strong_explained >= box->strong_pixels ? DB_BOX_FOUND
                                                             : DB_BOX_MISSED;
}

static void draw_spots(const db_html_report *report, int block) {
    const db_fit_result *const r = report->result;
    for (size_t i = 0; i < r->shoebox_count; i++) {
        const db_fit_shoebox *const box = &r->shoeboxes[i];
        double at[2];
        db_panel_layout_point(report->layout, box->region.panel, box->predicted[0],
                              box->predicted[1], at);
        fprintf(report->stream, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>",
                db_html_box_class[db_html_box_kind(box)], at[0] / block, at[1] / block,
                fmax(4, 0.6 * box->region.fast_count / block));
    }
}

/* One of the views: a picture until the script puts a canvas in its place. */
static db_status view(const db_html_report *report, const db_picture_frames *f, const float *pixels,
                      const char *kind, const char *title, double reach, int with_spots) {
    FILE *const out = report->stream;
    const int is_signed = reach > 0;
    char after[64];
    snprintf(after, sizeof after, "\" width=\"%d\" height=\"%d\"/>", f->fast, f->slow);
    fprintf(out,
            "<figure class=\"view\" data-kind=\"%s\"><figcaption><b>%s</b> <span "
            "class=\"legend\"><span class=\"low\">%.4g</span><span class=\"scale %s\"></span><span "
            "class=\"high\">%.4g</span> %s</span></figcaption>",
            kind, title, is_signed ? -reach : f->low, is_signed ? "signed" : "grey",
            is_signed ? reach : f->high, is_signed ? "&#963;" : "counts");
    fprintf(out, "<svg class=\"frame\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s image\">",
            f->fast, f->slow, title);
    const db_status status =
        db_html_picture(report, "<image href=\"", pixels, f->fast, f->slow,
                        is_signed ? DB_COLOUR_SIGNED : DB_COLOUR_GREY, is_signed ? -reach : f->low,
                        is_signed ? reach : f->high, after);
    if (with_spots) draw_spots(report, f->block);
    fputs("</svg></figure>", out);
    return status;
}

static void key_entry(FILE *out, db_box_kind kind, const char *meaning) {
    fprintf(out,
            " <span class=\"entry\"><svg class=\"key\" viewBox=\"0 0 22 12\"><circle class=\"%s\" "
            "cx=\"11\" cy=\"6\" r=\"5\"/></svg>%s</span>",
            db_html_box_class[kind], meaning);
}

static db_status views(const db_html_report *report, const db_picture_frames *f) {
    FILE *const out = report->stream;
    fputs("<div class=\"views\" id=\"views\">", out);
    DB_TRY(view(report, f, f->measured, "measured", "Measured", 0, 1));
    DB_TRY(view(report, f, f->model, "model", "Model", 0, 0));
    DB_TRY(view(report, f, f->residual, "normalized", "Normalized residual", RESIDUAL_LIMIT, 0));
    fprintf(out,
            "</div><p class=\"note\" id=\"static-note\">Each picture pixel stands for %d &#215; %d "
            "detector pixels: the maximum, or, of the residual, the sum of measured minus model in "
            "its standard deviations. With scripts allowed, the views zoom to single pixels.</p>",
            f->block, f->block);
    fputs("<p class=\"note\">Shoeboxes:", out);
    key_entry(out, DB_BOX_FOUND, "found");
    key_entry(out, DB_BOX_MISSED, "most of its strong pixels not explained");
    key_entry(out, DB_BOX_WEAK, "no strong pixels");
    fputs(" &#183; grey-blue: no trusted pixel. &#963;: photons and readout noise, in shoeboxes "
          "also the model error.</p>",
          out);
    return DB_OK;
}

static void print_colours(FILE *out, const db_colour_scale *scale) {
    fputs("\"", out);
    for (int i = 0; i < 256; i++) {
        const uint8_t *const c = scale->level[i * (DB_COLOUR_LEVELS - 1) / 255];
        fprintf(out, "%02x%02x%02x", c[0], c[1], c[2]);
    }
    fprintf(out, "%02x%02x%02x\"", scale->missing[0], scale->missing[1], scale->missing[2]);
}

static db_status print_scale(const db_html_report *report, db_colour_map map, const char *name) {
    db_colour_scale *const scale = malloc(sizeof *scale);
    if (!scale) return db_fail_memory(report->context, "the report's colours");
    const db_status status = db_colour_scale_make(report->context, map, NULL, 0, -1, 1, scale);
    if (status == DB_OK) {
        fprintf(report->stream, "\"%s\":", name);
        print_colours(report->stream, scale);
        fputs(",", report->stream);
    }
    free(scale);
    return status;
}

/* A point of the picture in pixels of the first panel, extended beyond its edges. */
static void point_of_first_panel(const db_panel_layout *layout, double x, double y,
                                 double point[2]) {
    const db_panel_place *const p = &layout->panel[0];
    const double determinant = p->fast[0] * p->slow[1] - p->fast[1] * p->slow[0];
    const double dx = x - p->corner[0], dy = y - p->corner[1];
    point[0] = (dx * p->slow[1] - dy * p->slow[0]) / determinant;
    point[1] = (dy * p->fast[0] - dx * p->fast[1]) / determinant;
}

/* 1/d^2 on a grid over the picture, to be interpolated. The plane of the first panel stands for
 * all. */
static db_status print_resolution(const db_html_report *report) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(report->context, &report->result->experiment, &geometry));
    fprintf(report->stream, "\"grid\":%d,\"resolution\":[", GRID);
    for (int s = 0; s <= GRID; s++)
        for (int f = 0; f <= GRID; f++) {
            double point[2];
            point_of_first_panel(report->layout, (double)report->layout->fast * f / GRID,
                                 (double)report->layout->slow * s / GRID, point);
            const double d = db_fit_geometry_resolution(&geometry, 0, point[0], point[1]);
            fprintf(report->stream, "%s%.7g", s || f ? "," : "", isfinite(d) ? 1 / (d * d) : 0);
        }
    fputs("],", report->stream);
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

/* Where the panels are, so that the script can tell a pixel's place in its own. */
static void print_panels(const db_html_report *report) {
    FILE *const out = report->stream;
    if (report->layout->count < 2) return;
    fputs("\"panels\":[", out);
    for (size_t p = 0; p < report->layout->count; p++) {
        const db_panel_place *const place = &report->layout->panel[p];
        fprintf(out, "%s[%.8g,%.8g,%.8g,%.8g,%.8g,%.8g,%d,%d]", p ? "," : "", place->corner[0],
                place->corner[1], place->fast[0], place->fast[1], place->slow[0], place->slow[1],
                place->fast_pixels, place->slow_pixels);
    }
    fputs("],", out);
}

static void print_number(FILE *out, double value) {
    if (isfinite(value))
        fprintf(out, ",%.6g", value);
    else
        fputs(",null", out);
}

static void print_boxes(const db_html_report *report) {
    const db_fit_result *const r = report->result;
    FILE *const out = report->stream;
    fputs("\"boxes\":[", out);
    for (size_t i = 0; i < r->shoebox_count; i++) {
        const db_fit_shoebox *const b = &r->shoeboxes[i];
        const db_region *const g = &b->region;
        double at[2], box[4];
        db_panel_layout_point(report->layout, g->panel, b->predicted[0], b->predicted[1], at);
        db_panel_layout_box(report->layout, g->panel, g->fast_start, g->slow_start, g->fast_count,
                            g->slow_count, box);
        const double numbers[] = { b->d_spacing,
                                   at[0],
                                   at[1],
                                   b->intensity,
                                   b->intensity_esd,
                                   b->sigma_z,
                                   b->worst_z,
                                   b->chi2 / fmax(1, b->pixels_used),
                                   b->centroid_offset[0],
                                   b->centroid_offset[1] };
        fprintf(out, "%s[%d,%d,%d,%.6g,%.6g,%.6g,%.6g,%d,%d,%d,%d", i ? "," : "", b->hkl[0],
                b->hkl[1], b->hkl[2], box[0], box[1], box[2], box[3], (int)db_html_box_kind(b),
                b->outlier, b->strong_pixels, b->strong_explained);
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) print_number(out, numbers[k]);
        fputs("]", out);
    }
    fputs("]", out);
}

/* Means over blocks of pixels, and what they do to standard deviations. */
static db_status reduce(db_context *context, int block, db_pixel_frames *p) {
    const int fast = p->fast / block, slow = p->slow / block;
    db_pixel_frames less = { .fast = fast, .slow = slow };
    const size_t count = (size_t)fast * (size_t)slow;
    less.measured = malloc(count * sizeof *less.measured);
    less.model = malloc(count * sizeof *less.model);
    less.sigma = malloc(count * sizeof *less.sigma);
    if (!less.measured || !less.model || !less.sigma) {
        db_pixel_frames_clear(&less);
        return db_fail_memory(context, "the report's images");
    }
    for (size_t o = 0; o < count; o++) {
        double measured = 0, model = 0, variance = 0;
        for (int k = 0; k < block * block; k++) {
            const size_t i =
                (o / (size_t)fast * (size_t)block + (size_t)(k / block)) * (size_t)p->fast +
                o % (size_t)fast * (size_t)block + (size_t)(k % block);
            measured += (double)p->measured[i];
            model += (double)p->model[i];
            variance += (double)p->sigma[i] * (double)p->sigma[i];
        }
        const double n = block * block;
        less.measured[o] = (float)(measured / n);
        less.model[o] = (float)(model / n);
        less.sigma[o] = (float)(sqrt(variance) / n);
    }
    db_pixel_frames_clear(p);
    *p = less;
    return DB_OK;
}

static db_status print_frames(const db_html_report *report, const db_picture_frames *f,
                              db_pixel_frames *p) {
    int block = 1;
    while ((double)p->fast * p->slow / (block * block) > MOST_PIXELS) block++;
    if (block > 1) DB_TRY(reduce(report->context, block, p));
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    float noise, dark;
    DB_TRY(db_quantiles(report->context, p->sigma, count, 0.5, 0.5, &noise, &noise));
    DB_TRY(db_quantiles(report->context, p->measured, count, 0.05, 0.05, &dark, &dark));
    const db_packing measured = db_packing_for(p->measured, count, (double)noise);
    db_packing model = db_packing_for(p->model, count, (double)noise);
    model.smooth = 1;
    const db_packing sigma = { -16, 1 / 32.0, 1, 1 }; /* to 1 % */
    DB_TRY(db_html_packed(report, "data-measured", p->measured, p->fast, p->slow, &measured));
    DB_TRY(db_html_packed(report, "data-model", p->model, p->fast, p->slow, &model));
    DB_TRY(db_html_packed(report, "data-sigma", p->sigma, p->fast, p->slow, &sigma));
    fprintf(report->stream,
            "<script type=\"application/json\" id=\"data-viewer\">{\"block\":%d,\"dark\":%.6g,"
            "\"low\":%.6g,\"high\":%.6g,\"reach\":%g,",
            block, (double)dark, f->low, f->high, RESIDUAL_LIMIT);
    DB_TRY(print_scale(report, DB_COLOUR_GREY, "grey"));
    DB_TRY(print_scale(report, DB_COLOUR_SIGNED, "signed"));
    DB_TRY(print_resolution(report));
    print_panels(report);
    print_boxes(report);
    fputs("}</script>\n", report->stream);
    return DB_OK;
}

db_status db_html_viewer(const db_html_report *report) {
    db_pixel_frames pixels;
    db_picture_frames pictures;
    DB_TRY(db_pixel_frames_make(report->context, report->config, report->image, report->result,
                                report->layout, &pixels));
    db_status status = db_picture_frames_make(report->context, &pixels, LONGEST_SIDE, &pictures);
    if (status == DB_OK) {
        fputs("<section id=\"images\"><h2>Images</h2>", report->stream);
        status = views(report, &pictures);
        if (status == DB_OK) status = print_frames(report, &pictures, &pixels);
        fputs("</section>", report->stream);
        db_picture_frames_clear(&pictures);
    }
    db_pixel_frames_clear(&pixels);
    return status;
}
