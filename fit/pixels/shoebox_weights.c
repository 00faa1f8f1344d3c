/* Weights of the pixels of shoeboxes. */
#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "fit/pixels/shoeboxes.h"
#include "loss/box_weight.h"

#include <stdlib.h>

static db_status allocate_weights(db_context *context, db_shoeboxes *boxes) {
    const size_t all = boxes->count * boxes->pixels + 1;
    if (!boxes->weight) boxes->weight = db_allocate_large(all * sizeof *boxes->weight);
    if (!boxes->shape_variance)
        boxes->shape_variance = db_allocate_large(all * sizeof *boxes->shape_variance);
    return db_need_memory(context, boxes->weight && boxes->shape_variance,
                          "the weights of the shoeboxes");
}

static void weigh_box(const db_box_noise *noise, size_t b, float *room, db_shoeboxes *boxes) {
    const size_t width = (size_t)boxes->width, at = b * boxes->pixels;
    db_box_weigh(noise, width, width, boxes->own + at, boxes->value + at, boxes->background + at,
                 room, boxes->shape_variance + at, boxes->weight + at);
}

db_status db_shoeboxes_weigh(db_context *context, const db_fit_settings *settings,
                             double model_error, db_shoeboxes *boxes) {
    const db_box_noise noise = { settings->gain, settings->readout_noise, model_error };
    const int threads = db_threads(context);
    const size_t own = db_box_weigh_room((size_t)boxes->width, (size_t)boxes->width);
    const long count = (long)boxes->count;
    DB_TRY(allocate_weights(context, boxes));
    float *const room = calloc((size_t)threads * own, sizeof *room);
    if (!room) return db_fail_memory(context, "the weights of the shoeboxes");
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (long b = 0; b < count; b++)
        weigh_box(&noise, (size_t)b, room + (size_t)db_thread_number() * own, boxes);
    free(room);
    return DB_OK;
}
