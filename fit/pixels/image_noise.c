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

static size_t most_squares(const db_measured_image *image) {
    return (size_t)image->fast_pixels * (size_t)image->slow_pixels / (SQUARE * SQUARE) + 1;
}

/* Differences of the pairs of trusted pixels of a square; returns how many, 0 where they are too
 * few. */
static size_t pairs_of(const db_measured_image *panel, int fast, int slow, double apart[PAIRS],
                       double *mean) {
    double sum = 0;
    size_t count = 0;
    for (int row = slow; row < slow + SQUARE; row++) {
        const size_t first = (size_t)row * (size_t)panel->fast_pixels + (size_t)fast;
        const float *const value = panel->value + first;
        const uint8_t *const mask = panel->mask + first;
        for (int i = 0; i < SQUARE - APART; i++) {
            const int both = (mask[i] == DB_MASK_TRUSTED) & (mask[i + APART] == DB_MASK_TRUSTED);
            apart[count] = fabs((double)value[i] - (double)value[i + APART]);
            sum += both ? (double)value[i] : 0;
            count += (size_t)both;
        }
    }
    *mean = sum / (double)count;
    return count < PAIRS / 4 ? 0 : count;
}

/* Places in the sorted list of differences: beyond the first lie the largest hundredth, the second
 * is the middle. */
static size_t last_of(size_t count) { return count - 1 - count / 100; }
static size_t middle_of(size_t count) { return count / 2; }

/* Which differences a normal distribution, in standard deviations, has at these places. */
static const double BEYOND = 2.5758293035489, HALF = 0.6744897501961;

/* Variance of a normal distribution whose differences are beyond those of the pixels as seldom as
 * once in a hundred: noise of heavier tails must not be taken for spots. 0: too few pixels, or all
 * alike. */
static int scatter_of(const db_measured_image *panel, int fast, int slow, scatter *s) {
    double apart[PAIRS], mean;
    const size_t count = pairs_of(panel, fast, slow, apart, &mean);
    if (!count) return 0;
    const size_t last = last_of(count);
    const double rms = ranked(apart, count, last) / BEYOND,
                 most = ranked(apart, last, middle_of(count)) / HALF;
    *s = (scatter){ mean, 0.5 * rms * rms, 0.5 * most * most };
    return rms > 0;
}

/* Whether both variances of a square are larger than photons explain; counting differences is far
 * less work than sorting them. known: set to 0 where scatter_of returns that. */
static int scatters_more(const db_fit_settings *settings, const db_measured_image *panel, int fast,
                         int slow, int *known) {
    double apart[PAIRS], mean;
    const size_t count = pairs_of(panel, fast, slow, apart, &mean);
    *known = 0;
    if (!count) return 0;
    const double rms = sqrt(2 * MORE * db_pixel_variance(settings, mean));
    size_t alike = 0, within = 0, half = 0;
    for (size_t i = 0; i < count; i++) {
        alike += apart[i] <= 0;
        within += apart[i] <= BEYOND * rms;
        half += apart[i] <= HALF * rms;
    }
    *known = alike <= last_of(count);
    return within <= last_of(count) && half <= middle_of(count);
}

/* Looks at the squares of an image, but not at many more than are plenty; returns how many there
 * are. list: of their scatter; NULL: *more becomes how many scatter more than photons explain. */
static size_t squares_of(const db_measured_image *image, const db_fit_settings *settings,
                         scatter *list, size_t *more) {
    const size_t all = most_squares(image);
    const int apart = SQUARE * (int)ceil(sqrt((double)all / PLENTY));
    size_t count = 0;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        for (int slow = 0; slow + SQUARE <= panel.slow_pixels; slow += apart)
            for (int fast = 0; fast + SQUARE <= panel.fast_pixels; fast += apart) {
                int known = 1;
                if (list)
                    known = scatter_of(&panel, fast, slow, &list[count]);
                else
                    *more += (size_t)scatters_more(settings, &panel, fast, slow, &known);
                count += (size_t)known;
            }
    }
    return count;
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
    size_t more = 0;
    const size_t count = squares_of(image, settings, NULL, &more);
    if (count < ENOUGH || 2 * more <= count) return 0;
    scatter *const list = malloc(most_squares(image) * sizeof *list);
    if (!list) return 0;
    fit(list, squares_of(image, settings, list, NULL), &settings->gain, &settings->readout_noise);
    free(list);
    return 1;
}
