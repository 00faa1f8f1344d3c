/* Errors and correlations from a normal matrix. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fit/covariance.h"

#include <math.h>

static void close_to(double a, double b) {
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)))) fail_msg("%.15g instead of %.15g", a, b);
}

/* The inverse of [4 2; 2 9] is [9 -2; -2 4]/32. */
static void errors_are_roots_of_the_inverse(void **state) {
    (void)state;
    const double normal[4] = { 4, 2, 2, 9 };
    const int used[2] = { 1, 1 };
    double error[2], correlation[2][3];
    db_covariance(normal, 2, used, 1, error, correlation[0], 3);
    close_to(error[0], sqrt(9 / 32.0));
    close_to(error[1], sqrt(4 / 32.0));
    close_to(correlation[0][1], -2 / 6.0);
    close_to(correlation[1][0], correlation[0][1]);
    assert_true(correlation[0][0] == 1 && correlation[1][1] == 1);
    db_covariance(normal, 2, used, 4, error, correlation[0], 3);
    close_to(error[0], 2 * sqrt(9 / 32.0)); /* inflated */
}

static void a_parameter_at_its_bound_is_left_out(void **state) {
    (void)state;
    const double normal[9] = { 4, 1, 2, 1, 5, 1, 2, 1, 9 };
    const int used[3] = { 1, 0, 1 };
    double error[3], correlation[3][3];
    db_covariance(normal, 3, used, 1, error, correlation[0], 3);
    close_to(error[0], sqrt(9 / 32.0));
    assert_true(isnan(error[1]));
    assert_true(correlation[0][1] == 0 && correlation[1][2] == 0);
}

static void what_the_data_do_not_determine_has_no_finite_error(void **state) {
    (void)state;
    const double same[4] = { 1, 1, 1, 1 }, nothing[4] = { 3, 0, 0, 0 };
    const int used[2] = { 1, 1 };
    double error[2], correlation[2][2];
    db_covariance(same, 2, used, 1, error, correlation[0], 2);
    assert_true(isinf(error[0]) && isinf(error[1]));
    db_covariance(nothing, 2, used, 1, error, correlation[0], 2);
    assert_true(isinf(error[1]));
    close_to(error[0], sqrt(1 / 3.0)); /* the other one is determined */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_roots_of_the_inverse),
        cmocka_unit_test(a_parameter_at_its_bound_is_left_out),
        cmocka_unit_test(what_the_data_do_not_determine_has_no_finite_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
