/* Joint intensities of shots some of which are bad, or of another crystal. */

#include "support/unit_test.h"
#include "fit/stills.h"

#include <math.h>
#include <string.h>

/* Three of ten shots are bad, in each way: the intensities change by less than their errors. */
static void bad_shots_do_no_harm(void **state) {
    (void)state;
    static const char *const kinds[KINDS] = { "other lattice", "other crystal", "other hand",
                                              "blank", "saturated" };
    db_fit_shots_result *r[2];
    stills.anomalous = 1.6;
    assert_int_equal(stills_fill_amplitudes(&stills.truth, stills.brightness, 1), DB_OK);
    stills.good = STILLS;
    stills.start_scale = 50;
    for (int k = 0; k < 2; k++) r[k] = stills_run((size_t)(STILLS + k * BAD));
    stills.start_scale = 1;
    stills.good = 0;
    const db_merged *const plain = &r[0]->intensities->merged;
    const db_merged *const mixed = &r[1]->intensities->merged;
    for (size_t s = STILLS; s < STILLS + BAD; s++)
        print_message("%s: %s\n", kinds[(s - STILLS) % KINDS],
                      r[1]->shot[s].used ? "in use" : r[1]->shot[s].reason);
    for (size_t s = 0; s < STILLS; s++)
        if (!r[1]->shot[s].used) print_message("good shot %zu: %s\n", s, r[1]->shot[s].reason);
    double square = 0, count = 0, largest = 0, pull[2], top = 0, bottom = 0;
    for (size_t h = 0; h < plain->count; h++) {
        if (!plain->multiplicity[h] || !mixed->multiplicity[h]) continue;
        top += plain->intensity[h] * mixed->intensity[h] / pow(plain->sigma[h], 2);
        bottom += pow(mixed->intensity[h] / plain->sigma[h], 2);
    }
    for (size_t h = 0; h < plain->count; h++) {
        if (!plain->multiplicity[h] || !mixed->multiplicity[h]) continue;
        const double off =
            (plain->intensity[h] - top / bottom * mixed->intensity[h]) / plain->sigma[h];
        square += off * off;
        largest = fmax(largest, fabs(off));
        count++;
    }
    const double R[2] = { stills_off_truth(plain, &pull[0]), stills_off_truth(mixed, &pull[1]) };
    print_message(
        "%g intensities with bad shots: %.2f standard errors from those without (rms), at "
        "most %.1f; R %.4f, %.4f; pulls %.2f, %.2f\n",
        count, sqrt(square / count), largest, R[0], R[1], pull[0], pull[1]);
    assert_int_equal(r[0]->used, STILLS);
    for (size_t s = 0; s < STILLS; s++) assert_true(r[1]->shot[s].used);
    for (size_t s = STILLS; s < STILLS + BAD; s++)
        if ((s - STILLS) % KINDS != SATURATED) assert_false(r[1]->shot[s].used);
    assert_true(count > 500 && sqrt(square / count) < 0.5);
    assert_true(R[1] < 1.1 * R[0] && pull[1] < 1.2);
    for (int k = 0; k < 2; k++) db_fit_shots_result_destroy(&r[k]);
    stills.anomalous = 0.1;
    assert_int_equal(stills_fill_amplitudes(&stills.truth, stills.brightness, 1), DB_OK);
}

/* Root mean square difference of intensities in standard errors of the first, on one scale. */
static double apart(const db_merged *a, const db_merged *b, size_t *count) {
    double top = 0, bottom = 0, square = 0;
    *count = 0;
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h] || !b->multiplicity[h]) continue;
        top += a->intensity[h] * b->intensity[h] / pow(a->sigma[h], 2);
        bottom += pow(b->intensity[h] / a->sigma[h], 2);
    }
    for (size_t h = 0; h < a->count; h++) {
        if (!a->multiplicity[h] || !b->multiplicity[h]) continue;
        square += pow((a->intensity[h] - top / bottom * b->intensity[h]) / a->sigma[h], 2);
        ++*count;
    }
    return sqrt(square / (double)*count);
}

/* Nearly half of the shots are of one other crystal, in the same cell: they agree with each other. */
static void the_crystal_of_most_shots_is_kept(void **state) {
    (void)state;
    static const size_t others[] = { 0, 10, 20 };
    db_fit_shots_result *r[3];
    stills.good = STILLS;
    stills.only = OTHER_CRYSTAL;
    for (int k = 0; k < 3; k++) r[k] = stills_run(STILLS + others[k]);
    stills.good = 0;
    stills.only = KINDS;
    for (int k = 1; k < 3; k++) {
        size_t count;
        double pull;
        const double far = apart(&r[0]->intensities->merged, &r[k]->intensities->merged, &count),
                     R = stills_off_truth(&r[k]->intensities->merged, &pull);
        print_message("%zu shots of another crystal beside %d: %zu in use, %zu intensities %.2f "
                      "standard errors away (rms), R %.4f\n",
                      others[k], STILLS, r[k]->used, count, far, R);
        for (size_t s = 0; s < STILLS + others[k]; s++) {
            assert_int_equal(r[k]->shot[s].used, s < STILLS);
            if (s >= STILLS) assert_non_null(strstr(r[k]->shot[s].reason, "another crystal"));
        }
        assert_int_equal(r[k]->intensities->kinds.count, 2);
        assert_int_equal(r[k]->intensities->kinds.shots[0], STILLS);
        assert_true(count > 500 && far < 0.5);
    }
    assert_int_equal(r[0]->intensities->kinds.count, 1);
    for (int k = 0; k < 3; k++) db_fit_shots_result_destroy(&r[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_shots_do_no_harm),
        cmocka_unit_test(the_crystal_of_most_shots_is_kept),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
