/* Parameters and starting spreads for a configuration without a section refine. */
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
        start->crystal.Ncells[i] = ceil(LARGE_BLOCK / start->crystal.cell[i]);
    if (s->mosaic <= 0 && isnan(given->mosaic_rms) && isnan(given->mosaic_rms_abc[0]) &&
        isnan(given->mosaic_tensor[0]))
        s->mosaic = MOSAIC;
    if (s->footprint[0] <= 0 && isnan(given->footprint_rms[0]))
        s->footprint[0] = s->footprint[1] = FOOTPRINT;
}

/* A turn of the detector about the axis that lies nearest to the beam would be one of the crystal;
 * an angle of the cell that is right stays so. */
static int is_needless(const db_experiment *start, db_parameter parameter) {
    const db_parameter_kind kind = db_facts_of(parameter)->kind;
    const double *const beam = start->beam.direction;
    int along = 0;
    for (int i = 1; i < 3; i++)
        if (fabs(beam[i]) > fabs(beam[along])) along = i;
    return (kind == DB_KIND_CELL_ANGLE && is_right_angle(db_parameter_get(start, parameter))) ||
           (kind == DB_KIND_DETECTOR_TURN && (int)parameter == (int)DB_DETECTOR_ROTX + along);
}

/* In the order in which stages take them up. */
db_status db_fit_choose_parameters(db_context *context, db_fit_config *config,
                                   db_experiment *start) {
    start_spreads(config, start);
    for (int choosing = DB_CHOOSING_CHOSEN; choosing <= (int)DB_CHOOSING_EARNED; choosing++)
        for (int settling = 0; settling <= (int)DB_SETTLING_SHAPE; settling++)
            for (int k = 0; k < DB_PARAMETER_COUNT; k++) {
                const db_parameter_facts *const facts = db_facts_of((db_parameter)k);
                db_fit_parameter p = db_fit_parameter_free((db_parameter)k);
                if ((int)facts->choosing != choosing || (int)facts->settling != settling ||
                    is_needless(start, p.parameter))
                    continue;
                p.earned = choosing == DB_CHOOSING_EARNED;
                DB_TRY(db_fit_settings_add_parameter(context, &config->settings, &p));
            }
    return DB_OK;
}
