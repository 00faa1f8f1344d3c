#include "fit/stage_data.h"

#include "core/context_internal.h"
#include "fit/intensity_ridge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double model_error(const db_fit_settings *settings, double blur) {
    const double own = !isnan(settings->model_error)        ? settings->model_error
                       : settings->intensity == DB_FIT_FREE ? 0.1
                                                            : 0;
    return hypot(own, 0.5 * (1 - 1 / blur));
}

static void weigh_region(db_stage_data *taken, const db_fit_data *data, const float *expected) {
    const db_region *const r = &taken->region;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = (size_t)s * r->stride + (size_t)f;
            if (!(taken->weight[i] > 0)) continue;
            const size_t at = (size_t)(r->slow_start + s) * (size_t)data->image->fast_pixels +
                              (size_t)(r->fast_start + f);
            const double background = (double)data->strong->background[at];
            const double counts = expected ? (double)expected[i] : (double)taken->value[i];
            const double error = taken->model_error * fmax(0, counts - background);
            taken->weight[i] =
                (float)(1 / (db_pixel_variance(data->settings, fmax(counts, background)) +
                             error * error));
        }
    }
}

static void choose_pixels(db_stage_data *taken, const db_fit_data *data,
                          const db_fit_geometry *geometry, double dmin) {
    const db_region *const r = &taken->region;
    const double dmax = data->settings->dmax > 0 ? data->settings->dmax : INFINITY;
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const int fast = r->fast_start + f, slow = r->slow_start + s;
            const size_t i = (size_t)s * r->stride + (size_t)f;
            const size_t at = (size_t)slow * (size_t)data->image->fast_pixels + (size_t)fast;
            const double d = db_fit_geometry_resolution(geometry, fast + 0.5, slow + 0.5);
            taken->value[i] = data->image->value[at];
            taken->weight[i] = data->image->mask[at] == DB_MASK_TRUSTED && d >= dmin && d <= dmax;
        }
    }
}

static db_status take_region(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, db_stage_data *taken) {
    const int *const roi = data->settings->roi;
    const int fast_end = roi[1] >= 0 ? roi[1] : data->image->fast_pixels - 1;
    const int slow_end = roi[3] >= 0 ? roi[3] : data->image->slow_pixels - 1;
    db_region *const r = &taken->region;
    r->fast_start = roi[0] >= 0 ? roi[0] : 0;
    r->slow_start = roi[2] >= 0 ? roi[2] : 0;
    r->fast_count = fast_end - r->fast_start + 1;
    r->slow_count = slow_end - r->slow_start + 1;
    r->stride = (size_t)r->fast_count;
    const size_t pixels = r->stride * (size_t)r->slow_count;
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, experiment, &geometry));
    taken->value = malloc(pixels * sizeof *taken->value);
    taken->weight = malloc(pixels * sizeof *taken->weight);
    if (!taken->value || !taken->weight)
        return db_fail_memory(context, "the pixels of the refinement");
    choose_pixels(taken, data, &geometry, fmax(dmin, data->settings->dmin));
    weigh_region(taken, data, NULL);
    taken->blocks = (db_fit_blocks){ 1, r, taken->value, taken->weight, NULL };
    return DB_OK;
}

static db_status take_boxes(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_shoebox_choice choice,
                            db_stage_data *taken) {
    db_shoeboxes *const boxes = &taken->boxes;
    DB_TRY(db_shoeboxes_place(context, experiment, data, dmin, choice, boxes));
    db_shoeboxes_weigh(boxes, data->settings, taken->model_error);
    taken->blocks =
        (db_fit_blocks){ boxes->count, boxes->region, boxes->value, boxes->weight, boxes->ridge };
    return DB_OK;
}

db_status db_stage_data_take(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, double blur,
                             db_shoebox_choice choice, db_stage_data *taken) {
    memset(taken, 0, sizeof *taken);
    taken->model_error = model_error(data->settings, blur);
    const db_status status = data->settings->intensity == DB_FIT_KNOWN
                                 ? take_region(context, experiment, data, dmin, taken)
                                 : take_boxes(context, experiment, data, dmin, choice, taken);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

void db_stage_data_clear(db_stage_data *taken) {
    db_shoeboxes_clear(&taken->boxes);
    free(taken->value);
    free(taken->weight);
    memset(taken, 0, sizeof *taken);
}

/* Counts that the model expects in the region; written over the value list's copy. */
static db_status adapt_region(db_stage_data *taken, const db_fit_data *data,
                              const db_target *target) {
    const db_region *const r = &taken->region;
    const double *const linear = target->solution[0].linear;
    float *const expected = malloc(r->stride * (size_t)r->slow_count * sizeof *expected);
    if (!expected) return db_fail_memory(target->context, "the weights of the refinement");
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = (size_t)s * r->stride + (size_t)f;
            expected[i] = (float)(linear[0] * (double)target->shape[i] + linear[1] +
                                  linear[2] * (f - 0.5 * (r->fast_count - 1)) +
                                  linear[3] * (s - 0.5 * (r->slow_count - 1)));
        }
    }
    weigh_region(taken, data, expected);
    free(expected);
    return DB_OK;
}

db_status db_stage_data_adapt(db_stage_data *taken, const db_fit_data *data,
                              const db_target *target) {
    if (data->settings->intensity == DB_FIT_KNOWN) return adapt_region(taken, data, target);
    return db_intensity_ridge_set(target->context, &taken->boxes, target->shape,
                                  data->settings->intensity_limit);
}
