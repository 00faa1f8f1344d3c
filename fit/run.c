/* A refinement from start to end: stages one after the other, then what there is to say. */
#define _POSIX_C_SOURCE 199309L
#include "core/context_internal.h"
#include "fit/check_settings.h"
#include "fit/conclude.h"
#include "fit/goodness.h"
#include "fit/misset.h"
#include "fit/optimize.h"
#include "fit/result_boxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct run {
    db_context *context;
    db_fit_data data;
    db_fit_course course;
    db_fit_result *result;  /* its experiment is the model so far */
    db_crystal begin;       /* the crystal at the start, its misset folded into the orientation */
    double begin_misset[3]; /* which was this (degree) */
} run;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* An image without enough strong reflections where the model predicts some has nothing to refine
 * against. */
static db_status refuse_blank(const run *r) {
    const db_fit_settings *const settings = r->data.settings;
    const db_strong_pixels *const strong = r->data.strong;
    db_shoeboxes boxes;
    DB_TRY(db_shoeboxes_place(r->context, &r->result->experiment, &r->data, 0, DB_SHOEBOXES_STRONG,
                              &boxes));
    const size_t count = boxes.count;
    db_shoeboxes_clear(&boxes);
    if (count >= (size_t)settings->min_strong_reflections) return DB_OK;
    return db_fail(
        r->context, DB_ERROR_INPUT,
        "blank image, or a model that does not fit it at all: only %zu predicted reflections have "
        "strong pixels (%g sigma above the background), at least %d are needed; the image has %zu "
        "strong pixels in %zu spots",
        count, settings->strong_sigma, settings->min_strong_reflections, strong->count,
        strong->spots);
}

/* Free intensities: as many reflections as parameters ask for; the resolution is extended until
 * there are. */
static db_status take_enough(const run *r, const db_fit_stage *stage, db_stage_data *taken) {
    const double fewest = fmax(r->data.settings->min_strong_reflections,
                               3.0 * (double)r->data.settings->parameter_count);
    double dmin = stage->dmin;
    for (int attempt = 0;; attempt++) {
        DB_TRY(db_stage_data_take(r->context, &r->result->experiment, &r->data, dmin, stage->blur,
                                  DB_SHOEBOXES_STRONG, taken));
        const int last = dmin <= fmax(r->data.settings->dmin, 0.1) || attempt > 30;
        if (r->data.settings->intensity == DB_FIT_KNOWN || (double)taken->blocks.count >= fewest)
            return DB_OK;
        if (last) break;
        db_stage_data_clear(taken);
        dmin *= 0.85;
    }
    if (taken->blocks.count) return DB_OK;
    db_stage_data_clear(taken);
    return db_fail(r->context, DB_ERROR_INPUT,
                   "stage %s: the model predicts none of the strong reflections", stage->name);
}

/* Which of the parameters are turned by a stage. */
static int turns(const db_fit_stage *stage) {
    return stage->active[DB_MISSET_X] || stage->active[DB_MISSET_Y] || stage->active[DB_MISSET_Z];
}

/* What the crystal has turned about the laboratory's axes, as values of the misset. */
static void turned_so_far(const run *r, double turned[3]) {
    db_misset_from(r->begin.orientation, &r->result->experiment.crystal, turned);
    for (int i = 0; i < 3; i++) turned[i] += r->begin_misset[i];
}

static void store(run *r, const db_shot *shot, const db_stage_result *end) {
    db_fit_result *const result = r->result;
    db_experiment *const model = &result->experiment;
    db_crystal turned = shot->experiment.crystal;
    db_variables_set(&shot->variables, end->value, model);
    for (int i = 0; i < 3; i++) turned.misset[i] = model->crystal.misset[i];
    /* The shot's orientation may hold the misset. */
    db_misset_from(model->crystal.orientation, &turned, model->crystal.misset);
    for (size_t k = 0; k < shot->variables.count; k++)
        result->at_bound[shot->variables.index[k]] = end->at_bound[k];
    for (size_t i = 0; i < result->parameter_count; i++)
        result->refined[i] = db_parameter_get(model, result->parameter[i]);
    result->status = end->end == DB_STAGE_CONVERGED ? DB_OK : DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "%s", end->reason);
}

/* Sums of what the model says of the crystal and of what is measured above the local background. */
static void total_counts(const db_shot *shot, double *model, double *measured) {
    const db_fit_blocks *const blocks = &shot->blocks;
    *model = *measured = 0;
    for (size_t b = 0; b < blocks->count; b++) {
        const db_region *const r = &blocks->region[b];
        for (int s = 0; s < r->slow_count; s++) {
            for (int f = 0; f < r->fast_count; f++) {
                const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
                if (!(blocks->weight[i] > 0)) continue;
                *model += (double)shot->shape[i];
                *measured += (double)blocks->value[i] - (double)blocks->background[i];
            }
        }
    }
}

static size_t position_of(const db_fit_result *result, db_parameter p) {
    size_t i = 0;
    while (i < result->parameter_count && result->parameter[i] != p) i++;
    return i;
}

/* Known: while a stage does not refine the scale, it is that of the total intensity. Spots need not
 * overlap their models for that, while the scale of least squares would be next to none. */
static db_status match_total(run *r, int number, const db_stage_data *taken) {
    db_fit_result *const result = r->result;
    const size_t i = position_of(result, DB_SCALE);
    if (r->data.settings->intensity != DB_FIT_KNOWN || i == result->parameter_count ||
        r->data.settings->stages[number].active[DB_SCALE])
        return DB_OK;
    const db_shot_request request = { .target = DB_FIT_WEIGHTED };
    db_shot shot;
    double model, measured;
    DB_TRY(db_stage_data_shot(r->context, &result->experiment, &r->data, taken, &request, &shot));
    const db_status status = db_shot_evaluate(&shot, NULL, DB_SHOT_LOSS);
    if (status == DB_OK) total_counts(&shot, &model, &measured);
    db_shot_destroy(&shot);
    DB_TRY(status);
    if (!(model > 0 && measured > 0)) return DB_OK;
    const db_fit_parameter *const p = &r->data.settings->parameters[i];
    double *const scale = &result->experiment.beam.scale;
    *scale = fmin(fmax(*scale * measured / model, p->lower), p->upper);
    result->refined[i] = *scale;
    return DB_OK;
}

/* Known: an overall scale that is a parameter starts at its best value, however far off it was. */
static db_status start_scale(db_shot *shot) {
    db_variables *const v = &shot->variables;
    for (size_t k = 0; k < v->count; k++) {
        if (v->parameter[k] != DB_SCALE) continue;
        shot->rule = DB_INTENSITY_SHARED;
        const db_status status = db_shot_evaluate(shot, v->start, DB_SHOT_LOSS);
        shot->rule = DB_INTENSITY_ONE;
        DB_TRY(status);
        const double best = v->start[k] * shot->solution[0].linear[0];
        if (best > 0) v->start[k] = v->origin[k] = fmin(fmax(best, v->lower[k]), v->upper[k]);
        db_shot_restart(shot);
    }
    return DB_OK;
}

static db_status optimize(run *r, int number, db_stage_data *taken, db_shot *shot,
                          db_stage_result *end) {
    const int known = r->data.settings->intensity == DB_FIT_KNOWN;
    if (!(shot->degrees > 0))
        return db_fail(r->context, DB_ERROR_INPUT,
                       "stage %s: %zu usable pixels are too few for its coefficients",
                       r->data.settings->stages[number].name, shot->pixels_used);
    if (known) DB_TRY(start_scale(shot));
    DB_TRY(db_shot_evaluate(shot, shot->variables.start, DB_SHOT_LOSS));
    /* Known: the first stage starts too far off for weights from the model. */
    if (number > 0 || !known) DB_TRY(db_stage_data_adapt(taken, &r->data, shot));
    return db_optimize_stage(shot, &r->data.settings->stages[number], number,
                             r->result->experiment.crystal.orientation, &r->course, end);
}

static db_status run_on(run *r, int number, db_stage_data *taken, db_stage_result *end) {
    const db_fit_stage *const stage = &r->data.settings->stages[number];
    double turned[3];
    DB_TRY(match_total(r, number, taken));
    turned_so_far(r, turned);
    const db_shot_request request = { .active = stage->active,
                                      .turned = turns(stage) ? turned : NULL,
                                      .target = stage->target < 0 ? r->data.settings->target
                                                                  : (db_fit_target)stage->target };
    db_experiment from = r->result->experiment; /* borrows everything but the crystal */
    if (turns(stage)) db_misset_fold(&from.crystal);
    db_shot shot;
    DB_TRY(db_stage_data_shot(r->context, &from, &r->data, taken, &request, &shot));
    const db_status status = optimize(r, number, taken, &shot, end);
    if (status == DB_OK) store(r, &shot, end);
    db_shot_destroy(&shot);
    return status;
}

static db_status run_stage(run *r, int number, db_stage_result *end) {
    db_stage_data taken;
    DB_TRY(take_enough(r, &r->data.settings->stages[number], &taken));
    const db_status status = run_on(r, number, &taken, end);
    db_stage_data_clear(&taken);
    return status;
}

static db_status run_stages(run *r) {
    const double begin = now();
    for (size_t s = 0; s < r->data.settings->stage_count; s++) {
        db_stage_result end;
        DB_TRY(run_stage(r, (int)s, &end));
        if (end.end == DB_STAGE_DIVERGED) break;
    }
    r->result->refining_seconds = now() - begin;
    return DB_OK;
}

/* A minimum that explains next to nothing is not the one that was looked for. */
static void doubt(db_fit_result *result) {
    const double least = 0.05, explained = result->after.strong_explained;
    if (result->status != DB_OK || explained >= least) return;
    result->status = DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason,
             "a minimum was found, but the model explains only %.1f %% of the strong pixels: "
             "orientation or cell "
             "are probably too far off at the start, or the strong pixels are not of this crystal",
             100 * explained);
}

static db_status prepare_result(run *r, const db_experiment *start) {
    const db_fit_settings *const settings = r->data.settings;
    db_fit_result *const result = r->result;
    DB_TRY(db_experiment_copy(r->context, start, &result->experiment));
    result->parameter_count = settings->parameter_count;
    r->begin = start->crystal;
    memcpy(r->begin_misset, start->crystal.misset, sizeof r->begin_misset);
    db_misset_fold(&r->begin);
    if (db_misset_degenerate(&start->crystal)) db_misset_fold(&result->experiment.crystal);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        result->parameter[i] = p->parameter;
        if (p->follows >= 0)
            db_parameter_set(&result->experiment, p->parameter,
                             db_parameter_get(&result->experiment, (db_parameter)p->follows));
        result->start[i] = result->refined[i] = db_parameter_get(&result->experiment, p->parameter);
    }
    return DB_OK;
}

static db_status refine(run *r, const db_experiment *start) {
    db_fit_result *const result = r->result;
    DB_TRY(prepare_result(r, start));
    db_experiment tied;
    DB_TRY(db_experiment_copy(r->context, &result->experiment, &tied));
    db_status status = refuse_blank(r);
    if (status == DB_OK) status = run_stages(r);
    if (status == DB_OK) status = db_fit_conclude(r->context, &tied, &r->data, result);
    db_experiment_clear(&tied);
    if (status == DB_OK) doubt(result);
    result->history = r->course.history;
    result->history_count = r->course.count;
    result->evaluations = (int)r->course.count;
    return status;
}

db_status db_fit_run(db_context *context, const db_experiment *start,
                     const db_measured_image *image, const db_fit_settings *settings,
                     db_fit_progress progress, void *user, db_fit_result **result) {
    const double begin = now();
    *result = NULL;
    db_fit_settings own = *settings;
    if (own.stage_count == 0) db_fit_settings_default_stages(&own);
    DB_TRY(db_fit_check(context, start, image, &own));
    db_strong_pixels strong;
    DB_TRY(db_strong_pixels_find(context, image, &own, &strong));
    run r = { context, { image, &strong, &own }, { progress, user, NULL, 0, 0 },
              NULL,    { .cells = { 0 } },       { 0 } };
    r.result = calloc(1, sizeof *r.result);
    db_status status = r.result ? refine(&r, start) : db_fail_memory(context, "the result");
    db_strong_pixels_clear(&strong);
    if (status != DB_OK) {
        db_fit_result_destroy(&r.result);
        return status;
    }
    r.result->seconds = now() - begin;
    *result = r.result;
    return r.result->status == DB_OK ? DB_OK
                                     : db_fail(context, r.result->status, "%s", r.result->reason);
}

void db_fit_result_destroy(db_fit_result **result) {
    if (!result || !*result) return;
    db_result_boxes_free(*result);
    db_goodness_free(*result);
    db_experiment_clear(&(*result)->experiment);
    free((*result)->history);
    free((*result)->warnings);
    free((*result)->model_image);
    free(*result);
    *result = NULL;
}

db_status db_fit_evaluate(db_context *context, const db_experiment *experiment,
                          const db_experiment *placed_by, const db_measured_image *image,
                          const db_fit_settings *settings, db_fit_statistics *statistics) {
    db_strong_pixels strong;
    DB_TRY(db_fit_check_data(context, experiment, image, settings));
    if (placed_by) DB_TRY(db_fit_check_data(context, placed_by, image, settings));
    DB_TRY(db_strong_pixels_find(context, image, settings, &strong));
    const db_fit_data data = { image, &strong, settings };
    const db_status status =
        db_fit_measure(context, experiment, placed_by ? placed_by : experiment, &data, statistics);
    db_strong_pixels_clear(&strong);
    return status;
}
