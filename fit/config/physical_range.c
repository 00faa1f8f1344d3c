#include "fit/config/physical_range.h"

#include <math.h>

/* Turns (degree) and shifts (pixels) that no start may be off by: spots would be others. */
static const double MOST_TURN = 5, MOST_SHIFT = 20;
/* Relative. */
static const double MOST_STRETCH = 0.05, MOST_DISTANCE = 0.1, MOST_SIZE = 10;

/* How far from its start a parameter may go. */
typedef enum reach_kind { ANYWHERE, STRETCH, DISTANCE, TURN, BEAM_TURN, SHIFT } reach_kind;

/* What parameters from one of the table to another can be. */
typedef struct range {
    db_parameter first, last;
    double least, most;
    reach_kind reach;
} range;

static const range ranges[] = {
    // clang-format off
    { DB_CELL_A, DB_CELL_C, 1, INFINITY, STRETCH },
    { DB_CELL_ALPHA, DB_CELL_GAMMA, 1, 179, TURN },
    { DB_MISSET_X, DB_MISSET_Z, -INFINITY, INFINITY, TURN },
    { DB_CELLS_A, DB_CELLS_C, 1, INFINITY, ANYWHERE },
    { DB_MOSAIC_SPREAD, DB_MOSAIC_C, 0, 90, TURN },
    { DB_B_FACTOR, DB_B_FACTOR, -10, 1000, ANYWHERE }, /* below 0: the amplitudes may have too large a B */
    { DB_PHI, DB_SPINDLE_TILT_ACROSS, -INFINITY, INFINITY, TURN },
    { DB_WAVELENGTH, DB_WAVELENGTH, 1e-4, INFINITY, STRETCH }, /* positive, and far from anything used */
    { DB_SPECTRUM_STRETCH, DB_SPECTRUM_STRETCH, 0, INFINITY, ANYWHERE },
    { DB_BEAM_HORIZONTAL, DB_BEAM_VERTICAL, -INFINITY, INFINITY, BEAM_TURN },
    { DB_DIVERGENCE_HORIZONTAL, DB_DIVERGENCE_VERTICAL, 0, INFINITY, BEAM_TURN },
    { DB_DISPERSION, DB_DISPERSION, 0, 1, ANYWHERE },
    { DB_POLARIZATION, DB_POLARIZATION, -1, 1, ANYWHERE },
    { DB_SCALE, DB_SCALE, 1e-30, INFINITY, ANYWHERE },
    { DB_DISTANCE, DB_DISTANCE, 1e-3, INFINITY, DISTANCE },
    { DB_BEAM_FAST, DB_BEAM_SLOW, -INFINITY, INFINITY, SHIFT },
    { DB_DETECTOR_ROTX, DB_TWOTHETA, -INFINITY, INFINITY, TURN },
    { DB_PANEL_SHIFT_FAST, DB_PANEL_SHIFT_NORMAL, -INFINITY, INFINITY, SHIFT },
    { DB_PANEL_TURN_FAST, DB_PANEL_TURN_NORMAL, -INFINITY, INFINITY, TURN },
    { DB_SENSOR_THICKNESS, DB_ATTENUATION_DEPTH, 1e-3, INFINITY, ANYWHERE },
    { DB_WATER_SIZE, DB_AMORPHOUS_THICKNESS, 0, INFINITY, ANYWHERE },
    { DB_SIZE_BC, DB_SIZE_AB, -0.999, 0.999, ANYWHERE },
    { DB_MOSAIC_VARIANCE, DB_MOSAIC_ZZ, 0, 8100, ANYWHERE },
    { DB_STRAIN_VARIANCE, DB_STRAIN_XY, 0, INFINITY, ANYWHERE },
    { DB_BANDWIDTH_VARIANCE, DB_DIVERGENCE_VV, 0, INFINITY, ANYWHERE },
    { DB_FOOTPRINT_HH, DB_FOOTPRINT_VV, 0, INFINITY, ANYWHERE },
    { DB_POINT_SPREAD_FF, DB_POINT_SPREAD_SS, 0, INFINITY, ANYWHERE },
    { DB_TAIL_FRACTION_1, DB_TAIL_FRACTION_1, 0, 0.999, ANYWHERE },
    { DB_TAIL_WIDTH_1, DB_TAIL_WIDTH_1, 1e-3, 1000, ANYWHERE },
    { DB_TAIL_FRACTION_2, DB_TAIL_FRACTION_2, 0, 0.999, ANYWHERE },
    { DB_TAIL_WIDTH_2, DB_TAIL_WIDTH_2, 1e-3, 1000, ANYWHERE },
    // clang-format on
};

static range range_of(db_parameter parameter) {
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (parameter >= ranges[i].first && parameter <= ranges[i].last) return ranges[i];
    return (range){ parameter, parameter, -INFINITY, INFINITY, ANYWHERE };
}

void db_physical_range(db_parameter parameter, double *least, double *most) {
    const range found = range_of(parameter);
    *least = found.least;
    *most = found.most;
}

/* How far a parameter may go from its start, either way; INFINITY: anywhere. */
static double reach_of(const db_experiment *start, db_parameter parameter, double value) {
    const double pixel =
        start->detector.panel_count ? start->detector.panels[0].pixel_size[0] : 0.1;
    switch (range_of(parameter).reach) {
    case STRETCH: return MOST_STRETCH * value;
    case DISTANCE: return MOST_DISTANCE * value;
    case TURN: return MOST_TURN;
    case BEAM_TURN: return 1000 * MOST_TURN * 0.017453292519943295769; /* mrad */
    case SHIFT: return MOST_SHIFT * pixel;
    default: return INFINITY;
    }
}

/* No crystal and beam that are worth a refinement have wider spreads: 1 degree of mosaic spread,
 * 0.5 mm of footprint, 2 mrad of divergence, 2 % of bandwidth and of a mode (rms). Where a start
 * has more, twice its own. */
static double widest(db_parameter p, double start) {
    const double usual = p >= DB_MOSAIC_VARIANCE && p <= DB_MOSAIC_ZZ     ? 1
                         : p == DB_FOOTPRINT_HH || p == DB_FOOTPRINT_VV   ? 0.25
                         : p == DB_DIVERGENCE_HH || p == DB_DIVERGENCE_VV ? 4
                         : p == DB_BANDWIDTH_VARIANCE                     ? 400
                         : p >= DB_MODE1_XX && p <= DB_MODE3_ZZ           ? 20
                                                                          : INFINITY;
    return fmax(usual, 4 * fabs(start));
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
        reach_of(start, p->parameter, value) + (turns && starts->count > 1 ? starts->turn : 0);
    const double wide = widest(p->parameter, value);
    const double low = is_size(p->parameter) ? value / MOST_SIZE : fmax(value - reach, -wide);
    const double high = is_size(p->parameter) ? value * MOST_SIZE : fmin(value + reach, wide);
    if (db_fit_parameter_is_tied(p)) return;
    if (isinf(p->lower)) p->lower = fmax(least, low);
    if (isinf(p->upper)) p->upper = fmin(most, high);
}
