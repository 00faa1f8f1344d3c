/* Weights of the pixels of shoeboxes. */
#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/shoeboxes.h"

#include <stdlib.h>

/* Rows of a box, with an empty one before and one after, and what is worked out of them. */
typedef struct smoothing {
    float *counts; /* [width + 2][width]: sums of threes along rows, of own pixels */
    float *number; /* likewise, of their number */
    float *kept;   /* [width + 2]: a row, with zeros at both ends */
} smoothing;

size_t db_shoebox_weigh_room(size_t width) { return 2 * (width + 2) * width + width + 2; }

/* Sums over each value and its neighbours on either side. */
static void sum_threes(const float *restrict padded, size_t count, float *restrict sums) {
    for (size_t i = 0; i < count; i++) sums[i] = padded[i + 1] + (padded[i] + padded[i + 2]);
}

static void smooth_row(const uint8_t *restrict own, const float *restrict value, size_t width,
                       size_t at, smoothing *s) {
    float *const restrict kept = s->kept + 1;
    for (size_t f = 0; f < width; f++) kept[f] = own[f] ? value[f] : 0;
    sum_threes(s->kept, width, s->counts + at);
    for (size_t f = 0; f < width; f++) kept[f] = own[f] ? 1 : 0;
    sum_threes(s->kept, width, s->number + at);
}

/* Weights of a row of a box; counts, number: three rows of sums, the middle one its own. */
static void weigh_row(const db_fit_settings *settings, double model_error, size_t width,
                      const float *restrict counts, const float *restrict number,
                      const uint8_t *restrict own, const float *restrict level,
                      float *restrict shape_variance, float *restrict weight) {
    const double gain = settings->gain, readout_noise = settings->readout_noise;
    for (size_t f = 0; f < width; f++) {
        const double background = (double)level[f];
        const float near = number[f] + number[width + f] + number[2 * width + f];
        const float all = counts[f] + counts[width + f] + counts[2 * width + f];
        const double mean = (double)all / (double)(near > 0 ? near : 1);
        const double excess = mean > background ? mean - background : 0;
        const double shape_error = model_error * excess;
        const double variance = db_count_variance(gain, readout_noise, background + excess);
        const double error = shape_error * shape_error;
        shape_variance[f] = own[f] ? (float)error : 0;
        weight[f] = own[f] ? (float)(1 / (variance + error)) : 0;
    }
}

/* Weights by the mean counts of the own pixels among a pixel and its eight neighbours. A single
 * pixel's own noise would make its weight: low pixels would count more than high ones. */
void db_shoebox_weigh(const db_fit_settings *settings, double model_error, size_t box, float *room,
                      db_shoeboxes *boxes) {
    const size_t width = (size_t)boxes->width, first = box * boxes->pixels,
                 sums = (width + 2) * width;
    smoothing s = { room, room + sums, room + 2 * sums };
    for (size_t row = 0; row < width; row++) {
        const size_t at = first + row * width;
        smooth_row(boxes->own + at, boxes->value + at, width, (row + 1) * width, &s);
    }
    for (size_t row = 0; row < width; row++) {
        const size_t at = first + row * width;
        weigh_row(settings, model_error, width, s.counts + row * width, s.number + row * width,
                  boxes->own + at, boxes->background + at, boxes->shape_variance + at,
                  boxes->weight + at);
    }
}

static db_status allocate(db_context *context, db_shoeboxes *boxes) {
    const size_t all = boxes->count * boxes->pixels + 1;
    if (!boxes->weight) boxes->weight = db_allocate_large(all * sizeof *boxes->weight);
    if (!boxes->shape_variance)
        boxes->shape_variance = db_allocate_large(all * sizeof *boxes->shape_variance);
    return boxes->weight && boxes->shape_variance
               ? DB_OK
               : db_fail_memory(context, "the weights of the shoeboxes");
}

db_status db_shoeboxes_weigh(db_context *context, const db_fit_settings *settings,
                             double model_error, db_shoeboxes *boxes) {
    const int threads = db_threads(context);
    const size_t own = db_shoebox_weigh_room((size_t)boxes->width);
    const long count = (long)boxes->count;
    DB_TRY(allocate(context, boxes));
    float *const room = calloc((size_t)threads * own, sizeof *room);
    if (!room) return db_fail_memory(context, "the weights of the shoeboxes");
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (long b = 0; b < count; b++)
        db_shoebox_weigh(settings, model_error, (size_t)b, room + (size_t)db_thread_number() * own,
                         boxes);
    free(room);
    return DB_OK;
}
