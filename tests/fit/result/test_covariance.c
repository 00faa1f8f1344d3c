/* Errors and correlations from a normal matrix. */

#include "support/unit_test.h"
#include "fit/result/covariance.h"
#include "fit/result/errors.h"

#include <math.h>

static db_context *context;
static db_covariance c; /* the last one asked for */

static int make_context(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int drop_context(void **state) {
    (void)state;
    db_covariance_clear(&c);
    db_context_destroy(&context);
    return 0;
}

static void estimate(const double *normal, size_t count, const int *used) {
    db_covariance_clear(&c);
    assert_int_equal(db_covariance_estimate(context, normal, count, used, DB_LEAST_EIGENVALUE, &c),
                     DB_OK);
}

static void close_to(double a, double b) {
    if (!(fabs(a - b) <= 1e-12 * fmax(1, fabs(b)))) fail_msg("%.15g instead of %.15g", a, b);
}

/* The inverse of [4 2; 2 9] is [9 -2; -2 4]/32. */
static void errors_are_roots_of_the_inverse(void **state) {
    (void)state;
    const double normal[4] = { 4, 2, 2, 9 };
    const int used[2] = { 1, 1 };
    estimate(normal, 2, used);
    close_to(c.error[0], sqrt(9 / 32.0));
    close_to(c.error[1], sqrt(4 / 32.0));
    close_to(c.correlation[0][1], -2 / 6.0);
    close_to(c.correlation[1][0], c.correlation[0][1]);
    assert_true(c.correlation[0][0] == 1 && c.correlation[1][1] == 1);
}

static void a_parameter_at_its_bound_is_left_out(void **state) {
    (void)state;
    const double normal[9] = { 4, 1, 2, 1, 5, 1, 2, 1, 9 };
    const int used[3] = { 1, 0, 1 };
    estimate(normal, 3, used);
    close_to(c.error[0], sqrt(9 / 32.0));
    assert_true(isnan(c.error[1]));
    assert_true(c.correlation[0][1] == 0 && c.correlation[1][2] == 0);
    assert_int_equal(c.direction_count, 2);
    assert_true(c.direction[0].component[1] == 0);
}

static void what_the_data_do_not_determine_has_no_finite_error(void **state) {
    (void)state;
    const double same[4] = { 1, 1, 1, 1 }, nothing[4] = { 3, 0, 0, 0 };
    const int used[2] = { 1, 1 };
    estimate(same, 2, used);
    assert_true(isinf(c.error[0]) && isinf(c.error[1]));
    estimate(nothing, 2, used);
    assert_true(isinf(c.error[1]));
    close_to(c.error[0], sqrt(1 / 3.0)); /* the other one is determined */
}

/* Two parameters that do the same, one that does nothing, one of which only rounding is left:
 * the errors and the correlation of the two good ones are as if the others were not there. */
static void undetermined_parameters_do_not_spoil_the_others(void **state) {
    (void)state;
    double normal[36] = { 0 };
    static const double block[2][2] = { { 4, 2 }, { 2, 9 } };
    static const double twin[3] = { 7e4, 7e6, 7e8 }; /* p^2, p q, q^2 of q = 100 p */
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < 2; k++) normal[i * 6 + k] = block[i][k];
    normal[2 * 6 + 2] = twin[0];
    normal[2 * 6 + 3] = normal[3 * 6 + 2] = twin[1];
    normal[3 * 6 + 3] = twin[2];
    normal[0 * 6 + 2] = normal[2 * 6 + 0] = 100;
    normal[0 * 6 + 3] = normal[3 * 6 + 0] = 1e4;
    normal[5 * 6 + 5] = 1e-30;
    normal[5 * 6 + 0] = normal[0 * 6 + 5] = -1e-22;
    const int used[6] = { 1, 1, 1, 1, 1, 1 };
    estimate(normal, 6, used);
    /* The twins leave 4 - 100^2/7e4 of the first one. */
    const double left = 4 - 1e4 / 7e4, determinant = left * 9 - 4;
    close_to(c.error[0], sqrt(9 / determinant));
    close_to(c.error[1], sqrt(left / determinant));
    close_to(c.correlation[0][1], -2 / sqrt(9 * left));
    assert_true(isinf(c.error[2]) && isinf(c.error[3]) && isinf(c.error[4]));
    assert_true(c.error[5] > 1e14);
    assert_true(c.correlation[2][3] == 0 && c.correlation[0][4] == 0);
}

/* Elements of the scaled matrix are cosines: eigenvalues 1 - 0.6 and 1 + 0.6, along the
 * diagonals, one standard deviation being alone/sqrt(2 eigenvalue) of each. */
static void directions_are_eigenvectors_in_units_of_the_single_errors(void **state) {
    (void)state;
    const double normal[4] = { 4, 0.6 * 2 * 3, 0.6 * 2 * 3, 9 };
    const int used[2] = { 1, 1 };
    estimate(normal, 2, used);
    assert_int_equal(c.direction_count, 2);
    const db_fit_direction *const worst = &c.direction[0], *const best = &c.direction[1];
    close_to(worst->eigenvalue, 0.4);
    close_to(worst->condition, 4);
    close_to(fabs(worst->component[0]), sqrt(0.5));
    close_to(worst->component[0], -worst->component[1]);
    close_to(fabs(worst->change[0]), 0.5 * sqrt(0.5) / sqrt(0.4));
    close_to(fabs(worst->change[1]), sqrt(0.5) / sqrt(0.4) / 3);
    close_to(best->condition, 1);
    close_to(best->component[0], best->component[1]);
    assert_true(best->component[0] > 0);
}

static void an_undetermined_direction_is_named_first(void **state) {
    (void)state;
    const double normal[9] = { 1, 0, 2, 0, 0, 0, 2, 0, 4 };
    const int used[3] = { 1, 1, 1 };
    estimate(normal, 3, used);
    assert_int_equal(c.direction_count, 3);
    assert_true(isinf(c.direction[0].condition) && c.direction[0].component[1] == 1);
    assert_true(isinf(c.direction[1].condition) && isnan(c.direction[1].change[0]));
    close_to(fabs(c.direction[1].component[0]), sqrt(0.5));
    close_to(c.direction[1].component[0], -c.direction[1].component[2]);
    close_to(c.direction[2].condition, 1);
}

/* One parameter of curvature 4; parts of the data pull with forces whose squares add up to 36: an
 * error of 6/4. Where the scatter is the normal matrix, as for a right model, nothing changes. */
static void robust_errors_are_those_of_the_sandwich(void **state) {
    (void)state;
    const double one[1] = { 4 }, forces[1] = { 36 }, normal[4] = { 4, 2, 2, 9 };
    const int used[2] = { 1, 1 };
    estimate(one, 1, used);
    close_to(db_covariance_sandwich(&c, forces, 0), 1.5);
    close_to(c.error[0], 0.5);
    estimate(normal, 2, used);
    close_to(db_covariance_sandwich(&c, normal, 0), c.error[0]);
    close_to(db_covariance_sandwich(&c, normal, 1), c.error[1]);
    assert_true(isnan(c.robust[0]));
}

/* A parameter that does what another does changes neither the scatter of what is determined nor the errors of the rest, and the
 * inverse in the determined directions has the variance of the sum of both. */
static void twins_change_no_robust_error(void **state) {
    (void)state;
    static const size_t of[3] = { 0, 1, 1 };
    const double normal[2][2] = { { 4, 2 }, { 2, 9 } }, parts[2][2] = { { 5, 1 }, { 1, 7 } };
    const int used[3] = { 1, 1, 1 };
    double found[2][3], numbers[3][9];
    for (size_t n = 2; n < 4; n++) {
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < n; k++) {
                numbers[0][i * n + k] = normal[of[i]][of[k]];
                numbers[1][i * n + k] = parts[of[i]][of[k]];
                /* seen by the second parameter and its twin alone */
                numbers[2][i * n + k] = numbers[1][i * n + k] + (of[i] && of[k] ? 90 : 0);
            }
        const db_scatter scatter = { numbers[1], numbers[2], 40, 1, 2, NULL };
        double *const to = found[n - 2];
        db_covariance_clear(&c);
        assert_int_equal(db_errors_of_parts(context, numbers[0], n, used, DB_LEAST_EIGENVALUE,
                                            &scatter, 1, &c, &to[0]),
                         DB_OK);
        to[1] = c.error[0];
        to[2] = c.robust[0];
        double sum = 0;
        for (size_t i = 1; i < n; i++)
            for (size_t k = 1; k < n; k++) sum += c.inverse[i * n + k];
        close_to(sum, 4 / 32.0);
        assert_true(n == 2 || (isinf(c.error[1]) && isinf(c.error[2]) && isfinite(c.robust[2])));
    }
    for (int k = 0; k < 3; k++) close_to(found[1][k], found[0][k]);
    assert_true(found[0][0] > 1);
}

static void nothing_to_refine_is_no_error(void **state) {
    (void)state;
    estimate(NULL, 0, NULL);
    assert_int_equal(c.direction_count, 0);
}

/* Errors by the scatter of parts, of which quantities absorb some; by that of regions where it is surely larger;
 * the largest of several kinds of parts. */
static void scatter_of_parts_and_regions_makes_errors(void **state) {
    (void)state;
    const double normal[4] = { 4, 2, 2, 9 },
                 inverse[2][2] = { { 9 / 32.0, -2 / 32.0 }, { -2 / 32.0, 4 / 32.0 } },
                 parts[4] = { 5, 1, 1, 7 };
    const int used[2] = { 1, 1 };
    double alone[2] = { 0, 0 };
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++)
            for (int l = 0; l < 2; l++)
                alone[i] += inverse[i][k] * parts[2 * k + l] * inverse[l][i];
    const struct {
        double
            ratio; /* of variances, by 15 of 16 regions for each of two directions and each image */
        size_t images;
        int surely;
    } cases[] = { { 1.7, 1, 0 }, { 1.85, 1, 1 }, { 1.2, 10, 0 }, { 1.3, 10, 1 }, { 0.5, 1, 0 } };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        double regions[4], misfit = NAN;
        for (int k = 0; k < 4; k++) regions[k] = parts[k] * cases[n].ratio * 15 / 16;
        const db_scatter scatter = { parts, regions, 40, cases[n].images, 2, NULL };
        db_covariance_clear(&c);
        assert_int_equal(db_errors_of_parts(context, normal, 2, used, DB_LEAST_EIGENVALUE, &scatter,
                                            1, &c, &misfit),
                         DB_OK);
        const double by_regions = cases[n].surely ? sqrt(cases[n].ratio) : 1;
        close_to(misfit, by_regions);
        for (int i = 0; i < 2; i++) close_to(c.robust[i], sqrt(alone[i] * 40 / 38) * by_regions);
    }
    for (size_t count = 7; count < 9; count++) { /* four for each quantity are enough */
        const double twice[4] = { 10, 2, 2, 14 };
        const db_scatter scatter[2] = { { parts, NULL, 40, 1, 2, NULL },
                                        { twice, NULL, count, 1, 2, NULL } };
        double misfit = 1;
        db_covariance_clear(&c);
        assert_int_equal(db_errors_of_parts(context, normal, 2, used, DB_LEAST_EIGENVALUE, scatter,
                                            2, &c, &misfit),
                         DB_OK);
        close_to(misfit, 1);
        for (int i = 0; i < 2; i++)
            close_to(c.robust[i], sqrt(alone[i] * (count < 8 ? 40 / 38.0 : 2 * 8 / 6.0)));
    }
    for (size_t count = 2; count < 4; count++) { /* fewer count, too, if there is nothing better */
        const double large[4] = { 50, 10, 10, 70 };
        const db_scatter scatter = { large, NULL, count, 1, 2, NULL };
        double misfit = 1;
        db_covariance_clear(&c);
        assert_int_equal(db_errors_of_parts(context, normal, 2, used, DB_LEAST_EIGENVALUE, &scatter,
                                            1, &c, &misfit),
                         DB_OK);
        for (int i = 0; i < 2; i++)
            if (count > 2)
                close_to(c.robust[i], sqrt(10 * alone[i] * 3));
            else
                assert_true(isnan(c.robust[i]));
    }
}

/* A quantity that priors hold absorbs no scatter: here the first is free, and 9/16 of the second one held. Fewer than four parts for
 * each quantity count if their scatter surely exceeds noise. */
static void held_quantities_absorb_no_scatter(void **state) {
    (void)state;
    const double normal[4] = { 4, 2, 2, 9 }, priors[4] = { 0, 0, 0, 4.5 }, held = 4.5 * 4 / 32;
    const int used[2] = { 1, 1 };
    for (size_t count = 2; count < 9; count++) {
        for (int k = 1; k < 40; k++) {
            double parts[4], misfit = 1;
            const double times = 0.25 * k, n = (double)count, left = n - 2 + held;
            for (int i = 0; i < 4; i++)
                parts[i] =
                    times * (normal[i] - priors[i]) + priors[i]; /* of the data, and the priors */
            const db_scatter scatter = { parts, NULL, count, 1, 2, priors };
            const int counts = count >= 8 || (count > 2 && times > 1 + 3 * sqrt(2 / left));
            db_covariance_clear(&c);
            assert_int_equal(db_errors_of_parts(context, normal, 2, used, DB_LEAST_EIGENVALUE,
                                                &scatter, 1, &c, &misfit),
                             DB_OK);
            for (int i = 0; i < 2; i++) {
                if (!counts) {
                    assert_true(isnan(c.robust[i]));
                    continue;
                }
                const double sandwich[2] = { 9 / 32., 4 / 32. }, /* with the priors' own part */
                    of_priors = i == 0 ? 4.5 * 2 * 2 / (32. * 32) : 4.5 * 4 * 4 / (32. * 32),
                             variance = times * (sandwich[i] - of_priors) + of_priors;
                close_to(c.robust[i], sqrt(variance * n / left));
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_roots_of_the_inverse),
        cmocka_unit_test(a_parameter_at_its_bound_is_left_out),
        cmocka_unit_test(what_the_data_do_not_determine_has_no_finite_error),
        cmocka_unit_test(undetermined_parameters_do_not_spoil_the_others),
        cmocka_unit_test(directions_are_eigenvectors_in_units_of_the_single_errors),
        cmocka_unit_test(an_undetermined_direction_is_named_first),
        cmocka_unit_test(robust_errors_are_those_of_the_sandwich),
        cmocka_unit_test(scatter_of_parts_and_regions_makes_errors),
        cmocka_unit_test(held_quantities_absorb_no_scatter),
        cmocka_unit_test(twins_change_no_robust_error),
        cmocka_unit_test(nothing_to_refine_is_no_error),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
