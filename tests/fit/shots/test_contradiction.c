/* Shots that contradict what they share. */
#include "support/context.h"
#include "fit/shots/outliers.h"

#include <math.h>
#include <string.h>

enum { SHOTS = 7, ROW = 3 /* loss, slope, half second derivative of one quantity */ };

/* Shots that ask for values with errors. */
static void equations(const double *value, const double *error, double *sums) {
    for (size_t i = 0; i < SHOTS; i++) {
        const double weight = 1 / (error[i] * error[i]);
        sums[i * ROW] = weight * value[i] * value[i];
        sums[i * ROW + 1] = -2 * weight * value[i];
        sums[i * ROW + 2] = weight;
    }
}

static db_contradiction compare(const double *sums, const unsigned char *used, double misfit) {
    const unsigned char free_all[1] = { 0 };
    double each[SHOTS];
    db_contradiction found;
    for (size_t i = 0; i < SHOTS; i++) each[i] = misfit;
    assert_int_equal(db_contradiction_find(context, SHOTS, 1, sums, used, each, free_all, &found),
                     DB_OK);
    return found;
}

static const double error[SHOTS] = { 1, 2, 1, 1, 0.5, 1, 1 };
static const unsigned char all[SHOTS] = { 1, 1, 1, 1, 1, 1, 1 };

/* The difference from the weighted mean of the others, by both errors; the present value, 0, does not matter. */
static void a_shot_is_compared_with_the_others(void **state) {
    (void)state;
    const double value[SHOTS] = { 5.2, 5.6, 4.9, 40, 5.1, 4.7, 5.3 };
    double sums[SHOTS * ROW], weights = 0, mean = 0;
    equations(value, error, sums);
    for (size_t i = 0; i < SHOTS; i++) {
        weights += i == 3 ? 0 : 1 / (error[i] * error[i]);
        mean += i == 3 ? 0 : value[i] / (error[i] * error[i]);
    }
    mean /= weights;
    const db_contradiction found = compare(sums, all, 0);
    const double off = 40 - mean, square = off * off / (1 + 1 / weights);
    assert_int_equal(found.shot, 3);
    assert_true(fabs(found.margin - square / 2) < 1e-6 * square);
    assert_true(fabs(found.own - 40) < 1e-6 && fabs(found.others - mean) < 1e-6);
    assert_true(fabs(found.own_error - 1) < 1e-6 &&
                fabs(found.others_error - 1 / sqrt(weights)) < 1e-6);
    /* misfit makes errors larger */
    assert_true(fabs(compare(sums, all, 4).margin - square / 8) < 1e-6 * square);
}

/* Where all shots miss each other by 20 errors, none contradicts the others. */
static void scatter_of_all_is_no_contradiction(void **state) {
    (void)state;
    const double value[SHOTS] = { 20, -40, -20, 18, 12, -21, 25 };
    double sums[SHOTS * ROW];
    equations(value, error, sums);
    assert_true(compare(sums, all, 0).margin < 10);
}

/* Of three shots nothing says which one is wrong. */
static void three_shots_tell_nothing(void **state) {
    (void)state;
    const double value[SHOTS] = { 0, 0, 0, 40, 0, 0, 0 };
    const unsigned char few[SHOTS] = { 1, 0, 0, 1, 1, 0, 0 };
    double sums[SHOTS * ROW];
    equations(value, error, sums);
    assert_true(compare(sums, few, 0).margin <= 0);
    assert_true(compare(sums, all, 0).margin > 600);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shot_is_compared_with_the_others),
        cmocka_unit_test(scatter_of_all_is_no_contradiction),
        cmocka_unit_test(three_shots_tell_nothing),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
