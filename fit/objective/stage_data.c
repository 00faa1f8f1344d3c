#include "fit/objective/stage_data.h"

#include "base/context_internal.h"
#include "fit/objective/intensity_ridge.h"
#include "fit/pixels/known_weights.h"
#include "fit/pixels/overlap.h"

#include <math.h>
#include <string.h>

static double model_error(const db_fit_settings *settings, double blur) {
    const double own = !isnan(settings->model_error)        ? settings->model_error
                       : settings->intensity == DB_FIT_FREE ? 0.1
                                                            : 0;
    return hypot(own, 0.5 * (1 - 1 / blur));
}

/* The model's spots are the crystal's. */
static int is_sharp(const db_stage_data *taken) { return !(taken->blur > 1); }

static db_status take_tiles(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_stage_data *taken) {
    db_tiles *const tiles = &taken->tiles;
    DB_TRY(db_tiles_take(context, experiment, data, dmin, tiles));
    taken->blocks = db_tiles_blocks(tiles);
    db_known_weights(&taken->blocks, data->settings, taken->model_error, NULL, tiles->weight,
                     tiles->shape_variance);
    return DB_OK;
}

/* Boxes where the blurred model is bright: what was measured there must not choose, or intensities
 * would come out too large. Light of neighbours is in the model. */
static db_status take_bright_boxes(db_context *context, const db_experiment *experiment,
                                   const db_fit_data *data, double dmin, db_stage_data *taken) {
    db_shoeboxes *const boxes = &taken->boxes;
    db_experiment blurred = *experiment; /* borrows everything but the crystal */
    for (int i = 0; i < 3; i++)
        blurred.crystal.cells[i] = fmax(1, experiment->crystal.cells[i] / taken->blur);
    DB_TRY(db_shoeboxes_place(context, &blurred, data, dmin, DB_SHOEBOXES_BRIGHT, boxes));
    const int refined = !isnan(data->settings->amplitude_sigma) && is_sharp(taken);
    /* The light of neighbours is not that of the amplitude that a box refines. */
    if (refined) DB_TRY(db_overlap_exclude(context, experiment, data->settings, 1, boxes));
    if (refined)
        DB_TRY(db_amplitudes_make(context, experiment, data->settings, boxes, &taken->amplitudes));
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
    const size_t fewest =
        (size_t)data->settings->min_strong_reflections + 3 * data->settings->parameter_count;
    if (choice == DB_SHOEBOXES_STRONG && is_sharp(taken))
        DB_TRY(db_overlap_exclude(context, experiment, data->settings, fewest, boxes));
    DB_TRY(db_shoeboxes_weigh(context, data->settings, taken->model_error, boxes));
    taken->blocks = db_shoeboxes_blocks(boxes);
    return DB_OK;
}

db_status db_stage_data_take(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, double blur,
                             db_shoebox_choice choice, db_stage_data *taken) {
    memset(taken, 0, sizeof *taken);
    taken->blur = blur;
    taken->model_error = model_error(data->settings, blur);
    const db_fit_settings *const settings = data->settings;
    if (!db_fit_takes_tiles(settings) && settings->shoebox_half_width < 1)
        return db_fail(context, DB_ERROR_USAGE,
                       "shoebox_half_width: expected at least 1 (db_shoebox_size_settle), found %d",
                       settings->shoebox_half_width);
    const db_status status = db_fit_takes_tiles(settings)
                                 ? take_tiles(context, experiment, data, dmin, taken)
                             : settings->intensity == DB_FIT_KNOWN
                                 ? take_bright_boxes(context, experiment, data, dmin, taken)
                                 : take_boxes(context, experiment, data, dmin, choice, taken);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

db_status db_stage_data_shot(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, const db_stage_data *taken,
                             const db_objective_request *request, db_objective *shot) {
    static const unsigned char none[DB_FIT_MOST_PARAMETERS];
    const int refined = request->active && taken->amplitudes.count;
    const db_objective_options options = { .active = request->active ? request->active : none,
                                           .turned = request->turned,
                                           .placement = request->placement,
                                           .amplitudes = refined ? &taken->amplitudes : NULL,
                                           .blur = taken->blur,
                                           .target = request->target };
    return db_objective_create(context, experiment, data->settings, &taken->blocks, &options, shot);
}

void db_stage_data_clear(db_stage_data *taken) {
    db_shoeboxes_clear(&taken->boxes);
    db_tiles_clear(&taken->tiles);
    db_amplitudes_clear(&taken->amplitudes);
    memset(taken, 0, sizeof *taken);
}

db_status db_stage_data_adapt(db_stage_data *taken, const db_fit_data *data, db_objective *shot,
                              const double *values) {
    if (data->settings->intensity == DB_FIT_FREE) {
        DB_TRY(db_objective_render(shot, values));
        /* The ridge is for stages on their way: it likes small J, and so large crystals. A
         * hundredth of its strength keeps only J in bounds that the data leave open. */
        return db_intensity_ridge_set(shot->context, &taken->boxes, shot->shape,
                                      (is_sharp(taken) ? 10 : 1) * data->settings->intensity_limit);
    }
    DB_TRY(db_objective_evaluate(shot, values, DB_OBJECTIVE_LOSS));
    const int boxed = taken->boxes.count > 0;
    db_known_weights(&taken->blocks, data->settings, taken->model_error, shot,
                     boxed ? taken->boxes.weight : taken->tiles.weight,
                     boxed ? taken->boxes.shape_variance : taken->tiles.shape_variance);
    return DB_OK;
}

db_status db_stage_data_solve(db_stage_data *taken, const db_fit_data *data, db_objective *shot,
                              const double *values) {
    DB_TRY(db_stage_data_adapt(taken, data, shot, values));
    db_objective_solve(shot);
    return DB_OK;
}
