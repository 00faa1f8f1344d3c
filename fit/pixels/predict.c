/* Prediction of reflections. */
#include "fit/pixels/predict.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"

#include <dualbragg/spots.h>
#include <math.h>
#include <stdlib.h>

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

/* Predicts reflections of any structure factor, because the measured image may show those that the list has as weak. */
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
            .wavelength = { s->wavelength, s->wavelength_width },
        };
    }
    db_predicted_spots_clear(&spots);
    return db_need_memory(context, prediction->reflection, "the predicted reflections");
}

void db_prediction_clear(db_prediction *prediction) {
    free(prediction->reflection);
    *prediction = (db_prediction){ 0, NULL };
}
