/* Spreads of spots in closed form come back from a start that knows nothing of them: variances of 0,
 * and a mosaic spread that is the same about all axes. */
#include "support/unit_test.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 800 };
static const double true_rotations[6] = { 0.06, 0.02, 0.03, 0, 0, 0.015 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;

static int make_image(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (rendered_experiment(context, PIXELS, 3000, &truth) != DB_OK) return -1;
    db_spread *const s = &truth.spread;
    s->spots = DB_SPOTS_CLOSED;
    memcpy(s->mosaic_tensor, true_rotations, sizeof true_rotations);
    s->bandwidth = 1;
    s->divergence[0] = 0.25;
    s->divergence[1] = 0.04;
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
    static const db_parameter list[] = { DB_MISSET_X,     DB_MISSET_Y,           DB_MISSET_Z,
                                         DB_MOSAIC_XX,    DB_MOSAIC_YY,          DB_MOSAIC_ZZ,
                                         DB_MOSAIC_XY,    DB_BANDWIDTH_VARIANCE, DB_DIVERGENCE_HH,
                                         DB_DIVERGENCE_VV };
    if (db_experiment_copy(context, &truth, &start) != DB_OK) return -1;
    start.spread =
        (db_spread){ .spots = DB_SPOTS_CLOSED, .mosaic_tensor = { 0.02, 0.02, 0.02, 0, 0, 0 } };
    for (int i = 0; i < 3; i++) start.crystal.misset[i] += i == 1 ? -0.05 : 0.05;
    db_fit_settings_init(&settings);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    return 0;
}

static int forget(void **state) {
    (void)state;
    db_experiment_clear(&start);
    return 0;
}

/* Each within the errors. */
static void comes_back(void) {
    db_fit_result *result;
    if (db_fit_run(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < result->parameter_count; i++) {
        const db_parameter p = result->parameter[i];
        const double pull = (result->refined[i] - db_parameter_get(&truth, p)) / result->error[i];
        print_message("%-18s %9.4f +- %.4f, %+.1f errors off\n", db_parameter_describe(p)->name,
                      result->refined[i], result->error[i], pull);
        if (!(fabs(pull) < 4))
            fail_msg("%s is %.1f errors off", db_parameter_describe(p)->name, pull);
    }
    assert_true(result->after.chi2_reduced < 1.3);
    assert_true(result->after.chi2 < 0.9 * result->before.chi2);
    db_fit_result_destroy(&result);
}

static void known_amplitudes_bring_spreads_back(void **state) {
    (void)state;
    settings.intensity = DB_FIT_KNOWN;
    comes_back();
}

static void free_intensities_bring_spreads_back(void **state) {
    (void)state;
    comes_back();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(known_amplitudes_bring_spreads_back, begin, forget),
        cmocka_unit_test_setup_teardown(free_intensities_bring_spreads_back, begin, forget),
    };
    return cmocka_run_group_tests(tests, make_image, drop_image);
}
