/* Images of db_noise_apply: the same bits however they are computed, each part of the detector
 * against its formula, and bad input. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(DB_HAVE_GSL) && defined(DB_HAVE_RANDOM123)

#include "noise/pixel_chain.h"
#include "noise/statistics.h"

enum { FAST = 400, SLOW = 300, COUNT = FAST * SLOW };
static db_context *context;
static float expected[COUNT], level[COUNT], signal_[COUNT], again[COUNT];
static int32_t number[COUNT], number_again[COUNT];
static double values[COUNT], others[COUNT];

static int start(void **state) {
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        expected[i] = i % 7 ? (float)exp(9 * sin(0.01 * i)) : 0;
        level[i] = 1000;
    }
    return db_context_create(&context) != DB_OK;
}

static int finish(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

static db_noise_frame frame_of(const float *image, float *signal, int32_t *numbers) {
    return (db_noise_frame){ .fast_pixels = FAST,
                             .slow_pixels = SLOW,
                             .expected = image,
                             .signal = signal,
                             .number = numbers };
}

static db_noise_summary apply(const db_noise_options *options, const db_noise_frame *frame) {
    db_noise_summary summary;
    assert_int_equal(db_noise_apply(context, options, frame, &summary), DB_OK);
    return summary;
}

/* Everything a detector does. */
static db_noise_options everything(db_psf_type psf) {
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.seed = 17;
    o.flicker = 0.05;
    o.calibration = 0.03;
    o.gain = 1.7;
    o.readout = 3;
    o.psf = psf;
    o.psf_fwhm = 1.3;
    return o;
}

/* Blocks of pixels have the bits of the formulas of one pixel, which devices use. */
static void blocks_are_pixels_one_by_one(void **state) {
    (void)state;
    static float means[COUNT];
    for (int i = 0; i < COUNT; i++)
        means[i] = i % 11 == 0   ? -expected[i]
                   : i % 13 == 0 ? 1e16f
                   : i % 17      ? expected[i]
                                 : 1e-3f * (float)(i % 700);
    for (int calibration = 0; calibration < 2; calibration++)
        for (int readout = 0; readout < 2; readout++) {
            db_noise_options o = everything(DB_PSF_NONE);
            o.flicker = 0;
            o.calibration = 0.4 * calibration;
            o.readout = 5.0 * readout;
            db_noise_frame f = frame_of(means, signal_, number);
            f.panel = 3;
            f.fast_start = 37;
            f.fast_count = FAST - 40;
            f.slow_start = 2;
            f.slow_count = SLOW - 2;
            apply(&o, &f);
            const noise_chain chain = { .seed = o.seed,
                                        .calibration_seed = o.calibration_seed,
                                        .panel = 3,
                                        .noisy = 1,
                                        .beam = o.scale,
                                        .calibration = o.calibration,
                                        .gain = o.gain,
                                        .adc = o.adc,
                                        .readout = o.readout,
                                        .limit = 65535 };
            for (int slow = 2; slow < SLOW; slow++)
                for (int fast = 37; fast < FAST - 3; fast++) {
                    const int at = slow * FAST + fast;
                    const uint32_t x = (uint32_t)fast, y = (uint32_t)slow;
                    const double light = noise_photons(&chain, x, y, (double)means[at]),
                                 found = noise_signal(&chain, x, y, light);
                    assert_true(signal_[at] == noise_float(found));
                    assert_int_equal(number[at], noise_number(&chain, found));
                }
        }
}

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    for (int psf = DB_PSF_NONE; psf <= DB_PSF_FIBER; psf++) {
        const db_noise_options o = everything((db_psf_type)psf);
        db_context_set_threads(context, 1);
        db_noise_frame f = frame_of(expected, signal_, number);
        const db_noise_summary one = apply(&o, &f);
        f = frame_of(expected, again, number_again);
        for (int threads = 2; threads <= 4; threads++) {
            db_context_set_threads(context, threads);
            const db_noise_summary many = apply(&o, &f);
            assert_memory_equal(signal_, again, sizeof again);
            assert_memory_equal(number, number_again, sizeof number);
            assert_true(one.photons == many.photons && one.overloads == many.overloads);
        }
        db_context_set_threads(context, 0);
    }
}

static void region_shows_what_the_whole_image_shows(void **state) {
    (void)state;
    for (int psf = DB_PSF_NONE; psf <= DB_PSF_FIBER; psf++) {
        const db_noise_options o = everything((db_psf_type)psf);
        db_noise_frame f = frame_of(expected, signal_, number);
        apply(&o, &f);
        f = frame_of(expected, again, number_again);
        f.fast_start = 123;
        f.slow_start = 45;
        f.fast_count = 77;
        f.slow_count = 101;
        apply(&o, &f);
        for (int i = 0; i < COUNT; i++) {
            const int fast = i % FAST, slow = i / FAST,
                      in = fast >= 123 && fast < 200 && slow >= 45 && slow < 146;
            assert_true(again[i] == (in ? signal_[i] : 0));
            assert_int_equal(number_again[i], in ? number[i] : 0);
        }
    }
}

/* Regions of as many pixels as a block has, one more, and one alone. */
static void every_width_is_filled(void **state) {
    (void)state;
    static const int width[] = { 1, 2, 255, 256, 257, 258, 399 };
    db_noise_options o = everything(DB_PSF_NONE);
    o.flicker = 0;
    db_noise_frame f = frame_of(level, signal_, number);
    apply(&o, &f);
    for (size_t w = 0; w < sizeof width / sizeof *width; w++) {
        f = frame_of(level, again, number_again);
        f.fast_start = 1;
        f.slow_start = 7;
        f.fast_count = width[w];
        f.slow_count = 2;
        const db_noise_summary s = apply(&o, &f);
        double photons = 0;
        for (int i = 0; i < COUNT; i++) {
            const int fast = i % FAST, slow = i / FAST,
                      in = fast >= 1 && fast <= width[w] && slow >= 7 && slow < 9;
            assert_true(again[i] == (in ? signal_[i] : 0));
            photons += in ? (double)level[i] : 0;
        }
        assert_true(fabs(s.photons - photons) <
                    5 * sqrt(photons)); /* by chance, and 3 % by calibration */
    }
}

static void seeds_and_panels_decide(void **state) {
    (void)state;
    db_noise_options o = everything(DB_PSF_NONE);
    db_noise_frame f = frame_of(level, NULL, number), g = frame_of(level, NULL, number_again);
    apply(&o, &f);
    apply(&o, &g);
    assert_memory_equal(number, number_again, sizeof number);
    o.seed = 18;
    apply(&o, &g);
    int same = 0;
    for (int i = 0; i < COUNT; i++) same += number[i] == number_again[i];
    assert_true(same < COUNT / 20); /* two numbers of deviation 75 agree in 1 of 190 cases */
    o.seed = 17;
    o.calibration_seed = 1;
    apply(&o, &g);
    assert_memory_not_equal(number, number_again, sizeof number);
    o.calibration_seed = 123456789;
    g.panel = 1;
    apply(&o, &g);
    assert_memory_not_equal(number, number_again, sizeof number);
}

static void load(const int32_t *from, double *to) {
    for (int i = 0; i < COUNT; i++) to[i] = from[i];
}

static void plain_noise_is_poisson_plus_offset(void **state) {
    (void)state;
    const db_noise_options o = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame f = frame_of(level, signal_, number);
    const db_noise_summary s = apply(&o, &f);
    load(number, values);
    double photons = 0;
    for (int i = 0; i < COUNT; i++) {
        values[i] -= 40;
        photons += values[i];
        assert_true((double)signal_[i] == number[i]);
    }
    assert_plausible(poisson_probability(values, COUNT, 1000), "noise image", 1000);
    assert_true(s.photons == photons && s.overloads == 0 && s.underflows == 0 && s.flicker == 1);
}

/* Variance: photons gain^2 mean, readout sigma^2, rounding 1/12. */
static void gain_and_readout_noise_add_their_variances(void **state) {
    (void)state;
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.gain = 2.5;
    o.readout = 30;
    o.adc = 12.4;
    const db_noise_frame f = frame_of(level, NULL, number);
    apply(&o, &f);
    load(number, values);
    const double variance = 2.5 * 2.5 * 1000 + 30 * 30 + 1.0 / 12, n = COUNT;
    assert_plausible(normal_probability((sample_mean(values, COUNT) - 2512.4) / sqrt(variance / n)),
                     "mean", 2512.4);
    assert_plausible(
        normal_probability((sample_variance(values, COUNT) / variance - 1) / sqrt(2 / n)),
        "variance", variance);
    /* readout noise alone */
    memset(again, 0, sizeof again);
    const db_noise_frame dark = frame_of(again, signal_, NULL);
    apply(&o, &dark);
    for (int i = 0; i < COUNT; i++) values[i] = ((double)signal_[i] - 12.4) / 30;
    assert_plausible(kolmogorov_probability(values, COUNT), "readout noise", 30);
}

static void sensitivity(uint32_t seed, double *to) {
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.seed = seed;
    o.calibration = 0.1;
    o.scale = 1e9; /* photon noise is far below the pattern */
    o.adc = 0;
    o.bits = 32;
    const db_noise_frame f = frame_of(level, signal_, NULL);
    apply(&o, &f);
    for (int i = 0; i < COUNT; i++) to[i] = (double)signal_[i] / 1e12 - 1;
}

static void calibration_is_the_same_pattern_in_every_image(void **state) {
    (void)state;
    sensitivity(1, values);
    sensitivity(2, others);
    for (int i = 0; i < COUNT; i++) assert_true(fabs(values[i] - others[i]) < 1e-5);
    for (int i = 0; i < COUNT; i++) values[i] /= 0.1;
    assert_plausible(normal_probability(correlation_z(values, values + 1, COUNT - 1)), "pixels", 1);
    assert_plausible(kolmogorov_probability(values, COUNT), "pattern", 0.1);
}

static void flicker_is_one_factor_per_image(void **state) {
    (void)state;
    enum { IMAGES = 2000, SMALL = 64 };
    static double factor[IMAGES];
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.flicker = 0.2;
    o.scale = 1e9;
    db_noise_frame f = frame_of(level, signal_, NULL);
    f.fast_pixels = SMALL;
    f.slow_pixels = 1;
    for (int i = 0; i < IMAGES; i++) {
        o.seed = 1 + (uint32_t)i;
        f.panel = 0;
        factor[i] = (apply(&o, &f).flicker - 1) / 0.2;
        for (int p = 0; p < SMALL; p++)
            assert_true(fabs((double)signal_[p] / 1e12 - 1 - 0.2 * factor[i]) < 1e-5);
        f.panel = 3; /* another panel sees the same beam */
        assert_true((apply(&o, &f).flicker - 1) / 0.2 == factor[i]);
    }
    assert_plausible(kolmogorov_probability(factor, IMAGES), "flicker", 0.2);
}

static void without_noise_only_the_detector_is_left(void **state) {
    (void)state;
    db_noise_options o = everything(DB_PSF_NONE);
    o.noisy = 0;
    o.scale = 2;
    o.adc = 10.2;
    const db_noise_frame f = frame_of(expected, signal_, number);
    const db_noise_summary s = apply(&o, &f);
    assert_true(s.flicker == 1);
    for (int i = 0; i < COUNT; i++) {
        const double signal = 2 * (double)expected[i] * 1.7 + 10.2;
        assert_true(fabs((double)signal_[i] - signal) <= 1e-7 * signal);
        assert_int_equal(number[i], signal > 65535 ? 65535 : (int)floor(signal + 0.5));
    }
}

/* A spot of light keeps its mean and loses variance to its neighbours. */
static void point_spread_keeps_the_light_and_smooths_the_noise(void **state) {
    (void)state;
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.psf = DB_PSF_GAUSS;
    o.psf_fwhm = 2;
    o.adc = 0;
    db_noise_frame f = frame_of(level, signal_, NULL);
    const db_noise_summary s = apply(&o, &f);
    assert_true(s.psf_radius > 1 && s.psf_lost < 0.1 / sqrt(1000));
    double shares = 0, sum = 0, square = 0; /* of the kernel along one axis */
    for (int d = -s.psf_radius; d <= s.psf_radius; d++) {
        const double k = sqrt(log(16)) / 2, share = 0.5 * (erf(k * (d + 0.5)) - erf(k * (d - 0.5)));
        shares += share * share;
    }
    int count = 0;
    for (int i = 0; i < COUNT; i++) {
        const int fast = i % FAST, slow = i / FAST; /* away from the edges */
        if (fast < 20 || fast >= FAST - 20 || slow < 20 || slow >= SLOW - 20) continue;
        sum += (double)signal_[i];
        square += ((double)signal_[i] - 1000) * ((double)signal_[i] - 1000);
        count++;
    }
    assert_true(fabs(sum / count - 1000) < 6 * sqrt(1000.0 / count));
    assert_true(fabs(square / count / (1000 * shares * shares) - 1) < 0.05);
    /* the noise-free image is spread, too */
    memset(again, 0, sizeof again);
    again[150 * FAST + 200] = 1000;
    o.noisy = 0;
    f.expected = again;
    apply(&o, &f);
    const double middle = erf(sqrt(log(16)) / 4);
    assert_true(fabs((double)signal_[150 * FAST + 200] - 1000 * middle * middle) < 0.01);
}

static void numbers_are_rounded_limited_and_counted(void **state) {
    (void)state;
    float image[6] = { 0.4F, 0.6F, 65534.8F, 65536, 3e9F, -7 };
    int32_t found[6];
    db_noise_options o = DB_NOISE_OPTIONS_INIT;
    o.noisy = 0;
    o.adc = 0;
    db_noise_frame f = { .fast_pixels = 6, .slow_pixels = 1, .expected = image, .number = found };
    db_noise_summary s = apply(&o, &f);
    const int32_t rounded[6] = { 0, 1, 65535, 65535, 65535, 0 };
    assert_memory_equal(found, rounded, sizeof found);
    assert_true(s.overloads == 2 && s.underflows == 1 && s.negative == 1);
    o.bits = 32;
    s = apply(&o, &f);
    const int32_t wide[6] = { 0, 1, 65535, 65536, 2147483647, 0 };
    assert_memory_equal(found, wide, sizeof found);
    assert_true(s.overloads == 1);
    o.truncate = 1;
    apply(&o, &f);
    const int32_t cut[6] = { 0, 0, 65534, 65536, 2147483647, 0 };
    assert_memory_equal(found, cut, sizeof found);
}

static void bad_input_is_named(void **state) {
    (void)state;
    const db_noise_options good = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame frame = frame_of(level, NULL, number);
#define REFUSED(change, text)                                                                      \
    do {                                                                                           \
        db_noise_options o = good;                                                                 \
        db_noise_frame f = frame;                                                                  \
        change;                                                                                    \
        assert_int_not_equal(db_noise_apply(context, &o, &f, NULL), DB_OK);                        \
        assert_non_null(strstr(db_context_message(context), text));                                \
        (void)o;                                                                                   \
        (void)f;                                                                                   \
    } while (0)
    REFUSED(o.size = 3, "noise options: expected");
    REFUSED(o.gain = 0, "gain: expected a finite number above 0, found 0");
    REFUSED(o.gain = -1, "gain");
    REFUSED(o.readout = -1, "readout noise: expected a finite number from 0 on, found -1");
    REFUSED(o.readout = INFINITY, "readout");
    REFUSED(o.flicker = 1.5, "flicker: expected a fraction from 0 to 1, found 1.5");
    REFUSED(o.calibration = NAN, "calibration");
    REFUSED(o.adc = NAN, "adc");
    REFUSED(o.scale = -1, "scale");
    REFUSED(o.scale = 1e300, "too large");
    REFUSED(o.psf = DB_PSF_GAUSS, "width of the point spread function");
    REFUSED(o.psf = (db_psf_type)7, "point spread function: expected a value from 0 to 2, found 7");
    REFUSED(o.psf_radius = -1, "radius");
    REFUSED(o.bits = 8, "bits of a pixel: expected 16 or 32, found 8");
    REFUSED(f.expected = NULL, "none of 400 x 300");
    REFUSED(f.fast_pixels = 0, "at least 1 x 1");
    REFUSED((f.fast_count = 401, f.slow_count = 1), "does not fit");
    REFUSED((f.slow_start = 300, f.slow_count = 1, f.fast_count = 1), "does not fit");
    again[5 * FAST + 3] = NAN;
    REFUSED(f.expected = again, "pixel (fast 3, slow 5): expected a finite number, found nan");
    again[5 * FAST + 3] = INFINITY;
    REFUSED(f.expected = again, "found inf");
    /* outside the region nobody looks, unless light spreads */
    REFUSED((f.expected = again, f.fast_count = 2, f.slow_count = 2, o.psf = DB_PSF_GAUSS,
             o.psf_fwhm = 1),
            "found inf");
    db_noise_frame region = frame_of(again, NULL, number);
    region.fast_count = region.slow_count = 2;
    assert_int_equal(db_noise_apply(context, &good, &region, NULL), DB_OK);
#undef REFUSED
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_pixels_one_by_one),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(region_shows_what_the_whole_image_shows),
        cmocka_unit_test(every_width_is_filled),
        cmocka_unit_test(seeds_and_panels_decide),
        cmocka_unit_test(plain_noise_is_poisson_plus_offset),
        cmocka_unit_test(gain_and_readout_noise_add_their_variances),
        cmocka_unit_test(calibration_is_the_same_pattern_in_every_image),
        cmocka_unit_test(flicker_is_one_factor_per_image),
        cmocka_unit_test(without_noise_only_the_detector_is_left),
        cmocka_unit_test(point_spread_keeps_the_light_and_smooths_the_noise),
        cmocka_unit_test(numbers_are_rounded_limited_and_counted),
        cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, start, finish);
}

#else
int main(void) { return 77; } /* needs GSL and Random123 */
#endif
