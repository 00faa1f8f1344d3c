/* Background and strong pixels of one panel by their definition, pixel by pixel (surroundings/surroundings.h). */
#ifndef DB_TESTS_SUPPORT_NAIVE_SURROUNDINGS_H
#define DB_TESTS_SUPPORT_NAIVE_SURROUNDINGS_H

#include "surroundings/surroundings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mean of the pixels around pixel i that count; of the last pass where there are none. */
static float naive_mean(const db_measured_image *panel, int half, const uint8_t *counts, int i,
                        float last) {
    const int fast = panel->fast_pixels, slow = panel->slow_pixels;
    double sum = 0;
    int number = 0;
    for (int s = i / fast - half; s <= i / fast + half; s++)
        for (int f = i % fast - half; f <= i % fast + half; f++) {
            if (s < 0 || f < 0 || s >= slow || f >= fast || !counts[s * fast + f]) continue;
            sum += (double)panel->value[s * fast + f];
            number++;
        }
    return number ? fmaxf(0, (float)sum / (float)number) : last;
}

/* Is pixel i, or one of the eight around it, lit? */
static int naive_is_near(const db_measured_image *panel, const uint8_t *lit, int i) {
    const int fast = panel->fast_pixels, slow = panel->slow_pixels;
    for (int s = i / fast - 1; s <= i / fast + 1; s++)
        for (int f = i % fast - 1; f <= i % fast + 1; f++)
            if (s >= 0 && f >= 0 && s < slow && f < fast && lit[s * fast + f]) return 1;
    return 0;
}

/* Does pixel i exceed the mean by more than three standard deviations, and some photons? The variance is at least that of
 * `least` counts. */
static int naive_is_bright(const db_measured_image *panel, const db_surroundings_options *options,
                           const float *mean, int i, float photons, float least) {
    const float gain = (float)options->gain,
                readout = (float)(options->readout_noise * options->readout_noise),
                beyond = panel->value[i] - mean[i] - photons * gain;
    return panel->mask[i] == DB_MASK_TRUSTED && beyond > 0 &&
           beyond * beyond > 9 * (gain * fmaxf(mean[i], least) + readout);
}

static void naive_surroundings(const db_measured_image *panel,
                               const db_surroundings_options *options, float *background,
                               uint8_t *strong) {
    const int pixels = panel->fast_pixels * panel->slow_pixels, wanted = options->half_width,
              half = wanted < DB_SURROUNDINGS_WIDEST ? wanted : DB_SURROUNDINGS_WIDEST;
    const double limit = options->strong_sigma * options->strong_sigma, least = 0.5 * options->gain;
    uint8_t *const counts = malloc((size_t)pixels);
    uint8_t *const lit = malloc((size_t)pixels);
    float *const mean = calloc((size_t)pixels, sizeof *mean);
    for (int pass = 0; pass < 6; pass++) {
        for (int i = 0; i < pixels; i++)
            lit[i] =
                pass > 0 && (pass < 5 ? naive_is_bright(panel, options, mean, i, 0, (float)least)
                                      : naive_is_bright(panel, options, mean, i, 11.0F / 6, 0));
        for (int i = 0; i < pixels; i++)
            counts[i] = panel->mask[i] == DB_MASK_TRUSTED &&
                        !(pass < 5 ? lit[i] : naive_is_near(panel, lit, i));
        for (int i = 0; i < pixels; i++)
            background[i] = naive_mean(panel, half, counts, i, mean[i]);
        for (int i = 0; i < pixels && pass < 5; i++) {
            mean[i] = background[i];
            const double excess = (double)panel->value[i] - (double)mean[i],
                         variance = options->gain * fmax((double)mean[i], least) +
                                    options->readout_noise * options->readout_noise;
            strong[i] = panel->mask[i] == DB_MASK_TRUSTED && excess > 0 &&
                        excess * excess > limit * variance;
        }
    }
    free(counts);
    free(lit);
    free(mean);
}

#endif
