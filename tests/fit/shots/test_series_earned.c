/* What a series has to earn: scales and tilts of the spindle, by made-up reflections with a known answer. */
#include "support/unit_test.h"
#include "fit/linear/schur.h"
#include "fit/shots/series_earned.h"

#include <dualbragg/context.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unknowns: an angle of the crystal, a tilt of the spindle, scales of four frames beside the first. */
enum { ANGLE, TILT, SCALES, UNKNOWNS = SCALES + 4, REFLECTIONS = 120 };

typedef struct scene {
    double lever;  /* slope of a datum by the tilt: short sweeps have little beside the angle's */
    double scale;  /* true deviation of the scales */
    double misfit; /* scatter of data in units of their quoted errors */
    size_t rotations; /* so many of the last unknowns are rotations in place of scales, */
    double rotation;  /* with this true deviation */
} scene;

/* A normal deviate by twelve uniform ones of a linear generator. */
static double deviate(unsigned *seed) {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        sum += (double)(*seed >> 8) / 16777216.0;
    }
    return sum;
}

/* Of a frame, the first of which is 0. */
static double deviation_of(const scene *of, int frame) {
    if (frame == 0) return 0;
    return (size_t)frame + of->rotations > UNKNOWNS - SCALES ? of->rotation : of->scale;
}

/* Which kinds of the scene are not earned? Each reflection has six data of quoted error 1: half of them tell its place, half
 * compare two frames. The loss is their sum of squares at 0, so half its slope is minus the sum of datum times slope. */
static void earn(const scene *of, unsigned seed, const unsigned char held[UNKNOWNS],
                 int unearned[DB_EARNINGS]) {
    const size_t size = db_schur_sums_size(UNKNOWNS);
    double *const sums = calloc(2 * size, sizeof *sums), *const scatter = sums + size;
    unsigned char earning[UNKNOWNS] = { DB_EARNING_NONE, DB_EARNING_TILT };
    db_context *context = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    memset(earning + SCALES, DB_EARNING_SCALE, UNKNOWNS - SCALES);
    memset(earning + UNKNOWNS - of->rotations, DB_EARNING_ROTATION, of->rotations);
    for (int r = 0; r < REFLECTIONS; r++) {
        double half[UNKNOWNS] = { 0 };
        for (int d = 0; d < 6; d++) {
            double row[UNKNOWNS] = { 0 }, datum = of->misfit * deviate(&seed);
            const int frame = r % 5, next = (r + 1) % 5;
            if (d < 3) {
                row[ANGLE] = 40 * cos(0.7 * r);
                row[TILT] = of->lever * sin(2.1 * r + d);
            } else {
                if (frame) row[SCALES + frame - 1] = 10;
                if (next) row[SCALES + next - 1] = -10;
                datum += 10 * (deviation_of(of, frame) - deviation_of(of, next));
            }
            for (int i = 0; i < UNKNOWNS; i++) {
                half[i] -= datum * row[i];
                for (int k = 0; k <= i; k++)
                    sums[1 + UNKNOWNS + i * (i + 1) / 2 + k] += row[i] * row[k];
            }
        }
        for (int i = 0; i < UNKNOWNS; i++) {
            sums[1 + i] += 2 * half[i];
            for (int k = 0; k <= i; k++)
                scatter[1 + UNKNOWNS + i * (i + 1) / 2 + k] += half[i] * half[k];
        }
    }
    const db_series_evidence evidence = { UNKNOWNS, REFLECTIONS, sums, scatter, earning };
    assert_int_equal(db_series_earn(context, &evidence, held, unearned), DB_OK);
    free(sums);
    db_context_destroy(&context);
}

/* Number of seeds, of a hundred, with which this kind is not earned. */
static int times_held(scene of, db_earning kind) {
    const unsigned char held[UNKNOWNS] = { 0 };
    int count = 0, unearned[DB_EARNINGS];
    for (unsigned seed = 1; seed <= 100; seed++) {
        earn(&of, 7919 * seed, held, unearned);
        assert_int_equal(unearned[DB_EARNING_NONE], 0);
        count += unearned[kind];
    }
    return count;
}

static void scales_that_are_one_are_held(void **state) {
    (void)state;
    assert_in_range(times_held((scene){ 10, 0, 1, 0, 0 }, DB_EARNING_SCALE), 97, 100);
    assert_in_range(times_held((scene){ 10, 0, 20, 0, 0 }, DB_EARNING_SCALE), 97,
                    100); /* whatever the misfit */
}

static void scales_that_differ_are_free(void **state) {
    (void)state;
    assert_int_equal(times_held((scene){ 10, 0.2, 1, 0, 0 }, DB_EARNING_SCALE), 0);
    /* as many errors, with the misfit, away from 1 */
    assert_int_equal(times_held((scene){ 10, 4, 20, 0, 0 }, DB_EARNING_SCALE), 0);
}

/* Rotations are asked as scales are, with scales as free as they are earned. */
static void rotations_are_earned_together(void **state) {
    (void)state;
    assert_in_range(times_held((scene){ 10, 0, 1, 4, 0 }, DB_EARNING_ROTATION), 97, 100);
    assert_int_equal(times_held((scene){ 10, 0, 1, 4, 0.2 }, DB_EARNING_ROTATION), 0);
    assert_int_equal(times_held((scene){ 10, 0.2, 1, 2, 0.2 }, DB_EARNING_ROTATION), 0);
    assert_int_equal(times_held((scene){ 10, 0.2, 1, 2, 0.2 }, DB_EARNING_SCALE), 0);
    /* held scales would turn blocks */
    assert_in_range(times_held((scene){ 10, 0.2, 1, 2, 0 }, DB_EARNING_ROTATION), 97, 100);
}

/* The error of the tilt is misfit / (lever sqrt(180)): 0.0075 degree, 0.15, 0.75. */
static void tilts_with_small_errors_are_free(void **state) {
    (void)state;
    assert_int_equal(times_held((scene){ 10, 0, 1, 0, 0 }, DB_EARNING_TILT), 0);
    assert_int_equal(times_held((scene){ 10, 0, 20, 0, 0 }, DB_EARNING_TILT), 0);
    assert_int_equal(times_held((scene){ 0.5, 0, 1, 0, 0 }, DB_EARNING_TILT), 0);
    assert_int_equal(times_held((scene){ 0.5, 0, 5, 0, 0 }, DB_EARNING_TILT), 100);
    assert_int_equal(times_held((scene){ 10, 0, 100, 0, 0 }, DB_EARNING_TILT), 100);
}

/* A tilt of no influence is not determined. */
static void what_has_no_influence_is_held(void **state) {
    (void)state;
    assert_int_equal(times_held((scene){ 0, 0, 1, 0, 0 }, DB_EARNING_TILT), 100);
}

/* A scale at its bound does not keep the others from being earned; where all are, nothing is asked. */
static void what_cannot_move_is_not_asked(void **state) {
    (void)state;
    unsigned char held[UNKNOWNS] = { 0 };
    int unearned[DB_EARNINGS];
    held[SCALES + 1] = 1;
    earn(&(scene){ 10, 0.2, 1, 0, 0 }, 5, held, unearned);
    assert_int_equal(unearned[DB_EARNING_SCALE] | unearned[DB_EARNING_TILT], 0);
    memset(held + SCALES, 1, UNKNOWNS - SCALES);
    held[TILT] = 1;
    earn(&(scene){ 0, 0, 1, 0, 0 }, 5, held, unearned);
    assert_int_equal(unearned[DB_EARNING_SCALE] | unearned[DB_EARNING_TILT], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_that_are_one_are_held),
        cmocka_unit_test(scales_that_differ_are_free),
        cmocka_unit_test(rotations_are_earned_together),
        cmocka_unit_test(tilts_with_small_errors_are_free),
        cmocka_unit_test(what_has_no_influence_is_held),
        cmocka_unit_test(what_cannot_move_is_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
