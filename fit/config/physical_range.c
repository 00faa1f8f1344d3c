#include "fit/config/physical_range.h"

#include <math.h>

void db_physical_range(db_parameter parameter, double *least, double *most) {
    *least = -INFINITY;
    *most = INFINITY;
    switch (parameter) {
    case DB_CELL_A:
    case DB_CELL_B:
    case DB_CELL_C: *least = 1; break;
    case DB_CELL_ALPHA:
    case DB_CELL_BETA:
    case DB_CELL_GAMMA:
        *least = 1;
        *most = 179;
        break;
    case DB_CELLS_A:
    case DB_CELLS_B:
    case DB_CELLS_C: *least = 1; break;
    case DB_MOSAIC_SPREAD:
    case DB_MOSAIC_A:
    case DB_MOSAIC_B:
    case DB_MOSAIC_C:
        *least = 0;
        *most = 90;
        break;
    case DB_B_FACTOR: /* a little less than none: the amplitudes may have too large a B */
        *least = -10;
        *most = 1000;
        break;
    case DB_DIVERGENCE_HORIZONTAL:
    case DB_DIVERGENCE_VERTICAL:
    case DB_WATER_SIZE:
    case DB_SPECTRUM_STRETCH:
    case DB_AMORPHOUS_THICKNESS: *least = 0; break;
    case DB_DISPERSION:
        *least = 0;
        *most = 1;
        break;
    case DB_POLARIZATION:
        *least = -1;
        *most = 1;
        break;
    case DB_WAVELENGTH: *least = 1e-4; break; /* positive, and far from anything used */
    case DB_SENSOR_THICKNESS:
    case DB_ATTENUATION_DEPTH:
    case DB_DISTANCE: *least = 1e-3; break;
    case DB_SCALE: *least = 1e-30; break;
    default: break;
    }
}

/* Turns (degree) and shifts (pixels) that no start may be off by: spots would be others. */
static const double MOST_TURN = 5, MOST_SHIFT = 20;
/* Relative. */
static const double MOST_STRETCH = 0.05, MOST_DISTANCE = 0.1, MOST_SIZE = 10;

/* How far a parameter may go from its start, either way; INFINITY: anywhere. */
static double reach_of(const db_experiment *start, db_parameter parameter, double value) {
    const double pixel =
        start->detector.panel_count ? start->detector.panels[0].pixel_size[0] : 0.1;
    switch (parameter) {
    case DB_CELL_A:
    case DB_CELL_B:
    case DB_CELL_C:
    case DB_WAVELENGTH: return MOST_STRETCH * value;
    case DB_DISTANCE: return MOST_DISTANCE * value;
    case DB_CELL_ALPHA:
    case DB_CELL_BETA:
    case DB_CELL_GAMMA:
    case DB_MISSET_X:
    case DB_MISSET_Y:
    case DB_MISSET_Z:
    case DB_PHI:
    case DB_SPINDLE_TILT_BEAM:
    case DB_SPINDLE_TILT_ACROSS:
    case DB_DETECTOR_ROTX:
    case DB_DETECTOR_ROTY:
    case DB_DETECTOR_ROTZ:
    case DB_TWOTHETA:
    case DB_PANEL_TURN_FAST:
    case DB_PANEL_TURN_SLOW:
    case DB_PANEL_TURN_NORMAL:
    case DB_MOSAIC_SPREAD:
    case DB_MOSAIC_A:
    case DB_MOSAIC_B:
    case DB_MOSAIC_C: return MOST_TURN;
    case DB_BEAM_HORIZONTAL:
    case DB_BEAM_VERTICAL:
    case DB_DIVERGENCE_HORIZONTAL:
    case DB_DIVERGENCE_VERTICAL: return 1000 * MOST_TURN * 0.017453292519943295769; /* mrad */
    case DB_BEAM_FAST:
    case DB_BEAM_SLOW:
    case DB_PANEL_SHIFT_FAST:
    case DB_PANEL_SHIFT_SLOW:
    case DB_PANEL_SHIFT_NORMAL: return MOST_SHIFT * pixel;
    default: return INFINITY;
    }
}

static int is_size(db_parameter parameter) {
    return parameter == DB_CELLS_A || parameter == DB_CELLS_B || parameter == DB_CELLS_C ||
           parameter == DB_SPECTRUM_STRETCH;
}

void db_limit_bounds(const db_experiment *start, const db_fit_starts *starts,
                     db_fit_parameter *parameter) {
    db_fit_parameter *const p = parameter;
    const double value = p->group < 0 ? db_parameter_get(start, p->parameter) : 0;
    double least, most;
    db_physical_range(p->parameter, &least, &most);
    const int turns = p->parameter >= DB_MISSET_X && p->parameter <= DB_MISSET_Z;
    const double reach =
        reach_of(start, p->parameter, value) + (turns && starts->count > 1 ? starts->misset : 0);
    const double low = is_size(p->parameter) ? value / MOST_SIZE : value - reach;
    const double high = is_size(p->parameter) ? value * MOST_SIZE : value + reach;
    if (db_fit_parameter_is_tied(p)) return;
    if (isinf(p->lower)) p->lower = fmax(least, low);
    if (isinf(p->upper)) p->upper = fmin(most, high);
}
