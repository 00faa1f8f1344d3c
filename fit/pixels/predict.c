/* Prediction of reflections. */
#include "fit/pixels/predict.h"

#include "base/context_internal.h"

#include <dualbragg/spots.h>
#include <math.h>
#include <stdlib.h>

/* Sampled spots as the Gaussians of the same spread; the crystal turns from the first step to the last. */
static void gather_samples(db_experiment *e) {
    const double rms_of_cap = 0.4963783, *const abc = e->crystal.mosaic_abc;
    const int domains = e->crystal.mosaic_domains > 1;
    e->spread = (db_spread){ .spots = DB_SPOTS_CLOSED };
    if (e->crystal.mosaic_anisotropic)
        for (int i = 0; i < 3; i++) e->spread.mosaic_tensor[i] = pow(rms_of_cap * abc[i], 2);
    else if (domains)
        e->spread.mosaic = pow(rms_of_cap * e->crystal.mosaic_spread, 2);
    if (e->crystal.shape == DB_SHAPE_ROUND) e->crystal.shape = DB_SHAPE_GAUSS;
    e->goniometer.phi_step *= 1 - 1.0 / e->goniometer.phi_steps;
}

/* Nodes that a turn brings onto the sphere, up to dmin: many times what the panels record. */
static db_status check_count(db_context *context, const db_experiment *e, double turn) {
    const double most = 2e9, pi = 3.14159265358979323846;
    const double dmin = fmax(e->dmin, 0.5 * e->beam.wavelength);
    double nodes = 4 * pi / 3 * turn * pi / 180;
    for (int i = 0; i < 3; i++) nodes *= e->crystal.cell[i] / dmin;
    if (nodes < most) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "too many reflections to predict to %.3g A: limit dmin",
                   dmin);
}

/* Whatever their structure factors, which the measured image may know better. */
db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_prediction *prediction) {
    const double most_turn = 10;         /* degree */
    db_experiment limited = *experiment; /* borrows its lists */
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    db_predicted_spots spots;
    *prediction = (db_prediction){ 0, NULL };
    if (limited.spread.spots != DB_SPOTS_CLOSED) gather_samples(&limited);
    limited.structure_factors = (db_structure_factors){ .default_F = 1 };
    limited.dmin = fmax(limited.dmin, range->dmin);
    options.most_turn = fmin(range->excitation_angle, most_turn);
    DB_TRY(check_count(context, &limited, options.most_turn));
    DB_TRY(db_spots_predict(context, &limited, &options, &spots));
    prediction->reflection = malloc((spots.count + 1) * sizeof *prediction->reflection);
    for (size_t i = 0; i < spots.count && prediction->reflection; i++) {
        const db_spot *const s = &spots.spot[i];
        if (range->dmax > 0 && s->resolution > range->dmax) continue;
        prediction->reflection[prediction->count++] = (db_reflection){
            .hkl = { s->hkl[0], s->hkl[1], s->hkl[2] },
            .d_spacing = s->resolution,
            .excitation = s->turn,
            .panel = s->panel,
            .position = { s->position[0], s->position[1] },
            .apart = fabs(s->excitation),
            .recorded = s->recorded,
            .covariance = { s->covariance[0], s->covariance[1], s->covariance[2] },
        };
    }
    db_predicted_spots_clear(&spots);
    return prediction->reflection ? DB_OK : db_fail_memory(context, "the predicted reflections");
}

void db_prediction_clear(db_prediction *prediction) {
    free(prediction->reflection);
    *prediction = (db_prediction){ 0, NULL };
}
