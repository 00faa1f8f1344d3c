/* Panels and resolution, for the scripts of pages. */
#include "fit/report/page_layout.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"

enum { GRID = 32 }; /* steps of the grid on which the script finds resolution */

json_t *db_page_panels(db_document *d, const db_panel_layout *layout) {
    json_t *const array = json_array();
    for (size_t p = 0; p < layout->count; p++) {
        const db_panel_place *const place = &layout->panel[p];
        const double values[] = { place->corner[0],   place->corner[1],  place->fast[0],
                                  place->fast[1],     place->slow[0],    place->slow[1],
                                  place->fast_pixels, place->slow_pixels };
        add(d, array, numbers(d, values, sizeof values / sizeof *values));
    }
    return array;
}

db_status db_page_add_resolution(db_context *context, const db_experiment *experiment,
                                 const db_panel_layout *layout, const double part[4],
                                 db_document *d) {
    const double whole[4] = { 0, 0, layout->fast, layout->slow };
    const double *const of = part ? part : whole;
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    json_t *const values = json_array();
    for (int s = 0; s <= GRID; s++)
        for (int f = 0; f <= GRID; f++) {
            double point[2];
            db_panel_layout_on_first(layout, of[0] + of[2] * f / GRID, of[1] + of[3] * s / GRID,
                                     point);
            const double spacing = db_fit_geometry_resolution(&geometry, 0, point[0], point[1]);
            add(d, values, number(isfinite(spacing) ? 1 / (spacing * spacing) : 0));
        }
    db_fit_geometry_clear(&geometry);
    set(d, d->root, "grid", json_integer(GRID));
    set(d, d->root, "resolution", values);
    return DB_OK;
}
