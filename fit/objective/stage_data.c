/* Pixels of a stage, and their weights. */
#include "fit/objective/stage_data.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/rendering.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/intensities.h"

#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double model_error(const db_fit_settings *settings, double blur) {
    const double own = !isnan(settings->model_error)        ? settings->model_error
                       : settings->intensity == DB_FIT_FREE ? 0.1
                                                            : 0;
    return hypot(own, 0.5 * (1 - 1 / blur));
}

/* Are the spots those of the crystal, not blurred? */
static int is_sharp(const db_stage_data *taken) { return !(taken->blur > 1); }

static void weigh_block(const db_fit_data *data, double model_error, const db_objective *model,
                        size_t b, db_fit_blocks *blocks) {
    const db_region *const r = &blocks->region[b];
    const db_block block = model ? db_objective_block(model, b) : (db_block){ .region = *r };
    for (int s = 0; s < r->slow_count; s++) {
        for (int f = 0; f < r->fast_count; f++) {
            const size_t i = r->offset + (size_t)s * r->stride + (size_t)f;
            if (!(blocks->weight[i] > 0)) continue;
            const double expected =
                model ? db_block_pixel(&block, model->solution[b].linear, f, s).expected
                      : (double)blocks->value[i];
            const double background = (double)blocks->background[i];
            const double error = model_error * fmax(0, expected - background);
            const double variance = db_pixel_variance(data->settings, fmax(expected, background));
            blocks->shape_variance[i] = (float)(error * error);
            blocks->weight[i] = (float)(1 / (variance + error * error));
        }
    }
}

/* Weights of the pixels in use (those with one) for known structure factors: the inverse of photon and readout
 * variance at the expected counts, but at least the local background's, plus (model_error x expected excess)^2.
 * Expected are the model's counts; without a model (NULL) the measured ones. */
static void weigh_known(const db_fit_data *data, double model_error, const db_objective *model,
                        db_fit_blocks *blocks) {
    for (size_t b = 0; b < blocks->count; b++) weigh_block(data, model_error, model, b, blocks);
}

static db_status take_tiles(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_stage_data *taken) {
    DB_TRY(db_tiles_take(context, experiment, data, dmin, &taken->tiles));
    taken->blocks = taken->tiles;
    weigh_known(data, taken->model_error, NULL, &taken->blocks);
    return DB_OK;
}

/* Boxes where the blurred model is bright. Measured counts must not select them, or intensities would come out too
 * large. Light of neighbours is in the model. */
static db_status take_bright_boxes(db_context *context, const db_experiment *experiment,
                                   const db_fit_data *data, double dmin, db_stage_data *taken) {
    db_shoeboxes *const boxes = &taken->boxes;
    db_experiment blurred = *experiment; /* borrows everything but the crystal */
    db_experiment_blur(experiment, taken->blur, &blurred);
    DB_TRY(db_shoeboxes_place(context, &blurred, data, dmin, DB_SHOEBOXES_BRIGHT, boxes));
    DB_TRY(db_shoeboxes_weigh(context, data->settings, taken->model_error, boxes));
    taken->blocks = db_shoeboxes_blocks(boxes);
    taken->blocks.ridge = NULL;
    return DB_OK;
}

static db_status take_boxes(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_shoebox_choice choice,
                            db_stage_data *taken) {
    db_shoeboxes *const boxes = &taken->boxes;
    DB_TRY(db_shoeboxes_place(context, experiment, data, dmin, choice, boxes));
    /* A blurred model overlaps where the crystal does not. */
    const db_fit_settings *const settings = data->settings;
    const int least = settings->one_of_series ? 0 : settings->min_strong_reflections;
    const size_t fewest = (size_t)least + 3 * settings->parameter_count;
    if (choice == DB_SHOEBOXES_STRONG && is_sharp(taken))
        DB_TRY(db_overlap_exclude(context, experiment, data->settings, fewest, boxes));
    DB_TRY(db_shoeboxes_weigh(context, data->settings, taken->model_error, boxes));
    taken->blocks = db_shoeboxes_blocks(boxes);
    return DB_OK;
}

/* Sub-pixels for the spots in the tiles' region, on the whole detector. */
static db_status tiles_oversample(db_context *context, const db_experiment *experiment,
                                  double error, int *oversample) {
    db_predicted_spots spots;
    DB_TRY(db_spots_predict(context, experiment, NULL, &spots));
    const db_status status = db_fit_oversample(context, &spots, error, oversample);
    db_predicted_spots_clear(&spots);
    return status;
}

/* Tolerance for free intensities, with unit amplitudes. */
static db_status choose_tolerance(db_context *context, const db_experiment *experiment,
                                  db_stage_data *taken) {
    db_experiment unit;
    DB_TRY(db_experiment_unit_amplitudes(context, experiment, &unit));
    db_experiment blurred = unit; /* borrows everything but the crystal */
    db_experiment_blur(&unit, taken->blur, &blurred);
    const db_status status =
        db_shoeboxes_tolerance(context, &blurred, &taken->boxes, &taken->blocks.tolerance);
    db_experiment_clear(&unit);
    return status;
}

/* Sub-pixels: the allowed error of a pixel is a tenth of the error of the spots' shape. */
static db_status choose_oversample(db_context *context, const db_experiment *experiment,
                                   db_stage_data *taken) {
    const double error = fmax(DB_SPOT_SHAPE_ERROR, 0.1 * taken->model_error);
    int *const chosen = &taken->blocks.oversample;
    return taken->boxes.count ? db_shoeboxes_oversample(context, &taken->boxes, error, chosen)
                              : tiles_oversample(context, experiment, error, chosen);
}

db_status db_stage_data_choose_rendering(db_context *context, const db_experiment *experiment,
                                         const db_fit_data *data, db_stage_data *taken) {
    if (experiment->spread.spots != DB_SPOTS_CLOSED) return DB_OK;
    if (data->settings->choose_oversample) DB_TRY(choose_oversample(context, experiment, taken));
    return data->settings->intensity == DB_FIT_FREE && taken->boxes.count
               ? choose_tolerance(context, experiment, taken)
               : DB_OK;
}

static db_status check_half_width(db_context *context, const db_fit_settings *settings) {
    if (settings->shoebox_half_width >= 1) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE,
                   "shoebox_half_width: expected at least 1 (db_shoebox_size_choose), found %d",
                   settings->shoebox_half_width);
}

db_status db_stage_data_take(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, double blur,
                             db_shoebox_choice choice, db_stage_data *taken) {
    memset(taken, 0, sizeof *taken);
    taken->blur = blur;
    taken->model_error = model_error(data->settings, blur);
    const db_fit_settings *const settings = data->settings;
    if (!db_fit_takes_tiles(settings)) DB_TRY(check_half_width(context, settings));
    db_status status = db_fit_takes_tiles(settings)
                           ? take_tiles(context, experiment, data, dmin, taken)
                       : settings->intensity == DB_FIT_KNOWN
                           ? take_bright_boxes(context, experiment, data, dmin, taken)
                           : take_boxes(context, experiment, data, dmin, choice, taken);
    if (status == DB_OK) status = db_stage_data_choose_rendering(context, experiment, data, taken);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

db_status db_stage_data_take_bare(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, db_shoebox_choice choice,
                                  db_stage_data *taken) {
    memset(taken, 0, sizeof *taken);
    taken->blur = 1;
    taken->model_error = model_error(data->settings, 1);
    DB_TRY(check_half_width(context, data->settings));
    DB_TRY(db_shoeboxes_place_bare(context, experiment, data, choice, &taken->boxes));
    taken->blocks = db_shoeboxes_blocks(&taken->boxes);
    const db_status status = db_stage_data_choose_rendering(context, experiment, data, taken);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

db_status db_stage_data_objective(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_stage_data *taken,
                                  const db_objective_options *options, db_objective *objective) {
    db_objective_options own = *options;
    own.blur = taken->blur;
    return db_objective_create(context, experiment, data->settings, &taken->blocks, &own,
                               objective);
}

void db_stage_data_clear(db_stage_data *taken) {
    db_shoeboxes_clear(&taken->boxes);
    db_tiles_clear(&taken->tiles);
    memset(taken, 0, sizeof *taken);
}

/* The ridge serves stages before the last: it prefers small J, and so large crystals. A hundredth of its strength
 * only limits J that the data leave open. */
double db_stage_data_limit(const db_stage_data *taken, const db_fit_settings *settings) {
    return (is_sharp(taken) ? 10 : 1) * settings->intensity_limit;
}

db_status db_stage_data_adapt(db_stage_data *taken, const db_fit_data *data,
                              db_objective *objective, const double *values,
                              db_objective_depth next) {
    if (data->settings->intensity == DB_FIT_FREE) {
        DB_TRY(db_objective_render(objective, values, next));
        return db_intensity_prior_of_image(objective->context, &taken->boxes, objective->shape,
                                           db_stage_data_limit(taken, data->settings));
    }
    DB_TRY(db_objective_evaluate(objective, values, DB_OBJECTIVE_LOSS));
    weigh_known(data, taken->model_error, objective, &taken->blocks);
    db_objective_data_changed(objective);
    return DB_OK;
}

db_status db_stage_data_solve(db_stage_data *taken, const db_fit_data *data,
                              db_objective *objective, const double *values) {
    DB_TRY(db_stage_data_adapt(taken, data, objective, values, DB_OBJECTIVE_LOSS));
    return db_objective_solve(objective);
}
