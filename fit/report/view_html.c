/* A view as a page of its own. */
#include "fit/report/view.h"

#include "base/context_internal.h"
#include "fit/report/resolution_parts.h"
#include "fit/report/report.h"

#include <dualbragg/version.h>
#include <stdio.h>

static const double MOST_PIXELS = 24e6; /* of the page; larger images are reduced */

/* Parts of the page, for print_data. */
typedef struct drawn {
    const db_view *view;
    const db_view_options *options;
    db_view_pixels pixels;
} drawn;

static void add_place(const db_view *view, db_document *d, json_t *spot, size_t panel,
                      const double at[2]) {
    double point[2];
    db_panel_layout_point(&view->layout, panel, at[0], at[1], point);
    db_document_set(d, spot, "place", db_document_numbers(d, point, 2));
    db_document_set(d, spot, "at", db_document_numbers(d, at, 2));
    db_document_set(d, spot, "panel", json_integer((json_int_t)panel));
}

static json_t *observed_spots(const db_view *view, db_document *d) {
    json_t *const list = json_array();
    for (size_t i = 0; view->observed && i < view->observed->count; i++) {
        const db_observed_spot *const s = &view->observed->spot[i];
        json_t *const spot = json_object();
        add_place(view, d, spot, s->panel, s->position);
        db_document_set(d, spot, "counts", db_document_number(s->counts));
        db_document_add(d, list, spot);
    }
    return list;
}

static json_t *predicted_spots(const db_view *view, db_document *d) {
    json_t *const list = json_array();
    for (size_t i = 0; view->predicted && i < view->predicted->count; i++) {
        const db_spot *const s = &view->predicted->spot[i];
        json_t *const spot = json_object();
        add_place(view, d, spot, s->panel, s->position);
        db_document_set(d, spot, "hkl", json_pack("[i,i,i]", s->hkl[0], s->hkl[1], s->hkl[2]));
        db_document_set(d, spot, "d", db_document_number(s->resolution));
        db_document_add(d, list, spot);
    }
    return list;
}

/* Facts below the title. */
static json_t *facts(const db_view *view, db_document *d) {
    const db_measured_image *const image = view->image;
    json_t *const list = json_array();
    char text[160];
    snprintf(text, sizeof text, "%d × %d pixels%s, %s", image->fast_pixels, image->slow_pixels,
             image->panel_count > 1 ? " in all panels" : "", image->format);
    db_document_add(d, list, db_document_text(text));
    if (*image->detector) db_document_add(d, list, db_document_text(image->detector));
    if (view->experiment) {
        snprintf(text, sizeof text, "%.5g Å, %.2f mm", view->experiment->beam.wavelength,
                 view->experiment->detector.distance);
        db_document_add(d, list, db_document_text(text));
    }
    return list;
}

static db_status print_about(db_context *context, const drawn *r, FILE *stream) {
    static const char *const colours[] = { "grey", "inverted", "heat" };
    const db_fit_panel_groups no_groups = { 0 };
    const db_view *const view = r->view;
    const db_view_pixels *const p = &r->pixels;
    const double first[2] = { p->first[0], p->first[1] }, ends[2] = { p->low, p->high };
    const double part[4] = { first[0], first[1], (double)p->fast * p->bin,
                             (double)p->slow * p->bin };
    db_document d = db_document_begin(&no_groups);
    json_t *const notes = json_array();
    for (size_t i = 0; i < view->note_count; i++)
        db_document_add(&d, notes, db_document_text(view->note[i]));
    db_document_set(&d, d.root, "frames",
                    json_pack("{s:i,s:i,s:i,s:[f,f]}", "fast", p->fast, "slow", p->slow, "bin",
                              p->bin, "first", first[0], first[1]));
    db_document_set(&d, d.root, "title", db_document_text(view->title));
    db_document_set(&d, d.root, "version", json_string(DB_VERSION_STRING));
    db_document_set(&d, d.root, "facts", facts(view, &d));
    db_document_set(&d, d.root, "notes", notes);
    db_document_set(&d, d.root, "panels", db_page_panels(&d, &view->layout));
    db_document_set(&d, d.root, "ends", db_document_numbers(&d, ends, 2));
    db_document_set(&d, d.root, "colours", json_string(colours[r->options->colours]));
    db_document_set(&d, d.root, "logarithmic", json_boolean(r->options->logarithmic));
    if (r->options->ring_count > 0)
        db_document_set(&d, d.root, "rings",
                        db_document_numbers(&d, r->options->ring, (size_t)r->options->ring_count));
    db_document_set(&d, d.root, "observed", observed_spots(view, &d));
    db_document_set(&d, d.root, "predicted", predicted_spots(view, &d));
    db_status status = DB_OK;
    if (view->experiment && r->options->ring_count != 0)
        status = db_page_add_resolution(context, view->experiment, &view->layout, part, &d);
    if (status == DB_OK) return db_page_print_document(context, "data-about", &d, stream);
    return db_document_end(context, &d, status, "");
}

static db_status print_data(db_context *context, const void *of, FILE *stream) {
    const drawn *const r = of;
    const db_view_pixels *const p = &r->pixels;
    const size_t count = (size_t)p->fast * (size_t)p->slow;
    DB_TRY(print_about(context, r, stream));
    if (!db_page_prints_images()) return DB_OK;
    float *const kinds = malloc(count * sizeof *kinds);
    if (!kinds) return db_fail_memory(context, "the masks of a page");
    for (size_t i = 0; i < count; i++) kinds[i] = (float)p->kind[i];
    const db_page_image images[] = {
        { "data-values", p->value, p->fast, p->slow, db_packing_for(p->value, count, 0.1) },
        { "data-kinds", kinds, p->fast, p->slow, { 0, 1, 0, 0 } },
    };
    const db_status status = db_page_print_images(context, images, 2, stream);
    free(kinds);
    return status;
}

db_status db_view_write_html(db_context *context, const char *path, const db_view *view,
                             const db_view_options *options) {
    drawn r = { .view = view, .options = options };
    DB_TRY(db_view_pixels_make(context, view, options, 0, MOST_PIXELS, &r.pixels));
    const db_status status = db_page_write(context, path, &db_view_page, print_data, &r);
    db_view_pixels_clear(&r.pixels);
    return status;
}
