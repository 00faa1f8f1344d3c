/* A still taken with a broad spectrum comes back from a spoilt start, by free intensities. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>

enum { PIXELS = 800 };

static void a_pink_still_comes_back(void **state) {
    (void)state;
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z,
                                         DB_CELL_A,   DB_CELL_C,   DB_MOSAIC_VARIANCE };
    db_context *context;
    db_experiment truth, start;
    db_measured_image image;
    OWN(db_fit_settings_clear) db_fit_settings settings;
    db_fit_result *result;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(rendered_experiment(context, PIXELS, 3000, &truth), DB_OK);
    assert_int_equal(rendered_pink_beam(context, &truth), DB_OK);
    assert_int_equal(rendered_image(context, &truth, 5, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, &truth, &start), DB_OK);
    start.crystal.misset[0] += 0.08;
    start.crystal.misset[1] -= 0.07;
    start.crystal.misset[2] += 0.08;
    start.crystal.cell[0] = start.crystal.cell[1] *= 1.002;
    start.crystal.cell[2] *= 0.998;
    start.spread.mosaic *= 0.49;
    db_fit_settings_init(&settings);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < result->estimates.count; i++) {
        const double true_value = db_parameter_get(&truth, result->estimates.list[i].parameter),
                     pull = (result->estimates.list[i].value - true_value) /
                            result->estimates.list[i].error;
        if (db_fit_parameter_is_tied(&settings.parameters[i])) continue;
        print_message("%-13s %.5f +- %.5f, %+.1f errors off\n",
                      db_parameter_describe(result->estimates.list[i].parameter)->name,
                      result->estimates.list[i].value, result->estimates.list[i].error, pull);
        if (!(fabs(pull) < 5))
            fail_msg("%s is %.1f errors off",
                     db_parameter_describe(result->estimates.list[i].parameter)->name, pull);
    }
    print_message("strong pixels explained: %.3f, chi2 %.3f, centroids %.3f\n",
                  result->after.strong_explained, result->after.chi2_reduced,
                  result->after.centroid_rms);
    assert_true(misorientation(&truth.crystal, &result->experiment.crystal) < 0.01);
    assert_true(result->after.strong_explained > 0.9);
    assert_true(result->after.centroid_rms < 0.5 * result->before.centroid_rms);
    fit_still_destroy(&result);
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_pink_still_comes_back) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
