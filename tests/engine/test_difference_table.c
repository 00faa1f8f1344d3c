/* Extrapolated differences of functions whose derivatives are known. */
#include "support/unit_test.h"
#include "engine/difference_table.h"

#include <math.h>

/* Central differences of f at x with steps h, h/8 ...; one-sided ones of f above x. */
static void differences(db_difference_kind kind, double (*f)(double), double x, double h,
                        double out[DB_DIFFERENCE_LEVELS]) {
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++, h /= DB_DIFFERENCE_RATIO) {
        const double above = x + h, below = kind == DB_DIFFERENCE_CENTRAL ? x - h : x;
        out[level] = (f(above) - f(below)) / (above - below);
    }
}

/* Derivative by the best entry of a table that begins at step number `first`. */
static double extrapolated(db_difference_kind kind, double (*f)(double), double x, double h,
                           int first, double *error) {
    double own[DB_DIFFERENCE_LEVELS], *images[DB_DIFFERENCE_LEVELS];
    const unsigned char smooth_from = (unsigned char)first;
    differences(kind, f, x, h, own);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) images[level] = &own[level];
    const db_table_entry entry = db_difference_best_entry(kind, images, &smooth_from, 1, first);
    assert_true(entry.level - entry.order >= first && entry.order >= 1);
    return db_difference_extrapolate(kind, own, entry, error);
}

static double wave(double x) { return 3 + sin(7 * x); }
static double ramp(double x) { return x < 0.01 ? 1 : 1 + 5 * (x - 0.01); }

static void smooth_functions_are_extrapolated_to_rounding(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const double x = 0.1 * i;
        double error;
        const double slope = extrapolated(DB_DIFFERENCE_CENTRAL, wave, x, 0.05, 0, &error);
        assert_true(fabs(slope - 7 * cos(7 * x)) < 1e-11 * 7);
        assert_true(error < 1e-9);
    }
}

static void the_estimate_covers_the_error(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const double x = 0.1 * i;
        double own[DB_DIFFERENCE_LEVELS];
        differences(DB_DIFFERENCE_CENTRAL, wave, x, 0.05, own);
        for (int level = 1; level < DB_DIFFERENCE_LEVELS; level++)
            for (int order = 1; order <= level; order++) {
                double error;
                const double slope = db_difference_extrapolate(
                    DB_DIFFERENCE_CENTRAL, own, (db_table_entry){ level, order }, &error);
                assert_true(fabs(slope - 7 * cos(7 * x)) <= error + 1e-10);
            }
    }
}

static void a_kink_beyond_the_first_steps_does_no_harm(void **state) {
    (void)state;
    double error;
    /* steps 0.1, 0.0125, 0.0016 ...: the kink at 0.01 lies within the first two */
    const db_difference_kind central = DB_DIFFERENCE_CENTRAL;
    assert_true(fabs(extrapolated(central, ramp, 0, 0.1, 0, &error)) < 1e-12 || error > 1e-3);
    assert_true(fabs(extrapolated(central, ramp, 0, 0.1, 2, &error)) < 1e-12);
    assert_true(error < 1e-12);
}

static void one_side_suffices_at_a_limit(void **state) {
    (void)state;
    double error;
    for (int i = 0; i < 20; i++) {
        const double x = 0.1 * i,
                     slope = extrapolated(DB_DIFFERENCE_ONE_SIDED, wave, x, 0.01, 0, &error);
        assert_true(fabs(slope - 7 * cos(7 * x)) < 1e-9 * 7);
        assert_true(fabs(slope - 7 * cos(7 * x)) < error + 1e-10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_functions_are_extrapolated_to_rounding),
        cmocka_unit_test(the_estimate_covers_the_error),
        cmocka_unit_test(a_kink_beyond_the_first_steps_does_no_harm),
        cmocka_unit_test(one_side_suffices_at_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
