#include "fit/stage_data.h"

#include "core/context_internal.h"
#include "fit/intensity_ridge.h"

#include <math.h>
#include <string.h>

static double model_error(const db_fit_settings *settings, double blur) {
    const double own = !isnan(settings->model_error)        ? settings->model_error
                       : settings->intensity == DB_FIT_FREE ? 0.1
                                                            : 0;
    return hypot(own, 0.5 * (1 - 1 / blur));
}

static db_status take_tiles(db_context *context, const db_experiment *experiment,
                            const db_fit_data *data, double dmin, db_stage_data *taken) {
    db_tiles *const tiles = &taken->tiles;
    DB_TRY(db_tiles_take(context, experiment, data, dmin, tiles));
    db_tiles_weigh(tiles, data, taken->model_error, NULL);
    taken->blocks = (db_fit_blocks){ tiles->count, tiles->tile, tiles->value, tiles->weight, NULL };
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
                                 ? take_tiles(context, experiment, data, dmin, taken)
                                 : take_boxes(context, experiment, data, dmin, choice, taken);
    if (status != DB_OK) db_stage_data_clear(taken);
    return status;
}

void db_stage_data_clear(db_stage_data *taken) {
    db_shoeboxes_clear(&taken->boxes);
    db_tiles_clear(&taken->tiles);
    memset(taken, 0, sizeof *taken);
}

db_status db_stage_data_adapt(db_stage_data *taken, const db_fit_data *data,
                              const db_target *target) {
    if (data->settings->intensity == DB_FIT_FREE)
        return db_intensity_ridge_set(target->context, &taken->boxes, target->shape,
                                      data->settings->intensity_limit);
    db_tiles_weigh(&taken->tiles, data, taken->model_error, target);
    return DB_OK;
}
