/* Prediction of reflections. */
#include "fit/pixels/predict.h"

#include "base/context_internal.h"
#include "fit/config/crystal_system.h"

#include <math.h>

/* Replaces sampled spots by Gaussians of the same spread. The crystal turns from the first step to the last. Light
 * is absorbed between the fronts of the first and the last layer, if layers record at their fronts. */
static void gather_samples(db_experiment *e) {
    e->spread = db_spread_of_domains(&e->crystal);
    if (e->crystal.shape == DB_SHAPE_ROUND) e->crystal.shape = DB_SHAPE_GAUSS;
    e->goniometer.phi_step *= 1 - 1.0 / e->goniometer.phi_steps;
    if (!e->detector.layers_at_front) return;
    e->detector.sensor_thickness *= 1 - 1.0 / e->detector.sensor_layers;
    e->detector.layers_at_front = 0;
}

/* Does the centring of a named symmetry forbid a reflection? Of R in hexagonal axes nobody has said whether the indices are
 * obverse or reverse, so both must forbid it; in its own axes R is primitive. */
static int is_forbidden(int centring, const double cell[6], const int hkl[3]) {
    if (centring != 'R') return db_centring_forbids(centring, hkl);
    const int hexagonal = fabs(cell[5] - 120) < DB_CELL_ANGLE_TOLERANCE;
    return hexagonal && db_centring_forbids('R', hkl) && db_centring_forbids('r', hkl);
}

/* Predicts reflections of any structure factor, because the measured image may show those that the list has as weak. */
db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_predicted_spots *prediction) {
    const double most_turn = 10;         /* degree */
    db_experiment limited = *experiment; /* borrows its lists */
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    if (limited.spread.spots != DB_SPOTS_CLOSED) gather_samples(&limited);
    limited.structure_factors = (db_structure_factors){ .default_F = 1 };
    limited.dmin = fmax(limited.dmin, range->dmin);
    options.most_turn = fmin(range->excitation_angle, most_turn);
    DB_TRY(db_spots_predict(context, &limited, &options, prediction));
    size_t count = 0;
    for (size_t i = 0; i < prediction->count; i++)
        if (!(range->dmax > 0 && prediction->spot[i].resolution > range->dmax) &&
            !is_forbidden(range->centring, experiment->crystal.cell, prediction->spot[i].hkl))
            prediction->spot[count++] = prediction->spot[i];
    prediction->count = count;
    return DB_OK;
}
