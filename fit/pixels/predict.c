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
    const int centring = db_centring_of_cell(range->centring, experiment->crystal.cell);
    size_t count = 0;
    for (size_t i = 0; i < prediction->count; i++)
        if (!(range->dmax > 0 && prediction->spot[i].resolution > range->dmax) &&
            !db_centring_forbids(centring, prediction->spot[i].hkl))
            prediction->spot[count++] = prediction->spot[i];
    prediction->count = count;
    return DB_OK;
}

/* Order by h, k, l and panel. */
static int compare_names(const db_spot *a, const db_spot *b) {
    const int order = db_compare_hkl(a->hkl, b->hkl);
    return order ? order : (a->panel > b->panel) - (a->panel < b->panel);
}

/* Number of spots of the first one's name. */
static size_t same_name(const db_spot *spot, const db_spot *end) {
    size_t count = 0;
    while (spot + count < end && compare_names(spot + count, spot) == 0) count++;
    return count;
}

/* Which of the predicted spots of its name is spot i? If a passage has come or gone: the one at the nearest angle. */
static size_t now_at(const db_spot *predicted, size_t found, const db_spot *spot, size_t count,
                     size_t i) {
    size_t nearest = 0;
    if (found == count) return i;
    for (size_t k = 1; k < found; k++)
        if (fabs(predicted[k].angle - spot[i].angle) <
            fabs(predicted[nearest].angle - spot[i].angle))
            nearest = k;
    return nearest;
}

/* Takes what is predicted of a name. A spot that was taken stays nearest to the same prediction. */
static void take_again(const db_spot *predicted, size_t found, db_spot *spot, size_t count) {
    for (size_t i = 0; i < count && !found; i++) spot[i].recorded = spot[i].photons = 0;
    for (size_t i = 0; i < count && found; i++) {
        const size_t own = now_at(predicted, found, spot, count, i);
        double shared = 0;
        for (size_t k = 0; k < count; k++)
            shared += now_at(predicted, found, spot, count, k) == own;
        spot[i] = predicted[own];
        spot[i].recorded /= shared;
        spot[i].photons /= shared;
    }
}

db_status db_predict_again(db_context *context, const db_experiment *experiment,
                           double excitation_angle, db_spot *spot, size_t count) {
    const double margin = 0.9; /* the cell may have changed */
    db_prediction_range range = { .dmin = INFINITY, .excitation_angle = excitation_angle };
    db_predicted_spots all;
    for (size_t i = 0; i < count; i++) range.dmin = fmin(range.dmin, margin * spot[i].resolution);
    if (count == 0) return DB_OK;
    DB_TRY(db_predict(context, experiment, &range, &all));
    const db_spot *at = all.spot, *const end = all.spot + all.count;
    for (size_t i = 0, alike; i < count; i += alike) {
        alike = same_name(spot + i, spot + count);
        while (at < end && compare_names(at, spot + i) < 0) at++;
        const int found = at < end && compare_names(at, spot + i) == 0;
        take_again(at, found ? same_name(at, end) : 0, spot + i, alike);
    }
    db_predicted_spots_clear(&all);
    return DB_OK;
}
