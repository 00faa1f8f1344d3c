/* Random deviates of single pixels: their distributions, by chi-square against the exact
 * probabilities, and their independence. See statistics.h for the false-alarm probability. */

#if defined(DB_HAVE_GSL) && defined(DB_HAVE_RANDOM123)

#include "support/unit_test.h"
#include "noise/poisson.h"
#include "noise/statistics.h"

#include <stdlib.h>

enum { SIDE = 1000, COUNT = SIDE * SIDE };
static double numbers[COUNT], others[COUNT];

/* The generator's published answers to counter and key of zeros, of ones, of the digits of pi. */
static void philox_gives_the_published_numbers(void **state) {
    (void)state;
    static const uint32_t in[3][6] = {
        { 0, 0, 0, 0, 0, 0 },
        { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
        { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0 }
    };
    static const uint32_t out[3][4] = { { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 },
                                        { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd },
                                        { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } };
    for (int i = 0; i < 3; i++) {
        noise_stream s = noise_stream_at(in[i][4], in[i][5], in[i][2], in[i][0], in[i][1]);
        s.counter.v[3] = in[i][3];
        const noise_pair pair = noise_next_pair(&s);
        assert_true(pair.first == noise_uniform(out[i][0], out[i][1]));
        assert_true(pair.second == noise_uniform(out[i][2], out[i][3]));
    }
}

static void uniform_deviates_stay_inside_0_and_1(void **state) {
    (void)state;
    assert_true(noise_uniform(0, 0) > 0);
    assert_true(noise_uniform(UINT32_MAX, UINT32_MAX) < 1);
    assert_true(noise_uniform(0, 0) == 1 - noise_uniform(UINT32_MAX, UINT32_MAX));
}

static void logarithm_and_exponential_are_right_to_2_ulp(void **state) {
    (void)state;
    for (int i = 1; i < 200000; i++) {
        const double x = pow(10, (i - 100000) / 400.0), y = -i / 300.0, z = 1 + (i - 100000) * 2e-6;
        assert_true(fabs(portable_log(x) - log(x)) <= 5e-16 * fabs(log(x)));
        assert_true(fabs(portable_log(z) - log(z)) <= 5e-16 * fabs(log(z)));
        assert_true(fabs(portable_exp(y) - exp(y)) <= 5e-16 * exp(y));
    }
    assert_true(portable_log(1) == 0 && portable_exp(0) == 1 && portable_exp(-0.0) == 1);
}

static void stirling_form_is_the_logarithm_of_the_probability(void **state) {
    (void)state;
    for (double mean = 0.5; mean < 2e4; mean *= 1.3)
        for (double k = 0; k < 3 * mean + 20; k += 1 + floor(mean / 50)) {
            const long double exact = (long double)k * logl((long double)mean) - (long double)mean -
                                      lgammal((long double)k + 1);
            const double found = noise_poisson_log_probability(k, mean);
            assert_true(fabs(found - (double)exact) <= 1e-13 * (1 + fabs((double)exact)));
        }
}

/* Rejection is exact where the candidates' density is nowhere too small, and the two short cuts
 * agree with the exact decision. */
static void hat_lies_above_and_squeeze_below(void **state) {
    (void)state;
    for (double mean = DB_NOISE_POISSON_INVERSION; mean < DB_NOISE_POISSON_REJECTION;
         mean *= mean < 2000 ? 1.003 : 1.3) {
        const noise_ptrs t = noise_ptrs_of(mean);
        for (int i = 0; i < 6000; i++) {
            const double side = i < 4000   ? 0.02 + 0.1 * i / 4000
                                : i < 5000 ? 0.12 + 0.38 * (i - 4000) / 1000
                                           : 0.02 * pow(10, -(i - 5000) / 60.0);
            for (int sign = -1; sign <= 1; sign += 2) {
                const double k = noise_ptrs_candidate(&t, sign * (0.5 - side), side);
                if (k < 0) {
                    assert_true(side < 0.07);
                    continue;
                }
                const double acceptance = noise_ptrs_log_acceptance(&t, k, side);
                assert_true(acceptance <= 0);
                if (side >= 0.07) assert_true(log(t.squeeze) <= acceptance);
                if (side < 0.013) assert_true(acceptance <= log(side));
            }
        }
    }
}

static void bounds_of_the_normal_region_hold(void **state) {
    (void)state;
    for (int i = 1; i < 1500; i++)
        for (int j = 0; j <= 1500; j++) {
            const double u = i / 1500.0, v = DB_NOISE_NORMAL_BOX / 2 * j / 1500;
            const int inside = v * v <= -4 * u * u * log(u);
            assert_int_equal(noise_normal_accepts(u, v), inside);
            assert_int_equal(noise_normal_accepts(u, -v), inside);
        }
    /* the box holds the region */
    assert_true(DB_NOISE_NORMAL_BOX / 2 >= sqrt(2 / exp(1)));
}

static void draw(double *to, uint32_t seed, uint32_t stream, uint32_t panel, double mean) {
    for (uint32_t slow = 0; slow < SIDE; slow++)
        for (uint32_t fast = 0; fast < SIDE; fast++) {
            noise_stream s = noise_stream_at(seed, stream, panel, fast, slow);
            to[slow * SIDE + fast] = noise_poisson(&s, mean);
        }
}

static const double means[] = { 0.01,     0.03, 0.1,      0.5, 1,       3,   7,   10,  14,
                                19.99999, 20,   20.00001, 25,  35,      70,  100, 300, 1e3,
                                1e4,      1e5,  999999,   1e6, 1000001, 3e6, 1e7, 1e9, 1e12 };
enum { MEANS = sizeof means / sizeof *means };

static void poisson_deviates_have_poissons_distribution(void **state) {
    (void)state;
    for (int i = 0; i < MEANS; i++) {
        const double mean = means[i], n = COUNT;
        draw(numbers, 1000 + (uint32_t)i, NOISE_STREAM_PHOTONS, 0, mean);
        for (size_t j = 0; j < COUNT; j++)
            assert_true(numbers[j] >= 0 && numbers[j] == floor(numbers[j]));
        assert_plausible(normal_probability((sample_mean(numbers, COUNT) - mean) / sqrt(mean / n)),
                         "mean of Poisson deviates", mean);
        /* variance of the variance: (mu_4 - sigma^4)/n = (mean + 2 mean^2)/n */
        assert_plausible(normal_probability((sample_variance(numbers, COUNT) - mean) /
                                            sqrt((mean + 2 * mean * mean) / n)),
                         "variance of Poisson deviates", mean);
        /* GSL's probabilities are good to 1e-7 up to here */
        if (mean <= 1e7)
            assert_plausible(poisson_probability(numbers, COUNT, mean), "Poisson distribution",
                             mean);
    }
}

/* The test above notices a mean that is wrong by a twentieth of a standard deviation, and a normal
 * distribution in the place of Poisson's. */
static void chi_square_notices_wrong_distributions(void **state) {
    (void)state;
    draw(numbers, 1, NOISE_STREAM_PHOTONS, 0, 20);
    assert_true(poisson_probability(numbers, COUNT, 20.2) < FALSE_ALARM / 2);
    for (size_t j = 0; j < COUNT; j++) { /* right mean and variance, wrong shape */
        noise_stream s = noise_stream_at(2, NOISE_STREAM_PHOTONS, 0, (uint32_t)j, 0);
        numbers[j] = floor(20 + sqrt(20) * noise_normal(&s) + 0.5);
    }
    assert_true(poisson_probability(numbers, COUNT, 20) < FALSE_ALARM / 2);
}

/* Neither the sum of two independent deviates nor the border between two methods shows. */
static void sums_of_deviates_are_poisson_deviates(void **state) {
    (void)state;
    static const double parts[][2] = { { 3, 9 }, { 19.5, 0.5 }, { 19.9, 20.1 }, { 1, 400 } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        draw(numbers, 50 + (uint32_t)i, NOISE_STREAM_PHOTONS, 0, parts[i][0]);
        draw(others, 60 + (uint32_t)i, NOISE_STREAM_PHOTONS, 0, parts[i][1]);
        for (size_t j = 0; j < COUNT; j++) numbers[j] += others[j];
        const double mean = parts[i][0] + parts[i][1];
        assert_plausible(poisson_probability(numbers, COUNT, mean), "sum of deviates", mean);
    }
}

static void enormous_means_give_rounded_normal_deviates(void **state) {
    (void)state;
    const double mean = 4e18;
    draw(numbers, 3, NOISE_STREAM_PHOTONS, 0, mean);
    for (size_t j = 0; j < COUNT; j++) {
        assert_true(numbers[j] == floor(numbers[j]));
        numbers[j] = (numbers[j] - mean) / sqrt(mean);
    }
    assert_plausible(kolmogorov_probability(numbers, COUNT), "normal limit", mean);
}

static void no_photons_where_none_are_expected(void **state) {
    (void)state;
    noise_stream s = noise_stream_at(1, NOISE_STREAM_PHOTONS, 0, 0, 0);
    assert_true(noise_poisson(&s, 0) == 0);
    assert_true(noise_poisson(&s, -5) == 0);
    assert_true(noise_poisson(&s, (double)NAN) == 0);
    assert_true(noise_poisson(&s, 1e-300) == 0);
}

static void normal_deviates_have_the_normal_distribution(void **state) {
    (void)state;
    for (uint32_t stream = NOISE_STREAM_READOUT; stream <= NOISE_STREAM_CALIBRATION; stream++) {
        double fourth = 0;
        for (uint32_t j = 0; j < COUNT; j++) {
            noise_stream s = noise_stream_at(5, stream, 0, j % SIDE, j / SIDE);
            numbers[j] = noise_normal(&s);
            fourth += pow(numbers[j], 4);
        }
        const double n = COUNT;
        assert_plausible(normal_probability(sample_mean(numbers, COUNT) * sqrt(n)), "mean", stream);
        assert_plausible(normal_probability((sample_variance(numbers, COUNT) - 1) / sqrt(2 / n)),
                         "variance", stream);
        /* fourth moment 3, its variance 105 - 9 */
        assert_plausible(normal_probability((fourth / n - 3) / sqrt(96 / n)), "fourth moment",
                         stream);
        assert_plausible(kolmogorov_probability(numbers, COUNT), "normal distribution", stream);
    }
}

/* Pixels of one image beside one another, and the same pixel for another seed, stream or panel. */
static void neighbours_seeds_streams_and_panels_are_independent(void **state) {
    (void)state;
    static const double mean[] = { 0.1, 5, 50, 1e5 };
    for (int i = 0; i < 4; i++) {
        draw(numbers, 7, NOISE_STREAM_PHOTONS, 0, mean[i]);
        static const size_t shift[] = { 1, SIDE, SIDE + 1, SIDE - 1, 2, 32 };
        for (size_t j = 0; j < sizeof shift / sizeof *shift; j++)
            assert_plausible(
                normal_probability(correlation_z(numbers, numbers + shift[j], COUNT - shift[j])),
                "neighbours", (double)shift[j]);
        draw(others, 8, NOISE_STREAM_PHOTONS, 0, mean[i]);
        assert_plausible(normal_probability(correlation_z(numbers, others, COUNT)), "seeds",
                         mean[i]);
        draw(others, 7, NOISE_STREAM_READOUT, 0, mean[i]);
        assert_plausible(normal_probability(correlation_z(numbers, others, COUNT)), "streams",
                         mean[i]);
        draw(others, 7, NOISE_STREAM_PHOTONS, 1, mean[i]);
        assert_plausible(normal_probability(correlation_z(numbers, others, COUNT)), "panels",
                         mean[i]);
    }
}

/* Pairs of uniform deviates fill the unit square evenly. */
static void pairs_fill_the_square_evenly(void **state) {
    (void)state;
    enum { CELLS = 64 };
    static double seen[3][CELLS * CELLS], expected[CELLS * CELLS];
    for (uint32_t j = 0; j < COUNT; j++) {
        noise_stream s = noise_stream_at(9, NOISE_STREAM_PHOTONS, 0, j % SIDE, j / SIDE),
                     next = noise_stream_at(9, NOISE_STREAM_PHOTONS, 0, j % SIDE + 1, j / SIDE);
        const noise_pair a = noise_next_pair(&s), b = noise_next_pair(&s),
                         c = noise_next_pair(&next);
        const size_t row = CELLS * (size_t)(CELLS * a.first);
        seen[0][row + (size_t)(CELLS * a.second)]++; /* within a pair */
        seen[1][row + (size_t)(CELLS * b.first)]++;  /* successive draws */
        seen[2][row + (size_t)(CELLS * c.first)]++;  /* neighbours */
    }
    for (size_t i = 0; i < CELLS * CELLS; i++) expected[i] = (double)COUNT / (CELLS * CELLS);
    for (int i = 0; i < 3; i++)
        assert_plausible(chi_square_probability(seen[i], expected, CELLS * CELLS), "pairs", i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_published_numbers),
        cmocka_unit_test(uniform_deviates_stay_inside_0_and_1),
        cmocka_unit_test(logarithm_and_exponential_are_right_to_2_ulp),
        cmocka_unit_test(stirling_form_is_the_logarithm_of_the_probability),
        cmocka_unit_test(hat_lies_above_and_squeeze_below),
        cmocka_unit_test(bounds_of_the_normal_region_hold),
        cmocka_unit_test(poisson_deviates_have_poissons_distribution),
        cmocka_unit_test(chi_square_notices_wrong_distributions),
        cmocka_unit_test(sums_of_deviates_are_poisson_deviates),
        cmocka_unit_test(enormous_means_give_rounded_normal_deviates),
        cmocka_unit_test(no_photons_where_none_are_expected),
        cmocka_unit_test(normal_deviates_have_the_normal_distribution),
        cmocka_unit_test(neighbours_seeds_streams_and_panels_are_independent),
        cmocka_unit_test(pairs_fill_the_square_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void) { return 77; } /* needs GSL and Random123 */
#endif
