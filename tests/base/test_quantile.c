/* Ranks of numbers, and medians. */
#include "support/unit_test.h"
#include "base/quantile.h"

#include <math.h>
#include <string.h>

enum { MOST = 200 };

/* Numbers of which `kinds` are different; few kinds: many are equal. */
static void make_numbers(double *values, size_t count, uint32_t kinds, uint32_t seed) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (double)((seed >> 8) % kinds) - 3;
    }
}

/* The smallest value that more than `rank` values do not exceed, by counting. */
static double ranked_by_counting(const double *values, size_t count, size_t rank) {
    double found = (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        size_t up_to = 0;
        for (size_t k = 0; k < count; k++) up_to += values[k] <= values[i];
        if (up_to > rank) found = fmin(found, values[i]);
    }
    return found;
}

static void ranks_are_those_of_a_count(void **state) {
    static const uint32_t kinds[] = { 1, 2, 7, 1000000 };
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t count = 1; count < MOST; count += 1 + count / 5)
            for (size_t rank = 0; rank < count; rank += 1 + count / 9) {
                double values[MOST], before[MOST];
                make_numbers(values, count, kinds[k], (uint32_t)(count + rank));
                memcpy(before, values, sizeof values);
                const double found = db_ranked(values, count, rank);
                assert_true(found == ranked_by_counting(before, count, rank));
                for (size_t i = 0; i < rank; i++) assert_true(values[i] <= found);
                for (size_t i = rank; i < count; i++) assert_true(values[i] >= found);
                db_sort_numbers(before, count);
                db_sort_numbers(values, count);
                assert_memory_equal(values, before, count * sizeof *values);
            }
}

static void ordered_numbers_take_no_longer(void **state) {
    static double values[1 << 20]; /* quadratic work would take minutes */
    const size_t count = sizeof values / sizeof *values;
    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        for (size_t i = 0; i < count; i++) values[i] = (double)(falls ? count - 1 - i : i);
        assert_true(db_ranked(values, count, 4321) == 4321);
    }
}

static void medians_lie_in_the_middle(void **state) {
    double odd[] = { 5, -1, 3 }, even[] = { 4, 1, 8, 2 }, one[] = { 7 };
    (void)state;
    assert_true(db_median(odd, 3) == 3);
    assert_true(db_median(even, 4) == 3);
    assert_true(db_median(one, 1) == 7);
    assert_true(isnan(db_median(one, 0)));
    assert_true(isnan(db_ranked(one, 0, 0)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_are_those_of_a_count),
        cmocka_unit_test(ordered_numbers_take_no_longer),
        cmocka_unit_test(medians_lie_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
