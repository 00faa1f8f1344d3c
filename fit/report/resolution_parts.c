/* Parts of a picture of a detector, each with the resolution of one panel. */
#include "fit/report/resolution_parts.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Panels are one plane if a ring moves by less than half of this fraction of its radius, and by less than a
 * thousandth of the picture near its middle. */
static const double ALIKE = 1e-3, ALIKE_OF_FINEST = 1e-5;

static double square_at(const db_fit_geometry *geometry, size_t panel, const double pixel[2]) {
    const double d = db_fit_geometry_resolution(geometry, panel, pixel[0], pixel[1]);
    return isfinite(d) && d > 0 ? 1 / (d * d) : 0;
}

/* Do the corners of all panels have the resolution that the first panel's plane has there? */
static int is_one_plane(const db_fit_geometry *geometry, const db_panel_layout *layout) {
    const double finest = db_fit_geometry_finest(geometry);
    for (size_t p = 1; p < layout->count; p++)
        for (int corner = 0; corner < 4; corner++) {
            const db_panel_place *const place = &layout->panel[p];
            const double pixel[2] = { corner & 1 ? place->fast_pixels : 0,
                                      corner & 2 ? place->slow_pixels : 0 };
            double point[2], on_first[2];
            db_panel_layout_point(layout, p, pixel[0], pixel[1], point);
            db_panel_layout_on_panel(layout, 0, point[0], point[1], on_first);
            const double own = square_at(geometry, p, pixel),
                         first = square_at(geometry, 0, on_first);
            if (!(fabs(own - first) <= ALIKE * own + ALIKE_OF_FINEST / (finest * finest))) return 0;
        }
    return 1;
}

static db_resolution_part part_of_panel(const db_panel_layout *layout, size_t p) {
    const db_panel_place *const place = &layout->panel[p];
    db_resolution_part part = { .panel = p };
    for (int i = 0; i < 2; i++) {
        part.corner[i] = place->corner[i];
        part.side[0][i] = place->fast_pixels * place->fast[i];
        part.side[1][i] = place->slow_pixels * place->slow[i];
    }
    return part;
}

db_status db_resolution_parts_make(db_context *context, const db_fit_geometry *geometry,
                                   const db_panel_layout *layout, const double rectangle[4],
                                   db_resolution_parts *parts) {
    const int one = is_one_plane(geometry, layout);
    parts->count = one ? 1 : layout->count;
    parts->part = calloc(parts->count, sizeof *parts->part);
    if (!parts->part) return db_fail_memory(context, "the rings of resolution");
    for (size_t p = 0; p < parts->count; p++)
        parts->part[p] = one ? (db_resolution_part){ 0,
                                                     { rectangle[0], rectangle[1] },
                                                     { { rectangle[2], 0 }, { 0, rectangle[3] } } }
                             : part_of_panel(layout, p);
    return DB_OK;
}

void db_resolution_parts_clear(db_resolution_parts *parts) {
    free(parts->part);
    *parts = (db_resolution_parts){ 0, NULL };
}

void db_resolution_part_within(const db_resolution_part *part, const double point[2],
                               double within[2]) {
    const double *const u = part->side[0];
    const double *const v = part->side[1];
    const double x = point[0] - part->corner[0], y = point[1] - part->corner[1],
                 determinant = u[0] * v[1] - u[1] * v[0];
    within[0] = (x * v[1] - y * v[0]) / determinant;
    within[1] = (y * u[0] - x * u[1]) / determinant;
}

double db_resolution_part_square(const db_fit_geometry *geometry, const db_panel_layout *layout,
                                 const db_resolution_part *part, const double within[2]) {
    double point[2], pixel[2];
    for (int i = 0; i < 2; i++)
        point[i] = part->corner[i] + within[0] * part->side[0][i] + within[1] * part->side[1][i];
    db_panel_layout_on_panel(layout, part->panel, point[0], point[1], pixel);
    return square_at(geometry, part->panel, pixel);
}

/* Panels and resolution for the scripts of pages. */

/* Steps of the grid on which the script interpolates resolution; for many panels; and their number. */
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
