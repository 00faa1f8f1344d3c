/* Cholesky's factor: unknowns that are held, or that a matrix does not determine. */
#include "support/unit_test.h"
#include "fit/linear/cholesky.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 4 };

/* The matrix of rows of which the last is the sum of those before it and a `part` of its own, in its length. */
static void make_matrix(double part, double matrix[NUMBERS * NUMBERS]) {
    double row[NUMBERS][NUMBERS] = {
        { 3, 0.1, 0.7, 0 }, { 0.3, 2, 0.9, 0 }, { 0.2, 1.1, 5, 0 }, { 0, 0, 0, 0 }
    };
    double square = 0;
    for (int k = 0; k < 3; k++) {
        row[3][k] = row[0][k] + row[1][k] + row[2][k];
        square += row[3][k] * row[3][k];
    }
    row[3][3] = sqrt(part * square);
    for (int i = 0; i < NUMBERS; i++)
        for (int j = 0; j < NUMBERS; j++) {
            matrix[i * NUMBERS + j] = 0;
            for (int k = 0; k < NUMBERS; k++) matrix[i * NUMBERS + j] += row[i][k] * row[j][k];
        }
}

/* Largest error of a solution, in units of the largest true value; 1 if the last unknown does not move. */
static double error_of_solution(double part, double least) {
    const double truth[NUMBERS] = { 1, -2, 0.5, 3 };
    double matrix[NUMBERS * NUMBERS], factor[NUMBERS * NUMBERS], x[NUMBERS], most = 0;
    make_matrix(part, matrix);
    db_cholesky_factor(NUMBERS, matrix, NUMBERS, 0, NULL, least, factor);
    for (int i = 0; i < NUMBERS; i++) {
        x[i] = 0;
        for (int k = 0; k < NUMBERS; k++) x[i] += matrix[i * NUMBERS + k] * truth[k];
    }
    db_cholesky_forward(NUMBERS, factor, x);
    db_cholesky_back(NUMBERS, factor, x);
    if (!(factor[NUMBERS * NUMBERS - 1] > 0)) return 1;
    for (int i = 0; i < NUMBERS; i++) most = fmax(most, fabs(x[i] - truth[i]) / 3);
    return most;
}

/* What is left to the last unknown is known as well as the bounds say, for a variance and for a step, with rounding of some
 * twenty products. */
static void what_is_left_is_known(void **state) {
    (void)state;
    for (double part = 1e-1; part > 1.1 * DB_LEAST_FOR_VARIANCE; part /= 1.7)
        assert_true(error_of_solution(part, DB_LEAST_FOR_VARIANCE) < 2e-5);
    for (double part = 1e-1; part > 1.1 * DB_LEAST_FOR_STEP; part /= 1.7)
        assert_true(error_of_solution(part, DB_LEAST_FOR_STEP) < 2e-3);
    assert_true(error_of_solution(1e-11, DB_LEAST_FOR_VARIANCE) >= 1);
    assert_true(error_of_solution(1e-11, DB_LEAST_FOR_STEP) < 1);
}

/* A sum of others has only rounding of its own. */
static void sums_of_others_stay(void **state) {
    (void)state;
    assert_true(error_of_solution(0, DB_LEAST_FOR_VARIANCE) >= 1);
    assert_true(error_of_solution(0, DB_LEAST_FOR_STEP) >= 1);
}

/* The others move as if one that is held were not there. */
static void held_unknowns_stay(void **state) {
    (void)state;
    const unsigned char held[NUMBERS] = { 0, 1, 0, 0 };
    double matrix[NUMBERS * NUMBERS], factor[NUMBERS * NUMBERS], x[NUMBERS] = { 1, 2, 3, 4 };
    make_matrix(0.3, matrix);
    db_cholesky_factor(NUMBERS, matrix, NUMBERS, 0, held, DB_LEAST_FOR_STEP, factor);
    db_cholesky_forward(NUMBERS, factor, x);
    db_cholesky_back(NUMBERS, factor, x);
    assert_true(!(fabs(x[1]) > 0));
    for (int i = 0; i < NUMBERS; i++) {
        double sum = 0;
        for (int k = 0; k < NUMBERS; k++) sum += matrix[i * NUMBERS + k] * x[k];
        if (!held[i]) assert_true(fabs(sum - (i + 1)) < 1e-12);
    }
}

/* Along a combination the matrix does not change anything; others have none. */
static void combinations_are_named(void **state) {
    (void)state;
    double matrix[NUMBERS * NUMBERS], factor[NUMBERS * NUMBERS], x[NUMBERS], length = 0;
    make_matrix(0, matrix);
    db_cholesky_factor(NUMBERS, matrix, NUMBERS, 0, NULL, DB_LEAST_FOR_VARIANCE, factor);
    for (size_t k = 0; k + 1 < NUMBERS; k++)
        assert_false(db_cholesky_combination(NUMBERS, factor, k, x));
    assert_true(db_cholesky_combination(NUMBERS, factor, NUMBERS - 1, x));
    for (int k = 0; k < NUMBERS; k++) length += x[k] * x[k];
    assert_true(fabs(length - 1) < 1e-12);
    for (int k = 0; k < NUMBERS; k++) x[k] /= sqrt(matrix[k * NUMBERS + k]);
    for (int k = 0; k + 1 < NUMBERS; k++) /* the last is the sum of the others */
        assert_true(fabs(x[k] + x[NUMBERS - 1]) < 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_is_known),
        cmocka_unit_test(sums_of_others_stay),
        cmocka_unit_test(held_unknowns_stay),
        cmocka_unit_test(combinations_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
