/* Other methods and targets than the default ones, priors, and orientations at which misset angles
 * are degenerate: all find the rendered crystal. */

#include "support/unit_test.h"
#include "fit/config/algorithms.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 400 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;

static int make_image(void **state) {
    (void)state;
    return rendered_begin(PIXELS, 1000, 5, &context, &truth, &image);
}

static int drop_image(void **state) {
    (void)state;
    return rendered_end(&context, &truth, &image);
}

/* Known amplitudes; orientation and an edge a little off. */
static int spoil(void **state) {
    (void)state;
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z, DB_CELL_A };
    if (db_experiment_copy(context, &truth, &start) != DB_OK) return -1;
    start.crystal.misset[0] += 0.05;
    start.crystal.misset[1] -= 0.04;
    start.crystal.misset[2] += 0.03;
    start.crystal.cell[0] *= 1.001;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.intensity = DB_FIT_KNOWN;
    settings.shoebox_half_width = 3; /* spots are a few pixels apart */
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        refine_parameter(&settings, list[i], -1);
        const double value = db_parameter_get(&start, list[i]), range = i < 3 ? 0.2 : 0.3;
        settings.parameters[i].lower = value - range;
        settings.parameters[i].upper = value + range;
    }
    settings.stage_count = 1;
    db_fit_stage *const stage = &settings.stages[0];
    *stage = (db_fit_stage){ .name = "only",
                             .blur = 1,
                             .target = -1,
                             .tolerance = 1e-8,
                             .step = 0.01,
                             .max_evaluations = 60 };
    return 0;
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    db_experiment_clear(&start);
    return 0;
}

static db_status run(void) {
    fit_still_destroy(&result);
    return fit_still(context, &start, &image, &settings, NULL, NULL, &result);
}

static void found_within(const char *what, double angle, double edge) {
    assert_non_null(result);
    const double off = misorientation(&truth.crystal, &result->experiment.crystal);
    const double ratio = result->experiment.crystal.cell[0] / truth.crystal.cell[0] - 1;
    if (!(off < angle && fabs(ratio) < edge))
        fail_msg("%s: the orientation is %.4f degree off, the edge %.1e", what, off, ratio);
}

static void go_by_names(const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_true(db_stage_take_algorithm(&settings.stages[0], names[i]));
        settings.stages[0].max_evaluations = 60;
        /* NLopt ends by criteria of its own, which need not be ours. */
        const db_status status = run();
        const int lm = !strcmp(names[i], "LM");
        if (status != DB_OK && (lm || status != DB_NOT_CONVERGED))
            fail_msg("%s: %s", names[i], db_context_message(context));
        found_within(names[i], 0.006, 3e-4);
        if (lm && result->evaluations > 10)
            fail_msg("LM needs %d evaluations", result->evaluations);
    }
}

static void gradient_methods_go_by_their_names(void **state) {
    (void)state;
    static const char *const names[] = { "LM", "LD_LBFGS" };
    go_by_names(names, 2);
}

static void other_gradient_methods_go_by_their_names_slow(void **state) {
    (void)state;
    static const char *const names[] = { "LD_SLSQP", "LD_MMA", "LD_CCSAQ", "LD_VAR2",
                                         "LD_TNEWTON_PRECOND_RESTART" };
    go_by_names(names, 5);
}

/* They end when their evaluations are used up; what they found is near. */
static void global_methods_search_between_bounds_slow(void **state) {
    (void)state;
    static const char *const names[] = { "GN_CRS2_LM", "GN_DIRECT_L", "GN_ISRES", "G_MLSL_LDS",
                                         "GD_STOGO" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_true(db_stage_take_algorithm(&settings.stages[0], names[i]));
        settings.stages[0].max_evaluations = 50;
        const db_status status = run();
        if (status != DB_OK && status != DB_NOT_CONVERGED)
            fail_msg("%s: %s", names[i], db_context_message(context));
        assert_non_null(result);
        if (result->evaluations > 50)
            fail_msg("%s takes %d evaluations", names[i], result->evaluations);
        assert_true(result->after.chi2 <= result->before.chi2 * 1.001);
    }
    /* open bounds of an edge are closed, those of a scale, which may be anything, are not */
    settings.parameters[3].upper = INFINITY;
    assert_int_not_equal(run(), DB_ERROR_USAGE);
    refine_parameter(&settings, DB_SCALE, -1);
    assert_int_equal(run(), DB_ERROR_USAGE);
    if (!strstr(db_context_message(context), "scale needs a range"))
        fail_msg("%s", db_context_message(context));
}

static void every_target_finds_the_crystal_slow(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        char what[40];
        settings.target = (db_fit_target)target;
        settings.background = (db_fit_background)(target % (DB_FIT_BACKGROUND_FIXED + 1));
        snprintf(what, sizeof what, "target %d, background %d", target, settings.background);
        if (run() != DB_OK) fail_msg("%s: %s", what, db_context_message(context));
        found_within(what, 0.008, 4e-4);
    }
}

/* Zingers on one pixel in a hundred spoil least squares, not Student's likelihood. */
static void zingers_are_borne_slow(void **state) {
    (void)state;
    double off[2];
    float *const clean = malloc(sizeof *clean * PIXELS * PIXELS);
    assert_non_null(clean);
    memcpy(clean, image.value, sizeof *clean * PIXELS * PIXELS);
    for (int i = 0; i < PIXELS * PIXELS; i++)
        if (image.mask[i] == 0 && (unsigned)i * 2654435761U % 100 == 7)
            image.value[i] += (float)(300 + i % 2000);
    for (int robust = 0; robust < 2; robust++) {
        settings.target = robust ? DB_FIT_STUDENT : DB_FIT_GAUSSIAN;
        run();
        assert_non_null(result);
        off[robust] = misorientation(&truth.crystal, &result->experiment.crystal);
        if (robust) found_within("student", 0.01, 5e-4);
    }
    memcpy(image.value, clean, sizeof *clean * PIXELS * PIXELS);
    free(clean);
    assert_true(off[1] < 0.5 * off[0]);
}

/* A prior a hundred times tighter than the data's own error holds the edge, one a hundred times
 * wider does not; in between it counts as a measurement. */
static void priors_count_as_measurements_slow(void **state) {
    (void)state;
    assert_int_equal(run(), DB_OK);
    const double own = result->estimates.list[3].value,
                 error = result->estimates.list[3].error_unscaled;
    for (int i = -1; i <= 1; i++) {
        double *const prior = settings.parameters[3].prior;
        prior[1] = error * pow(100, i);
        prior[0] = own + 4 * error;
        assert_int_equal(run(), DB_OK);
        const double weight = 1 / (1 + pow(prior[1] / error, 2)); /* of the prior */
        assert_true(fabs(result->estimates.list[3].value - (own + weight * 4 * error)) <
                    0.15 * error);
        assert_true(fabs(result->estimates.list[3].error_unscaled / error - sqrt(1 - weight)) <
                    0.05);
    }
}

/* Where the middle angle is 90 degree, and just before it: the same turns, the same errors of the
 * orientation. */
static void orientations_have_no_poles_slow(void **state) {
    (void)state;
    static const double angles[][3] = { { 20, 90, 30 }, { 20, 84.2, 30 }, { -170, -89.9, 100 } };
    for (size_t i = 0; i < sizeof angles / sizeof angles[0]; i++) {
        /* The same crystal, described by large missets on another orientation. */
        db_experiment described = truth;
        memcpy(described.crystal.misset, angles[i], sizeof angles[i]);
        static const double cubic[6] = { 1, 1, 1, 90, 90, 90 };
        db_crystal both[2] = { truth.crystal, described.crystal };
        double r[2][9];
        for (int k = 0; k < 2; k++) {
            memcpy(both[k].cell, cubic, sizeof cubic);
            db_crystal_matrix(&both[k], r[k]);
        }
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                start.crystal.orientation[3 * a + b] =
                    r[1][a] * r[0][b] + r[1][3 + a] * r[0][3 + b] + r[1][6 + a] * r[0][6 + b];
        for (int k = 0; k < 3; k++) start.crystal.misset[k] = angles[i][k];
        assert_true(misorientation(&truth.crystal, &start.crystal) < 1e-6);
        start.crystal.misset[0] += 0.03;
        start.crystal.misset[1] -= 0.04;
        start.crystal.cell[0] = 1.001 * truth.crystal.cell[0];
        for (int k = 0; k < 3; k++) {
            settings.parameters[k].lower = start.crystal.misset[k] - 0.2;
            settings.parameters[k].upper = start.crystal.misset[k] + 0.2;
        }
        if (run() != DB_OK) fail_msg("angles %zu: %s", i, db_context_message(context));
        found_within("near the pole", 0.006, 3e-4);
        assert_true(result->evaluations <= 8);
        for (int k = 0; k < 3; k++)
            assert_true(result->estimates.list[k].error > 0 &&
                        result->estimates.list[k].error < 0.1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gradient_methods_go_by_their_names, spoil, forget),
        cmocka_unit_test_setup_teardown(other_gradient_methods_go_by_their_names_slow, spoil,
                                        forget),
        cmocka_unit_test_setup_teardown(global_methods_search_between_bounds_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(every_target_finds_the_crystal_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(zingers_are_borne_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(priors_count_as_measurements_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(orientations_have_no_poles_slow, spoil, forget),
    };
    return cmocka_run_group_tests(tests, make_image, drop_image);
}
