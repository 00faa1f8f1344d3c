/* A refinement of one image from start to end: stages one after the other, then statistics, errors
 * and verdict. */
#define _POSIX_C_SOURCE 199309L
#include "base/context_internal.h"
#include "fit/config/device_notice.h"
#include "fit/pixels/rendering.h"
#include "fit/search/check_settings.h"
#include "fit/verdict/conclude.h"
#include "fit/result/goodness.h"
#include "fit/config/physical_range.h"
#include "fit/search/refinement.h"
#include "fit/verdict/result_boxes.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/search/starts.h"
#include "fit/verdict/verdict.h"

#include <dualbragg/expert/fit_steps.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static db_status run_stages(db_refinement *r, const db_experiment *start) {
    const double begin = now();
    DB_TRY(db_starts_run(r, start));
    r->result->refining_seconds = now() - begin;
    return DB_OK;
}

/* A minimum that fails a test of the verdict does not count as converged. */
static void apply_verdict(db_fit_result *result) {
    if (result->status != DB_OK || result->verdict.usable) return;
    result->status = DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "a minimum was found, but %.448s",
             result->verdict.reason);
}

/* predicted: by the start. */
static db_status refuse_blank(db_refinement *r, const db_prediction *predicted) {
    r->predicted = predicted->reflection ? predicted : NULL;
    const db_status status = db_refinement_refuse_blank(r);
    r->predicted = NULL;
    return status;
}

static db_status refine(db_refinement *r, const db_experiment *start, db_prediction *predicted) {
    db_fit_result *const result = r->result;
    DB_TRY(db_refinement_begin(r, start));
    db_experiment tied;
    DB_TRY(db_experiment_borrow(r->context, &result->experiment, &tied));
    /* With several starts the given one may be bad. */
    db_status status = r->data.settings->starts.count > 1 ? DB_OK : refuse_blank(r, predicted);
    db_prediction_clear(predicted);
    if (status == DB_OK) status = run_stages(r, start);
    db_refinement_finish(r);
    if (status == DB_OK)
        status = db_fit_conclude(r->context, &tied, &r->data, &r->placement, result);
    db_experiment_give_back(&tied);
    db_panel_placement_clear(&r->placement);
    if (status == DB_OK) apply_verdict(result);
    result->history = r->course.history;
    result->history_values = r->course.values;
    result->history_count = r->course.count;
    result->evaluations = (int)r->course.count;
    return status;
}

/* The settings are completed. */
static db_status run(db_context *context, const db_experiment *start,
                     const db_measured_image *image, db_fit_settings *settings,
                     db_fit_progress progress, void *user, db_fit_result **result) {
    if (settings->stage_count == 0) db_fit_default_stages(start, settings);
    DB_TRY(db_fit_check(context, start, image, settings, 0));
    if (start->spread.spots == DB_SPOTS_CLOSED)
        db_device_notice(context, "it makes the list of spots in closed form");
    for (size_t i = 0; i < settings->parameter_count; i++)
        db_limit_bounds(start, &settings->starts, &settings->parameters[i]);
    db_strong_pixels strong;
    db_prediction predicted;
    DB_TRY(db_shoebox_size_predict(context, start, settings, &predicted));
    db_status status = db_strong_pixels_find(context, image, settings, &strong);
    if (status != DB_OK) {
        db_prediction_clear(&predicted);
        return status;
    }
    db_refinement r = { .context = context,
                        .data = { image, &strong, settings },
                        .own = settings,
                        .check = db_verdict_of_lattice,
                        .course = { .progress = progress, .user = user } };
    r.result = calloc(1, sizeof *r.result);
    status = r.result ? refine(&r, start, &predicted) : db_fail_memory(context, "the result");
    db_prediction_clear(&predicted);
    db_strong_pixels_clear(&strong);
    if (status != DB_OK) {
        db_fit_result_destroy(&r.result);
        return status;
    }
    *result = r.result;
    return r.result->status == DB_OK ? DB_OK
                                     : db_fail(context, r.result->status, "%s", r.result->reason);
}

db_status db_fit_run(db_context *context, const db_experiment *start,
                     const db_measured_image *image, const db_fit_settings *settings,
                     db_fit_progress progress, void *user, db_fit_result **result) {
    const double begin = now();
    db_fit_settings own;
    *result = NULL;
    DB_TRY(db_fit_settings_copy(context, settings, &own));
    const db_status status = run(context, start, image, &own, progress, user, result);
    db_fit_settings_clear(&own);
    if (*result) (*result)->seconds = now() - begin;
    return status;
}

void db_fit_result_destroy(db_fit_result **result) {
    if (!result || !*result) return;
    db_result_boxes_free(*result);
    free((*result)->distrusted);
    db_goodness_free(*result);
    db_experiment_clear(&(*result)->experiment);
    free((*result)->history);
    free((*result)->history_values);
    free((*result)->estimates.memory);
    free((*result)->amplitudes);
    free((*result)->warnings);
    free((*result)->advice);
    free((*result)->starts);
    free((*result)->trials);
    free((*result)->model_image);
    free((*result)->background_image);
    free((*result)->reflections);
    free(*result);
    *result = NULL;
}

db_status db_fit_evaluate(db_context *context, const db_experiment *experiment,
                          const db_experiment *placed_by, const db_measured_image *image,
                          const db_fit_settings *settings, db_fit_statistics *statistics) {
    db_strong_pixels strong;
    DB_TRY(db_fit_check_data(context, experiment, image, settings));
    if (placed_by) DB_TRY(db_fit_check_data(context, placed_by, image, settings));
    db_fit_settings own = *settings; /* borrows its lists */
    DB_TRY(db_shoebox_size_choose(context, placed_by ? placed_by : experiment, &own));
    DB_TRY(db_strong_pixels_find(context, image, &own, &strong));
    const db_fit_data data = { image, &strong, &own };
    const db_status status =
        db_fit_measure(context, experiment, placed_by ? placed_by : experiment, &data, statistics);
    db_strong_pixels_clear(&strong);
    return status;
}
