#include "fit/local_background.h"

#include "core/context_internal.h"
#include "fit/strong_pixels.h"

#include <math.h>
#include <stdlib.h>

enum { CLIPPING_PASSES = 4 };

typedef struct window {
    const db_measured_image *image;
    const db_fit_settings *settings;
    const float *expected; /* background so far; NULL: nothing is left out */
    int half_width;
    double *sum, *number; /* of each column, over the rows of the window */
} window;

/* Adds (direction 1) or removes (-1) one row of pixels. */
static void slide(const window *w, int row, int direction) {
    if (row < 0 || row >= w->image->slow_pixels) return;
    const size_t start = (size_t)row * (size_t)w->image->fast_pixels;
    for (int fast = 0; fast < w->image->fast_pixels; fast++) {
        const size_t i = start + (size_t)fast;
        if (w->image->mask[i] != DB_MASK_TRUSTED) continue;
        const double value = (double)w->image->value[i];
        if (w->expected) {
            const double mean = (double)w->expected[i];
            if (value > mean + 3 * sqrt(db_pixel_variance(w->settings, mean))) continue;
        }
        w->sum[fast] += direction * value;
        w->number[fast] += direction;
    }
}

/* Means along one row. Where every pixel is left out, the value so far stays. */
static void average_row(const window *w, int row, float *mean) {
    const int n = w->image->fast_pixels, half = w->half_width;
    double sum = 0, number = 0;
    for (int fast = 0; fast < half && fast < n; fast++) {
        sum += w->sum[fast];
        number += w->number[fast];
    }
    for (int fast = 0; fast < n; fast++) {
        const size_t i = (size_t)row * (size_t)n + (size_t)fast;
        if (fast + half < n) {
            sum += w->sum[fast + half];
            number += w->number[fast + half];
        }
        if (fast - half - 1 >= 0) {
            sum -= w->sum[fast - half - 1];
            number -= w->number[fast - half - 1];
        }
        if (number > 0.5)
            mean[i] = (float)fmax(0, sum / number);
        else
            mean[i] = w->expected ? w->expected[i] : 0;
    }
}

static void average(const window *w, float *mean) {
    for (int fast = 0; fast < w->image->fast_pixels; fast++) w->sum[fast] = w->number[fast] = 0;
    for (int row = 0; row < w->half_width; row++) slide(w, row, 1);
    for (int row = 0; row < w->image->slow_pixels; row++) {
        slide(w, row + w->half_width, 1);
        slide(w, row - w->half_width - 1, -1);
        average_row(w, row, mean);
    }
}

db_status db_local_background(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings, int half_width, float *background) {
    const size_t columns = (size_t)image->fast_pixels;
    const size_t pixels = columns * (size_t)image->slow_pixels;
    float *const expected = malloc(pixels * sizeof *expected);
    double *const sums = malloc(2 * columns * sizeof *sums);
    db_status status = DB_OK;
    if (expected && sums) {
        window w = { image, settings, NULL, half_width, sums, sums + columns };
        average(&w, background);
        for (int pass = 0; pass < CLIPPING_PASSES; pass++) {
            for (size_t i = 0; i < pixels; i++) expected[i] = background[i];
            w.expected = expected;
            average(&w, background);
        }
    } else {
        status = db_fail_memory(context, "the background of the image");
    }
    free(expected);
    free(sums);
    return status;
}
