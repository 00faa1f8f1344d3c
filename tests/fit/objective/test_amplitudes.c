/* Structure-factor amplitudes as unknowns: wrong ones come back within their errors, a restraint
 * holds what the image does not tell, equivalent reflections share one. */

#include "support/expect.h"
#include "fit/objective/evaluate.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/objective/shared_intensities.h"
#include "fit/objective/stage_data.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/fit_files.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 800 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_strong_pixels strong;
static db_fit_settings settings;
static db_fit_data data = { &image, &strong, &settings };
static db_fit_result *result;
static int without_table; /* of space groups */

static double *amplitude(const db_experiment *e, int h, int k, int l) {
    const db_structure_factors *const f = &e->structure_factors;
    const int hkl[3] = { h, k, l };
    size_t at = 0;
    for (int i = 0; i < 3; i++) at = at * (size_t)f->extent[i] + (size_t)(hkl[i] - f->min[i]);
    return &f->amplitude[at];
}

/* Gives all that a fourfold axis along c, and Friedel's law, make of a reflection its amplitude. */
static void spread(const db_experiment *e, int h, int k, int l, double F) {
    const int turned[4][2] = { { h, k }, { -k, h }, { -h, -k }, { k, -h } };
    for (int i = 0; i < 4; i++) {
        *amplitude(e, turned[i][0], turned[i][1], l) = F;
        *amplitude(e, -turned[i][0], -turned[i][1], -l) = F;
    }
}

/* Amplitudes of P 4, and others that are 10 % off. */
static void make_amplitudes(gsl_rng *random) {
    const db_structure_factors *const f = &truth.structure_factors;
    const int most = -f->min[0], highest = -f->min[2];
    for (int h = 0; h <= most; h++)
        for (int k = h ? 0 : 1; k <= most; k++)
            for (int l = -highest; l <= highest; l++) {
                if (h && k == 0) continue; /* of h = 0 */
                const double F = *amplitude(&truth, h, k, l);
                spread(&truth, h, k, l, F);
            }
    for (int l = 1; l <= highest; l++) spread(&truth, 0, 0, l, *amplitude(&truth, 0, 0, l));
    memcpy(start.structure_factors.amplitude, f->amplitude,
           (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] *
               sizeof *f->amplitude);
    for (int h = 0; h <= most; h++)
        for (int k = h ? 1 : 0; k <= most; k++)
            for (int l = 0; l <= highest; l++)
                for (int sign = 0; sign < (l ? 2 : 1); sign++) {
                    const int signed_l = sign ? -l : l;
                    if (h == 0 && k == 0 && sign) continue;
                    const double off = gsl_ran_gaussian(random, 0.1);
                    spread(&start, h, k, signed_l,
                           fabs(*amplitude(&truth, h, k, signed_l) * (1 + off)));
                }
}

static int make(void **state) {
    (void)state;
    db_structure_factors unused = { .default_F = 0 };
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    if (db_context_create(&context) != DB_OK ||
        rendered_experiment(context, PIXELS, 3000, &truth) != DB_OK ||
        db_experiment_copy(context, &truth, &start) != DB_OK || !random)
        return -1;
    make_amplitudes(random);
    gsl_rng_free(random);
    if (rendered_image(context, &truth, 11, &image) != DB_OK) return -1;
    const db_structure_factor_options options = { .space_group = "P 4" };
    without_table = db_read_structure_factors(context, scratch_file("one.hkl", "1 2 3 4\n"),
                                              &options, &unused, NULL, 0) == DB_ERROR_UNSUPPORTED;
    free(unused.amplitude);
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    db_strong_pixels_clear(&strong);
    return 0;
}

static void refine_amplitudes(double sigma) {
    if (without_table) skip();
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.intensity = DB_FIT_KNOWN;
    settings.pixels = DB_FIT_PIXELS_SHOEBOXES;
    settings.target = DB_FIT_POISSON;
    settings.shoebox_half_width = 6;
    settings.amplitude_sigma = sigma;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "P 4");
    for (int i = 0; i < 3; i++)
        refine_parameter(&settings, (db_parameter)((int)DB_MISSET_X + i), -1);
    refine_parameter(&settings, DB_SCALE, -1);
}

static double true_amplitude(const db_fit_amplitude *a) {
    return *amplitude(&truth, a->hkl[0], a->hkl[1], a->hkl[2]);
}

static void wrong_amplitudes_come_back(void **state) {
    (void)state;
    refine_amplitudes(0.3);
    db_experiment begin = start;
    begin.crystal.misset[0] += 0.03;
    begin.crystal.misset[1] -= 0.03;
    expect_ok(context, fit_still(context, &begin, &image, &settings, NULL, NULL, &result));
    double pulls = 0, square = 0, before = 0, after = 0;
    size_t known = 0, several = 0, held = 0;
    for (size_t i = 0; i < result->amplitude_count; i++) {
        const db_fit_amplitude *const a = &result->amplitudes[i];
        const double should = true_amplitude(a);
        assert_true(a->input == *amplitude(&start, a->hkl[0], a->hkl[1], a->hkl[2]));
        if (a->boxes == 0) { /* nothing is known of it but what was given */
            assert_true(a->F == a->input && a->sigma > 0);
            continue;
        }
        held++;
        several += a->boxes > 1;
        if (!(a->sigma < 0.03 * a->F)) continue; /* well determined */
        known++;
        pulls += (a->F - should) / a->sigma;
        square += (a->F - should) * (a->F - should) / (a->sigma * a->sigma);
        before += (a->input / should - 1) * (a->input / should - 1);
        after += (a->F / should - 1) * (a->F / should - 1);
    }
    const double n = (double)known;
    print_message("%zu amplitudes in boxes, %zu in several; %zu with errors below 3 %%: off by "
                  "%.2f %%, as given by %.2f %%; pulls %.2f +- %.2f\n",
                  held, several, known, 100 * sqrt(after / n), 100 * sqrt(before / n), pulls / n,
                  sqrt(square / n));
    assert_true(known > 60 && several > 5);
    assert_true(sqrt(before / n) > 0.07 && after < 0.1 * before);
    /* the width of the pulls is known to 1/sqrt(2 n); all share the scale's error */
    assert_true(sqrt(square / n) < 1.3 && sqrt(square / n) > 0.7);
    for (int i = 0; i < 3; i++) {
        const double off = result->estimates.list[i].value - truth.crystal.misset[i];
        assert_true(fabs(off) < 4 * result->estimates.list[i].error);
    }
    assert_true(result->after.chi2_reduced < 1.1 &&
                result->after.chi2_reduced < 0.8 * result->before.chi2_reduced);
}

/* A restraint so tight that nothing moves. */
static void a_restraint_holds_what_was_given(void **state) {
    (void)state;
    refine_amplitudes(1e-4);
    (void)fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    assert_non_null(result);
    size_t held = 0;
    for (size_t i = 0; i < result->amplitude_count; i++) {
        const db_fit_amplitude *const a = &result->amplitudes[i];
        if (a->boxes == 0) continue;
        held++;
        assert_true(fabs(a->F - a->input) < 0.01 * a->input);
        assert_true(a->sigma < 0.01 * a->F);
    }
    assert_true(held > 100);
}

static void take(db_stage_data *taken, const db_experiment *model, db_objective *shot) {
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES, .target = settings.target };
    expect_ok(context, db_stage_data_take(context, model, &data, 2, 1, DB_SHOEBOXES_STRONG, taken));
    assert_true(taken->amplitudes.count > 50);
    expect_ok(context, db_stage_data_objective(context, model, &data, taken, &request, shot));
}

static double loss_at(db_objective *shot, const double *values, size_t k, double step) {
    double moved[DB_PARAMETER_COUNT] = { 0 };
    memcpy(moved, values, shot->variables.count * sizeof *moved);
    moved[k] += step;
    expect_ok(context, db_objective_evaluate(shot, moved, DB_OBJECTIVE_LOSS));
    return shot->loss;
}

static void the_gradient_is_that_of_differences(void **state) {
    (void)state;
    static const db_fit_target targets[] = { DB_FIT_WEIGHTED, DB_FIT_GAUSSIAN };
    for (int t = 0; t < 2; t++) {
        db_stage_data taken;
        db_objective shot;
        double values[4], gradient[4], curvature[4];
        refine_amplitudes(0.3);
        settings.target = targets[t];
        settings.precision = DB_PRECISION_DOUBLE;
        settings.max_shoeboxes = 100;
        expect_ok(context, db_strong_pixels_find(context, &image, &settings, &strong));
        take(&taken, &start, &shot);
        assert_int_equal(shot.variables.count, 4);
        for (size_t k = 0; k < 4; k++)
            values[k] = db_parameter_get(&start, settings.parameters[k].parameter);
        values[0] += 0.02;
        values[3] *= 1.1;
        expect_ok(context, db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL));
        for (size_t k = 0; k < 4; k++) {
            gradient[k] = shot.gradient[k];
            curvature[k] = shot.normal[k * 4 + k];
        }
        for (size_t k = 0; k < 4; k++) {
            const double h = 0.02 * sqrt(shot.degrees / curvature[k]);
            const double far = loss_at(&shot, values, k, 2 * h) - loss_at(&shot, values, k, -2 * h);
            const double near = loss_at(&shot, values, k, h) - loss_at(&shot, values, k, -h);
            const double difference = (8 * near - far) / (12 * h);
            const double scale = fabs(gradient[k]) + 0.05 * sqrt(curvature[k] * shot.degrees);
            if (fabs(gradient[k] - difference) > 1e-2 * scale)
                fail_msg("target %d, quantity %zu: gradient %.8g, by differences %.8g",
                         (int)settings.target, k, gradient[k], difference);
        }
        db_objective_destroy(&shot);
        db_stage_data_clear(&taken);
        db_strong_pixels_clear(&strong);
    }
}

/* Without noise, where everything fits, the loss bends as the normal matrix says: so that nothing
 * is lost where intensities are eliminated. Every bit is the same for any number of threads. */
static void the_normal_matrix_is_the_curvature(void **state) {
    (void)state;
    db_measured_image clean, noisy = image;
    double normal[2][16], sigma[2], values[4];
    refine_amplitudes(0.3);
    settings.target = DB_FIT_WEIGHTED;
    settings.precision = DB_PRECISION_DOUBLE;
    settings.max_shoeboxes = 100;
    expect_ok(context, rendered_image(context, &truth, 0, &clean));
    image = clean;
    expect_ok(context, db_strong_pixels_find(context, &image, &settings, &strong));
    for (int i = 0; i < 2; i++) {
        db_stage_data taken;
        db_objective shot;
        double gradient, cross[4];
        expect_ok(context, db_context_set_threads(context, i ? 3 : 1));
        take(&taken, &truth, &shot);
        for (size_t k = 0; k < 4; k++)
            values[k] = db_parameter_get(&truth, settings.parameters[k].parameter);
        expect_ok(context, db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL));
        memcpy(normal[i], shot.normal, sizeof normal[i]);
        db_objective_reflection_sums(&shot, 0, &gradient, &sigma[i], cross);
        assert_true(sigma[i] > 0);
        const double least = shot.loss;
        for (size_t k = 0; k < 4 && i == 0; k++) {
            const double h = 0.3 / sqrt(normal[0][k * 4 + k]);
            const double bend =
                (loss_at(&shot, values, k, h) + loss_at(&shot, values, k, -h) - 2 * least) /
                (2 * h * h);
            if (!(fabs(bend / normal[0][k * 4 + k] - 1) < 0.03))
                fail_msg("quantity %zu: %.6g, by differences %.6g", k, normal[0][k * 4 + k], bend);
        }
        db_objective_destroy(&shot);
        db_stage_data_clear(&taken);
    }
    image = noisy;
    db_measured_image_clear(&clean);
    expect_ok(context, db_context_set_threads(context, 0));
    assert_memory_equal(normal[0], normal[1], sizeof normal[0]);
    assert_true(sigma[0] == sigma[1]);
}

static void the_file_is_read_with_its_space_group(void **state) {
    (void)state;
    static db_fit_config config;
    static db_fit_amplitude list[2] = { { { 3, 2, 1 }, 100, 90, 4, 2 },
                                        { { 3, 2, 2 }, 55.5, 55.5, 1, 0 } };
    db_structure_factors back = { .default_F = 0 };
    db_fit_result told = { .amplitudes = list, .amplitude_count = 2 }, none = { .reason = "" };
    const db_structure_factor_options options = { .space_group = "P 4" };
    if (without_table) skip();
    snprintf(config.settings.amplitude_group, sizeof config.settings.amplitude_group, "P 4");
    const char *const path = scratch_path("refined.hkl");
    expect_ok(context, db_fit_write_amplitudes(context, path, &config, &told));
    expect_ok(context, db_read_structure_factors(context, path, &options, &back, NULL, 0));
    db_experiment e = { .structure_factors = back };
    assert_true(*amplitude(&e, -2, 3, 1) == 90 && *amplitude(&e, -3, -2, -1) == 90);
    assert_true(*amplitude(&e, 2, -3, 2) == 55.5);
    free(back.amplitude);
    assert_int_equal(db_fit_write_amplitudes(context, path, &config, &none), DB_ERROR_USAGE);
}

static void expect_refused(const char *text) {
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_USAGE);
    if (!strstr(db_context_message(context), text))
        fail_msg("'%s' is not in: %s", text, db_context_message(context));
}

static void impossible_settings_are_refused(void **state) {
    (void)state;
    refine_amplitudes(0.3);
    settings.pixels = DB_FIT_PIXELS_ALL;
    expect_refused("data.pixels: shoeboxes");
    refine_amplitudes(0.3);
    settings.parameter_count--;
    expect_refused("expected scale among the parameters");
    refine_amplitudes(0.3);
    settings.amplitude_group[0] = '\0';
    expect_refused("expected the space group");
    refine_amplitudes(-1);
    expect_refused("refine_amplitudes -1, expected a number greater than 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wrong_amplitudes_come_back, forget),
        cmocka_unit_test_teardown(a_restraint_holds_what_was_given, forget),
        cmocka_unit_test_teardown(the_gradient_is_that_of_differences, forget),
        cmocka_unit_test_teardown(the_normal_matrix_is_the_curvature, forget),
        cmocka_unit_test(the_file_is_read_with_its_space_group),
        cmocka_unit_test_teardown(impossible_settings_are_refused, forget),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
