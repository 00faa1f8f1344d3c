/* A distance that is held: cell edges scale with it (docs/theory/verdict.md, A distance that is held). */
#include "fit/verdict/held_distance.h"

#include "fit/verdict/distance_by_spots.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/statistics.h"
#include "fit/result/errors.h"
#include "fit/verdict/judged_spots.h"
#include "fit/verdict/rivals.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_refined(const db_fit_settings *settings, db_parameter parameter) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].parameter == parameter &&
            settings->parameters[i].stages != DB_FIT_NOT_EARNED)
            return 1;
    return 0;
}

static int is_asked(const db_fit_settings *settings) {
    return !is_refined(settings, DB_DISTANCE) &&
           (is_refined(settings, DB_CELL_A) || is_refined(settings, DB_CELL_B) ||
            is_refined(settings, DB_CELL_C));
}

int db_held_distance_is_untested(const db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].parameter == DB_DISTANCE &&
            settings->parameters[i].stages == DB_FIT_NOT_EARNED)
            return 1;
    return 0;
}

int db_held_distance_has_moments(const db_fit_settings *settings) {
    for (size_t i = 0; i < settings->parameter_count; i++)
        if (settings->parameters[i].group >= 0) return 0;
    return settings->intensity == DB_FIT_FREE;
}

/* Edges scale with the distance: by how far the data ask for another one, and how badly they know it. */
static void widen_edges(db_fit_result *result) {
    const double off =
        hypot(result->distance_step, result->distance_error) / result->experiment.detector.distance;
    for (size_t i = 0; i < result->estimates.count; i++) {
        db_fit_estimate *const e = &result->estimates.list[i];
        if (e->parameter >= DB_CELL_A && e->parameter <= DB_CELL_C && e->error > 0 && !isnan(off))
            e->error = hypot(e->error, off * e->value);
    }
}

/* The settings with one quantity more, the last. */
static db_status settings_with_distance(db_context *context, const db_fit_settings *settings,
                                        db_fit_settings *own) {
    const db_fit_parameter distance = db_fit_parameter_free(DB_DISTANCE);
    DB_TRY(db_fit_settings_copy(context, settings, own));
    const db_status status = db_fit_settings_add_parameter(context, own, &distance);
    if (status != DB_OK) db_fit_settings_clear(own);
    return status;
}

/* As refined; the distance as it is held. */
static size_t values_of(const db_variables *variables, const db_fit_result *result,
                        double *values) {
    size_t distance = 0;
    for (size_t k = 0; k < variables->count; k++) {
        const int held = variables->index[k] == result->estimates.count;
        values[k] = held ? variables->start[k] : result->estimates.list[variables->index[k]].value;
        if (held) distance = k;
    }
    return distance;
}

static double loss_with_priors(const db_objective *objective, const double *values) {
    double loss = objective->loss;
    db_variables_add_priors(&objective->variables, values, &loss, NULL, NULL);
    return loss;
}

/* Goes a part of a step, within bounds: the largest of 1, 1/2, 1/4 ... with which the loss is lower; none if there is
 * none. */
static db_status go_downhill(db_objective *objective, const double *step, double *values) {
    const double least = 1e-3;
    const db_variables *const variables = &objective->variables;
    const double before = loss_with_priors(objective, values);
    for (double part = 1; part > least; part /= 2) {
        double at[DB_FIT_MOST_PARAMETERS] = { 0 };
        for (size_t k = 0; k < variables->count; k++)
            at[k] =
                fmin(variables->upper[k], fmax(variables->lower[k], values[k] + part * step[k]));
        DB_TRY(db_objective_evaluate(objective, at, DB_OBJECTIVE_LOSS));
        if (!(loss_with_priors(objective, at) < before)) continue;
        memcpy(values, at, variables->count * sizeof *values);
        break;
    }
    return DB_OK;
}

/* Evaluates with everything that an error needs, and makes a step. */
static db_status step_on(db_context *context, db_objective *objective,
                         const db_fit_estimates *found, size_t distance, double *values,
                         double *error) {
    const db_variables *const variables = &objective->variables;
    double step[DB_FIT_MOST_PARAMETERS] = { 0 }, loss = 0;
    db_fit_statistics statistics;
    DB_TRY(db_objective_evaluate(objective, values, DB_OBJECTIVE_NORMAL));
    db_variables_add_priors(variables, values, &loss, objective->gradient, objective->normal);
    db_statistics_residuals(objective, &statistics);
    DB_TRY(db_errors_of_step(context, objective, found, statistics.chi2_reduced, distance, step,
                             error));
    return go_downhill(objective, step, values);
}

/* By how much the places of spots, which were found without a model, are likelier with the second model. Pixels alone also ask
 * for distances that only suit the shapes of spots. */
static db_status compare_places(db_context *context, const db_fit_data *data,
                                const db_experiment models[2], db_fit_result *result) {
    db_observed_spots spots;
    result->distance_gain = 0;
    DB_TRY(db_judged_spots_find(context, models, data, &spots));
    db_status status = DB_OK;
    for (int m = 0; m < 2 && status == DB_OK; m++) {
        db_evidence evidence;
        status = db_evidence_make(context, &models[m], &spots, &evidence);
        if (status != DB_OK) break;
        result->distance_gain += (m ? 1 : -1) * db_margin_over_none(&evidence);
        db_evidence_clear(&evidence);
    }
    db_observed_spots_clear(&spots);
    return status;
}

/* What spots ask for, beside the best of models that hold the distance. */
static db_status ask_spots(db_context *context, const db_fit_data *data,
                           const db_experiment *refined, db_fit_result *result) {
    db_experiment models[2];
    DB_TRY(db_distance_by_spots(context, data, refined, models, &result->distance_error));
    result->distance_step = models[1].detector.distance - refined->detector.distance;
    const db_status status = compare_places(context, data, models, result);
    for (int m = 0; m < 2; m++) db_experiment_clear(&models[m]);
    return status;
}

/* What a wrong distance leaves is a misfit, by which errors grow: the error is that after a first
 * step. */
static db_status ask(db_context *context, const db_fit_data *data, db_objective *objective,
                     db_fit_result *result) {
    const db_variables *const variables = &objective->variables;
    double values[DB_FIT_MOST_PARAMETERS] = { 0 };
    const size_t distance = values_of(variables, result, values);
    const double held = values[distance];
    for (int steps = 0; steps < 2; steps++)
        DB_TRY(step_on(context, objective, &result->estimates, distance, values,
                       &result->distance_error));
    result->distance_step = values[distance] - held;
    db_experiment models[2] = { result->experiment, objective->experiment }; /* borrow */
    db_variables_store(variables, values, &models[1]);
    return compare_places(context, data, models, result);
}

static db_status measure_step(db_context *context, const db_fit_data *data,
                              const db_stage_data *taken, const db_objective *refined,
                              db_fit_result *result) {
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES,
                                           .placement = &refined->placement,
                                           .target = data->settings->target };
    db_objective *const objective = calloc(1, sizeof *objective); /* large: stacks are small */
    if (!objective) return db_fail_memory(context, "the objective of a held distance");
    db_status status =
        db_stage_data_objective(context, &refined->experiment, data, taken, &request, objective);
    if (status == DB_OK) status = ask(context, data, objective, result);
    db_objective_destroy(objective);
    free(objective);
    return status;
}

db_status db_held_distance_measure(db_context *context, const db_fit_data *data,
                                   const db_stage_data *taken, const db_objective *refined,
                                   db_fit_result *result) {
    db_fit_settings own;
    result->distance_step = result->distance_error = result->distance_gain = NAN;
    if (!is_asked(data->settings)) return DB_OK;
    db_status status;
    if (db_held_distance_has_moments(data->settings)) {
        status = ask_spots(context, data, &refined->experiment, result);
    } else {
        DB_TRY(settings_with_distance(context, data->settings, &own));
        const db_fit_data with_distance = { data->image, data->strong, &own };
        status = measure_step(context, &with_distance, taken, refined, result);
        db_fit_settings_clear(&own);
    }
    if (status == DB_OK && db_held_distance_is_untested(data->settings)) widen_edges(result);
    return status;
}
