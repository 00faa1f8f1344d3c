/* Stages of one image: their data, their start, and the model that each passes to the next. */
#include "fit/search/refinement.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/objective/evaluate.h"
#include "fit/result/estimates.h"
#include "fit/config/certain.h"
#include "fit/config/orientation.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_status count_boxes(const db_refinement *r, db_shoebox_choice choice, size_t *count) {
    return db_shoeboxes_count(r->context, &r->result->experiment, &r->data, r->predicted, choice,
                              count);
}

/* An image without enough strong reflections where the model predicts some cannot be refined
 * against. Known amplitudes need no shoeboxes, so overlap with neighbours does not matter for
 * them. */
db_status db_refinement_refuse_blank(const db_refinement *r) {
    const db_fit_settings *const settings = r->data.settings;
    const db_strong_pixels *const strong = r->data.strong;
    const size_t least = (size_t)settings->min_strong_reflections;
    size_t seen = 0, boxes = least;
    if (settings->one_of_series) return DB_OK;
    if (settings->intensity == DB_FIT_FREE) {
        DB_TRY(count_boxes(r, DB_SHOEBOXES_STRONG, &boxes));
        if (boxes >= least) return DB_OK;
    }
    DB_TRY(count_boxes(r, DB_SHOEBOXES_SEEN, &seen));
    if (seen < least && strong->spots < least)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "blank image: it has %zu strong pixels (%g sigma above the background) in "
                       "%zu spots, and "
                       "only %zu predicted reflections have some, at least %d are needed "
                       "(data.min_strong_reflections)",
                       strong->count, settings->strong_sigma, strong->spots, seen,
                       settings->min_strong_reflections);
    if (seen < least)
        return db_fail(r->context, DB_ERROR_INPUT,
                       "the model does not fit the image: it has %zu spots, but only %zu predicted "
                       "reflections have strong pixels (%g sigma above the background), at least "
                       "%d are needed; for an unknown orientation use model.find_orientation: yes",
                       strong->spots, seen, settings->strong_sigma,
                       settings->min_strong_reflections);
    if (boxes >= least) return DB_OK;
    return db_fail(r->context, DB_ERROR_INPUT,
                   "of %zu predicted reflections with strong pixels only %zu can be used (listed, "
                   "and with %.0f %% of a shoebox of half width %d free of neighbours), at least "
                   "%d are needed; expected a smaller shoebox_half_width, or no such key",
                   seen, boxes, 100 * DB_SHOEBOX_USABLE, settings->shoebox_half_width,
                   settings->min_strong_reflections);
}

db_status db_refinement_fail_dark(db_context *context, const db_fit_stage *stage) {
    return db_fail(context, DB_ERROR_INPUT,
                   "stage %s: the model predicts none of the strong reflections", stage->name);
}

/* Data of a frame of a series: its strong reflections, which may be few, because other frames show the same
 * reflections; without any, all reflections, which shows how dark they are. */
static db_status select_parts(const db_refinement *r, double dmin, const db_fit_stage *stage,
                              db_stage_data *taken) {
    static const db_shoebox_choice choice[] = { DB_SHOEBOXES_STRONG, DB_SHOEBOXES_ALL };
    for (int k = 0; k < 2; k++) {
        DB_TRY(db_stage_data_take(r->context, &r->result->experiment, &r->data, dmin, stage->blur,
                                  choice[k], taken));
        if (taken->blocks.count) return DB_OK;
        db_stage_data_clear(taken);
    }
    return db_refinement_fail_dark(r->context, stage);
}

/* Free intensities: takes as many reflections as the number of parameters requires, at a higher
 * resolution if necessary. */
static db_status select_enough_data(const db_refinement *r, int number, db_stage_data *taken) {
    const db_fit_stage *const stage = &r->data.settings->stages[number];
    const double fewest = fmax(r->data.settings->min_strong_reflections,
                               3.0 * (double)r->data.settings->parameter_count);
    double dmin;
    DB_TRY(db_stage_limit(r->context, &r->result->experiment, &r->data, number, &dmin));
    if (r->data.settings->one_of_series) return select_parts(r, dmin, stage, taken);
    for (int attempt = 0;; attempt++) {
        DB_TRY(db_stage_data_take(r->context, &r->result->experiment, &r->data, dmin, stage->blur,
                                  DB_SHOEBOXES_STRONG, taken));
        const int last = dmin <= fmax(r->data.settings->dmin, 0.1) || attempt > 30;
        const int known = r->data.settings->intensity == DB_FIT_KNOWN && taken->blocks.count > 0;
        if (known || (double)taken->blocks.count >= fewest) return DB_OK;
        if (last) break;
        db_stage_data_clear(taken);
        dmin *= 0.85;
    }
    if (taken->blocks.count) return DB_OK;
    db_stage_data_clear(taken);
    return db_refinement_fail_dark(r->context, stage);
}

/* Gives values to a model that is kept. */
static db_status set_values(db_context *context, const db_variables *variables, const double *value,
                            db_experiment *model, db_panel_placement *placement) {
    db_variables_store(variables, value, model);
    db_variables_place(variables, value, placement);
    return db_panel_placement_apply(context, placement, &model->detector);
}

db_status db_refinement_store(db_refinement *r, const db_variables *variables,
                              const db_stage_result *end) {
    db_fit_result *const result = r->result;
    const db_status status =
        set_values(r->context, variables, end->value, &result->experiment, &r->placement);
    for (size_t k = 0; k < variables->count; k++)
        result->estimates.list[variables->index[k]].at_bound = end->at_bound[k];
    result->status = end->end == DB_STAGE_CONVERGED   ? DB_OK
                     : end->end == DB_STAGE_CANCELLED ? DB_ERROR_CANCELLED
                                                      : DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "%s", end->reason);
    return status;
}

void db_refinement_drop(db_refinement *r, int number) {
    const unsigned before = (1u << number) - 1;
    for (size_t i = 0; i < r->own->parameter_count; i++) {
        db_fit_parameter *const p = &r->own->parameters[i];
        if (db_fit_parameter_in_stage(p, (size_t)number) && !(p->stages & before))
            p->stages = DB_FIT_NOT_EARNED;
    }
}

/* Sums of the crystal's calculated counts, and of the measured counts above the local
 * background. */
static void total_counts(const db_objective *objective, double *model, double *measured) {
    const db_fit_blocks *const blocks = &objective->blocks;
    *model = *measured = 0;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        for (int s = 0; s < r->slow_count; s++) {
            for (int f = 0; f < r->fast_count; f++) {
                const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
                if (!(blocks->weight[i] > 0)) continue;
                *model += (double)objective->shape[i];
                *measured += (double)blocks->value[i] - (double)blocks->background[i];
            }
        }
    }
}

static size_t position_of(const db_fit_estimates *found, db_parameter p) {
    size_t i = 0;
    while (i < found->count && found->list[i].parameter != p) i++;
    return i;
}

/* Known intensities: while a stage does not refine the scale, it follows from the total
 * intensity. This works even where calculated and measured spots do not overlap; least squares
 * would then give a scale near 0. */
static db_status match_total(db_refinement *r, int number, const db_stage_data *taken) {
    db_fit_result *const result = r->result;
    const size_t i = position_of(&result->estimates, DB_SCALE);
    if (r->data.settings->intensity != DB_FIT_KNOWN || i == result->estimates.count || r->scaled ||
        db_fit_parameter_in_stage(&r->data.settings->parameters[i], (size_t)number))
        return DB_OK;
    const db_objective_options request = { .target = DB_FIT_WEIGHTED };
    db_objective objective;
    double model, measured;
    DB_TRY(db_stage_data_objective(r->context, &result->experiment, &r->data, taken, &request,
                                   &objective));
    const db_status status = db_objective_evaluate(&objective, NULL, DB_OBJECTIVE_LOSS);
    if (status == DB_OK) total_counts(&objective, &model, &measured);
    db_objective_destroy(&objective);
    DB_TRY(status);
    if (!(model > 0 && measured > 0)) return DB_OK;
    const db_fit_parameter *const p = &r->data.settings->parameters[i];
    double *const scale = &result->experiment.beam.scale;
    *scale = fmin(fmax(*scale * measured / model, p->lower), p->upper);
    return DB_OK;
}

/* Known intensities: a refined overall scale starts at its best value, however wrong it was. */
static db_status start_scale(db_objective *objective) {
    db_variables *const v = &objective->variables;
    for (size_t k = 0; k < v->table_count; k++) {
        if (v->parameter[k] != DB_SCALE) continue;
        const db_intensity_rule rule = objective->rule;
        objective->rule = DB_INTENSITY_SHARED;
        const db_status status = db_objective_evaluate(objective, v->start, DB_OBJECTIVE_LOSS);
        objective->rule = rule;
        DB_TRY(status);
        const double best = v->start[k] * objective->solution[0].linear[0];
        if (best > 0) v->start[k] = v->origin[k] = fmin(fmax(best, v->lower[k]), v->upper[k]);
        db_objective_restart(objective);
    }
    return DB_OK;
}

/* Updates linear coefficients, and everything that depends on the model, for the start. */
static db_status prepare_objective(db_refinement *r, int number, db_objective_depth next,
                                   db_stage_data *taken, db_objective *objective) {
    const int known = r->data.settings->intensity == DB_FIT_KNOWN;
    if (!(objective->degrees > 0))
        return db_fail(r->context, DB_ERROR_INPUT,
                       "stage %s: %zu usable pixels are too few for its coefficients",
                       r->data.settings->stages[number].name, objective->pixels_used);
    if (known) DB_TRY(start_scale(objective));
    /* Known intensities: the first model is too far off for weights from the model. */
    if (number == 0 && known) return DB_OK;
    return db_stage_data_adapt(taken, &r->data, objective, objective->variables.start, next);
}

db_status db_refinement_make_objective(db_refinement *r, int number, const db_stage_data *taken,
                                       db_objective *objective) {
    const db_fit_stage *const stage = &r->data.settings->stages[number];
    const db_objective_options request = { .stages = 1u << number,
                                           .given = &r->given,
                                           .placement = &r->placement,
                                           .target = stage->target < 0
                                                         ? r->data.settings->target
                                                         : (db_fit_target)stage->target };
    return db_stage_data_objective(r->context, &r->result->experiment, &r->data, taken, &request,
                                   objective);
}

db_status db_refinement_open_stage(db_refinement *r, int number, db_objective_depth next,
                                   db_stage_data *taken, db_objective *objective) {
    DB_TRY(select_enough_data(r, number, taken));
    db_status status = match_total(r, number, taken);
    if (status == DB_OK) status = db_refinement_make_objective(r, number, taken, objective);
    if (status == DB_OK) {
        status = prepare_objective(r, number, next, taken, objective);
        if (status != DB_OK) db_objective_destroy(objective);
    }
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

db_fit_trial *db_refinement_trial(db_refinement *r, int number) {
    db_fit_result *const result = r->result;
    if (!result->trials) result->trials = calloc(DB_FIT_MAX_STAGES, sizeof *result->trials);
    if (!result->trials || result->trial_count == DB_FIT_MAX_STAGES) return NULL;
    db_fit_trial *const trial = &result->trials[result->trial_count++];
    *trial = (db_fit_trial){ .stage = number };
    return trial;
}

/* Is the model near enough to the pixels for a stage? */
static db_status is_near(db_refinement *r, int number, db_objective *objective, int *near) {
    const double most = r->data.settings->stages[number].most_misfit;
    *near = 1;
    if (!(most > 0)) return DB_OK;
    db_fit_trial *const trial = db_refinement_trial(r, number);
    if (!trial) return db_fail_memory(r->context, "the trial of a stage");
    DB_TRY(db_objective_evaluate(objective, objective->variables.start, DB_OBJECTIVE_LOSS));
    trial->misfit = objective->loss / objective->degrees;
    *near = trial->kept = trial->misfit <= most;
    return DB_OK;
}

/* Weighs the spots by the present model with other values. */
static db_status weigh_values(const db_refinement *r, const db_variables *variables,
                              const double *value, double *margin) {
    db_experiment model;
    db_panel_placement placement;
    DB_TRY(db_experiment_copy(r->context, &r->result->experiment, &model));
    db_status status = db_panel_placement_copy(r->context, &r->placement, &placement);
    if (status == DB_OK) {
        status = set_values(r->context, variables, value, &model, &placement);
        if (status == DB_OK) status = r->weigh_spots(r->context, &model, &r->data, margin);
        db_panel_placement_clear(&placement);
    }
    db_experiment_clear(&model);
    return status;
}

/* Pixels with free intensities do not tell which part of a bent crystal is its middle, and misfit may turn the model away from
 * it. Spots tell, since they are seen. May the model that a stage with a condition has found be kept? */
static db_status is_confirmed(db_refinement *r, int number, const db_variables *variables,
                              const db_stage_result *end, int *confirmed) {
    const db_fit_settings *const settings = r->data.settings;
    *confirmed = 1;
    if (!(settings->stages[number].most_misfit > 0) || settings->intensity != DB_FIT_FREE ||
        !r->weigh_spots || end->end != DB_STAGE_CONVERGED)
        return DB_OK;
    db_fit_trial *const trial = &r->result->trials[r->result->trial_count - 1];
    double before, after;
    DB_TRY(r->weigh_spots(r->context, &r->result->experiment, &r->data, &before));
    DB_TRY(weigh_values(r, variables, end->value, &after));
    trial->before = -before;
    trial->after = -after;
    *confirmed = trial->kept = !(before - after > DB_CERTAIN);
    return DB_OK;
}

db_status db_refinement_run_stage(db_refinement *r, int number, db_stage_result *end) {
    db_stage_data taken;
    db_objective objective;
    int near = 0, confirmed = 0;
    memset(end, 0, sizeof *end);
    DB_TRY(db_refinement_open_stage(r, number, DB_OBJECTIVE_NORMAL, &taken, &objective));
    db_status status = is_near(r, number, &objective, &near);
    if (status == DB_OK && near) {
        status = db_optimize_stage(&objective, &r->data.settings->stages[number], number, &r->given,
                                   &r->course, end);
        if (status == DB_OK)
            status = is_confirmed(r, number, &objective.variables, end, &confirmed);
        if (status == DB_OK && confirmed)
            status = db_refinement_store(r, &objective.variables, end);
        else if (status == DB_OK)
            memset(end, 0, sizeof *end); /* as for a stage that is not begun */
    }
    db_objective_destroy(&objective);
    db_stage_data_clear(&taken);
    return status;
}

/* Reports values as users know them. */
static void report_model(const db_refinement *r, double *value) {
    db_report_values(r->data.settings, &r->given, &r->result->experiment, &r->placement, value);
}

db_status db_refinement_begin(db_refinement *r, const db_experiment *start) {
    const db_fit_settings *const settings = r->data.settings;
    db_fit_result *const result = r->result;
    double value[DB_FIT_MOST_PARAMETERS];
    DB_TRY(db_experiment_copy(r->context, start, &result->experiment));
    result->shoebox_half_width = settings->shoebox_half_width;
    DB_TRY(db_panel_placement_make(r->context, &start->detector, &settings->panel_groups,
                                   &r->placement));
    DB_TRY(db_estimates_make(r->context, settings, &result->estimates));
    r->course.width = settings->parameter_count;
    r->given = start->crystal;
    db_modes_leave_zero(settings, &result->experiment);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        if (db_fit_parameter_is_tied(p) && p->group < 0)
            db_parameter_set(
                &result->experiment, p->parameter,
                db_parameter_get(&result->experiment, db_quantity_parameter(p->follows)));
    }
    report_model(r, value);
    for (size_t i = 0; i < settings->parameter_count; i++)
        result->estimates.list[i].start = result->estimates.list[i].value = value[i];
    if (db_orientation_is_refined(settings)) db_orientation_fold(&result->experiment.crystal);
    return DB_OK;
}

db_status db_refinement_begin_apart(db_refinement *r, const db_experiment *start) {
    r->result = calloc(1, sizeof *r->result); /* large: stacks are small */
    if (!r->result) return db_fail_memory(r->context, "the result of a trial");
    return db_refinement_begin(r, start);
}

void db_refinement_clear_apart(db_refinement *r) {
    db_panel_placement_clear(&r->placement);
    db_fit_course_clear(&r->course);
    if (!r->result) return;
    db_experiment_clear(&r->result->experiment);
    free(r->result->estimates.memory);
    free(r->result->trials);
    free(r->result);
}

void db_refinement_finish(db_refinement *r) {
    double value[DB_FIT_MOST_PARAMETERS];
    report_model(r, value);
    for (size_t i = 0; i < r->result->estimates.count; i++)
        r->result->estimates.list[i].value = value[i];
    db_orientation_report(r->data.settings, &r->given, &r->result->experiment.crystal);
}

/* Resolution that contains a fraction of the spots, nearest to the beam. */

enum { FEWEST = 100 };

/* Lengths of scattering vectors (1/angstrom) of the spots in the resolution range, the shortest first. */
static db_status list_lengths(db_context *context, const db_experiment *model,
                              const db_fit_settings *settings, const db_observed_spots *spots,
                              double *length, size_t *count) {
    db_fit_geometry geometry;
    *count = 0;
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    for (size_t i = 0; i < spots->count; i++) {
        double q[3];
        db_fit_geometry_scattering(&geometry, spots->spot[i].panel, spots->spot[i].position, q);
        const double own = db_length(q);
        if (db_fit_is_in_range(settings, 1 / own)) length[(*count)++] = own;
    }
    db_fit_geometry_clear(&geometry);
    db_sort_numbers(length, *count);
    return DB_OK;
}

/* Fewest spots for a stage: three for each of its variables, and enough for a certain orientation. */
static size_t fewest_of(const db_fit_settings *settings, int stage) {
    size_t variables = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        variables += db_fit_parameter_in_stage(&settings->parameters[i], (size_t)stage) &&
                     !db_fit_parameter_is_tied(&settings->parameters[i]);
    return 3 * variables > FEWEST ? 3 * variables : FEWEST;
}

db_status db_stage_limit(db_context *context, const db_experiment *model, const db_fit_data *data,
                         int number, double *dmin) {
    const db_fit_stage *const stage = &data->settings->stages[number];
    const size_t fewest = fewest_of(data->settings, number);
    db_observed_spots spots;
    size_t count = 0;
    *dmin = stage->dmin;
    if (!(stage->innermost > 0 && stage->innermost < 1) || data->settings->spots) return DB_OK;
    DB_TRY(db_observed_spots_find(context, data->image, data->strong, data->settings, &spots));
    double *const length = malloc((spots.count + 1) * sizeof *length);
    const db_status status =
        length ? list_lengths(context, model, data->settings, &spots, length, &count)
               : db_fail_memory(context, "the resolution of spots");
    const size_t wanted = (size_t)(stage->innermost * (double)count),
                 last = wanted > fewest ? wanted : fewest;
    if (status == DB_OK && last < count) *dmin = fmax(*dmin, 1 / length[last]);
    free(length);
    db_observed_spots_clear(&spots);
    return status;
}
