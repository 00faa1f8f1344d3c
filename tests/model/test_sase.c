/* Pulses of a free-electron laser: many of them have the statistics of random phasors, and the widths that were asked
 * for. */
#include "support/context.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>

#include <math.h>
#include <string.h>

enum { SHOTS = 1500, MOST = 64 };
static const double WIDTH = 4e-3, SPIKE = 8e-4, IN_SIGMA = 2.3548200450309493;

/* Weights of a shot, from the lowest photon energy on; returns their number. */
static size_t pulse(long seed, size_t shot, double weight[MOST], double energy[MOST]) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    assert_int_equal(db_experiment_set_sase(context, &e, WIDTH, SPIKE, seed, shot), DB_OK);
    const size_t count = e.beam.source_count;
    assert_in_range(count, 3, MOST);
    for (size_t i = 0; i < count; i++) {
        weight[i] = e.beam.sources[i].weight;
        energy[i] = 1 / e.beam.sources[i].wavelength_ratio - 1;
        assert_true(weight[i] >= 0);
    }
    db_experiment_clear(&e);
    return count;
}

static void pulses_have_the_widths_that_were_asked_for(void **state) {
    (void)state;
    double weight[MOST], energy[MOST], mean[MOST] = { 0 }, square[MOST] = { 0 }, next[4] = { 0 },
                                       all = 0, spread = 0;
    size_t count = 0;
    for (size_t s = 0; s < SHOTS; s++) {
        count = pulse(3, s, weight, energy);
        for (size_t i = 0; i < count; i++) {
            mean[i] += weight[i] / SHOTS;
            square[i] += weight[i] * weight[i] / SHOTS;
        }
        /* products of points a few steps apart, about the middle */
        for (size_t apart = 0; apart < 4; apart++)
            for (size_t i = count / 2 - 4; i < count / 2 + 4; i++)
                next[apart] += weight[i] * weight[i + apart] / SHOTS;
    }
    const double step = energy[1] - energy[0];
    assert_true(fabs(step / (SPIKE / 3) - 1) < 1e-9);
    assert_true(fabs(energy[count / 2]) < 1e-15 && count % 2 == 1);
    assert_true(energy[count - 1] > 1.25 * WIDTH);
    for (size_t i = 0; i < count; i++) {
        all += mean[i];
        spread += mean[i] * energy[i] * energy[i];
    }
    /* less than 1 % is beyond the ends, which are at three standard deviations */
    assert_true(fabs(sqrt(spread / all) * IN_SIGMA / WIDTH - 1) < 0.05);
    for (size_t i = 0; i < count; i++)
        assert_true(fabs(mean[i] / mean[count / 2] -
                         exp(-0.5 * pow(IN_SIGMA * energy[i] / WIDTH, 2))) < 0.12);
    /* intensities of random phasors: their standard deviation is their mean */
    for (size_t i = count / 2 - 3; i < count / 2 + 4; i++)
        assert_true(fabs(square[i] / (mean[i] * mean[i]) - 2) < 0.4);
    /* a spike beside itself: Gaussians of half its width each way */
    for (size_t apart = 0; apart < 4; apart++) {
        double both = 0;
        const double off = IN_SIGMA * (double)apart * step / SPIKE;
        for (size_t i = count / 2 - 4; i < count / 2 + 4; i++) both += mean[i] * mean[i + apart];
        assert_true(fabs(next[apart] / both - 1 - exp(-0.25 * off * off)) < 0.12);
    }
}

/* Shots, and seeds, are independent; the same is the same. */
static void pulses_are_functions_of_seed_and_shot(void **state) {
    (void)state;
    double one[MOST], same[MOST], shot[MOST], seed[MOST], energy[MOST];
    const size_t count = pulse(3, 7, one, energy);
    pulse(3, 7, same, energy);
    pulse(3, 8, shot, energy);
    pulse(4, 7, seed, energy);
    for (size_t i = 0; i < count; i++) {
        assert_true(one[i] == same[i]);
        assert_true(one[i] != shot[i] && one[i] != seed[i] && shot[i] != seed[i]);
    }
}

/* A band has the standard deviation of its full width at half maximum, and is even. */
static void bands_have_their_width(void **state) {
    (void)state;
    db_experiment e;
    double sum = 0, first = 0, second = 0;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    assert_int_equal(db_experiment_set_band(context, &e, 0.01), DB_OK);
    assert_int_equal(e.beam.source_count, 17);
    for (size_t i = 0; i < 17; i++) {
        const double energy = 1 / e.beam.sources[i].wavelength_ratio - 1;
        sum += e.beam.sources[i].weight;
        first += e.beam.sources[i].weight * energy;
        second += e.beam.sources[i].weight * energy * energy;
    }
    assert_true(fabs(first / sum) < 1e-12);
    assert_true(fabs(sqrt(second / sum) * IN_SIGMA / 0.01 - 1) < 0.01);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulses_have_the_widths_that_were_asked_for),
        cmocka_unit_test(pulses_are_functions_of_seed_and_shot),
        cmocka_unit_test(bands_have_their_width),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
