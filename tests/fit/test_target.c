/* The target's gradient against finite differences, with ties and blur; threads do not change it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "fit/rendered_image.h"
#include "fit/stage_data.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 600 };
static db_context *context;
static db_experiment crystal;
static db_measured_image image;
static db_strong_pixels strong;
static db_fit_settings settings;
static db_fit_data data = { &image, &strong, &settings };

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (rendered_experiment(context, PIXELS, 2000, &crystal) != DB_OK) return -1;
    if (rendered_image(context, &crystal, 3, &image) != DB_OK) return -1;
    db_fit_settings_init(&settings);
    if (db_strong_pixels_find(context, &image, &settings, &strong) != DB_OK) return -1;
    /* Somewhat off, so that there is a slope. */
    crystal.crystal.misset[0] += 0.02;
    crystal.crystal.misset[1] -= 0.03;
    crystal.crystal.cell[2] *= 1.0005;
    crystal.crystal.cells[0] = crystal.crystal.cells[1] = 15.5;
    crystal.crystal.cells[2] = 7;
    crystal.crystal.mosaic_spread = 0.13;
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_strong_pixels_clear(&strong);
    db_measured_image_clear(&image);
    db_experiment_clear(&crystal);
    db_context_destroy(&context);
    return 0;
}

static void refine_everything(db_fit_intensity intensity) {
    static const db_parameter list[] = {
        DB_MISSET_X,  DB_MISSET_Y, DB_MISSET_Z, DB_CELL_A,  DB_CELL_C,     DB_BEAM_FAST,
        DB_BEAM_SLOW, DB_DISTANCE, DB_CELLS_A,  DB_CELLS_C, DB_WAVELENGTH, DB_MOSAIC_SPREAD
    };
    db_fit_settings_init(&settings);
    settings.intensity = intensity;
    settings.precision = DB_PRECISION_DOUBLE;
    settings.max_shoeboxes = 60;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
}

static void all_active(unsigned char active[DB_PARAMETER_COUNT]) {
    memset(active, 0, DB_PARAMETER_COUNT);
    for (size_t i = 0; i < settings.parameter_count; i++)
        active[settings.parameters[i].parameter] = 1;
}

static double chi2_at(db_target *target, const double *values, size_t k, double step) {
    double moved[DB_PARAMETER_COUNT];
    memcpy(moved, values, sizeof moved);
    moved[k] += step;
    assert_int_equal(db_target_evaluate(target, moved, DB_TARGET_VALUE), DB_OK);
    return target->chi2;
}

/* Images are stored as floats, so differences are noisy: the tolerance is relative to the largest
 * change of the target that a step of the optimizer's size can make. */
static void compare_with_differences(db_target *target) {
    double values[DB_PARAMETER_COUNT], gradient[DB_PARAMETER_COUNT], curvature[DB_PARAMETER_COUNT];
    for (size_t k = 0; k < target->count; k++)
        values[k] = db_parameter_get(&crystal, settings.parameters[target->index[k]].parameter);
    assert_int_equal(db_target_evaluate(target, values, DB_TARGET_NORMAL), DB_OK);
    memcpy(gradient, target->gradient, sizeof gradient);
    for (size_t k = 0; k < target->count; k++) curvature[k] = target->normal[k * target->count + k];
    for (size_t k = 0; k < target->count; k++) {
        const double h = 0.05 * sqrt(target->degrees / curvature[k]);
        const double far = chi2_at(target, values, k, 2 * h) - chi2_at(target, values, k, -2 * h);
        const double near = chi2_at(target, values, k, h) - chi2_at(target, values, k, -h);
        const double difference = (8 * near - far) / (12 * h);
        const double scale = fabs(gradient[k]) + 0.05 * sqrt(curvature[k] * target->degrees);
        if (fabs(gradient[k] - difference) > 1e-2 * scale)
            fail_msg("%s: gradient %.8g, by differences %.8g",
                     db_parameter_describe(settings.parameters[target->index[k]].parameter)->name,
                     gradient[k], difference);
    }
}

static void check(db_fit_intensity intensity, double blur) {
    unsigned char active[DB_PARAMETER_COUNT];
    db_stage_data taken;
    db_target target;
    refine_everything(intensity);
    all_active(active);
    assert_int_equal(
        db_stage_data_take(context, &crystal, &data, 2, blur, DB_SHOEBOXES_STRONG, &taken), DB_OK);
    assert_int_equal(
        db_target_create(context, &crystal, &settings, &taken.blocks, active, blur, &target),
        DB_OK);
    assert_int_equal(target.count, settings.parameter_count - 2); /* without the tied ones */
    compare_with_differences(&target);
    db_target_destroy(&target);
    db_stage_data_clear(&taken);
}

static void gradient_with_free_intensities(void **state) {
    (void)state;
    check(DB_FIT_FREE, 1);
}

static void gradient_of_blurred_spots(void **state) {
    (void)state;
    check(DB_FIT_FREE, 2);
}

static void gradient_with_known_amplitudes(void **state) {
    (void)state;
    check(DB_FIT_KNOWN, 1);
}

static void threads_do_not_change_the_result(void **state) {
    (void)state;
    double chi2[2], values[DB_PARAMETER_COUNT], gradient[2][DB_PARAMETER_COUNT];
    refine_everything(DB_FIT_FREE);
    unsigned char active[DB_PARAMETER_COUNT];
    all_active(active);
    for (int i = 0; i < 2; i++) {
        db_stage_data taken;
        db_target target;
        assert_int_equal(db_context_set_threads(context, i ? 3 : 1), DB_OK);
        assert_int_equal(
            db_stage_data_take(context, &crystal, &data, 2, 1, DB_SHOEBOXES_STRONG, &taken), DB_OK);
        assert_int_equal(
            db_target_create(context, &crystal, &settings, &taken.blocks, active, 1, &target),
            DB_OK);
        for (size_t k = 0; k < target.count; k++)
            values[k] = db_parameter_get(&crystal, settings.parameters[target.index[k]].parameter);
        assert_int_equal(db_target_evaluate(&target, values, DB_TARGET_GRADIENT), DB_OK);
        chi2[i] = target.chi2;
        memcpy(gradient[i], target.gradient, sizeof gradient[i]);
        db_target_destroy(&target);
        db_stage_data_clear(&taken);
    }
    assert_true(chi2[0] == chi2[1] && chi2[0] > 0);
    assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_with_free_intensities),
        cmocka_unit_test(gradient_of_blurred_spots),
        cmocka_unit_test(gradient_with_known_amplitudes),
        cmocka_unit_test(threads_do_not_change_the_result),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
