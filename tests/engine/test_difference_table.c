/* Extrapolated differences of functions whose derivatives are known. */
#include "engine/difference_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Central differences of f at x with steps h, h/4 ... */
static void differences(double (*f)(double), double x, double h, double out[DB_DIFFERENCE_LEVELS]) {
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++, h /= DB_DIFFERENCE_RATIO) {
        const double above = x + h, below = x - h;
        out[level] = (f(above) - f(below)) / (above - below);
    }
}

/* Derivative by the best entry of a table that begins at step number `first`. */
static double extrapolated(double (*f)(double), double x, double h, int first, double *error) {
    double own[DB_DIFFERENCE_LEVELS], *images[DB_DIFFERENCE_LEVELS];
    const unsigned char smooth_from = (unsigned char)first;
    differences(f, x, h, own);
    for (int level = 0; level < DB_DIFFERENCE_LEVELS; level++) images[level] = &own[level];
    const db_table_entry entry = db_difference_best_entry(images, &smooth_from, 1, first);
    assert_true(entry.level - entry.order >= first && entry.order >= 1);
    return db_difference_extrapolate(own, entry, error);
}

static double wave(double x) { return 3 + sin(7 * x); }
static double ramp(double x) { return x < 0.01 ? 1 : 1 + 5 * (x - 0.01); }

static void smooth_functions_are_extrapolated_to_rounding(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const double x = 0.1 * i;
        double error;
        const double slope = extrapolated(wave, x, 0.05, 0, &error);
        assert_true(fabs(slope - 7 * cos(7 * x)) < 1e-11 * 7);
        assert_true(error < 1e-9);
    }
}

static void the_estimate_covers_the_error(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        const double x = 0.1 * i;
        double own[DB_DIFFERENCE_LEVELS];
        differences(wave, x, 0.05, own);
        for (int level = 1; level < DB_DIFFERENCE_LEVELS; level++)
            for (int order = 1; order <= level; order++) {
                double error;
                const double slope =
                    db_difference_extrapolate(own, (db_table_entry){ level, order }, &error);
                assert_true(fabs(slope - 7 * cos(7 * x)) <= error + 1e-10);
            }
    }
}

static void a_kink_beyond_the_first_steps_does_no_harm(void **state) {
    (void)state;
    double error;
    /* steps 0.05, 0.0125, 0.003...: the kink at 0.01 lies within the first two */
    assert_true(fabs(extrapolated(ramp, 0, 0.05, 0, &error)) < 1e-12 || error > 1e-3);
    assert_true(fabs(extrapolated(ramp, 0, 0.05, 2, &error)) < 1e-12);
    assert_true(error < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_functions_are_extrapolated_to_rounding),
        cmocka_unit_test(the_estimate_covers_the_error),
        cmocka_unit_test(a_kink_beyond_the_first_steps_does_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
