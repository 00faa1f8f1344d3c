/* A detector distance that is held: a result says whether the data determine it, and by how much they ask
 * for another. */
#include "support/context.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/verdict/spot_regions.h"
#include "fit/verdict/verdict.h"
#include "fit/verdict/verdict_tests.h"
#include "fit/verdict/warnings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int warns(const db_fit_result *r, const char *words) {
    for (size_t i = 0; i < r->warning_count; i++)
        if (strstr(r->warnings[i], words)) return 1;
    return 0;
}

/* From a distance that is wrong by a part of itself, and edges that are by as much. */
static db_fit_result *refine(const db_experiment *truth, const db_measured_image *image,
                             double wrong, int refine_distance) {
    db_experiment start = *truth; /* borrows */
    db_fit_settings settings;
    db_fit_result *r;
    start.detector.distance *= 1 + wrong;
    for (int i = 0; i < 3; i++) start.crystal.cell[i] *= 1 + wrong;
    db_fit_settings_init(&settings);
    for (int p = DB_MISSET_X; p <= DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_CELL_A, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELL_C, -1);
    if (refine_distance) refine_parameter(&settings, DB_DISTANCE, -1);
    const db_status status = fit_still(context, &start, image, &settings, NULL, NULL, &r);
    if (status != DB_OK && status != DB_NOT_CONVERGED) fail_msg("%s", db_context_message(context));
    print_message("distance %.3f mm: the data ask for %+.3f +- %.3f, places gain %.1f\n",
                  start.detector.distance, r->distance_step, r->distance_error, r->distance_gain);
    db_fit_settings_clear(&settings);
    return r;
}

/* Edges that are surely wrong are not to be used. */
static void a_wrong_distance_is_noticed(void **state) {
    (void)state;
    db_experiment truth;
    db_measured_image image;
    assert_int_equal(rendered_experiment(context, 800, 1000, &truth), DB_OK);
    assert_int_equal(rendered_image(context, &truth, 4, &image), DB_OK);
    for (int sign = -1; sign <= 1; sign++) {
        db_fit_result *r = refine(&truth, &image, 0.01 * sign, 0);
        const double wrong = 0.01 * sign * truth.detector.distance;
        assert_true(fabs(r->distance_step + wrong) < 4 * r->distance_error);
        assert_int_equal(warns(r, "but the data fit"), sign != 0);
        assert_int_equal(r->status, sign ? DB_NOT_CONVERGED : DB_OK);
        assert_int_equal(r->verdict.test[DB_FIT_TEST_DISTANCE].passed, sign == 0);
        /* over the best model that holds the distance, with any tilt of the detector */
        assert_true(sign ? r->distance_gain > 20 : fabs(r->distance_gain) < 3);
        assert_false(warns(r, "this image does not determine the distance"));
        fit_still_destroy(&r);
    }
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
}

/* A detector that is tilted, though nobody tilts the model, has its own distance all the same. */
static void a_tilt_is_no_distance(void **state) {
    (void)state;
    db_experiment truth;
    db_measured_image image;
    assert_int_equal(rendered_experiment(context, 800, 1000, &truth), DB_OK);
    truth.detector.rotation[1] += 0.5;
    assert_int_equal(rendered_image(context, &truth, 4, &image), DB_OK);
    truth.detector.rotation[1] -= 0.5;
    db_fit_result *r = refine(&truth, &image, 0, 0);
    assert_true(fabs(r->distance_step) < 3 * r->distance_error);
    assert_true(fabs(r->distance_step) < 3e-3 * truth.detector.distance);
    assert_true(r->verdict.test[DB_FIT_TEST_DISTANCE].passed);
    fit_still_destroy(&r);
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
}

/* To low resolution the distance hardly moves spots. */
static void an_open_distance_is_said_to_be_open(void **state) {
    (void)state;
    db_experiment truth;
    db_measured_image image;
    assert_int_equal(rendered_experiment(context, 800, 1000, &truth), DB_OK);
    truth.detector.distance *= 3;
    assert_int_equal(rendered_image(context, &truth, 4, &image), DB_OK);
    for (int sign = -1; sign <= 1; sign++) {
        db_fit_result *r = refine(&truth, &image, 0.01 * sign, 0);
        assert_true(warns(r, "it was held at"));
        assert_true(warns(r, "this image does not determine the distance"));
        fit_still_destroy(&r);
    }
    db_fit_result *r = refine(&truth, &image, 0, 1);
    assert_true(isnan(r->distance_step) && isnan(r->distance_error));
    assert_false(warns(r, "held at"));
    fit_still_destroy(&r);
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
}

/* Pixels ask for other distances where a model lacks shapes of spots, too: the places of spots have to agree. */
static void pixels_and_places_have_to_agree(void **state) {
    (void)state;
    static const struct {
        double held, step, error, gain;
        size_t spots;
        int by_pixels, passes;
    } cases[] = {
        { 351, -4.05, 0.67, 4.0, 48, 0, 0 }, /* thaumatin 15: it is wrong */
        { 351, -4.05, 0.67, 4.0, 48, 1, 1 },
        { 351, -2.4, 0.64, -0.4, 48, 0, 1 },
        { 351, -3.4, 0.85, 80, 1000, 1, 0 },      /* thaumatin 3 */
        { 123.546, 0.97, 0.25, -20, 77, 1, 1 },   /* Rayonix */
        { 130.107, 1.158, 0.061, -53, 69, 1, 1 }, /* thermolysin 801 without bounds: it is right */
        { 220.16, 2.2, 0.088, 10, 100, 1, 0 },    /* by far */
        { 220.16, 0.4, 0.01, 60, 100, 1, 1 },     /* a fifth of a percent */
        { 220.16, 2.2, 1, 60, 100, 1, 1 },        /* not sure */
        { 220.16, (double)NAN, (double)NAN, (double)NAN, 100, 1, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_fit_result r = { .distance_step = cases[i].step,
                            .distance_error = cases[i].error,
                            .distance_gain = cases[i].gain };
        r.experiment.detector.distance = cases[i].held;
        db_verdict_forget(&r.verdict);
        r.verdict.spots = cases[i].spots;
        db_verdict_of_distance(cases[i].by_pixels, &r);
        if (r.verdict.usable != cases[i].passes) fail_msg("case %zu: %s", i, r.verdict.reason);
    }
}

/* Footprint and divergence widen spots alike: what is determined is footprint + divergence x distance^2. */
static void widths_are_told_together(void **state) {
    (void)state;
    static const struct {
        double footprint, error, correlation;
        const char *told;
    } cases[] = { { 0, NAN, 0, "which is 0.04 +- 0.004 mm^2" },
                  { 0.01, 0.003, -0.96, "which is 0.05 +- 0.001 mm^2" },
                  { 0.01, 0.003, -0.5, NULL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_fit_estimate list[2] = {
            { .name = "divergence_hh", .parameter = DB_DIVERGENCE_HH, .value = 1, .error = 0.1 },
            { .name = "footprint_hh", .parameter = DB_FOOTPRINT_HH }
        };
        double rows[2][2] = { { 1, cases[i].correlation }, { cases[i].correlation, 1 } };
        double *correlation[2] = { rows[0], rows[1] };
        list[1].value = cases[i].footprint;
        list[1].error = cases[i].error;
        list[1].at_bound = cases[i].footprint > 0 ? 0 : -1;
        db_fit_result r = { .status = DB_NOT_CONVERGED,
                            .estimates = { .count = 2, .list = list, .correlation = correlation } };
        r.experiment.detector.distance = 200;
        r.distance_step = NAN;
        db_verdict_forget(&r.verdict);
        assert_int_equal(db_fit_warnings_make(context, &r), DB_OK);
        assert_int_equal(warns(&r, "widen spots alike"), cases[i].told != NULL);
        if (cases[i].told) assert_true(warns(&r, cases[i].told));
        assert_false(warns(&r, "bound") || warns(&r, "strongly correlated"));
        free(r.warnings);
        free((void *)r.advice);
    }
}

/* Regions are as many as spots allow, but more than there are variables. */
static void regions_are_more_than_variables(void **state) {
    (void)state;
    assert_int_equal(db_spot_regions_count(1000, 20), 64);
    assert_int_equal(db_spot_regions_count(127, 20), 32);
    assert_int_equal(db_spot_regions_count(40, 20), 32);
    assert_int_equal(db_spot_regions_count(40, 7), 16);
    assert_int_equal(db_spot_regions_count(40, 40), 64);
}

/* A test of the verdict that is passed by less than a quarter of its limit is told, whatever the limit's sign. */
static void tests_passed_by_little_are_told(void **state) {
    (void)state;
    for (int k = 0; k < DB_FIT_TESTS; k++)
        for (int near = 0; near < 2; near++) {
            db_fit_result r = { .status = DB_OK };
            char name[80];
            r.experiment.detector.distance = 200;
            r.distance_step = NAN;
            db_verdict_forget(&r.verdict);
            db_fit_test *const t = &r.verdict.test[k];
            if (isfinite(t->least) && t->least != 0)
                t->found = t->least + (near ? 0.1 : 0.6) * fabs(t->least);
            else if (isfinite(t->most))
                t->found = (near ? 0.9 : 0.4) * t->most;
            else
                continue;
            snprintf(name, sizeof name, "the test `%s` is barely passed",
                     db_fit_test_name((db_fit_test_kind)k));
            assert_int_equal(db_fit_warnings_make(context, &r), DB_OK);
            assert_int_equal(warns(&r, name), near);
            free(r.warnings);
            free((void *)r.advice);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_open_distance_is_said_to_be_open),
        cmocka_unit_test(a_wrong_distance_is_noticed),
        cmocka_unit_test(a_tilt_is_no_distance),
        cmocka_unit_test(regions_are_more_than_variables),
        cmocka_unit_test(widths_are_told_together),
        cmocka_unit_test(pixels_and_places_have_to_agree),
        cmocka_unit_test(tests_passed_by_little_are_told),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
