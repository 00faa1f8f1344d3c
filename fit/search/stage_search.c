#include "fit/search/stage_search.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"
#include "base/vector.h"

#include <math.h>

static const double degree = 3.14159265358979323846 / 180;

db_status db_farthest_block(const db_objective *shot, double *pixels) {
    const db_detector *const detector = &shot->experiment.detector;
    db_fit_geometry geometry;
    *pixels = 0;
    DB_TRY(db_fit_geometry_of(shot->context, &shot->experiment, &geometry));
    for (size_t b = 0; b < shot->blocks.count; b++) {
        const db_region *const r = &shot->blocks.region[b];
        const double at[3] = { r->fast_start + 0.5 * r->fast_count,
                               r->slow_start + 0.5 * r->slow_count, 1 };
        double place[3];
        db_apply(geometry.panel[r->panel].position, at, place);
        const double along = db_dot(place, geometry.direction);
        for (int i = 0; i < 3; i++) place[i] -= along * geometry.direction[i];
        *pixels = fmax(*pixels, db_length(place) / detector->panels[r->panel].pixel_size[0]);
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

double db_longest_step(const db_objective *shot, const db_fit_parameter *parameter, double farthest,
                       double most) {
    const db_experiment *const e = &shot->experiment;
    const double shift = 0.5 * fmax(2, shot->settings->shoebox_half_width);
    const double turn = shift / fmax(farthest, 1); /* radian; relative */
    const db_parameter p = parameter->parameter;
    switch (p) {
    case DB_CELL_A:
    case DB_CELL_B:
    case DB_CELL_C:
    case DB_WAVELENGTH:
    case DB_DISTANCE: return fmin(most, turn * db_parameter_get(e, p));
    case DB_CELL_ALPHA:
    case DB_CELL_BETA:
    case DB_CELL_GAMMA:
    case DB_MISSET_X:
    case DB_MISSET_Y:
    case DB_MISSET_Z:
    case DB_PHI:
    case DB_DETECTOR_ROTX:
    case DB_DETECTOR_ROTY:
    case DB_DETECTOR_ROTZ: return fmin(most, turn / degree);
    case DB_BEAM_FAST:
    case DB_BEAM_SLOW:
    case DB_PANEL_SHIFT_FAST:
    case DB_PANEL_SHIFT_SLOW: return fmin(most, shift * e->detector.panels[0].pixel_size[0]);
    case DB_CELLS_A:
    case DB_CELLS_B:
    case DB_CELLS_C: return fmin(most, 0.5 * db_parameter_get(e, p));
    default: return most;
    }
}
