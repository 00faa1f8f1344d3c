/* Weights of the pixels of shoeboxes. */
#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/shoeboxes.h"

#include <stdlib.h>

/* Sums over each value and its neighbours on either side. */
static void sum_threes(const float *values, int count, float *sums) {
    for (int i = 0; i < count; i++)
        sums[i] = values[i] + ((i > 0 ? values[i - 1] : 0) + (i + 1 < count ? values[i + 1] : 0));
}

/* Rows of a box, each with an empty one before and after. */
typedef struct smoothing {
    float *counts; /* [width + 2][width]: sums of threes along rows, of own pixels */
    float *number; /* likewise, of their number */
    float *kept;   /* [width] */
} smoothing;

static void smooth_rows(const db_shoeboxes *boxes, size_t box, smoothing *s) {
    const size_t width = (size_t)boxes->width, first = box * boxes->pixels;
    for (size_t row = 0; row < width; row++) {
        const size_t at = first + row * width;
        for (size_t f = 0; f < width; f++)
            s->kept[f] = boxes->own[at + f] ? boxes->value[at + f] : 0;
        sum_threes(s->kept, boxes->width, s->counts + (row + 1) * width);
        for (size_t f = 0; f < width; f++) s->kept[f] = boxes->own[at + f] ? 1 : 0;
        sum_threes(s->kept, boxes->width, s->number + (row + 1) * width);
    }
}

/* Weights by the mean counts of the own pixels among a pixel and its eight neighbours. A single
 * pixel's own noise would make its weight: low pixels would count more than high ones. */
static void weigh_box(const db_fit_settings *settings, double model_error, size_t box, smoothing *s,
                      db_shoeboxes *boxes) {
    const size_t width = (size_t)boxes->width, first = box * boxes->pixels;
    const double gain = settings->gain, readout_noise = settings->readout_noise;
    smooth_rows(boxes, box, s);
    for (size_t i = 0; i < boxes->pixels; i++) {
        const float *const sum = s->counts + i;
        const float *const number = s->number + i;
        const double background = (double)boxes->background[first + i];
        const double own = (double)(number[0] + number[width] + number[2 * width]);
        const double counts = (double)(sum[0] + sum[width] + sum[2 * width]) / (own > 0 ? own : 1);
        const double excess = counts > background ? counts - background : 0;
        const double shape_error = model_error * excess;
        const double variance = db_count_variance(gain, readout_noise, background + excess);
        const int used = boxes->own[first + i];
        boxes->shape_variance[first + i] = used ? (float)(shape_error * shape_error) : 0;
        boxes->weight[first + i] = used ? (float)(1 / (variance + shape_error * shape_error)) : 0;
    }
}

db_status db_shoeboxes_weigh(db_context *context, const db_fit_settings *settings,
                             double model_error, db_shoeboxes *boxes) {
    const int threads = db_threads(context);
    const size_t width = (size_t)boxes->width, sums = (width + 2) * width;
    const long count = (long)boxes->count;
    float *const room = calloc((size_t)threads * (2 * sums + width), sizeof *room);
    if (!room) return db_fail_memory(context, "the weights of the shoeboxes");
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (long b = 0; b < count; b++) {
        float *const mine = room + (size_t)db_thread_number() * (2 * sums + width);
        smoothing s = { mine, mine + sums, mine + 2 * sums };
        weigh_box(settings, model_error, (size_t)b, &s, boxes);
    }
    free(room);
    return DB_OK;
}
