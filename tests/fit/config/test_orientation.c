/* Plus and minus of orientations; refining all angles of one, and some. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/config/orientation.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_crystal crystal_at(double x, double y, double z) {
    return (db_crystal){ .cell = { 58.4, 61, 152.2, 90, 97, 90 },
                         .orientation = { 0, 0, 1, 1, 0, 0, 0, 1, 0 },
                         .misset = { x, y, z },
                         .Ncells = { 10, 10, 10 } };
}

static const double tried[][3] = { { 0, 0, 0 },    { 27, -41, 13 },     { 170, 80, -120 },
                                   { 10, 90, 20 }, { -30, -90, 70 },    { 180, 0, 0 },
                                   { 0, 180, 0 },  { 0, 0, 180 },       { 180, 180, 0 },
                                   { 90, 90, 90 }, { 1e-5, 0, 2e-5 },   { 0.01, 89.9999, 0 },
                                   { 0, -90, 0 },  { 179.9, 1, -179.9 } };
enum { TRIED = sizeof tried / sizeof tried[0] };

static double difference(const double a[9], const double b[9]) {
    double most = 0;
    for (int i = 0; i < 9; i++) most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void folding_leaves_the_crystal(void **state) {
    (void)state;
    for (size_t n = 0; n < 2 * TRIED; n++) {
        const size_t i = n / 2;
        if (n % 2 && fabs(tried[i][1]) > 89 && fabs(tried[i][1]) < 91)
            continue; /* to rounding alone */
        db_crystal crystal = crystal_at(tried[i][0], tried[i][1], tried[i][2]);
        if (n % 2) memcpy(crystal.misset_frame, (double[3]){ 40, -25, 65 }, 3 * sizeof(double));
        db_crystal folded = crystal;
        db_orientation_fold(&folded);
        for (int k = 0; k < 3; k++) assert_true(folded.misset[k] == 0);
        assert_true(misorientation(&crystal, &folded) < 1e-9);
        db_orientation_count_from(crystal.orientation, &folded);
        assert_memory_equal(folded.orientation, crystal.orientation, sizeof folded.orientation);
        if (!(misorientation(&crystal, &folded) < 1e-6))
            fail_msg("angles %zu come back as %g %g %g", i, folded.misset[0], folded.misset[1],
                     folded.misset[2]);
    }
}

/* The same crystal as the model's own parameters turn it. */
static void plus_is_what_the_parameters_do(void **state) {
    (void)state;
    for (size_t i = 0; i < TRIED; i++) {
        const db_crystal crystal = crystal_at(tried[i][0], tried[i][1], tried[i][2]);
        db_crystal plain = crystal, turned = crystal;
        double rotation[9];
        db_orientation_plus(crystal.orientation, crystal.misset, rotation);
        db_orientation_set(rotation, &turned);
        double by_model[9], by_plus[9];
        db_crystal_matrix(&plain, by_model);
        db_crystal_matrix(&turned, by_plus);
        assert_true(difference(by_model, by_plus) < 1e-15);
    }
}

/* From every rotation to every other, half turns and a middle angle of 90 degree included. */
static void minus_undoes_plus_wherever_it_starts(void **state) {
    (void)state;
    for (size_t i = 0; i < TRIED; i++) {
        for (size_t k = 0; k < TRIED; k++) {
            const db_crystal a = crystal_at(tried[i][0], tried[i][1], tried[i][2]),
                             b = crystal_at(tried[k][0], tried[k][1], tried[k][2]);
            double from[9], to[9], angle[3], back[9];
            db_orientation_of(&a, from);
            db_orientation_of(&b, to);
            db_orientation_minus(to, from, angle);
            db_orientation_plus(from, angle, back);
            if (!(difference(back, to) < 1e-7))
                fail_msg("from %zu to %zu: %g %g %g leave %g", i, k, angle[0], angle[1], angle[2],
                         difference(back, to));
        }
    }
}

/* To first order a small rotation is a vector, in the laboratory, wherever the crystal is. */
static void small_rotations_add_up(void **state) {
    (void)state;
    const double one[3] = { 1e-4, -2e-4, 3e-4 }, two[3] = { -3e-4, 5e-5, 1e-4 };
    for (size_t i = 0; i < TRIED; i++) {
        const db_crystal start = crystal_at(tried[i][0], tried[i][1], tried[i][2]);
        double rotation[9], turned[9], sum[3];
        db_orientation_of(&start, rotation);
        db_orientation_plus(rotation, one, turned);
        db_orientation_plus(turned, two, turned);
        db_orientation_minus(turned, rotation, sum);
        for (int k = 0; k < 3; k++) assert_true(fabs(sum[k] - one[k] - two[k]) < 2e-9);
    }
}

/* Three turns of one degree about an axis of the laboratory are one of three. */
static void turns_about_a_laboratory_axis_add_up(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        double step[3] = { 0 }, whole[3] = { 0 }, turned[9], once[9];
        const db_crystal start = crystal_at(30, 89, -50);
        db_orientation_of(&start, turned);
        step[axis] = 1;
        whole[axis] = 3;
        db_orientation_plus(turned, whole, once);
        for (int i = 0; i < 3; i++) db_orientation_plus(turned, step, turned);
        assert_true(difference(turned, once) < 1e-14);
    }
}

/* How far a crystal has turned counts from the misset that it was given. */
static void turns_count_from_the_given_crystal(void **state) {
    (void)state;
    const db_crystal given = crystal_at(30, 60, -50);
    const double step[3] = { 0.2, -0.1, 0.3 };
    db_crystal now = given;
    double angle[3];
    db_orientation_fold(&now);
    db_orientation_plus(now.orientation, step, now.orientation);
    db_orientation_turned(&given, &now, angle);
    for (int k = 0; k < 3; k++) assert_true(fabs(angle[k] - given.misset[k] - step[k]) < 1e-12);
}

static void degenerate_angles_count_from_the_crystal_itself(void **state) {
    (void)state;
    db_crystal near = crystal_at(10, 88, 0), far = crystal_at(10, 60, 0);
    db_fit_settings *const settings = malloc(sizeof *settings);
    double reference[9], rotation[9];
    assert_non_null(settings);
    db_fit_settings_init(settings);
    db_orientation_reference(settings, &near, reference);
    assert_memory_equal(reference, near.orientation, sizeof reference); /* not refined */
    for (int i = 0; i < 3; i++)
        refine_parameter(settings, (db_parameter)((int)DB_MISSET_X + i), -1);
    db_orientation_reference(settings, &near, reference);
    db_orientation_of(&near, rotation);
    assert_memory_equal(reference, rotation, sizeof reference);
    db_orientation_reference(settings, &far, reference);
    assert_memory_equal(reference, far.orientation, sizeof reference);
    db_fit_settings_clear(settings);
    free(settings);
}

/* Refines some angles, which start a little off, of a crystal whose angles are far from 0. */
static void refine(const db_parameter *angles, size_t count, double misset[3]) {
    db_context *context;
    db_experiment truth, start;
    db_measured_image image;
    db_fit_result *result = NULL;
    db_fit_settings *const settings = malloc(sizeof *settings);
    assert_non_null(settings);
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(rendered_experiment(context, 300, 1000, &truth), DB_OK);
    assert_int_equal(rendered_image(context, &truth, 7, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, &truth, &start), DB_OK);
    db_fit_settings_init(settings);
    settings->intensity = DB_FIT_KNOWN;
    settings->shoebox_half_width = 3;
    settings->stage_count = 1;
    settings->stages[0] = (db_fit_stage){ .name = "only",
                                          .blur = 1,
                                          .target = -1,
                                          .tolerance = 1e-8,
                                          .step = 0.01,
                                          .max_evaluations = 30 };
    for (size_t i = 0; i < count; i++) {
        refine_parameter(settings, angles[i], -1);
        db_parameter_set(&start, angles[i], db_parameter_get(&start, angles[i]) + 0.06);
    }
    const db_status status = fit_still(context, &start, &image, settings, NULL, NULL, &result);
    if (!result) fail_msg("status %d: %s", status, db_context_message(context));
    if (result) memcpy(misset, result->experiment.crystal.misset, 3 * sizeof *misset);
    fit_still_destroy(&result);
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    db_fit_settings_clear(settings);
    free(settings);
}

static const double rendered_at[3] = { 27, -41, 13 };

static void one_angle_is_refined_while_the_others_stay(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        const db_parameter angle = (db_parameter)((int)DB_MISSET_X + i);
        double misset[3];
        refine(&angle, 1, misset);
        for (int k = 0; k < 3; k++)
            if (!(fabs(misset[k] - rendered_at[k]) <= (k == i ? 0.01 : 0)))
                fail_msg("misset %d refined alone: angle %d ends at %.17g instead of %g", i, k,
                         misset[k], rendered_at[k]);
    }
}

static void all_angles_are_refined_together(void **state) {
    (void)state;
    static const db_parameter all[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z };
    double misset[3];
    refine(all, 3, misset);
    for (int k = 0; k < 3; k++)
        if (!(fabs(misset[k] - rendered_at[k]) <= 0.02))
            fail_msg("angle %d ends at %g instead of %g", k, misset[k], rendered_at[k]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folding_leaves_the_crystal),
        cmocka_unit_test(plus_is_what_the_parameters_do),
        cmocka_unit_test(minus_undoes_plus_wherever_it_starts),
        cmocka_unit_test(small_rotations_add_up),
        cmocka_unit_test(turns_about_a_laboratory_axis_add_up),
        cmocka_unit_test(turns_count_from_the_given_crystal),
        cmocka_unit_test(degenerate_angles_count_from_the_crystal_itself),
        cmocka_unit_test(one_angle_is_refined_while_the_others_stay),
        cmocka_unit_test(all_angles_are_refined_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
