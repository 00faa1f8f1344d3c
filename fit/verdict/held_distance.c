/* Distance that is held: cell edges scale with it (docs/theory/verdict.md, A distance that is held). */
#include "fit/verdict/held_distance.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/statistics.h"
#include "fit/result/errors.h"
#include "fit/verdict/evidence.h"
#include "fit/verdict/rivals.h"
#include "fit/verdict/spot_regions.h"
#include "fit/objective/stage_data.h"
#include "fit/config/config_refine.h"
#include "fit/result/covariance.h"
#include "fit/search/automatic.h"
#include "fit/search/moment_stage.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Settings with one stage of the refined geometry, of the detector's tilts and of its distance. Without tilts in
 * the model, a slightly tilted detector asks for another distance. */
static db_status settings_of_places(db_context *context, const db_fit_settings *settings,
                                    const db_experiment *model, db_fit_settings *own) {
    DB_TRY(db_fit_settings_copy(context, settings, own));
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        const int was_refined = p->stages != DB_FIT_NOT_EARNED;
        p->stages =
            was_refined && db_facts_of(p->parameter)->settling <= DB_SETTLING_GEOMETRY ? 1 : 0;
    }
    db_fit_parameter *added;
    db_status status = db_fit_settings_need(context, DB_DISTANCE, own, &added);
    for (int p = DB_DETECTOR_ROTX; p <= (int)DB_DETECTOR_ROTZ && status == DB_OK; p++)
        if (!db_turns_about_beam(model, (db_parameter)p))
            status = db_fit_settings_need(context, (db_parameter)p, own, &added);
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        if (p->parameter == DB_DISTANCE || db_facts_of(p->parameter)->kind == DB_KIND_DETECTOR_TURN)
            p->stages = 1;
    }
    own->stage_count = 1;
    own->stages[0] = (db_fit_stage){ .kind = DB_STAGE_MOMENTS,
                                     .blur = 1,
                                     .target = DB_FIT_WEIGHTED,
                                     .tolerance = 1e-5,
                                     .step = 0.1,
                                     .max_evaluations = 50,
                                     .name = "distance" };
    if (status != DB_OK) db_fit_settings_clear(own);
    return status;
}

/* At a minimum the slopes of regions have fewer degrees of freedom, by the number of variables. */
static db_status error_by_regions(db_context *context, db_moments *m, const double *x,
                                  double *numbers, size_t distance, double *error) {
    const size_t n = m->variables->count;
    double *const normal = numbers, *const scatter = numbers + n * n,
                  *const slope = numbers + 2 * n * n;
    int used[DB_FIT_MOST_PARAMETERS];
    const int regions = db_spot_regions_count(m->count, n);
    for (size_t k = 0; k < n; k++) used[k] = 1;
    *error = INFINITY;
    if ((size_t)regions <= n || (size_t)regions > m->count) return DB_OK;
    DB_TRY(db_spot_regions_order(context, regions, m));
    DB_TRY(db_spot_regions_scatter(context, m, x, regions, slope, normal, scatter));
    DB_TRY(db_spot_regions_curve(context, m, x, normal));
    db_covariance c = { .error = NULL };
    const db_status status =
        db_covariance_estimate(context, normal, n, used, DB_LEAST_EIGENVALUE, &c);
    if (status == DB_OK && isfinite(c.error[distance]))
        *error = db_covariance_sandwich(&c, scatter, distance) *
                 sqrt((double)regions / (double)((size_t)regions - n));
    db_covariance_clear(&c);
    return status;
}

/* Error of the free distance at the minimum. */
static db_status find_error(db_refinement *r, double *error) {
    const db_fit_settings *const settings = r->data.settings;
    db_moments m;
    size_t distance = 0;
    db_variables v;
    DB_TRY(db_variables_make(r->context, settings, 1, &r->given, &r->result->experiment,
                             &r->placement, &v));
    while (settings->parameters[v.index[distance]].parameter != DB_DISTANCE) distance++;
    double *const numbers = calloc(v.count * (2 * v.count + 1) + 1, sizeof *numbers);
    db_status status = numbers ? db_moment_stage_take(r, 0, &v, &m)
                               : db_fail_memory(r->context, "the error of a distance");
    if (status == DB_OK) {
        status = error_by_regions(r->context, &m, v.start, numbers, distance, error);
        db_moments_clear(&m);
    }
    free(numbers);
    db_variables_clear(&v);
    return status;
}

/* error: NULL: not wanted. */
static db_status fit_places(db_context *context, const db_fit_data *data,
                            const db_experiment *refined, double *error, db_experiment *model) {
    db_refinement r = { .context = context, .data = *data, .find_foreign = db_foreign_spots_find };
    db_stage_result end;
    db_status status = db_refinement_begin_apart(&r, refined);
    if (status == DB_OK) status = db_stage_run(&r, 0, 1, &end);
    if (status == DB_OK && error) status = find_error(&r, error);
    if (status == DB_OK) status = db_experiment_copy(context, &r.result->experiment, model);
    db_refinement_clear_apart(&r);
    return status;
}

/* Fits a refined model to the moments of spots with the geometry that was refined and the tilts of the detector: models[0] with
 * the distance as it is, models[1] with a free one, whose error is that of regions of spots. Clear the models, unless it
 * fails. */
static db_status distance_by_spots(db_context *context, const db_fit_data *data,
                                   const db_experiment *refined, db_experiment models[2],
                                   double *error) {
    db_fit_settings own;
    memset(models, 0, 2 * sizeof *models);
    DB_TRY(settings_of_places(context, data->settings, refined, &own));
    const db_fit_data places = { data->image, data->strong, &own };
    db_status status = DB_OK;
    for (int m = 0; m < 2 && status == DB_OK; m++) {
        db_fit_settings_find(&own, DB_DISTANCE)->stages = (unsigned)m;
        status = fit_places(context, &places, refined, m ? error : NULL, &models[m]);
    }
    db_fit_settings_clear(&own);
    for (int m = 0; m < 2 && status != DB_OK; m++) db_experiment_clear(&models[m]);
    return status;
}

static int is_refined(const db_fit_settings *settings, db_parameter parameter) {
    const db_fit_parameter *const p = db_fit_settings_find(settings, parameter);
    return p && p->stages != DB_FIT_NOT_EARNED;
}

static int is_asked(const db_fit_settings *settings) {
    return !is_refined(settings, DB_DISTANCE) &&
           (is_refined(settings, DB_CELL_A) || is_refined(settings, DB_CELL_B) ||
            is_refined(settings, DB_CELL_C));
}

int db_held_distance_is_untested(const db_fit_settings *settings) {
    const db_fit_parameter *const distance = db_fit_settings_find(settings, DB_DISTANCE);
    return distance && distance->stages == DB_FIT_NOT_EARNED;
}

db_status db_held_distance_add(db_context *context, db_fit_settings *settings) {
    db_fit_parameter *distance;
    DB_TRY(db_fit_settings_need(context, DB_DISTANCE, settings, &distance));
    distance->stages = DB_FIT_ALL_STAGES;
    distance->follows.number = -1;
    return DB_OK;
}

static size_t number_of_distance(const db_objective *objective) {
    const db_variables *const v = &objective->variables;
    size_t k = 0;
    while (objective->settings->parameters[v->index[k]].parameter != DB_DISTANCE) k++;
    return k;
}

/* Refined values, and the held distance. */
static void values_of(const db_objective *objective, const db_fit_result *result, double *values) {
    const db_variables *const v = &objective->variables;
    const size_t distance = number_of_distance(objective);
    for (size_t k = 0; k < v->count; k++)
        values[k] = k == distance ? v->start[k] : result->estimates.list[v->index[k]].value;
}

static double loss_with_priors(const db_objective *objective, const double *values) {
    double loss = objective->loss;
    db_variables_add_priors(&objective->variables, values, &loss, NULL, NULL);
    return loss;
}

/* Takes the largest part 1, 1/2, 1/4 ... of a step, within bounds, that lowers the loss; none if no part does. */
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

/* Evaluates all that errors need, and makes a step. */
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

/* Gain in the log likelihood of spots that were found without a model, of the second model over the first. Pixels
 * alone also ask for distances that only fit the shapes of spots. */
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

/* The distance for which spots ask, against the best model with the held distance. */
static db_status ask_spots(db_context *context, const db_fit_data *data,
                           const db_experiment *refined, db_fit_result *result) {
    db_experiment models[2];
    DB_TRY(distance_by_spots(context, data, refined, models, &result->distance_error));
    result->distance_step = models[1].detector.distance - refined->detector.distance;
    const db_status status = compare_places(context, data, models, result);
    for (int m = 0; m < 2; m++) db_experiment_clear(&models[m]);
    return status;
}

/* The distance for which pixels ask. A wrong distance causes misfit, which enlarges errors, so the error is taken
 * after a first step. */
static db_status ask(db_context *context, const db_fit_data *data, db_objective *objective,
                     db_fit_result *result) {
    const db_variables *const variables = &objective->variables;
    double values[DB_FIT_MOST_PARAMETERS] = { 0 };
    const size_t distance = number_of_distance(objective);
    values_of(objective, result, values);
    const double held = values[distance];
    for (int steps = 0; steps < 2; steps++)
        DB_TRY(step_on(context, objective, &result->estimates, distance, values,
                       &result->distance_error));
    result->distance_step = values[distance] - held;
    db_experiment models[2] = { result->experiment, objective->experiment }; /* borrow */
    db_variables_store(variables, values, &models[1]);
    return compare_places(context, data, models, result);
}

db_status db_held_objective(db_context *context, const db_fit_data *with_more,
                            const db_stage_data *taken, const db_objective *refined,
                            db_objective *objective) {
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES,
                                           .placement = &refined->placement,
                                           .target = with_more->settings->target };
    const db_variables *const v = &objective->variables;
    double loss = 0;
    DB_TRY(db_stage_data_objective(context, &refined->experiment, with_more, taken, &request,
                                   objective));
    const db_status status = db_objective_evaluate(objective, v->start, DB_OBJECTIVE_NORMAL);
    if (status == DB_OK)
        db_variables_add_priors(v, v->start, &loss, objective->gradient, objective->normal);
    else
        db_objective_destroy(objective);
    return status;
}

/* How far a held distance may be off (mm): the step for which the data ask, and its error. Nobody has said that an untested
 * one is known. One that is given counts as known, as far as the data do not contradict it: the part of the step that is no
 * chance, as in the estimate of James and Stein. */
static double uncertainty_of(const db_fit_result *result, int is_untested) {
    const double usual = DB_USUAL_DISTANCE_ERROR * result->experiment.detector.distance,
                 error = result->distance_error, step = result->distance_step;
    if (!is_untested) return step * fmax(0, 1 - error * error / (step * step));
    if (!isfinite(error)) return usual;
    const double square = 1 / (1 / (usual * usual) + 1 / (error * error));
    return hypot(sqrt(square), step * square / (error * error));
}

/* What refined quantities change with the distance. change: of each variable */
static db_status respond_to_distance(db_context *context, const db_objective *objective,
                                     const db_fit_estimates *found, double *change) {
    const db_variables *const v = &objective->variables;
    int used[DB_FIT_MOST_PARAMETERS];
    for (size_t k = 0; k < v->count; k++)
        used[k] = v->index[k] < found->count && found->list[v->index[k]].at_bound == 0;
    return db_held_response(context, objective->normal, v->count, used,
                            number_of_distance(objective), change);
}

/* objective: of the result's pixels, with the distance among its variables, as is with_distance. Widens the errors of all
 * refined quantities by what they change with the distance. */
static db_status measure_distance(db_context *context, const db_experiment *refined,
                                  const db_fit_data *data, const db_fit_data *with_distance,
                                  db_objective *objective, db_fit_result *result) {
    const db_variables *const v = &objective->variables;
    double change[DB_FIT_MOST_PARAMETERS];
    DB_TRY(respond_to_distance(context, objective, &result->estimates, change));
    DB_TRY(db_fit_has_moments(data->settings) ? ask_spots(context, data, refined, result)
                                              : ask(context, with_distance, objective, result));
    if (isnan(result->distance_step)) return DB_OK;
    const double off = uncertainty_of(result, db_held_distance_is_untested(data->settings));
    for (size_t k = 0; k < v->count; k++) change[k] *= off;
    db_held_widen(change, v->index, v->count, &result->estimates);
    return DB_OK;
}

db_status db_held_distance_measure(db_context *context, const db_fit_data *data,
                                   const db_stage_data *taken, const db_objective *refined,
                                   db_fit_result *result) {
    db_fit_settings own;
    db_objective objective;
    result->distance_step = result->distance_error = result->distance_gain = NAN;
    if (!is_asked(data->settings)) return DB_OK;
    DB_TRY(db_fit_settings_copy(context, data->settings, &own));
    const db_fit_data with_distance = { data->image, data->strong, &own };
    db_status status = db_held_distance_add(context, &own);
    if (status == DB_OK)
        status = db_held_objective(context, &with_distance, taken, refined, &objective);
    if (status == DB_OK) {
        status = measure_distance(context, &refined->experiment, data, &with_distance, &objective,
                                  result);
        db_objective_destroy(&objective);
    }
    db_fit_settings_clear(&own);
    return status;
}

const db_fit_estimate *db_held_distance_edge(const db_fit_estimates *estimates) {
    const db_fit_estimate *edge = NULL;
    for (size_t i = estimates->count; i-- > 0;) {
        const db_fit_estimate *const e = &estimates->list[i];
        if (e->parameter == DB_DISTANCE) return NULL;
        if (db_facts_of(e->parameter)->kind == DB_KIND_CELL_EDGE) edge = e;
    }
    return edge;
}

void db_held_distance_widen_edges(db_fit_estimates *estimates) {
    enum { EDGES = 3 };
    size_t index[EDGES], edges = 0;
    double change[EDGES];
    if (!db_held_distance_edge(estimates)) return;
    for (size_t i = 0; i < estimates->count && edges < EDGES; i++) {
        const db_fit_estimate *const e = &estimates->list[i];
        if (db_facts_of(e->parameter)->kind != DB_KIND_CELL_EDGE) continue;
        change[edges] = DB_USUAL_DISTANCE_ERROR * e->value;
        index[edges++] = i;
    }
    db_held_widen(change, index, edges, estimates);
}
