/* Panels in a picture of the detector. */
#include "fit/report/panel_layout.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_SPREAD = 6;  /* area of the picture over that of the panels */
static const double LEAST_AREA = 0.1; /* area of a projected pixel: less is edge-on */

void db_panel_layout_clear(db_panel_layout *layout) {
    free(layout->panel);
    memset(layout, 0, sizeof *layout);
}

static void stack_panels(const db_measured_image *image, db_panel_layout *layout) {
    for (size_t p = 0; p < layout->count; p++) {
        const int row = db_measured_first_row(image, p);
        layout->panel[p] = (db_panel_place){ .first_row = row,
                                             .fast_pixels = image->fast_pixels,
                                             .slow_pixels = db_measured_rows(image, p),
                                             .corner = { 0, row },
                                             .fast = { 1, 0 },
                                             .slow = { 0, 1 } };
    }
    layout->fast = layout->columns = image->fast_pixels;
    layout->slow = image->slow_pixels;
}

static db_status allocate_places(db_context *context, size_t count, db_panel_layout *layout) {
    memset(layout, 0, sizeof *layout);
    layout->count = count;
    layout->panel = calloc(count + 1, sizeof *layout->panel);
    return db_need_memory(context, layout->panel, "the layout of the panels");
}

db_status db_panel_layout_stack(db_context *context, const db_measured_image *image,
                                db_panel_layout *layout) {
    DB_TRY(allocate_places(context, db_measured_panels(image), layout));
    stack_panels(image, layout);
    return DB_OK;
}

/* Unit vectors of the picture: the panel's fast axis as seen along the beam, and the perpendicular direction on
 * the side of the panel's slow axis. 0 if the panel is edge-on. */
static int axes(const double beam[3], const double fast[3], const double slow[3], double right[3],
                double down[3]) {
    const double along = db_dot(fast, beam);
    for (int i = 0; i < 3; i++) right[i] = fast[i] - along * beam[i];
    const double length = db_length(right);
    if (!(length > 0)) return 0;
    for (int i = 0; i < 3; i++) right[i] /= length;
    db_cross(beam, right, down);
    const double side = db_dot(down, slow) < 0 ? -1 : 1;
    for (int i = 0; i < 3; i++) down[i] *= side;
    return 1;
}

/* A panel's place in units of `pixel` (mm), relative to the laboratory's origin. */
static db_status project_panel(const db_experiment *e, size_t p, const double right[3],
                               const double down[3], double pixel, db_panel_place *place) {
    double corner[3], fast[3], slow[3];
    DB_TRY(db_panel_axes(e, p, corner, fast, slow));
    const double *const axis[2] = { right, down };
    for (int i = 0; i < 2; i++) {
        place->corner[i] = db_dot(corner, axis[i]) / pixel;
        place->fast[i] = db_dot(fast, axis[i]) / pixel;
        place->slow[i] = db_dot(slow, axis[i]) / pixel;
    }
    return DB_OK;
}

/* Frames the picture; 0 if the panels do not fit into one. */
static int frame_picture(db_panel_layout *layout) {
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY }, pixels = 0;
    for (size_t p = 0; p < layout->count; p++) {
        const db_panel_place *const place = &layout->panel[p];
        const double area = fabs(place->fast[0] * place->slow[1] - place->fast[1] * place->slow[0]);
        if (!(area > LEAST_AREA)) return 0;
        pixels += (double)place->fast_pixels * place->slow_pixels * area;
        double box[4];
        db_panel_layout_box(layout, p, 0, 0, place->fast_pixels, place->slow_pixels, box);
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], box[i]);
            high[i] = fmax(high[i], box[i] + box[2 + i]);
        }
    }
    const double width = ceil(high[0] - low[0]), height = ceil(high[1] - low[1]);
    if (!(width * height <= MOST_SPREAD * pixels) || !(width >= 1) || !(height >= 1)) return 0;
    for (size_t p = 0; p < layout->count; p++)
        for (int i = 0; i < 2; i++) layout->panel[p].corner[i] -= low[i];
    layout->fast = (int)width;
    layout->slow = (int)height;
    return 1;
}

static db_status arrange_panels(const db_experiment *e, const db_measured_image *image,
                                db_panel_layout *layout) {
    double corner[3], fast[3], slow[3], right[3], down[3];
    stack_panels(image, layout);
    if (layout->count < 2) return DB_OK;
    DB_TRY(db_panel_axes(e, 0, corner, fast, slow));
    if (!axes(e->beam.direction, fast, slow, right, down)) return DB_OK;
    for (size_t p = 0; p < layout->count; p++)
        DB_TRY(project_panel(e, p, right, down, db_length(fast), &layout->panel[p]));
    if (!frame_picture(layout)) stack_panels(image, layout);
    return DB_OK;
}

db_status db_panel_layout_make(db_context *context, const db_experiment *experiment,
                               const db_measured_image *image, db_panel_layout *layout) {
    DB_TRY(allocate_places(context, experiment->detector.panel_count, layout));
    const db_status status = arrange_panels(experiment, image, layout);
    if (status != DB_OK) db_panel_layout_clear(layout);
    return status;
}

void db_panel_layout_box(const db_panel_layout *layout, size_t panel, double fast, double slow,
                         double fast_count, double slow_count, double box[4]) {
    double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
    for (int corner = 0; corner < 4; corner++) {
        double point[2];
        db_panel_layout_point(layout, panel, fast + (corner & 1 ? fast_count : 0),
                              slow + (corner & 2 ? slow_count : 0), point);
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], point[i]);
            high[i] = fmax(high[i], point[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        box[i] = low[i];
        box[2 + i] = high[i] - low[i];
    }
}

static void compose_panel(const db_panel_layout *layout, size_t p, const float *image,
                          float *picture) {
    const db_panel_place *const place = &layout->panel[p];
    const double determinant = place->fast[0] * place->slow[1] - place->fast[1] * place->slow[0];
    double box[4];
    db_panel_layout_box(layout, p, 0, 0, place->fast_pixels, place->slow_pixels, box);
    const int x_end = (int)fmin(layout->fast, ceil(box[0] + box[2])),
              y_end = (int)fmin(layout->slow, ceil(box[1] + box[3]));
    for (int y = (int)fmax(0, floor(box[1])); y < y_end; y++)
        for (int x = (int)fmax(0, floor(box[0])); x < x_end; x++) {
            const double dx = x + 0.5 - place->corner[0], dy = y + 0.5 - place->corner[1];
            const double f = (dx * place->slow[1] - dy * place->slow[0]) / determinant,
                         s = (dy * place->fast[0] - dx * place->fast[1]) / determinant;
            if (f < 0 || s < 0 || f >= place->fast_pixels || s >= place->slow_pixels) continue;
            picture[(size_t)y * (size_t)layout->fast + (size_t)x] =
                image[((size_t)place->first_row + (size_t)s) * (size_t)layout->columns + (size_t)f];
        }
}

void db_panel_layout_compose(const db_panel_layout *layout, const float *image, float *picture) {
    const size_t count = (size_t)layout->fast * (size_t)layout->slow;
    for (size_t i = 0; i < count; i++) picture[i] = NAN;
    for (size_t p = 0; p < layout->count; p++) compose_panel(layout, p, image, picture);
}
