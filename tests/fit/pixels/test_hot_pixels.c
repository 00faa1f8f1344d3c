/* Hot pixels are those of their definition, however bright what is around them. */
#include "support/unit_test.h"
#include "fit/pixels/measured_image.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 600, SLOW = 40 };
static float value[FAST * SLOW];
static uint8_t mask[FAST * SLOW], expected[FAST * SLOW];
static int columns; /* of the image */
static db_fit_settings settings;

static int ascending(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Number of trusted pixels within a distance of one. */
static int around(int fast, int slow, int reach, float list[25]) {
    int count = 0;
    for (int s = slow - reach; s <= slow + reach; s++)
        for (int f = fast - reach; f <= fast + reach; f++) {
            if (s < 0 || f < 0 || s >= SLOW || f >= columns || (s == slow && f == fast)) continue;
            if (expected[s * columns + f] == DB_MASK_TRUSTED)
                list[count++] = value[s * columns + f];
        }
    qsort(list, (size_t)count, sizeof *list, ascending);
    return count;
}

static int is_hot(double sigma, int fast, int slow) {
    float near[25], all[25];
    const int beside = around(fast, slow, 1, near), count = around(fast, slow, 2, all);
    if (beside < 3) return 0;
    const double median = (double)all[count / 2],
                 excess = (double)value[slow * columns + fast] - median,
                 noise = sqrt(db_pixel_variance(&settings, median));
    double ring = 0;
    for (int i = 0; i < beside; i++) ring += (double)near[i] - median;
    return excess > sigma * noise &&
           (double)near[beside - 1] - median < 0.05 * excess + 3 * noise &&
           ring < 0.05 * excess + 3 * noise * sqrt(beside);
}

/* One pixel after the other: those that were hot do not count any more. */
static size_t mask_by_definition(double sigma) {
    size_t found = 0;
    memcpy(expected, mask, sizeof mask);
    for (int slow = 0; slow < SLOW; slow++)
        for (int fast = 0; fast < columns; fast++) {
            if (expected[slow * columns + fast] != DB_MASK_TRUSTED || !is_hot(sigma, fast, slow))
                continue;
            expected[slow * columns + fast] = DB_MASK_HOT;
            found++;
        }
    return found;
}

/* Pixels about as bright as the limit, on a background of some photons and a dark level. */
static void make(gsl_rng *random, double photons, double dark, double sigma) {
    const double limit = sigma * sqrt(db_pixel_variance(&settings, settings.gain * photons));
    for (int i = 0; i < columns * SLOW; i++) {
        value[i] = (float)(settings.gain * gsl_ran_poisson(random, photons) + dark +
                           gsl_ran_gaussian(random, settings.readout_noise));
        mask[i] = gsl_rng_uniform(random) < 0.01 ? DB_MASK_BAD : DB_MASK_TRUSTED;
        if (gsl_rng_uniform(random) < 0.02)
            value[i] += (float)floor(limit * (0.5 + 1.5 * gsl_rng_uniform(random)));
    }
}

/* Returns how many there are. */
static size_t compare(gsl_rng *random, double photons, double dark, double sigma) {
    db_measured_image image = {
        .fast_pixels = columns, .slow_pixels = SLOW, .value = value, .mask = mask
    };
    make(random, photons, dark, sigma);
    const size_t known = mask_by_definition(sigma),
                 found = db_mask_hot_pixels(&settings, sigma, &image);
    if (found != known || memcmp(mask, expected, (size_t)(columns * SLOW)) != 0)
        fail_msg("%d columns, gain %g, %g photons, %g sigma: %zu, by definition %zu", columns,
                 settings.gain, photons, sigma, found, known);
    return known;
}

static void hot_pixels_are_those_of_the_definition(void **state) {
    static const double levels[] = { 0.02, 0.3, 2, 30, 3000 };
    static const double sigmas[] = { 1, 3, 3.3, 5, 8, 20, 50 };
    static const double noise[][3] = { { 1, 0, 0 }, { 1.7, 3, -200 } }; /* gain, readout, dark */
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    db_fit_settings_init(&settings);
    columns = FAST;
    for (size_t n = 0; n < sizeof noise / sizeof noise[0]; n++)
        for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++)
            for (size_t k = 0; k < sizeof sigmas / sizeof sigmas[0]; k++) {
                settings.gain = noise[n][0];
                settings.readout_noise = noise[n][1];
                assert_true(compare(random, levels[l], noise[n][2], sigmas[k]) > 100);
            }
    gsl_rng_free(random);
    db_fit_settings_clear(&settings);
}

/* A spot of l-cysteine on PILATUS 2M: 93 % of its light is in a pixel, but not all of it, as that of a hot one. */
static void sharp_spots_are_not_hot(void **state) {
    static const float spot[3][3] = { { 5, 18, 0 }, { 17, 1259, 8 }, { 1, 30, 11 } };
    (void)state;
    db_fit_settings_init(&settings);
    columns = 7;
    for (int is_spot = 0; is_spot < 2; is_spot++) {
        db_measured_image image = {
            .fast_pixels = columns, .slow_pixels = 7, .value = value, .mask = mask
        };
        for (int i = 0; i < 7 * columns; i++) {
            value[i] = 0;
            mask[i] = DB_MASK_TRUSTED;
        }
        for (int s = 0; s < 3; s++)
            for (int f = 0; f < 3; f++)
                if (is_spot || (s == 1 && f == 1)) value[(s + 2) * columns + f + 2] = spot[s][f];
        assert_int_equal(db_mask_hot_pixels(&settings, 50, &image), !is_spot);
    }
    db_fit_settings_clear(&settings);
}

/* Rows are searched in pieces. */
static void narrow_images_are_searched_to_their_edges(void **state) {
    static const int widths[] = { 1, 2, 3, 255, 256, 257, 258, 512, 513 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    db_fit_settings_init(&settings);
    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++)
        for (int times = 0; times < 10; times++) {
            columns = widths[k];
            (void)compare(random, 2, 0, 8);
        }
    gsl_rng_free(random);
    db_fit_settings_clear(&settings);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(hot_pixels_are_those_of_the_definition),
                                        cmocka_unit_test(sharp_spots_are_not_hot),
                                        cmocka_unit_test(
                                            narrow_images_are_searched_to_their_edges) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
