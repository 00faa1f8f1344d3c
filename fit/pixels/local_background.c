/* Background from the means of surroundings, spots clipped. */
#include "fit/pixels/background.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bands of so many rows are worked out by themselves, each from the same sums whatever thread does
 * it. */
enum { CLIPPING_PASSES = 4, BAND = 64 };

typedef struct job {
    const db_measured_image *image;
    const db_fit_settings *settings;
    const float *expected; /* background so far; NULL: unknown, so no pixel is left out */
    float *mean;           /* to be filled */
    int half_width;
} job;

/* The rows that a window holds, and what is worked out for one of them. */
typedef struct window {
    /* [2 half_width + 1][columns] */
    float *kept;   /* counts; 0 of pixels left out */
    float *number; /* 1; 0 of pixels left out */
    /* [columns]: their sums over the window's rows */
    double *sum;
    float *count;
    /* [2][columns + 4 half_width]: such sums with zeros before and after, and their sums along the
     * row. Floats have all digits where counts are below the thousands, and else as many as the
     * mean. */
    float *padded[2];
    float *total[2];
    float *room; /* as large */
} window;

static size_t window_rows(const job *j) { return 2 * (size_t)j->half_width + 1; }

static db_status make_window(db_context *context, const job *j, window *w) {
    const size_t columns = (size_t)j->image->fast_pixels, ring = window_rows(j) * columns,
                 padded = columns + 2 * window_rows(j);
    float *const rows = malloc((2 * ring + columns + 5 * padded) * sizeof *rows);
    double *const sum = malloc((columns + 1) * sizeof *sum);
    *w = (window){ .kept = rows, .number = rows + ring, .sum = sum, .count = rows + 2 * ring };
    for (size_t k = 0; k < 2; k++) {
        w->padded[k] = rows + 2 * ring + columns + k * padded;
        w->total[k] = w->padded[k] + 2 * padded;
    }
    w->room = w->total[1] + padded;
    return rows && sum ? DB_OK : db_fail_memory(context, "the background of the image");
}

static void free_window(window *w) {
    free(w->kept);
    free(w->sum);
}

/* What a row of pixels counts for. */
static void keep_row(const job *j, int row, float *restrict kept, float *restrict number) {
    const size_t columns = (size_t)j->image->fast_pixels, start = (size_t)row * columns;
    const float *const value = j->image->value + start;
    const uint8_t *const mask = j->image->mask + start;
    const float *const expected = j->expected ? j->expected + start : NULL;
    const float gain = (float)j->settings->gain,
                readout = (float)(j->settings->readout_noise * j->settings->readout_noise);
    for (size_t i = 0; i < columns; i++) number[i] = mask[i] == DB_MASK_TRUSTED ? 1 : 0;
    for (size_t i = 0; expected && i < columns; i++) {
        const float level = expected[i], excess = value[i] - level;
        const float variance = db_count_variance_float(gain, readout, level);
        const float above = excess > 0 ? excess : 0;
        number[i] = above * above <= 9 * variance ? number[i] : 0;
    }
    for (size_t i = 0; i < columns; i++) {
        const float counts = value[i];
        kept[i] = number[i] > 0 ? counts : 0;
    }
}

/* Takes a row into the window in place of the one that leaves it. */
static void slide(const job *j, window *w, int row, int leaves) {
    const size_t columns = (size_t)j->image->fast_pixels;
    const size_t place = ((size_t)row % window_rows(j)) * columns;
    float *const kept = w->kept + place;
    float *const number = w->number + place;
    if (leaves)
        for (size_t i = 0; i < columns; i++) {
            w->sum[i] -= (double)kept[i];
            w->count[i] -= number[i];
        }
    if (row >= j->image->slow_pixels) return;
    keep_row(j, row, kept, number);
    for (size_t i = 0; i < columns; i++) {
        w->sum[i] += (double)kept[i];
        w->count[i] += number[i];
    }
}

/* sums[i] = x[i] + x[i + step], for `count` numbers. */
static void add_ahead(const float *restrict x, size_t count, size_t step, float *restrict sums) {
    for (size_t i = 0; i < count; i++) sums[i] = x[i] + x[i + step];
}

/* total[i] = x[i] + ... + x[i + width - 1], by sums of twice as many at a time. x, which is lost,
 * and room have count + width - 1 numbers. */
static void sum_along(float *x, float *room, size_t count, size_t width, float *restrict total) {
    size_t done = 0, end = count + width - 1;
    memset(total, 0, count * sizeof *total);
    for (size_t step = 1;; step *= 2) {
        if (width & step) {
            for (size_t i = 0; i < count; i++) total[i] += x[i + done];
            done += step;
        }
        if (done == width) return;
        end -= step;
        add_ahead(x, end, step, room);
        float *const sums = room;
        room = x;
        x = sums;
    }
}

/* Means along one row. Where every pixel is left out, the value so far stays. */
static void average_row(const job *j, const window *w, int row) {
    const size_t n = (size_t)j->image->fast_pixels, half = (size_t)j->half_width,
                 start = (size_t)row * n;
    const float *const expected = j->expected ? j->expected + start : NULL;
    const float *const sum = w->total[0];
    const float *const count = w->total[1];
    float *const restrict mean = j->mean + start;
    for (int k = 0; k < 2; k++) {
        memset(w->padded[k], 0, half * sizeof **w->padded);
        memset(w->padded[k] + half + n, 0, half * sizeof **w->padded);
    }
    for (size_t i = 0; i < n; i++) w->padded[0][half + i] = (float)w->sum[i];
    memcpy(w->padded[1] + half, w->count, n * sizeof *w->count);
    for (int k = 0; k < 2; k++) sum_along(w->padded[k], w->room, n, window_rows(j), w->total[k]);
    for (size_t i = 0; i < n; i++) {
        const float number = count[i] > 0.5F ? count[i] : 1, average = sum[i] / number;
        mean[i] = average > 0 ? average : 0;
    }
    for (size_t i = 0; expected && i < n; i++) {
        const float left = expected[i], average = mean[i];
        mean[i] = count[i] > 0.5F ? average : left;
    }
}

static void average_band(const job *j, window *w, int first, int end) {
    const int half = j->half_width, from = first > half ? first - half : 0;
    const size_t columns = (size_t)j->image->fast_pixels;
    memset(w->sum, 0, columns * sizeof *w->sum);
    memset(w->count, 0, columns * sizeof *w->count);
    for (int row = from; row < first + half; row++)
        if (row < j->image->slow_pixels) slide(j, w, row, 0);
    for (int row = first; row < end; row++) {
        slide(j, w, row + half, row + half - (int)window_rows(j) >= from);
        average_row(j, w, row);
    }
}

static db_status average_all(db_context *context, job *j, float *expected, float *background) {
    const int threads = db_threads(context), rows = j->image->slow_pixels;
    window *const windows = calloc((size_t)threads, sizeof *windows);
    db_status status = windows ? DB_OK : db_fail_memory(context, "the background of the image");
    for (int t = 0; t < threads && status == DB_OK; t++)
        status = make_window(context, j, &windows[t]);
    /* Every pass reads what the last one wrote; the last one of all writes the background. */
    float *from = expected;
    float *to = background;
    for (int pass = 0; pass <= CLIPPING_PASSES && status == DB_OK; pass++) {
        j->mean = to;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
        for (int first = 0; first < rows; first += BAND)
            average_band(j, &windows[db_thread_number()], first,
                         first + BAND < rows ? first + BAND : rows);
        j->expected = to;
        to = from;
        from = j->mean;
    }
    for (int t = 0; t < threads && windows; t++) free_window(&windows[t]);
    free(windows);
    return status;
}

db_status db_local_background(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings, int half_width, float *background) {
    _Static_assert(CLIPPING_PASSES % 2 == 0, "the last pass writes where the first one did");
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    float *const expected = malloc(pixels * sizeof *expected);
    if (!expected) return db_fail_memory(context, "the background of the image");
    job j = { .image = image, .settings = settings, .half_width = half_width };
    const db_status status = average_all(context, &j, expected, background);
    free(expected);
    return status;
}
