/* Background and strong pixels of a made-up image. */

#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "fit/pixels/dark_levels.h"
#include "fit/pixels/observed_spots.h"
#include "fit/pixels/strong_pixels.h"
#include "fit/pixels/photon_step.h"
#include "support/naive_surroundings.h"

#include <dualbragg/expert/instruction_set.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 120, SLOW = 90 };
static db_context *context;
static float value[FAST * SLOW];
static uint8_t mask[FAST * SLOW];
static db_measured_image image = {
    .fast_pixels = FAST, .slow_pixels = SLOW, .value = value, .mask = mask
};
static db_fit_settings settings;

static double mean_at(int fast, int slow) { return 4 + 0.03 * fast + 0.02 * slow; }

/* Noise on a sloping background, with a gap of two columns. */
static int make(void **state) {
    (void)state;
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    db_fit_settings_init(&settings);
    memset(mask, 0, sizeof mask);
    for (int i = 0; i < FAST * SLOW; i++) {
        const int fast = i % FAST, slow = i / FAST;
        value[i] = (float)gsl_ran_poisson(random, mean_at(fast, slow));
        if (fast != 60 && fast != 61) continue;
        mask[i] = DB_MASK_GAP;
        value[i] = 1e6F;
    }
    gsl_rng_free(random);
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static void add_spot(double fast, double slow, double height) {
    for (int i = 0; i < FAST * SLOW; i++) {
        const double x = i % FAST + 0.5 - fast, y = i / FAST + 0.5 - slow;
        value[i] += (float)(height * exp(-(x * x + y * y) / (2 * 1.3 * 1.3)));
    }
}

static void background_is_the_local_mean_without_spots(void **state) {
    (void)state;
    db_strong_pixels strong;
    double bias = 0;
    int count = 0;
    for (int s = 15; s < SLOW; s += 20)
        for (int f = 15; f < FAST; f += 20) add_spot(f, s, 400);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    for (int i = 0; i < FAST * SLOW; i++) {
        const double difference = (double)strong.background[i] - mean_at(i % FAST, i / FAST);
        if (fabs(difference) > 1.5)
            fail_msg("background %g off at pixel %d, %d", difference, i % FAST, i / FAST);
        bias += difference;
        count++;
    }
    assert_true(fabs(bias / count) < 0.25);
    db_strong_pixels_clear(&strong);
}

/* A flat image of some photons a pixel. Of the pixels 5 % may have light of spots' tails besides: 0.05 to 50 photons,
 * uniform in the logarithm. */
typedef struct flat_image {
    double photons, gain, readout_noise;
    int has_tails;
} flat_image;

/* Mean errors of the backgrounds `fixed` and `smooth`, in standard deviations of a pixel. They are compared with the
 * image's own mean without tails, so that its noise does not count. */
static void errors_of_flat(const flat_image *f, gsl_rng *random, double error[2]) {
    enum { WIDE = 400, ALL = WIDE * WIDE };
    static const db_fit_background kinds[2] = { DB_FIT_BACKGROUND_FIXED, DB_FIT_BACKGROUND_SMOOTH };
    static float counts[ALL];
    static uint8_t trusted[ALL];
    const db_measured_image flat = {
        .fast_pixels = WIDE, .slow_pixels = WIDE, .value = counts, .mask = trusted, .gain = 1
    };
    db_fit_settings own = settings;
    double light = 0;
    own.gain = f->gain;
    own.readout_noise = f->readout_noise;
    for (int i = 0; i < ALL; i++) {
        const int in_tail = f->has_tails && gsl_rng_uniform(random) < 0.05;
        const double tail = in_tail ? 0.05 * pow(1000, gsl_rng_uniform(random)) : 0,
                     noise = f->readout_noise > 0 ? gsl_ran_gaussian(random, f->readout_noise) : 0,
                     pixel = f->gain * gsl_ran_poisson(random, f->photons) + noise;
        light += pixel;
        counts[i] = (float)(pixel + f->gain * gsl_ran_poisson(random, tail));
    }
    for (int k = 0; k < 2; k++) {
        db_strong_pixels strong;
        double off = -light;
        own.background = kinds[k];
        assert_int_equal(db_strong_pixels_find(context, &flat, &own, &strong), DB_OK);
        for (int i = 0; i < ALL; i++) off += (double)strong.background[i];
        error[k] = off / ALL / hypot(f->gain * sqrt(f->photons), f->readout_noise);
        db_strong_pixels_clear(&strong);
    }
}

/* What is left out as light of spots is next to no light of the background, and most of the light of spots, which is
 * 0.16 to 1.6 standard deviations on average. */
static void faint_backgrounds_are_not_too_low(void **state) {
    static const flat_image images[] = {
        { 0.05, 1, 0, 0 }, { 0.12, 1, 0, 0 }, { 0.2, 1, 0, 0 },   { 0.36, 1, 0, 0 },
        { 0.6, 1, 0, 0 },  { 1, 1, 0, 0 },    { 2, 1, 0, 0 },     { 5, 1, 0, 0 },
        { 0.5, 7, 0, 0 },  { 0.3, 10, 4, 0 }, { 0.6, 10, 20, 0 }, { 5, 10, 20, 0 },
    };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t i = 0; i < 2 * sizeof images / sizeof *images; i++) {
        flat_image image_of = images[i / 2];
        double error[2];
        image_of.has_tails = i % 2;
        errors_of_flat(&image_of, random, error);
        for (int k = 0; k < 2; k++)
            if (!(error[k] > -0.005 && error[k] < (image_of.has_tails ? 0.07 : 0.005)))
                fail_msg("%g photons, gain %g, readout noise %g, tails %d: background %d is %.4f "
                         "standard deviations off",
                         image_of.photons, image_of.gain, image_of.readout_noise,
                         image_of.has_tails, k, error[k]);
    }
    gsl_rng_free(random);
}

/* Every instruction set that there is: the same bits where counts are whole numbers; where they are not, floats
 * round sums along rows. */
static void compare_with_naive(int half, double tolerance) {
    static float expected[FAST * SLOW], found[FAST * SLOW];
    static uint8_t expected_strong[FAST * SLOW], strong[FAST * SLOW];
    const db_surroundings_options options = { half, settings.gain, settings.readout_noise,
                                              settings.strong_sigma };
    naive_surroundings(&image, &options, expected, expected_strong);
    for (size_t tried = 0; use_next_instruction_set(context, &tried);) {
        memset(strong, 0xff, sizeof strong);
        assert_int_equal(db_surroundings_find(context, &image, &options, found, strong), DB_OK);
        for (int i = 0; i < FAST * SLOW; i++)
            if (fabs((double)found[i] - (double)expected[i]) > tolerance * (double)expected[i])
                fail_msg("%s, half width %d, pixel %d: %.9g, expected %.9g",
                         db_context_isa(context), half, i, (double)found[i], (double)expected[i]);
        if (!(tolerance > 0)) assert_memory_equal(strong, expected_strong, sizeof strong);
    }
}

static void backgrounds_are_means_of_their_definition(void **state) {
    static const int halves[] = { 1, 3, 8, 13, 31, 127 };
    (void)state;
    for (int s = 11; s < SLOW; s += 13)
        for (int f = 7; f < FAST; f += 17) add_spot(f, s, 200 + 10 * f);
    for (int i = 0; i < FAST * SLOW; i++) value[i] = floorf(value[i]);
    for (int i = 0; i < 50; i++) { /* a corner without pixels, but for one that stands out */
        memset(mask + i * FAST, DB_MASK_GAP, 50);
        for (int f = 0; f < 50; f++) value[i * FAST + f] = NAN;
    }
    mask[20 * FAST + 20] = DB_MASK_TRUSTED;
    value[20 * FAST + 20] = 5;
    for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k++) compare_with_naive(halves[k], 0);
    value[70 * FAST + 90] = 3e6F; /* sums are above 2^24 */
    value[75 * FAST + 95] = -2;
    compare_with_naive(8, 1e-6);
    for (int i = 0; i < FAST * SLOW; i++) value[i] *= 1.1F;
    settings.gain = 1.1;
    settings.readout_noise = 0.4;
    for (size_t k = 0; k < sizeof halves / sizeof halves[0]; k += 2)
        compare_with_naive(halves[k], 2e-6);
}

static void a_spot_is_strong_noise_and_hot_pixels_are_not(void **state) {
    (void)state;
    db_strong_pixels strong;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    assert_int_equal(strong.count, 0);
    db_strong_pixels_clear(&strong);
    add_spot(30.5, 40.5, 200);
    value[70 * FAST + 90] += 500; /* two hot pixels, side by side */
    value[70 * FAST + 91] += 500;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    assert_int_equal(strong.spots, 1);
    assert_true(strong.strong[40 * FAST + 30] == 1 && strong.strong[70 * FAST + 90] == 0);
    for (int i = 0; i < FAST * SLOW; i++)
        if (strong.strong[i] && hypot(i % FAST - 30, i / FAST - 40) > 6)
            fail_msg("pixel %d is strong", i);
    db_strong_pixels_clear(&strong);
}

static void a_bright_area_larger_than_a_shoebox_is_no_spot(void **state) {
    (void)state;
    db_strong_pixels strong;
    for (int s = 10; s < 40; s++)
        for (int f = 5; f < 25; f++) value[s * FAST + f] += (float)(100 * (1 + f % 3));
    settings.shoebox_half_width = 4;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    assert_int_equal(strong.strong[25 * FAST + 6], 0);
    db_strong_pixels_clear(&strong);
}

/* Beside a bright panel the background of a dark one stays dark, and no spot reaches over. */
static void surroundings_end_with_the_panel(void **state) {
    (void)state;
    enum { CUT = 40 };
    db_image_panel panels[2] = { { .first_row = 0, .slow_pixels = CUT },
                                 { .first_row = CUT, .slow_pixels = SLOW - CUT } };
    db_strong_pixels strong;
    for (int i = 0; i < FAST * CUT; i++) value[i] += 500;
    add_spot(30, CUT + 0.5, 5000);
    image.panel_count = 2;
    image.panels = panels;
    settings.shoebox_half_width = 6;
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    for (int f = 0; f < FAST; f++) {
        assert_true(strong.background[(CUT - 1) * FAST + f] > 480);
        assert_true(strong.background[CUT * FAST + f] < 60);
    }
    assert_int_equal(strong.spots, 2); /* one spot on both sides of the cut */
    db_strong_pixels_clear(&strong);
    image.panel_count = 0;
    image.panels = NULL;
}

/* Strong pixels of a part are counted exactly, and are at least as many once light is added. */
static void strong_pixels_of_a_part_are_counted(void **state) {
    (void)state;
    db_strong_pixels strong;
    static float light[FAST * SLOW];
    for (int s = 9; s < SLOW; s += 17)
        for (int f = 12; f < FAST; f += 23) add_spot(f, s, 300);
    add_spot(FAST - 1, SLOW - 1, 300);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    assert_true(strong.count > 100);
    const size_t found = strong.count;
    for (int first = 0; first < SLOW; first += 7)
        for (int width = 1; width <= FAST - first; width += 9) {
            const int fast[2] = { first, first + width - 1 },
                      slow[2] = { first / 2, first / 2 + width / 3 };
            size_t part = 0;
            for (int i = 0; i < FAST * SLOW; i++)
                part += (size_t)(strong.strong[i] && i % FAST >= fast[0] && i % FAST <= fast[1] &&
                                 i / FAST >= slow[0] && i / FAST <= slow[1]);
            assert_int_equal(db_strong_pixels_at_most(&strong, fast, slow), part);
        }
    const int all[2][2] = { { 0, FAST - 1 }, { 0, SLOW - 1 } };
    assert_int_equal(db_strong_pixels_at_most(&strong, all[0], all[1]), found);
    for (int i = 0; i < FAST * SLOW; i++) light[i] = strong.strong[i] ? 0.9F * value[i] : 0;
    db_strong_pixels_add_light(&image, light, &strong);
    assert_true(strong.count < found);
    assert_true(db_strong_pixels_at_most(&strong, all[0], all[1]) >= strong.count);
    db_strong_pixels_clear(&strong);
}

/* Of two spots that touch, one is another crystal's: the place of the rest says little. */
static void spots_beside_light_of_others_are_cut(void **state) {
    (void)state;
    static float light[FAST * SLOW];
    db_strong_pixels strong;
    db_observed_spots spots;
    size_t cut = 0;
    for (int i = 0; i < FAST * SLOW; i++) value[i] -= (float)mean_at(i % FAST, i / FAST);
    memcpy(light, value, sizeof light);
    add_spot(25, 20, 400);
    for (int i = 0; i < FAST * SLOW; i++) light[i] = value[i] - light[i];
    for (int i = 0; i < FAST * SLOW; i++) value[i] += (float)mean_at(i % FAST, i / FAST);
    add_spot(29, 20, 400);
    add_spot(40, 70, 400);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &strong), DB_OK);
    for (int lit = 0; lit < 2; lit++) {
        if (lit) db_strong_pixels_add_light(&image, light, &strong);
        assert_int_equal(db_observed_spots_find(context, &image, &strong, &settings, &spots),
                         DB_OK);
        assert_int_equal(spots.count, lit ? 2 : 3);
        for (size_t i = 0; i < spots.count; i++) {
            cut += (size_t)spots.spot[i].is_cut;
            assert_true(!spots.spot[i].is_cut || fabs(spots.spot[i].position[0] - 29) < 2);
        }
        assert_int_equal(cut, lit);
        db_observed_spots_clear(&spots);
    }
    db_strong_pixels_clear(&strong);
}

/* Bands of rows are worked out by any thread, with the same sums. */
/* Strong pixels that wait are taken as they are; those of other settings, or of another mask, are found. */
static void waiting_pixels_are_those_of_the_same_settings(void **state) {
    (void)state;
    add_spot(30.4, 40.2, 300);
    for (int other = 0; other < 6; other++) {
        db_strong_pixels found, taken, right;
        db_strong_memory memory = { 0 };
        db_measured_image own = image;
        db_fit_settings asked = settings;
        assert_int_equal(db_strong_pixels_find(context, &image, &settings, &found), DB_OK);
        const float *const background = found.background;
        db_strong_pixels_leave(&image, &settings, &found, &memory);
        assert_null(found.background);
        if (other == 1) asked.shoebox_half_width = DB_SHOEBOX_USUAL + 3;
        if (other == 2) asked.gain = 2;
        if (other == 3) asked.readout_noise = 3;
        if (other == 4) asked.strong_sigma = 9;
        if (other == 5) own.masked++;
        assert_int_equal(db_strong_pixels_recall(context, &own, &asked, &memory, &taken), DB_OK);
        if (!other) assert_ptr_equal(taken.background, background);
        assert_null(memory.waiting.background);
        assert_int_equal(db_strong_pixels_find(context, &own, &asked, &right), DB_OK);
        assert_int_equal(taken.count, right.count);
        assert_memory_equal(taken.strong, right.strong, FAST * SLOW);
        assert_memory_equal(taken.background, right.background, sizeof value);
        db_strong_pixels_clear(&taken);
        db_strong_pixels_clear(&right);
    }
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    db_strong_pixels one, three;
    for (int i = 0; i < FAST * SLOW; i++) value[i] *= 1.1F; /* no sum of counts is exact */
    add_spot(40, 63, 300);
    assert_int_equal(db_context_set_threads(context, 1), DB_OK);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &one), DB_OK);
    assert_int_equal(db_context_set_threads(context, 3), DB_OK);
    assert_int_equal(db_strong_pixels_find(context, &image, &settings, &three), DB_OK);
    assert_memory_equal(one.background, three.background, sizeof value);
    assert_memory_equal(one.strong, three.strong, sizeof mask);
    db_strong_pixels_clear(&one);
    db_strong_pixels_clear(&three);
}

/* Counts of photons say their noise; those of a detector that scatters more are measured. */
static void noise_is_measured_where_it_is_more_than_that_of_photons(void **state) {
    const double gain = 5, readout_noise = 3;
    db_fit_settings own = settings;
    db_image_noise found;
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    enum { WIDE = 512 };
    static float counts[WIDE * WIDE];
    static uint8_t trusted[WIDE * WIDE];
    db_measured_image noisy = { .fast_pixels = WIDE, .slow_pixels = WIDE, .gain = 1 };
    noisy.value = counts;
    noisy.mask = trusted;
    (void)state;
    for (int i = 0; i < WIDE * WIDE; i++)
        counts[i] = (float)gsl_ran_poisson(random, 2 + 0.02 * (i % WIDE));
    own.gain = NAN;
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    assert_false(found.measured || found.has_dark);
    assert_true(fabs(own.gain - 1) < 1e-12);
    for (int i = 0; i < WIDE * WIDE; i += 20) counts[i] += 100; /* crowded spots are no noise */
    own.gain = NAN;
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    assert_false(found.measured || found.has_dark);
    for (int i = 0; i < WIDE * WIDE; i += 20) counts[i] -= 100;
    for (int i = 0; i < WIDE * WIDE; i++)
        counts[i] = (float)(gain * counts[i] + gsl_ran_gaussian(random, readout_noise));
    own.gain = NAN;
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    assert_true(found.measured && !found.has_dark);
    print_message("gain %.3f, readout noise %.3f\n", own.gain, own.readout_noise);
    assert_true(fabs(own.gain - gain) < 0.15 * gain);
    assert_true(fabs(own.readout_noise - readout_noise) < 0.5 * readout_noise);
    own.gain = 2; /* given */
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    assert_false(found.measured || found.has_dark);
    assert_true(fabs(own.gain - 2) < 1e-12);
    gsl_rng_free(random);
}

/* Few photons of many counts each: nobody's variance tells the gain, since most pixels have 0, but the step
 * does, even if a few pixels have the mean of their neighbours. Single photons are no spots. */
static void the_step_of_faint_counts_is_the_gain(void **state) {
    enum { WIDE = 300, ALL = WIDE * WIDE };
    static float counts[ALL];
    static uint8_t trusted[ALL];
    static const struct {
        double photons, gain, added, expected;
        int replaced; /* pixels with other counts, of some 23,000 with photons */
        int by_steps; /* 0: by single photons, whose counts need not be whole */
    } cases[] = { { 0.3, 16, 0, 16, 0, 1 },   { 0.02, 16, 0, 16, 0, 1 },  { 0.3, 1, 0, 1, 0, 0 },
                  { 0.3, 16, 0.5, 16, 0, 0 }, { 0.0002, 16, 0, 1, 0, 0 }, { 0.3, 7, 0, 7, 0, 1 },
                  { 0.3, 16, 0, 16, 150, 1 }, { 0.3, 16, 0, 16, 1500, 0 } };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    db_measured_image faint = { .fast_pixels = WIDE, .slow_pixels = WIDE, .gain = 1 };
    (void)state;
    faint.value = counts;
    faint.mask = trusted;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        db_fit_settings own = settings;
        db_image_noise found;
        db_strong_pixels strong;
        for (int i = 0; i < ALL; i++)
            counts[i] = (float)(cases[c].gain * gsl_ran_poisson(random, cases[c].photons));
        counts[77] += (float)cases[c].added;
        for (int i = 0; i < cases[c].replaced; i++) counts[1000 + 7 * i] = 5;
        counts[99] = 5; /* masked */
        trusted[99] = DB_MASK_BAD;
        own.gain = NAN;
        assert_int_equal(db_image_noise_estimate(context, &faint, &own, &found), DB_OK);
        const double within = cases[c].by_steps ? 0 : 0.02 * (cases[c].expected - 1);
        if (!(fabs(own.gain - cases[c].expected) <= within))
            fail_msg("case %zu: gain %g", c, own.gain);
        assert_int_equal(found.measured, cases[c].expected > 1);
        assert_int_equal(found.by_steps, cases[c].by_steps);
        assert_int_equal(db_strong_pixels_find(context, &faint, &own, &strong), DB_OK);
        if (cases[c].expected > 1) assert_true(strong.spots < 5);
        db_strong_pixels_clear(&strong);
    }
    gsl_rng_free(random);
}

/* Readout noise below half a count that is rounded to whole counts is mostly 0, and else 1, but a photon is not one
 * count. A detector that counts photons has no counts below 0. */
static void rounded_noise_is_no_photon(void **state) {
    enum { WIDE = 480, ALL = WIDE * WIDE };
    static float counts[ALL];
    static uint8_t trusted[ALL];
    static const double cases[][3] = { { 10, 0.3, 0.01 }, { 10, 0.3, 0.1 },   { 10, 0.45, 0.03 },
                                       { 10, 0.45, 0.3 }, { 10, 0.6, 0.03 },  { 30, 0.3, 0.01 },
                                       { 30, 0.3, 0.1 },  { 30, 0.45, 0.03 }, { 1, 0, 0.01 },
                                       { 1, 0, 0.1 },     { 1, 0.3, 0.1 } };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    db_measured_image rounded = { .fast_pixels = WIDE, .slow_pixels = WIDE, .gain = 1 };
    (void)state;
    rounded.value = counts;
    rounded.mask = trusted;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const double gain = cases[c][0], readout = cases[c][1], photons = cases[c][2];
        db_fit_settings own = settings;
        db_image_noise found;
        for (int i = 0; i < ALL; i++)
            counts[i] = (float)rint(gain * gsl_ran_poisson(random, photons) +
                                    gsl_ran_gaussian(random, readout));
        own.gain = NAN;
        assert_int_equal(db_image_noise_estimate(context, &rounded, &own, &found), DB_OK);
        print_message("gain %g, readout noise %g, %g photons: gain %.4g, readout noise %.3g\n",
                      gain, readout, photons, own.gain, own.readout_noise);
        assert_true(fabs(own.gain - gain) <= 0.02 * (gain - 1));
        assert_false(found.has_dark || (gain > 1) != found.measured);
    }
    gsl_rng_free(random);
}

/* Squares that are all alike have no line of variance against mean, only photons. */
static void squares_that_are_all_alike_tell_single_photons(void **state) {
    enum { WIDE = 320, SQUARE = 32, ALL = WIDE * WIDE };
    static float counts[ALL];
    static uint8_t trusted[ALL];
    db_measured_image alike = { .fast_pixels = WIDE, .slow_pixels = WIDE, .gain = 1 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    alike.value = counts;
    alike.mask = trusted;
    for (int tile = 0; tile < 16; tile++) {
        float square[SQUARE * SQUARE];
        db_fit_settings own = settings;
        db_image_noise found;
        for (int i = 0; i < SQUARE * SQUARE; i++)
            square[i] = (float)(10 * gsl_ran_poisson(random, 0.3) + gsl_ran_gaussian(random, 1));
        for (int i = 0; i < ALL; i++)
            counts[i] = square[i / WIDE % SQUARE * SQUARE + i % WIDE % SQUARE];
        own.gain = NAN;
        db_photon_step photon;
        assert_int_equal(db_photon_step_find(context, &alike, &photon), DB_OK);
        assert_int_equal(db_image_noise_estimate(context, &alike, &own, &found), DB_OK);
        print_message("gain %.4g, readout noise %.3g\n", own.gain, own.readout_noise);
        assert_true(fabs(own.gain - photon.counts) < 1e-12);
        free(alike.dark);
        alike.dark = NULL;
    }
    gsl_rng_free(random);
}

/* A photon has at least one count. */
static void steps_below_1_are_no_photons(void **state) {
    static float counts[640 * 640];
    static uint8_t trusted[640 * 640];
    static const double steps[] = { 0.2, 0.5, 1, 10, 1600 };
    db_measured_image few = { .fast_pixels = 640, .slow_pixels = 640, .gain = 1 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    few.value = counts;
    few.mask = trusted;
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        db_photon_step found;
        for (int i = 0; i < 640 * 640; i++)
            counts[i] =
                (float)(steps[s] * (gsl_ran_poisson(random, 0.2) + gsl_ran_gaussian(random, 0.05)));
        assert_int_equal(db_photon_step_find(context, &few, &found), DB_OK);
        print_message("step %g: found %g +- %g\n", steps[s], found.counts, found.error);
        const double expected = steps[s] < 1 ? 0 : steps[s];
        assert_true(fabs(found.counts - expected) <= 0.02 * expected);
    }
    gsl_rng_free(random);
}

/* A variance that grows by less than that of photons is not of light; the message says what was found. */
static void a_gain_below_1_is_named(void **state) {
    static float counts[640 * 640];
    static uint8_t trusted[640 * 640];
    db_measured_image few = { .fast_pixels = 640, .slow_pixels = 640, .gain = 1 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    db_fit_settings own = settings;
    db_image_noise found;
    (void)state;
    few.value = counts;
    few.mask = trusted;
    for (int i = 0; i < 640 * 640; i++)
        counts[i] = (float)(0.3 * gsl_ran_poisson(random, 1 + 1.0 * i / 640) +
                            gsl_ran_gaussian(random, 20));
    own.gain = NAN;
    assert_int_equal(db_image_noise_estimate(context, &few, &own, &found), DB_ERROR_INPUT);
    print_message("%s\n", db_context_message(context));
    assert_non_null(strstr(db_context_message(context), "at least 1 count per photon, found 0.3"));
    assert_non_null(strstr(db_context_message(context), "data.gain"));
    gsl_rng_free(random);
}

/* Background of an integrating detector that grows along an image by a factor of 3. */
typedef struct few_photons {
    double gain, readout, photons, dark; /* dark: another level in each quarter */
    double spots, hot;                   /* of the pixels */
    int refused;
} few_photons;

enum { FEW_WIDE = 640, FEW_ALL = FEW_WIDE * FEW_WIDE };

static void make_few_photons(const few_photons *c, gsl_rng *random, float *counts) {
    static double light[FEW_ALL];
    for (int i = 0; i < FEW_ALL; i++)
        light[i] = c->photons * (0.5 + (double)(i / FEW_WIDE) / FEW_WIDE);
    for (int n = (int)(c->spots * FEW_ALL / 25); n > 0; n--) {
        const int fast = 3 + (int)gsl_rng_uniform_int(random, FEW_WIDE - 6),
                  slow = 3 + (int)gsl_rng_uniform_int(random, FEW_WIDE - 6);
        const double height = gsl_ran_exponential(random, 20);
        for (int k = 0; k < 25; k++)
            light[(slow + k / 5 - 2) * FEW_WIDE + fast + k % 5 - 2] +=
                height * exp(-(pow(k / 5 - 2, 2) + pow(k % 5 - 2, 2)) / 2);
    }
    for (int i = 0; i < FEW_ALL; i++) {
        const int quarter = 2 * (i / FEW_WIDE >= FEW_WIDE / 2) + (i % FEW_WIDE >= FEW_WIDE / 2);
        counts[i] = (float)(c->gain * gsl_ran_poisson(random, light[i]) + c->dark * quarter +
                            gsl_ran_gaussian(random, c->readout));
        if (gsl_rng_uniform(random) < c->hot)
            counts[i] += (float)(c->gain * exp(1 + 8 * gsl_rng_uniform(random)));
    }
}

/* At any light either the right gain comes out, or none: single photons are few and far above the noise, so they
 * must not be left out as spots; where readout noise hides them, and few of them change the scatter, nothing tells. */
static void the_gain_of_few_photons_is_right_or_refused(void **state) {
    static float counts[FEW_ALL];
    static uint8_t trusted[FEW_ALL];
    static const few_photons cases[] = {
        { 10, 1, 0.005, 0, 0, 0, 0 },    { 10, 1, 0.02, 0, 0, 0, 0 },
        { 10, 1, 0.3, 0, 0, 0, 0 },      { 10, 1, 1, 0, 0, 0, 0 },
        { 30, 5, 0.01, 0, 0, 0, 0 },     { 30, 5, 0.05, 0, 0, 0, 0 },
        { 30, 5, 0.3, 0, 0, 0, 0 },      { 30, 5, 3, 0, 0, 0, 0 },
        { 200, 20, 0.005, 0, 0, 0, 0 },  { 200, 20, 30, 0, 0, 0, 0 },
        { 30, 5, 0.05, 7, 0, 0, 0 },     { 200, 5, 0.02, 0, 0, 0, 0 },
        { 30, 5, 0.05, 0, 3e-3, 0, 0 },  { 30, 5, 0.05, 0, 0, 1e-3, 0 },
        { 30, 1, 0.01, 40, 0, 1e-3, 0 }, { 10, 20, 0.05, 0, 0, 0, 1 },
        { 10, 5, 0.005, 0, 0, 0, 1 },    { 30, 20, 0, 0, 0, 0, 1 },
        { 1, 0, 0.3, 0, 3e-3, 1e-3, 0 }, { 1, 0, 3, 0, 3e-3, 1e-3, 0 },
    };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        db_measured_image few = { .fast_pixels = FEW_WIDE, .slow_pixels = FEW_WIDE, .gain = 1 };
        db_fit_settings own = settings;
        db_image_noise found;
        few.value = counts;
        few.mask = trusted;
        make_few_photons(&cases[c], random, counts);
        own.gain = NAN;
        const db_status status = db_image_noise_estimate(context, &few, &own, &found);
        print_message("gain %g, readout noise %g, %g photons: %s, gain %.4g, readout noise %.3g\n",
                      cases[c].gain, cases[c].readout, cases[c].photons,
                      status == DB_OK ? "measured" : "refused", own.gain, own.readout_noise);
        assert_int_equal(status, cases[c].refused ? DB_ERROR_INPUT : DB_OK);
        if (cases[c].refused) assert_non_null(strstr(db_context_message(context), "data.gain"));
        if (!cases[c].refused) assert_true(fabs(own.gain - cases[c].gain) < 0.1 * cases[c].gain);
        if (!cases[c].refused && !(cases[c].dark > 0) && cases[c].photons < 0.1)
            assert_true(fabs(own.readout_noise - cases[c].readout) < 0.05 * cases[c].readout);
        assert_int_equal(found.has_dark, cases[c].dark > 0);
        free(few.dark);
    }
    gsl_rng_free(random);
}

/* Light that does not vary has no line of variance against mean, and photons that overlap no steps. The skewness tells the
 * gain, with spots and a dark level, too; not if readout noise and dark level may be anything. */
static void the_gain_in_uniform_light_is_right_or_refused(void **state) {
    static float counts[FEW_ALL];
    static uint8_t trusted[FEW_ALL];
    static const struct {
        double gain, readout, photons, dark, spots;
        int refused;
    } cases[] = {
        { 10, 5, 10, 0, 0, 0 },    { 10, 5, 20, 0, 0, 0 },     { 10, 5, 50, 0, 0, 0 },
        { 30, 5, 10, 0, 0, 0 },    { 30, 5, 20, 40, 0, 0 },    { 30, 5, 50, 0, 3e-3, 0 },
        { 10, 5, 10, 0, 3e-3, 0 }, { 30, 5, 10, 40, 3e-3, 0 }, { 2, 5, 1, 10, 0, 1 },
        { 10, 20, 10, 40, 0, 1 },  { 10, 5, 3, 40, 0, 1 },
    };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const few_photons dark = { cases[c].gain, 0, 0, 0, cases[c].spots, 0, 0 };
        db_measured_image few = { .fast_pixels = FEW_WIDE, .slow_pixels = FEW_WIDE, .gain = 1 };
        db_fit_settings own = settings;
        db_image_noise found;
        few.value = counts;
        few.mask = trusted;
        make_few_photons(&dark, random, counts);
        for (int i = 0; i < FEW_ALL; i++)
            counts[i] += (float)rint(cases[c].gain * gsl_ran_poisson(random, cases[c].photons) +
                                     gsl_ran_gaussian(random, cases[c].readout) + cases[c].dark);
        own.gain = NAN;
        const db_status status = db_image_noise_estimate(context, &few, &own, &found);
        print_message("gain %g, readout noise %g, %g photons: %s, gain %.4g\n", cases[c].gain,
                      cases[c].readout, cases[c].photons, status == DB_OK ? "measured" : "refused",
                      own.gain);
        assert_int_equal(status, cases[c].refused ? DB_ERROR_INPUT : DB_OK);
        if (!cases[c].refused) assert_true(fabs(own.gain / cases[c].gain - 1) < 0.1);
        free(few.dark);
    }
    gsl_rng_free(random);
}

/* With a known readout noise third / (variance - noise) is the gain whatever the dark level and the squares with spots;
 * without a dark level sqrt(third / mean) is, whatever the readout noise. The one that is right is taken, and an unknown
 * readout noise leaves an error that has both. With neither both may be wrong alike: the fourth moment tells. */
static void the_third_moment_needs_one_of_two(void **state) {
    static float counts[FEW_ALL];
    static uint8_t trusted[FEW_ALL];
    static const struct {
        double photons, dark, readout, known;
        int spots; /* squares with one, of 5 */
        double expected, least_error;
    } cases[] = { { 5, 0, 15, 0, 0, 10, 2 },
                  { 5, 100, 15, 15, 0, 10, 0 },
                  { 5, 100, 15, 15, 1, 10, 0 },
                  { 1, 30, 10, 0, 0, 0, 0 } };
    const double gain = 10;
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const db_measured_image flat = { .fast_pixels = FEW_WIDE,
                                         .slow_pixels = FEW_WIDE,
                                         .gain = 1,
                                         .value = counts,
                                         .mask = trusted };
        db_photon_step found;
        for (int i = 0; i < FEW_ALL; i++) {
            const int is_first = i % 32 == 7 && i / FEW_WIDE % 32 == 7;
            counts[i] = (float)(gain * gsl_ran_poisson(random, cases[c].photons) +
                                gsl_ran_gaussian(random, cases[c].readout) + cases[c].dark);
            if (is_first && i % FEW_WIDE / 32 % 5 < cases[c].spots) counts[i] += 3000;
        }
        assert_int_equal(db_third_moment_find(context, &flat, cases[c].known, &found), DB_OK);
        print_message("%g photons, dark level %g, known noise %g: %.3f +- %.3f counts\n",
                      cases[c].photons, cases[c].dark, cases[c].known, found.counts, found.error);
        assert_true(fabs(found.counts - cases[c].expected) <= 0.1 * cases[c].expected);
        assert_true(found.error >= cases[c].least_error && found.error < 0.4 * gain);
    }
    gsl_rng_free(random);
}

/* A gain that the header states is taken where spots' light and readout noise look like another one, but not where the
 * background contradicts it. */
static void the_gain_of_a_header_is_kept(void **state) {
    static float counts[FEW_ALL];
    static uint8_t trusted[FEW_ALL];
    static const few_photons cases[] = { { 1, 3, 0.05, 0, 3e-3, 0, 0 },
                                         { 1, 10, 0.3, 0, 3e-3, 0, 0 },
                                         { 4, 20, 0.05, 0, 3e-3, 0, 0 },
                                         { 10, 5, 4, 0, 0, 0, 0 } };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        db_measured_image few = { .fast_pixels = FEW_WIDE, .slow_pixels = FEW_WIDE };
        db_fit_settings own = settings;
        db_image_noise found;
        few.gain = few.stated_gain = cases[c].spots > 0 ? cases[c].gain : 1;
        few.value = counts;
        few.mask = trusted;
        make_few_photons(&cases[c], random, counts);
        own.gain = NAN;
        assert_int_equal(db_image_noise_estimate(context, &few, &own, &found), DB_OK);
        print_message("gain %g, readout noise %.3g\n", own.gain, own.readout_noise);
        assert_true(found.measured && fabs(own.gain - cases[c].gain) <=
                                          (cases[c].spots > 0 ? 0 : 0.05 * cases[c].gain));
        assert_true(fabs(own.readout_noise - cases[c].readout) < 0.1 * cases[c].readout);
        free(few.dark);
    }
    gsl_rng_free(random);
}

/* Panels of an integrating detector whose dark levels differ, also across a panel: what is not light
 * is told by the scatter, so that noise is no spot, and the light of the background comes back. */
static void dark_levels_that_differ_are_subtracted(void **state) {
    enum { SIDE = 192, PANELS = 4, ALL = SIDE * SIDE * PANELS };
    static float counts[ALL], before[ALL];
    static uint8_t trusted[ALL];
    const double gain = 10, dark[PANELS] = { 21, -3, 9, 0 };
    db_image_panel panels[PANELS] = { 0 };
    db_measured_image noisy = { .fast_pixels = SIDE, .slow_pixels = SIDE * PANELS, .gain = 1 };
    db_fit_settings own = settings;
    db_strong_pixels strong;
    db_image_noise found;
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    (void)state;
    noisy.panels = panels;
    noisy.panel_count = PANELS;
    noisy.value = counts;
    noisy.mask = trusted;
    for (int p = 0; p < PANELS; p++) panels[p] = (db_image_panel){ "", p * SIDE, SIDE };
    for (int i = 0; i < ALL; i++) {
        const int column = i % SIDE, p = i / (SIDE * SIDE);
        const double photons = 0.5 + 2.0 * column / SIDE;
        counts[i] = (float)(gain * gsl_ran_poisson(random, photons) + dark[p] +
                            (i / SIDE % SIDE > SIDE / 2 ? 4 : 0) + gsl_ran_gaussian(random, 2));
        if (p == 0 && column < 20 && i / SIDE < 20) trusted[i] = DB_MASK_BAD;
    }
    memcpy(before, counts, sizeof counts);
    own.gain = NAN;
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    print_message("gain %.3f, dark levels %.2f to %.2f\n", own.gain, found.dark[0], found.dark[1]);
    assert_true(found.measured && found.has_dark);
    assert_true(fabs(own.gain - gain) < 0.2 * gain);
    assert_true(found.dark[0] < 0 && found.dark[1] > 18 && found.dark[1] < 32);
    double light[PANELS] = { 0 };
    for (int i = 0; i < ALL; i++) {
        light[i / (SIDE * SIDE)] += (double)counts[i] / (SIDE * SIDE);
        assert_true(fabs((double)(counts[i] + noisy.dark[i] - before[i])) < 1e-4);
    }
    for (int p = 0; p < PANELS; p++) {
        print_message("panel %d: %.2f counts of 15 are light\n", p, light[p]);
        assert_true(fabs(light[p] - 15) < 4);
    }
    assert_int_equal(db_strong_pixels_find(context, &noisy, &own, &strong), DB_OK);
    assert_int_equal(strong.spots, 0);
    db_strong_pixels_clear(&strong);
    free(noisy.dark);
    noisy.dark = NULL;
    memcpy(counts, before, sizeof counts);
    own.gain = 12; /* given: it stays, dark levels follow from it */
    assert_int_equal(db_image_noise_estimate(context, &noisy, &own, &found), DB_OK);
    assert_true(!found.measured && found.has_dark && fabs(own.gain - 12) < 1e-12);
    assert_int_equal(db_strong_pixels_find(context, &noisy, &own, &strong), DB_OK);
    assert_int_equal(strong.spots, 0);
    db_strong_pixels_clear(&strong);
    free(noisy.dark);
    gsl_rng_free(random);
}

/* Readout noise hides the steps of photons, but not the gain that is given. Then the clip on scatter does not take the
 * brightest pixels for spots, which would make levels too high by 0.007 photons. */
static void dark_levels_keep_the_few_photons_above_them(void **state) {
    static float counts[FEW_ALL];
    static uint8_t trusted[FEW_ALL];
    enum { TIMES = 6 };
    const few_photons made = { 10, 2, 1, 7, 0, 0, 0 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    double light = 0;
    (void)state;
    for (int n = 0; n < TIMES; n++) {
        db_measured_image few = { .fast_pixels = FEW_WIDE, .slow_pixels = FEW_WIDE, .gain = 1 };
        db_fit_settings own = settings;
        db_image_noise found;
        few.value = counts;
        few.mask = trusted;
        make_few_photons(&made, random, counts);
        own.gain = made.gain;
        own.readout_noise = made.readout;
        assert_int_equal(db_image_noise_estimate(context, &few, &own, &found), DB_OK);
        assert_true(found.has_dark);
        for (int i = 0; i < FEW_ALL; i++) light += (double)counts[i] / made.gain;
        free(few.dark);
    }
    light /= (double)TIMES * FEW_ALL;
    print_message("%.4f of %g photons are light\n", light, made.photons);
    assert_true(fabs(light - made.photons) < 0.005);
    gsl_rng_free(random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(background_is_the_local_mean_without_spots, make, drop),
        cmocka_unit_test_setup_teardown(faint_backgrounds_are_not_too_low, make, drop),
        cmocka_unit_test_setup_teardown(backgrounds_are_means_of_their_definition, make, drop),
        cmocka_unit_test_setup_teardown(a_spot_is_strong_noise_and_hot_pixels_are_not, make, drop),
        cmocka_unit_test_setup_teardown(a_bright_area_larger_than_a_shoebox_is_no_spot, make, drop),
        cmocka_unit_test_setup_teardown(surroundings_end_with_the_panel, make, drop),
        cmocka_unit_test_setup_teardown(strong_pixels_of_a_part_are_counted, make, drop),
        cmocka_unit_test_setup_teardown(spots_beside_light_of_others_are_cut, make, drop),
        cmocka_unit_test_setup_teardown(waiting_pixels_are_those_of_the_same_settings, make, drop),
        cmocka_unit_test_setup_teardown(threads_do_not_change_a_bit, make, drop),
        cmocka_unit_test_setup_teardown(noise_is_measured_where_it_is_more_than_that_of_photons,
                                        make, drop),
        cmocka_unit_test_setup_teardown(the_step_of_faint_counts_is_the_gain, make, drop),
        cmocka_unit_test_setup_teardown(rounded_noise_is_no_photon, make, drop),
        cmocka_unit_test_setup_teardown(squares_that_are_all_alike_tell_single_photons, make, drop),
        cmocka_unit_test_setup_teardown(steps_below_1_are_no_photons, make, drop),
        cmocka_unit_test_setup_teardown(a_gain_below_1_is_named, make, drop),
        cmocka_unit_test_setup_teardown(the_gain_of_few_photons_is_right_or_refused, make, drop),
        cmocka_unit_test_setup_teardown(the_gain_in_uniform_light_is_right_or_refused, make, drop),
        cmocka_unit_test_setup_teardown(the_third_moment_needs_one_of_two, make, drop),
        cmocka_unit_test_setup_teardown(the_gain_of_a_header_is_kept, make, drop),
        cmocka_unit_test_setup_teardown(dark_levels_that_differ_are_subtracted, make, drop),
        cmocka_unit_test_setup_teardown(dark_levels_keep_the_few_photons_above_them, make, drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
