/* Slopes of every pixel loss against differences, its curvature against Fisher's information by
 * simulated counts. */

#include "support/unit_test.h"
#include "fit/objective/loss.h"
#include "loss/pixel_loss.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

static db_loss make(db_fit_target target, double gain, double readout) {
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    settings.gain = gain;
    settings.readout_noise = readout;
    return db_loss_make(&settings, target);
}

static double by_difference(const db_loss *loss, double y, double shape, double m) {
    const double h = 1e-3;
    double sum = 0;
    for (int i = 1; i <= 2; i++)
        sum += (i == 1 ? 8 : -1) * (db_pixel_loss(loss, y, 0.02, shape, m + i * h).value -
                                    db_pixel_loss(loss, y, 0.02, shape, m - i * h).value);
    return sum / (12 * h);
}

static void slopes_are_those_of_the_value(void **state) {
    (void)state;
    /* Counted and expected, few and many, outliers on both sides, negative backgrounds. */
    static const double counts[][2] = { { 30, 32 }, { 5000, 4030 }, { 900, 32 }, { 0, 5 },
                                        { 0, 0.5 }, { 1, -0.3 },    { 0, -2 },   { 0.7, 0.53 },
                                        { 3, 0.6 }, { 10, 2050 },   { -4, 3 } };
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        for (int noise = 0; noise < 3; noise++) {
            const db_loss loss = make((db_fit_target)target, noise == 1 ? 2.5 : 1, noise ? 1.5 : 0);
            const double shape = noise == 2 ? 30 : 0;
            for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
                const double y = counts[i][0], m = counts[i][1];
                const db_pixel_cost cost = db_pixel_loss(&loss, y, 0.02, shape, m);
                const double difference = by_difference(&loss, y, shape, m);
                if (!(fabs(cost.slope - difference) < 1e-6 * (1 + fabs(difference))))
                    fail_msg("target %d, counts %zu: slope %.10g, by differences %.10g", target, i,
                             cost.slope, difference);
                assert_true(cost.curvature > 0 && cost.variance > 0);
                assert_true(cost.trust > 0 && cost.trust <= 1.25);
            }
        }
    }
}

/* What costs are called after: squares over a variance and the logarithm of it; twice the logarithm of a Poisson
 * probability, less that of the most probable mean. */
static void costs_are_those_of_their_distributions(void **state) {
    (void)state;
    const double gain = 2.5, readout = 1.5, weight = 0.02, shape = 30, y = 41.3, m = 33.7;
    db_loss loss = make(DB_FIT_WEIGHTED, gain, readout);
    assert_true(fabs(db_pixel_loss(&loss, y, weight, shape, m).value - 0.02 * 7.6 * 7.6) < 1e-12);
    const double v = gain * m + readout * readout + shape, square = (y - m) * (y - m) / v;
    loss = make(DB_FIT_GAUSSIAN, gain, readout);
    const db_pixel_cost gaussian = db_pixel_loss(&loss, y, weight, shape, m);
    assert_true(fabs(gaussian.value - square - log(v * weight)) < 1e-12);
    assert_true(fabs(gaussian.variance / v - 1) < 1e-12 && gaussian.trust == 1);
    loss = make(DB_FIT_POISSON, gain, readout);
    for (int dim = 0; dim < 2; dim++) {
        const double pedestal = readout * readout, own = dim ? 0 : y,
                     n = (own + pedestal / gain) / gain, mean = (m + pedestal / gain) / gain;
        assert_true(fabs(db_pixel_loss(&loss, own, weight, 0, m).value -
                         2 * (mean - n - n * log(mean / n))) < 1e-9);
    }
    loss = make(DB_FIT_STUDENT, gain, readout);
    const double k = loss.tuning;
    assert_true(fabs(db_pixel_loss(&loss, y, weight, shape, m).value -
                     (k + 1) * log(1 + square / k) - log(v * weight)) < 1e-12);
    loss = make(DB_FIT_HUBER, gain, readout);
    for (int far = 0; far < 2; far++) {
        const double off = (far ? 3 : 0.5) * loss.tuning, root = off * sqrt(v);
        assert_true(fabs(db_pixel_loss(&loss, m + root, weight, shape, m).value - log(v * weight) -
                         (far ? 5 : 0.25) * loss.tuning * loss.tuning) < 1e-9);
    }
}

/* Where hardly a photon is expected the parabola begins with the value and the slope of the logarithm. */
static void few_photons_go_on_smoothly(void **state) {
    (void)state;
    const double gain = 1.7, readout = 0.3, least = DB_POISSON_LEAST,
                 edge = gain * least - readout * readout / gain;
    const db_loss loss = make(DB_FIT_POISSON, gain, readout);
    for (double y = -0.2; y < 6; y += 1.1) {
        const db_pixel_cost below = db_pixel_loss(&loss, y, 0.02, 0, edge - 1e-7),
                            above = db_pixel_loss(&loss, y, 0.02, 0, edge + 1e-7);
        assert_true(fabs(below.value - above.value) < 1e-4 * (1 + fabs(above.value)));
        assert_true(fabs(below.slope - above.slope) < 1e-4 * (1 + fabs(above.slope)));
    }
}

/* Half the second derivative, where it is not replaced by a part of the curvature. */
static void bends_are_those_of_the_value(void **state) {
    (void)state;
    int checked = 0;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        const db_loss loss = make((db_fit_target)target, 1.7, 0.4);
        for (int i = 0; i < 2000; i++) {
            const double y = 0.37 * (i % 100), m = 0.311 * (i % 97) - 2, h = 1e-4;
            const double half = (db_pixel_loss(&loss, y, 0.02, 3, m + h).slope -
                                 db_pixel_loss(&loss, y, 0.02, 3, m - h).slope) /
                                (4 * h);
            const db_pixel_cost cost = db_pixel_loss(&loss, y, 0.02, 3, m);
            const double least = 0.05 * cost.curvature;
            if (!(fabs(cost.bend - fmax(half, least)) < 1e-5 * (1 + cost.curvature + fabs(half))))
                fail_msg("target %d, y %g, m %g: bend %g, by differences %g", target, y, m,
                         cost.bend, half);
            checked += half > least;
        }
    }
    assert_true(checked > 8000);
}

/* Fisher's information of the loss, half the mean of its second derivatives, is a quarter of its
 * slopes' variance. */
static void curvature_is_fishers_information(void **state) {
    (void)state;
    enum { COUNTS = 200000 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    for (int target = DB_FIT_GAUSSIAN; target <= DB_FIT_POISSON; target++) {
        const double m = 55, gain = 2, pedestal = 9 / gain;
        const double shape = target == DB_FIT_POISSON ? 0 : 20;
        const db_loss loss = make((db_fit_target)target, gain, 3);
        const db_pixel_cost expected = db_pixel_loss(&loss, m, 0.02, shape, m);
        double mean = 0, square = 0;
        for (int i = 0; i < COUNTS; i++) {
            const double y = target == DB_FIT_GAUSSIAN
                                 ? m + gsl_ran_gaussian(random, sqrt(expected.variance))
                                 : gain * gsl_ran_poisson(random, (m + pedestal) / gain) - pedestal;
            const db_pixel_cost cost = db_pixel_loss(&loss, y, 0.02, shape, m);
            mean += cost.slope / COUNTS;
            square += 0.25 * cost.slope * cost.slope / COUNTS;
        }
        assert_true(fabs(mean) < 5 * sqrt(4 * square / COUNTS)); /* no bias */
        assert_true(fabs(square / expected.curvature - 1) < 0.02);
    }
    gsl_rng_free(random);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slopes_are_those_of_the_value),
        cmocka_unit_test(costs_are_those_of_their_distributions),
        cmocka_unit_test(few_photons_go_on_smoothly),
        cmocka_unit_test(bends_are_those_of_the_value),
        cmocka_unit_test(curvature_is_fishers_information),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
