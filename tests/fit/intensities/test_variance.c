/* Variance of an intensity from boxes of unequal weights: its mean over many draws is that of the intensity. */
#include "support/unit_test.h"
#include "fit/intensities/variance.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

enum { MOST = 21, DRAWS = 20000 };

/* Mean of the variance, over the right one. curvature: of each box, 1 / variance of its own intensity */
static double mean_variance(gsl_rng *chance, int count, const double *curvature) {
    double all = 0, mean = 0;
    for (int b = 0; b < count; b++) all += curvature[b];
    for (int draw = 0; draw < DRAWS; draw++) {
        double own[MOST], intensity = 0, squares = 0, shares = 0, share_squares = 0;
        for (int b = 0; b < count; b++) {
            own[b] = gsl_ran_gaussian(chance, 1 / sqrt(curvature[b]));
            intensity += curvature[b] * own[b] / all;
        }
        for (int b = 0; b < count; b++) {
            const double share = curvature[b] / all;
            squares += db_pull_square(curvature[b] * (own[b] - intensity), share);
            shares += share;
            share_squares += share * share;
        }
        mean += all * db_intensity_variance(squares, shares, share_squares, all, 1) / DRAWS;
    }
    return mean;
}

static void unequal_boxes_have_the_right_variance(void **state) {
    (void)state;
    static const struct {
        double first, others; /* shares */
        int count;
    } cases[] = {
        { 1, 0, 1 },         { 0.5, 0.5, 2 },      { 0.1, 0.1, 10 },       { 0.95, 0.005, 11 },
        { 0.98, 0.001, 21 }, { 0.99, 0.0005, 21 }, { 1 - 1e-9, 5e-11, 21 }
    };
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double curvature[MOST];
        for (int b = 0; b < cases[k].count; b++)
            curvature[b] = 7 * (b ? cases[k].others : cases[k].first);
        const double found = mean_variance(chance, cases[k].count, curvature);
        if (fabs(found - 1) > 0.03)
            fail_msg("a share of %g: %g times the right variance", cases[k].first, found);
    }
    gsl_rng_free(chance);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unequal_boxes_have_the_right_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
