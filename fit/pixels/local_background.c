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

/* The rows that a window holds. */
typedef struct window {
    /* [2 half_width + 1][columns] */
    float *kept;   /* counts; 0 of pixels left out */
    float *number; /* 1; 0 of pixels left out */
    /* [columns + 1]: their sums over the window's rows, and these over columns from 0 on */
    double *sum;
    double *count;
    double *across;
    double *across_count;
} window;

static size_t window_rows(const job *j) { return 2 * (size_t)j->half_width + 1; }

static db_status make_window(db_context *context, const job *j, window *w) {
    const size_t columns = (size_t)j->image->fast_pixels, ring = window_rows(j) * columns;
    float *const rows = malloc(2 * ring * sizeof *rows);
    double *const sums = malloc(4 * (columns + 1) * sizeof *sums);
    *w = (window){ rows,
                   rows + ring,
                   sums,
                   sums + columns + 1,
                   sums + 2 * (columns + 1),
                   sums + 3 * (columns + 1) };
    return rows && sums ? DB_OK : db_fail_memory(context, "the background of the image");
}

static void free_window(window *w) {
    free(w->kept);
    free(w->sum);
}

/* What a row of pixels counts for. */
static void keep_row(const job *j, int row, float *kept, float *number) {
    const size_t columns = (size_t)j->image->fast_pixels, start = (size_t)row * columns;
    const float *const value = j->image->value + start;
    const uint8_t *const mask = j->image->mask + start;
    const double gain = j->settings->gain, readout_noise = j->settings->readout_noise;
    const float *const expected = j->expected ? j->expected + start : NULL;
    for (size_t i = 0; i < columns; i++) {
        const double level = expected ? (double)expected[i] : (double)INFINITY;
        const double excess = (double)value[i] - level;
        const double variance = db_count_variance(gain, readout_noise, level);
        const double above = excess > 0 ? excess : 0;
        const int used = (mask[i] == DB_MASK_TRUSTED) & (above * above <= 9 * variance);
        number[i] = used ? 1 : 0;
        kept[i] = used ? value[i] : 0;
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
            w->count[i] -= (double)number[i];
        }
    if (row >= j->image->slow_pixels) return;
    keep_row(j, row, kept, number);
    for (size_t i = 0; i < columns; i++) {
        w->sum[i] += (double)kept[i];
        w->count[i] += (double)number[i];
    }
}

/* Means along one row. Where every pixel is left out, the value so far stays. */
static void average_row(const job *j, const window *w, int row) {
    const int n = j->image->fast_pixels, half = j->half_width;
    const size_t start = (size_t)row * (size_t)n;
    double sum = 0, count = 0;
    for (int i = 0; i < n; i++) {
        w->across[i] = sum;
        w->across_count[i] = count;
        sum += w->sum[i];
        count += w->count[i];
    }
    w->across[n] = sum;
    w->across_count[n] = count;
    for (int i = 0; i < n; i++) {
        const int begin = i > half ? i - half : 0, end = i + half < n ? i + half + 1 : n;
        const double total = w->across[end] - w->across[begin];
        const double number = w->across_count[end] - w->across_count[begin];
        const double left = j->expected ? (double)j->expected[start + (size_t)i] : 0;
        const double mean = number > 0.5 ? total / number : left;
        j->mean[start + (size_t)i] = (float)(mean > 0 ? mean : 0);
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
