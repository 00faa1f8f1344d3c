#include "fit/conclude.h"

#include "core/context_internal.h"
#include "fit/covariance.h"
#include "fit/goodness.h"
#include "fit/model_image.h"
#include "fit/result_boxes.h"
#include "fit/statistics.h"
#include "fit/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char nothing_active[DB_PARAMETER_COUNT];

static db_status strong_fraction(db_context *context, const db_experiment *experiment,
                                 const db_fit_data *data, float *image,
                                 db_fit_statistics *statistics) {
    size_t strong, explained;
    DB_TRY(db_statistics_strong_pixels(context, experiment, data, &strong));
    DB_TRY(db_model_image(context, experiment, data, &explained, image));
    statistics->strong_pixels = (double)strong;
    statistics->strong_explained = strong ? (double)explained / (double)strong : 0;
    return DB_OK;
}

/* The boxes in which results are shown. Free: those of the data, with the target's model. Known: as
 * for free intensities, with scale and planes of the tiles. */
typedef struct display {
    db_shoeboxes boxes;
    db_target target;
} display;

static void clear_display(display *shown) {
    db_target_destroy(&shown->target);
    db_shoeboxes_clear(&shown->boxes);
}

/* Scale and plane of the tile that holds a box's centre, expressed for the box. */
static void take_over(const db_target *tiles, const db_region *box, double linear[DB_LINEAR]) {
    const int fast = box->fast_start + box->fast_count / 2,
              slow = box->slow_start + box->slow_count / 2;
    for (size_t b = 0; b < tiles->blocks.count; b++) {
        const db_region *const tile = &tiles->blocks.region[b];
        if (tile->panel != box->panel) continue;
        const int f = fast - tile->fast_start, s = slow - tile->slow_start;
        if (f < 0 || s < 0 || f >= tile->fast_count || s >= tile->slow_count) continue;
        memcpy(linear, tiles->solution[b].linear, DB_LINEAR * sizeof *linear);
        linear[1] = db_block_plane(linear, tile, f, s);
    }
}

static db_status make_display(db_context *context, const db_fit_data *data, const db_target *tiles,
                              double model_error, display *shown) {
    db_shoeboxes *const boxes = &shown->boxes;
    memset(shown, 0, sizeof *shown);
    DB_TRY(db_shoeboxes_place(context, &tiles->experiment, data, 0, DB_SHOEBOXES_STRONG, boxes));
    if (boxes->count == 0) return DB_OK;
    db_shoeboxes_weigh(boxes, data->settings, model_error);
    const db_fit_blocks blocks = { boxes->count, boxes->region, boxes->value, boxes->weight, NULL };
    DB_TRY(db_target_create(context, &tiles->experiment, data->settings, &blocks, nothing_active, 1,
                            &shown->target));
    DB_TRY(db_target_evaluate(&shown->target, NULL, DB_TARGET_VALUE));
    for (size_t b = 0; b < boxes->count; b++)
        take_over(tiles, &boxes->region[b], shown->target.solution[b].linear);
    return DB_OK;
}

/* Statistics of the target as last evaluated; fills the result's boxes if it is not NULL. */
static db_status describe(db_context *context, const db_fit_data *data, const db_stage_data *taken,
                          const db_target *target, db_fit_statistics *statistics,
                          db_fit_result *result) {
    db_statistics_residuals(target, statistics);
    const double inflation = fmax(1, statistics->chi2_reduced);
    if (data->settings->intensity == DB_FIT_FREE) {
        db_statistics_centroids(target, &taken->boxes, statistics);
        return result ? db_result_boxes_make(context, target, &taken->boxes, inflation, result)
                      : DB_OK;
    }
    display shown;
    db_status status = make_display(context, data, target, taken->model_error, &shown);
    if (status == DB_OK) db_statistics_centroids(&shown.target, &shown.boxes, statistics);
    if (status == DB_OK && result)
        status = db_result_boxes_make(context, &shown.target, &shown.boxes, inflation, result);
    clear_display(&shown);
    return status;
}

/* The target's parameters are some of the result's. */
static void take_direction(const db_target *target, const db_fit_direction *from,
                           db_fit_direction *to) {
    *to = (db_fit_direction){ .eigenvalue = from->eigenvalue, .condition = from->condition };
    for (size_t k = 0; k < target->count; k++) {
        to->component[target->index[k]] = from->component[k];
        to->change[target->index[k]] = from->change[k];
    }
}

/* Errors: from J^T J, enlarged by the misfit, as the variances do not account for it. */
static void estimate_errors(const db_target *target, double chi2_reduced, db_fit_result *result) {
    const size_t n = target->count;
    int used[DB_PARAMETER_COUNT] = { 0 };
    db_covariance c;
    for (size_t k = 0; k < n; k++) used[k] = result->at_bound[target->index[k]] == 0;
    db_covariance_estimate(target->normal, n, used, &c);
    for (size_t i = 0; i < result->parameter_count; i++) {
        result->error[i] = result->error_unscaled[i] = NAN;
        result->correlation[i][i] = 1;
    }
    for (size_t k = 0; k < n; k++) {
        result->error_unscaled[target->index[k]] = c.error[k];
        result->error[target->index[k]] = c.error[k] * sqrt(fmax(1, chi2_reduced));
        for (size_t l = 0; l < n; l++)
            result->correlation[target->index[k]][target->index[l]] = c.correlation[k][l];
    }
    result->direction_count = c.direction_count;
    for (size_t d = 0; d < c.direction_count; d++)
        take_direction(target, &c.direction[d], &result->direction[d]);
}

static db_status compare(db_context *context, const db_fit_data *data, db_stage_data *taken,
                         db_target *target, db_fit_result *result) {
    double start[DB_PARAMETER_COUNT], refined[DB_PARAMETER_COUNT];
    for (size_t k = 0; k < target->count; k++) {
        start[k] = result->start[target->index[k]];
        refined[k] = result->refined[target->index[k]];
    }
    DB_TRY(db_target_evaluate(target, refined, DB_TARGET_VALUE));
    DB_TRY(db_stage_data_adapt(taken, data, target));
    DB_TRY(db_goodness_prepare(context, target, result));
    DB_TRY(db_target_evaluate(target, start, DB_TARGET_VALUE));
    DB_TRY(db_goodness_measure(context, target, DB_GOODNESS_BEFORE, result));
    DB_TRY(describe(context, data, taken, target, &result->before, NULL));
    DB_TRY(db_target_evaluate(target, refined, DB_TARGET_NORMAL));
    DB_TRY(db_goodness_measure(context, target, DB_GOODNESS_AFTER, result));
    DB_TRY(describe(context, data, taken, target, &result->after, result));
    db_goodness_shifts(result);
    estimate_errors(target, result->after.chi2_reduced, result);
    return DB_OK;
}

static db_status compare_on_final_data(db_context *context, const db_fit_data *data,
                                       db_fit_result *result) {
    unsigned char active[DB_PARAMETER_COUNT] = { 0 };
    for (size_t i = 0; i < result->parameter_count; i++) active[result->parameter[i]] = 1;
    db_stage_data taken;
    db_target target;
    DB_TRY(
        db_stage_data_take(context, &result->experiment, data, 0, 1, DB_SHOEBOXES_STRONG, &taken));
    db_status status = taken.blocks.count
                           ? db_target_create(context, &result->experiment, data->settings,
                                              &taken.blocks, active, 1, &target)
                           : db_fail(context, DB_ERROR_INPUT,
                                     "the refined model predicts none of the strong reflections");
    if (status == DB_OK) {
        status = compare(context, data, &taken, &target, result);
        db_target_destroy(&target);
    }
    db_stage_data_clear(&taken);
    return status;
}

db_status db_fit_conclude(db_context *context, const db_experiment *start, const db_fit_data *data,
                          db_fit_result *result) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    DB_TRY(compare_on_final_data(context, data, result));
    result->model_image = malloc(pixels * sizeof *result->model_image);
    if (!result->model_image) return db_fail_memory(context, "the model's image");
    result->fast_pixels = data->image->fast_pixels;
    result->slow_pixels = data->image->slow_pixels;
    DB_TRY(strong_fraction(context, start, data, NULL, &result->before));
    DB_TRY(
        strong_fraction(context, &result->experiment, data, result->model_image, &result->after));
    return db_fit_warnings_make(context, result);
}

static db_status measure_on(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, db_stage_data *taken,
                            db_fit_statistics *statistics) {
    db_target target;
    DB_TRY(db_target_create(context, experiment, data->settings, &taken->blocks, nothing_active, 1,
                            &target));
    db_status status = db_target_evaluate(&target, NULL, DB_TARGET_VALUE);
    if (status == DB_OK) status = db_stage_data_adapt(taken, data, &target);
    if (status == DB_OK) status = db_target_evaluate(&target, NULL, DB_TARGET_VALUE);
    if (status == DB_OK) status = describe(context, data, taken, &target, statistics, NULL);
    db_target_destroy(&target);
    return status;
}

db_status db_fit_measure(db_context *context, const db_experiment *experiment,
                         const db_experiment *placed_by, const db_fit_data *data,
                         db_fit_statistics *statistics) {
    db_stage_data taken;
    memset(statistics, 0, sizeof *statistics);
    DB_TRY(db_stage_data_take(context, placed_by, data, 0, 1, DB_SHOEBOXES_STRONG, &taken));
    db_status status =
        taken.blocks.count
            ? measure_on(context, experiment, data, &taken, statistics)
            : db_fail(context, DB_ERROR_INPUT, "the model predicts none of the strong reflections");
    db_stage_data_clear(&taken);
    DB_TRY(status);
    return strong_fraction(context, experiment, data, NULL, statistics);
}
