#include "fit/model_image.h"

#include "core/context_internal.h"
#include "fit/sheet.h"
#include "fit/statistics.h"

#include <string.h>

/* Bragg parts of the boxes, each in its own pixels, on top of the local background. */
static void paint_boxes(const db_shot *shot, const db_shoeboxes *boxes, const db_fit_data *data,
                        float *image) {
    const size_t columns = (size_t)data->image->fast_pixels;
    memcpy(image, data->strong->background,
           columns * (size_t)data->image->slow_pixels * sizeof *image);
    for (size_t b = 0; b < boxes->count; b++) {
        const double intensity = shot->solution[b].linear[0];
        for (size_t i = 0; i < boxes->pixels; i++) {
            const int slow = (int)(i / (size_t)boxes->width),
                      fast = (int)(i % (size_t)boxes->width);
            const size_t at = b * boxes->pixels + i;
            if (boxes->own[at])
                image[db_sheet_index(data->image, &boxes->region[b], fast, slow)] +=
                    (float)(intensity * (double)shot->shape[at]);
        }
    }
}

/* The whole detector with the common scale; planes in the tiles, the local background elsewhere. */
static db_status paint_detector(db_context *context, const db_shot *shot, const db_fit_data *data,
                                float *image) {
    const size_t pixels = (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
    const double scale = shot->solution[0].linear[0];
    db_plan *plan;
    DB_TRY(db_plan_create(context, &shot->experiment, NULL, &plan));
    const db_status status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    DB_TRY(status);
    for (size_t i = 0; i < pixels; i++)
        image[i] = (float)(scale * (double)image[i] + (double)data->strong->background[i]);
    for (size_t b = 0; b < shot->blocks.count; b++) {
        const db_region *const r = &shot->blocks.region[b];
        const db_block block = db_shot_block(shot, b);
        for (int s = 0; s < r->slow_count; s++) {
            for (int f = 0; f < r->fast_count; f++) {
                const size_t at = db_sheet_index(data->image, r, f, s);
                image[at] = (float)db_block_pixel(&block, shot->solution[b].linear, f, s).expected;
            }
        }
    }
    return DB_OK;
}

static db_status finish(db_context *context, db_shot *shot, db_stage_data *taken,
                        const db_fit_data *data, size_t *explained, float *image) {
    DB_TRY(db_stage_data_solve(taken, data, shot, NULL));
    if (data->settings->intensity == DB_FIT_KNOWN) {
        *explained = db_statistics_explained_in_tiles(shot, data);
        return image ? paint_detector(context, shot, data, image) : DB_OK;
    }
    *explained = db_statistics_explained_in_boxes(shot, &taken->boxes);
    if (image) paint_boxes(shot, &taken->boxes, data, image);
    return DB_OK;
}

db_status db_model_image(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, size_t *explained, float *image) {
    db_stage_data taken;
    db_shot shot;
    *explained = 0;
    DB_TRY(db_stage_data_take(context, experiment, data, 0, 1, DB_SHOEBOXES_ALL, &taken));
    if (taken.blocks.count == 0) {
        if (image)
            memcpy(image, data->strong->background,
                   (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels *
                       sizeof *image);
        db_stage_data_clear(&taken);
        return DB_OK;
    }
    /* Whatever was minimized: what a model explains must not depend on how far off it is. */
    const db_shot_request request = { .target = DB_FIT_WEIGHTED };
    db_status status = db_stage_data_shot(context, experiment, data, &taken, &request, &shot);
    if (status == DB_OK) {
        status = finish(context, &shot, &taken, data, explained, image);
        db_shot_destroy(&shot);
    }
    db_stage_data_clear(&taken);
    return status;
}
