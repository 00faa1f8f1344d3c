/* A crystal whose domains turn farther about one axis than about another comes back from a start
 * that knows nothing of that; and what refinements of it refuse. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 800 };
static const double true_spreads[3] = { 0.35, 0.12, 0.22 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;

static int make_image(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (rendered_experiment(context, PIXELS, 3000, &truth) != DB_OK) return -1;
    truth.spread.spots = DB_SPOTS_SAMPLED;
    truth.crystal.mosaic_anisotropic = 1;
    truth.crystal.mosaic_domains = 60;
    memcpy(truth.crystal.mosaic_abc, true_spreads, sizeof true_spreads);
    return rendered_image(context, &truth, 3, &image) == DB_OK ? 0 : -1;
}

static int drop_image(void **state) {
    (void)state;
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

static int begin(void **state) {
    (void)state;
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z, DB_CELLS_A,
                                         DB_CELLS_C,  DB_MOSAIC_A, DB_MOSAIC_B, DB_MOSAIC_C };
    if (db_experiment_copy(context, &truth, &start) != DB_OK) return -1;
    for (int i = 0; i < 3; i++) {
        start.crystal.misset[i] += i == 1 ? -0.05 : 0.05;
        start.crystal.mosaic_abc[i] = 0.2;
    }
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.intensity = DB_FIT_KNOWN;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
    return 0;
}

static int forget(void **state) {
    (void)state;
    db_experiment_clear(&start);
    return 0;
}

/* Each within the errors, which tell the three apart. */
static void comes_back(void) {
    db_fit_result *result;
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_parameter p = result->estimates.list[i].parameter;
        if (db_fit_parameter_is_tied(&settings.parameters[i])) continue;
        const double error = result->estimates.list[i].error,
                     pull = (result->estimates.list[i].value - db_parameter_get(&truth, p)) / error;
        print_message("%-9s %9.4f +- %.4f, %+.1f errors off\n", db_parameter_describe(p)->name,
                      result->estimates.list[i].value, error, pull);
        if (!(fabs(pull) < 4))
            fail_msg("%s is %.1f errors off", db_parameter_describe(p)->name, pull);
        if (p == DB_MOSAIC_A || p == DB_MOSAIC_B || p == DB_MOSAIC_C) assert_true(error < 0.02);
    }
    assert_true(result->after.chi2_reduced < 1.3);
    assert_true(result->after.chi2 < 0.9 * result->before.chi2);
    fit_still_destroy(&result);
}

static void known_amplitudes_bring_three_spreads_back(void **state) {
    (void)state;
    comes_back();
}

static void refused(const char *words) {
    db_fit_result *result;
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_USAGE);
    if (!strstr(db_context_message(context), words))
        fail_msg("says: %s", db_context_message(context));
}

static void one_spread_and_three_exclude_each_other(void **state) {
    (void)state;
    start.crystal.mosaic_abc[1] = 0;
    refused("mosaic_b can only be refined from a positive start");
    start.crystal.mosaic_anisotropic = 0;
    start.crystal.mosaic_spread = 0.2;
    refused("mosaic_a: the model's mosaic spread is the same about all axes");
    start.crystal.mosaic_anisotropic = 1;
    settings.parameter_count = 0;
    refine_parameter(&settings, DB_MOSAIC_SPREAD, -1);
    refused("mosaic_spread: the model's mosaic spread is anisotropic");
    start.spread.spots = DB_SPOTS_CLOSED;
    refused("mosaic_spread: a cap is for sampled spots only; for spots in closed form refine "
            "mosaic_variance");
    settings.parameter_count = 0;
    refine_parameter(&settings, DB_TAIL_WIDTH_1, -1);
    refused("tail_width_1: the model has no such tail");
    settings.parameter_count = 0;
    refine_parameter(&settings, DB_STRAIN_XY, -1);
    start.spread.strain_ties = DB_STRAIN_NO_SHEAR;
    refused("strain_xy: the strain system of the model has no such strain");
    start.spread.spots = DB_SPOTS_SAMPLED;
    refused("strain_xy: is a parameter of spots in closed form; expected spots: closed");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_amplitudes_bring_three_spreads_back, begin, forget),
        cmocka_unit_test_setup_teardown(one_spread_and_three_exclude_each_other, begin, forget),
    };
    return cmocka_run_group_tests(tests, make_image, drop_image);
}
