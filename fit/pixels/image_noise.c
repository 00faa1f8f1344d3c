#include "fit/pixels/image_noise.h"

#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>

/* Squares of the image; pixels that are compared lie so far from each other that they share no
 * photon, and so near that the background is the same. */
enum { SQUARE = 32, APART = 3, PAIRS = SQUARE * (SQUARE - APART) };
enum { ENOUGH = 20, PLENTY = 1000 }; /* squares */
static const double MORE = 2;        /* times the variance that the gain says */

typedef struct scatter {
    double mean, variance;
    double of_most; /* likewise, but of the half that differs least: spots have no part in it */
} scatter;

/* The number that would be x[rank] if the list were sorted, by Hoare's selection; afterwards none
 * before that place is larger. */
static double ranked(double *x, size_t count, size_t rank) {
    size_t low = 0, high = count - 1;
    while (low < high) {
        const double pivot = x[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            const double swapped = x[i];
            x[i] = x[j];
            x[j] = swapped;
        }
        if (rank <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[rank];
}

/* Variance of a normal distribution whose differences are beyond those of the pixels as seldom as
 * once in a hundred: noise of heavier tails must not be taken for spots. 0: too few pixels. */
static int scatter_of(const db_measured_image *panel, int fast, int slow, scatter *s) {
    const double beyond = 2.5758293035489, half = 0.6744897501961;
    double apart[PAIRS], sum = 0;
    size_t count = 0;
    for (int row = slow; row < slow + SQUARE; row++)
        for (int column = fast; column < fast + SQUARE - APART; column++) {
            const size_t i = (size_t)row * (size_t)panel->fast_pixels + (size_t)column;
            if (panel->mask[i] != DB_MASK_TRUSTED || panel->mask[i + APART] != DB_MASK_TRUSTED)
                continue;
            sum += (double)panel->value[i];
            apart[count++] = fabs((double)panel->value[i] - (double)panel->value[i + APART]);
        }
    if (count < PAIRS / 4) return 0;
    const size_t last = count - 1 - count / 100;
    const double rms = ranked(apart, count, last) / beyond,
                 most = ranked(apart, last, count / 2) / half;
    *s = (scatter){ sum / (double)count, 0.5 * rms * rms, 0.5 * most * most };
    return rms > 0;
}

static size_t squares_of(const db_measured_image *image, size_t most, scatter *list) {
    const int apart = SQUARE * (int)ceil(sqrt((double)most / PLENTY));
    size_t count = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        for (int slow = 0; slow + SQUARE <= panel.slow_pixels; slow += apart)
            for (int fast = 0; fast + SQUARE <= panel.fast_pixels; fast += apart)
                count += (size_t)scatter_of(&panel, fast, slow, &list[count]);
    }
    return count;
}

static int is_noisy(const db_fit_settings *settings, const scatter *list, size_t count) {
    size_t more = 0;
    for (size_t i = 0; i < count; i++)
        more += fmin(list[i].variance, list[i].of_most) >
                MORE * db_pixel_variance(settings, list[i].mean);
    return count >= ENOUGH && 2 * more > count;
}

/* variance = gain mean + readout_noise^2, by relative least squares. */
static void fit(const scatter *list, size_t count, double *gain, double *readout_noise) {
    double s[3] = { 0 }, t[2] = { 0 };
    const double given = *readout_noise * *readout_noise;
    for (size_t i = 0; i < count; i++) {
        const double v = list[i].variance, a = fmax(0, list[i].mean) / v, b = 1 / v;
        s[0] += a * a;
        s[1] += a * b;
        s[2] += b * b;
        t[0] += a;
        t[1] += b;
    }
    const double determinant = s[0] * s[2] - s[1] * s[1];
    double square = given;
    if (!(given > 0) && determinant > 1e-9 * s[0] * s[2])
        square = fmax(0, (s[0] * t[1] - s[1] * t[0]) / determinant);
    const double slope = s[0] > 0 ? (t[0] - s[1] * square) / s[0] : 0;
    *gain = fmax(1, slope);
    *readout_noise = sqrt(square);
}

int db_image_noise_settle(const db_measured_image *image, db_fit_settings *settings) {
    if (!isnan(settings->gain)) return 0;
    settings->gain = isnan(image->gain) ? 1 : image->gain;
    const size_t most =
        (size_t)image->fast_pixels * (size_t)image->slow_pixels / (SQUARE * SQUARE) + 1;
    scatter *const list = malloc(most * sizeof *list);
    if (!list) return 0;
    const size_t count = squares_of(image, most, list);
    const int noisy = is_noisy(settings, list, count);
    if (noisy) fit(list, count, &settings->gain, &settings->readout_noise);
    free(list);
    return noisy;
}
