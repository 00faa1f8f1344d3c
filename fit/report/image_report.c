#include "fit/report/image_report.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/text_stream.h"
#include "fit/config/config_print.h"
#include "fit/report/resolution_parts.h"

enum {
    MOST_PIXELS = 8000000,    /* of the images; larger images are reduced */
    MOST_BOX_PIXELS = 4000000 /* of all shoeboxes; with more, the page shows only their numbers */
};

/* Adds each shoebox: corner, width and height in the picture, and predicted place of its reflection; pixels fast
 * and slow. */
static void add_boxes(const db_image_report *r, db_document *d) {
    json_t *const places = json_array();
    json_t *const sizes = json_array();
    for (size_t i = 0; i < r->result->shoebox_count; i++) {
        const db_fit_shoebox *const b = &r->result->shoeboxes[i];
        const db_region *const g = &b->region;
        const double size[2] = { g->fast_count, g->slow_count };
        double place[6];
        db_panel_layout_box(&r->layout, g->panel, g->fast_start, g->slow_start, g->fast_count,
                            g->slow_count, place);
        db_panel_layout_point(&r->layout, g->panel, b->predicted[0], b->predicted[1], place + 4);
        db_document_add(d, places, db_document_numbers(d, place, 6));
        db_document_add(d, sizes, db_document_numbers(d, size, 2));
    }
    db_document_set(d, d->root, "boxes", places);
    db_document_set(d, d->root, "box_sizes", sizes);
}

static db_status add_configuration(db_context *context, const db_image_report *r, db_document *d) {
    db_text_stream text;
    DB_TRY(db_text_stream_open(context, &text));
    db_fit_config_print(r->config, DB_CONFIG_PLAIN, text.stream);
    DB_TRY(db_text_stream_finish(context, &text));
    db_document_set(d, d->root, "configuration", db_document_text(text.bytes));
    db_text_stream_free(&text);
    return DB_OK;
}

/* Prints facts about the images for the script. */
static db_status print_about(db_context *context, const db_image_report *r, FILE *stream) {
    const double picture[2] = { r->layout.fast, r->layout.slow };
    db_document d = db_document_begin(&r->config->settings.panel_groups);
    db_document_set(
        &d, d.root, "frames",
        json_pack("{s:i,s:i,s:i}", "fast", r->frames.fast, "slow", r->frames.slow, "bin", r->bin));
    db_document_set(&d, d.root, "format", db_document_text(r->image->format));
    db_document_set(&d, d.root, "detector", db_document_text(r->image->detector));
    db_document_set(&d, d.root, "fast_pixels", json_integer(r->image->fast_pixels));
    db_document_set(&d, d.root, "slow_pixels", json_integer(r->image->slow_pixels));
    db_document_set(&d, d.root, "picture", db_document_numbers(&d, picture, 2));
    db_document_set(&d, d.root, "panels", db_page_panels(&d, &r->layout));
    add_boxes(r, &d);
    db_status status =
        db_page_add_resolution(context, &r->result->experiment, &r->layout, NULL, &d);
    if (status == DB_OK) status = add_configuration(context, r, &d);
    if (status == DB_OK) return db_page_print_document(context, "data-about", &d, stream);
    return db_document_end(context, &d, status, "");
}

/* Prints measured, model and standard deviations under names with a common start. */
static db_status print_frames(db_context *context, const db_pixel_frames *p, const char *prefix,
                              FILE *stream) {
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    float noise;
    char id[DB_PAGE_IMAGES][32];
    static const char *const names[DB_PAGE_IMAGES] = { "measured", "model", "sigma" };
    DB_TRY(db_quantiles(context, p->sigma, count, 0.5, 0.5, &noise, &noise));
    for (int i = 0; i < DB_PAGE_IMAGES; i++)
        snprintf(id[i], sizeof id[i], "%s%s", prefix, names[i]);
    const db_packing measured = db_packing_for(p->measured, count, (double)noise);
    db_packing model = db_packing_for(p->model, count, (double)noise);
    model.smooth = 1;
    const db_packing sigma = { -16, 1 / 32.0, 1, 1 }; /* to 1 % */
    const db_page_image images[DB_PAGE_IMAGES] = {
        { id[0], p->measured, p->fast, p->slow, measured },
        { id[1], p->model, p->fast, p->slow, model },
        { id[2], p->sigma, p->fast, p->slow, sigma },
    };
    return db_page_print_images(context, images, DB_PAGE_IMAGES, stream);
}

/* Prints the pixels of all shoeboxes in a single row; NAN: not used. */
static db_status print_boxes(db_context *context, const db_fit_result *result, FILE *stream) {
    size_t count = 0, shown = 0, at = 0;
    for (; shown < result->shoebox_count; shown++) {
        const db_region *const g = &result->shoeboxes[shown].region;
        const size_t more = (size_t)g->fast_count * (size_t)g->slow_count;
        if (count + more > MOST_BOX_PIXELS) break;
        count += more;
    }
    db_pixel_frames row;
    DB_TRY(db_pixel_frames_allocate(context, (int)count, 1, &row));
    for (size_t b = 0; b < shown; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const db_region *const g = &box->region;
        for (int k = 0; k < g->fast_count * g->slow_count; k++, at++) {
            const size_t from =
                g->offset + (size_t)(k / g->fast_count) * g->stride + (size_t)(k % g->fast_count);
            const int used = box->sigma[from] > 0;
            row.measured[at] = used ? box->measured[from] : NAN;
            row.model[at] = box->model[from];
            row.sigma[at] = used ? box->sigma[from] : NAN;
        }
    }
    const db_status status = print_frames(context, &row, "data-box-", stream);
    db_pixel_frames_clear(&row);
    return status;
}

db_status db_image_report_print(db_context *context, const db_image_report *r, FILE *stream) {
    DB_TRY(print_about(context, r, stream));
    if (!db_page_prints_images()) return DB_OK;
    DB_TRY(print_frames(context, &r->frames, "data-", stream));
    return print_boxes(context, r->result, stream);
}

db_status db_image_report_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               db_image_report *r) {
    *r = (db_image_report){ .config = config, .image = image, .result = result };
    DB_TRY(db_panel_layout_make(context, &result->experiment, image, &r->layout));
    db_status status = db_pixel_frames_make(context, config, image, result, &r->layout, &r->frames);
    if (status == DB_OK) status = db_pixel_frames_reduce(context, MOST_PIXELS, &r->frames, &r->bin);
    if (status != DB_OK) db_image_report_clear(r);
    return status;
}

void db_image_report_clear(db_image_report *r) {
    db_pixel_frames_clear(&r->frames);
    db_panel_layout_clear(&r->layout);
}
