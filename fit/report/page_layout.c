/* Panels and resolution, for the scripts of pages. */
#include "fit/report/page_layout.h"

#include "base/context_internal.h"
#include "fit/report/resolution_parts.h"

/* Steps of the grid on which the script finds resolution, and of those of many panels. */
enum { GRID = 32, SMALL_GRID = 6, MANY = 16 };

json_t *db_page_panels(db_document *d, const db_panel_layout *layout) {
    json_t *const array = json_array();
    for (size_t p = 0; p < layout->count; p++) {
        const db_panel_place *const place = &layout->panel[p];
        const double values[] = { place->corner[0],   place->corner[1],  place->fast[0],
                                  place->fast[1],     place->slow[0],    place->slow[1],
                                  place->fast_pixels, place->slow_pixels };
        db_document_add(d, array, db_document_numbers(d, values, sizeof values / sizeof *values));
    }
    return array;
}

/* Corner, sides and the values of one part. */
static json_t *part_of_page(db_document *d, const db_fit_geometry *geometry,
                            const db_panel_layout *layout, const db_resolution_part *part,
                            int steps) {
    json_t *const piece = json_object();
    json_t *const values = json_array();
    const double place[6] = { part->corner[0],  part->corner[1],  part->side[0][0],
                              part->side[0][1], part->side[1][0], part->side[1][1] };
    for (int s = 0; s <= steps; s++)
        for (int f = 0; f <= steps; f++) {
            const double within[2] = { (double)f / steps, (double)s / steps };
            db_document_add(
                d, values,
                db_document_number(db_resolution_part_square(geometry, layout, part, within)));
        }
    db_document_set(d, piece, "place", db_document_numbers(d, place, 6));
    db_document_set(d, piece, "steps", json_integer(steps));
    db_document_set(d, piece, "values", values);
    return piece;
}

db_status db_page_add_resolution(db_context *context, const db_experiment *experiment,
                                 const db_panel_layout *layout, const double part[4],
                                 db_document *d) {
    const double whole[4] = { 0, 0, layout->fast, layout->slow };
    db_fit_geometry geometry;
    db_resolution_parts parts;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    const db_status status =
        db_resolution_parts_make(context, &geometry, layout, part ? part : whole, &parts);
    if (status == DB_OK) {
        json_t *const list = json_array();
        for (size_t p = 0; p < parts.count; p++)
            db_document_add(d, list,
                            part_of_page(d, &geometry, layout, &parts.part[p],
                                         parts.count > MANY ? SMALL_GRID : GRID));
        db_document_set(d, d->root, "resolution", list);
        db_resolution_parts_clear(&parts);
    }
    db_fit_geometry_clear(&geometry);
    return status;
}
