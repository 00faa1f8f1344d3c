/* Folding the misset into the orientation and taking it out again; refining some of its angles. */

#include "support/unit_test.h"
#include "fit/config/misset.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_crystal crystal_at(double x, double y, double z) {
    return (db_crystal){ .cell = { 58.4, 61, 152.2, 90, 97, 90 },
                         .orientation = { 0, 0, 1, 1, 0, 0, 0, 1, 0 },
                         .misset = { x, y, z },
                         .cells = { 10, 10, 10 } };
}

static void folding_leaves_the_crystal(void **state) {
    (void)state;
    static const double angles[][3] = { { 0, 0, 0 },      { 27, -41, 13 },  { 170, 80, -120 },
                                        { 10, 90, 20 },   { -30, -90, 70 }, { 0.01, 89.9999, 0 },
                                        { 1e-5, 0, 2e-5 } };
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
        const db_crystal crystal = crystal_at(angles[i][0], angles[i][1], angles[i][2]);
        db_crystal folded = crystal, back;
        db_misset_fold(&folded);
        for (int k = 0; k < 3; k++) assert_true(folded.misset[k] == 0);
        assert_true(misorientation(&crystal, &folded) < 1e-9);
        back = crystal;
        db_misset_from(crystal.orientation, &folded, back.misset);
        if (!(misorientation(&crystal, &back) < 1e-6))
            fail_msg("angles %zu come back as %g %g %g", i, back.misset[0], back.misset[1],
                     back.misset[2]);
    }
}

/* Small missets on top of a folded one are turns about the laboratory's axes: three of one degree
 * about the same axis add up, wherever the crystal is. */
static void turns_about_a_laboratory_axis_add_up(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        db_crystal step = crystal_at(30, 89, -50), whole;
        db_misset_fold(&step);
        whole = step;
        for (int i = 0; i < 3; i++) {
            step.misset[axis] = 1;
            db_misset_fold(&step);
        }
        whole.misset[axis] = 3;
        assert_true(misorientation(&step, &whole) < 1e-9);
    }
}

static void degenerate_angles_are_known(void **state) {
    (void)state;
    const db_crystal near = crystal_at(10, 88, 0), far = crystal_at(10, 60, 0);
    assert_true(db_misset_degenerate(&near));
    assert_false(db_misset_degenerate(&far));
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
                                          .algorithm = "LM",
                                          .blur = 1,
                                          .target = -1,
                                          .tolerance = 1e-8,
                                          .step = 0.01,
                                          .max_evaluations = 30 };
    for (size_t i = 0; i < count; i++) {
        refine_parameter(settings, angles[i], -1);
        db_parameter_set(&start, angles[i], db_parameter_get(&start, angles[i]) + 0.06);
    }
    const db_status status = db_fit_run(context, &start, &image, settings, NULL, NULL, &result);
    if (!result) fail_msg("status %d: %s", status, db_context_message(context));
    memcpy(misset, result->experiment.crystal.misset, 3 * sizeof *misset);
    db_fit_result_destroy(&result);
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
        cmocka_unit_test(turns_about_a_laboratory_axis_add_up),
        cmocka_unit_test(degenerate_angles_are_known),
        cmocka_unit_test(one_angle_is_refined_while_the_others_stay),
        cmocka_unit_test(all_angles_are_refined_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
