#include "fit/config/automatic.h"

#include "base/context_internal.h"
#include "fit/config/quantity.h"

#include <math.h>

/* Blocks so large that their size widens no spot: which is what one image can say of it. */
static const double LARGE_BLOCK = 1e4; /* angstrom */
/* Where the search begins for spreads that the model does not have: far enough from 0 for orientations
 * that are a little off. */
static const double MOSAIC = 0.01;    /* degree^2 */
static const double FOOTPRINT = 0.01; /* mm^2 */

static int is_right_angle(double angle) {
    const double near = 1e-3;
    return fabs(angle - 90) < near || fabs(angle - 120) < near;
}

static void start_spreads(const db_fit_config *config, db_experiment *start) {
    db_spread *const s = &start->spread;
    const db_spread_setup *const given = &config->setup.spread;
    for (int i = 0; i < 3 && !config->blocks_given; i++)
        start->crystal.cells[i] = ceil(LARGE_BLOCK / start->crystal.cell[i]);
    if (s->mosaic <= 0 && isnan(given->mosaic_rms) && isnan(given->mosaic_rms_abc[0]) &&
        isnan(given->mosaic_tensor[0]))
        s->mosaic = MOSAIC;
    if (s->footprint[0] <= 0 && isnan(given->footprint_rms[0]))
        s->footprint[0] = s->footprint[1] = FOOTPRINT;
}

/* Distance and tilts: a turn about the axis that lies nearest to the beam would be one of the crystal. */
static db_status add_detector(db_context *context, const double beam[3],
                              db_fit_settings *settings) {
    int along = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(beam[i]) > fabs(beam[along])) along = i;
    const db_parameter list[] = { DB_DISTANCE,
                                  (db_parameter)((int)DB_DETECTOR_ROTX + (along + 1) % 3),
                                  (db_parameter)((int)DB_DETECTOR_ROTX + (along + 2) % 3) };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        db_fit_parameter p = db_fit_parameter_free(list[i]);
        p.earned = 1;
        DB_TRY(db_fit_settings_add_parameter(context, settings, &p));
    }
    return DB_OK;
}

db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   db_experiment *start) {
    static const db_parameter list[] = {
        DB_MISSET_X,      DB_MISSET_Y,          DB_MISSET_Z,     DB_CELL_A,       DB_CELL_B,
        DB_CELL_C,        DB_CELL_ALPHA,        DB_CELL_BETA,    DB_CELL_GAMMA,   DB_BEAM_FAST,
        DB_BEAM_SLOW,     DB_MOSAIC_VARIANCE,   DB_FOOTPRINT_HH, DB_FOOTPRINT_VV, DB_DIVERGENCE_HH,
        DB_DIVERGENCE_VV, DB_BANDWIDTH_VARIANCE
    };
    db_fit_settings *const settings = &config->settings;
    start_spreads(config, start);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        const int angle = (int)list[i] - (int)DB_CELL_ALPHA;
        if (angle >= 0 && angle < 3 && is_right_angle(start->crystal.cell[3 + angle])) continue;
        const db_fit_parameter p = db_fit_parameter_free(list[i]);
        DB_TRY(db_fit_settings_add_parameter(context, settings, &p));
    }
    DB_TRY(add_detector(context, start->beam.direction, settings));
    for (int k = DB_MODE1_XX; k <= (int)DB_MODE3_ZZ; k++) {
        const db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
        DB_TRY(db_fit_settings_add_parameter(context, settings, &p));
    }
    return DB_OK;
}
