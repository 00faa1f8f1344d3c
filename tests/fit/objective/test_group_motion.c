/* Motions of groups of panels as refined quantities of a shot: gradient against finite differences,
 * normal matrix against a dense one, the same bits on any number of threads. */

#include "support/unit_test.h"
#include "fit/objective/evaluate.h"
#include "fit/four_panels.h"
#include "fit/rendered_image.h"
#include "fit/objective/stage_data.h"
#include "fit/objective/variables.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_experiment model; /* somewhat off the rendered one, so that there is a slope */
static db_measured_image image;
static db_strong_pixels strong;
static db_fit_settings settings;
static db_fit_data data = { &image, &strong, &settings };
static db_stage_data taken;
static db_objective shot;

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK ||
        four_panels_experiment(context, 2000, &model) != DB_OK ||
        four_panels_image(context, &model, 3, &image) != DB_OK)
        return -1;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 8;
    if (db_strong_pixels_find(context, &image, &settings, &strong) != DB_OK) return -1;
    model.crystal.misset[0] += 0.02;
    model.crystal.misset[1] -= 0.03;
    model.crystal.cell[2] *= 1.0005;
    /* Spots so sharp that nothing is left of them where the next reflection's amplitude begins. */
    model.crystal.Ncells[0] = model.crystal.Ncells[1] += 9.5;
    model.crystal.Ncells[2] += 4.3;
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_strong_pixels_clear(&strong);
    db_measured_image_clear(&image);
    db_experiment_clear(&model);
    db_context_destroy(&context);
    return 0;
}

static int forget(void **state) {
    (void)state;
    db_objective_destroy(&shot);
    db_stage_data_clear(&taken);
    return 0;
}

/* Two of the panels are one group, one is another, and the last one in none. Motions stand between
 * parameters of the table; one follows. */
static void refine_groups(db_fit_intensity intensity) {
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 8;
    settings.intensity = intensity;
    settings.precision = DB_PRECISION_DOUBLE;
    settings.max_shoeboxes = 100;
    db_fit_panel_groups *const groups = &settings.panel_groups;
    for (int g = 0; g < 2; g++)
        assert_int_equal(db_fit_panel_groups_add(context, groups, g == 0 ? "panel_0" : "panel_1"),
                         DB_OK);
    for (size_t p = 1; p < 4; p++)
        assert_int_equal(db_fit_panel_groups_put(context, groups, p, p > 1), DB_OK);
    refine_parameter(&settings, DB_MISSET_X, -1);
    for (int p = (int)DB_PANEL_SHIFT_FAST; p <= (int)DB_PANEL_TURN_NORMAL; p++)
        refine_motion(&settings, (db_parameter)p, 1);
    refine_parameter(&settings, DB_CELL_A, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_motion(&settings, DB_PANEL_SHIFT_SLOW, 0);
    refine_motion(&settings, DB_PANEL_TURN_NORMAL, 0);
    refine_motion(&settings, DB_PANEL_SHIFT_FAST, 0);
    settings.parameters[settings.parameter_count - 1].follows =
        db_fit_quantity_make(DB_PANEL_SHIFT_SLOW, 0);
    refine_parameter(&settings, DB_DISTANCE, -1);
}

static void create(db_fit_target target) {
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES, .target = target };
    assert_int_equal(db_stage_data_take(context, &model, &data, 2, 1, DB_SHOEBOXES_STRONG, &taken),
                     DB_OK);
    taken.blocks.tolerance = 0; /* differences see what pixels lack */
    assert_int_equal(db_stage_data_objective(context, &model, &data, &taken, &request, &shot),
                     DB_OK);
    assert_int_equal(shot.variables.count, 3 + 8);
    assert_int_equal(shot.variables.table_count, 3);
}

/* Where groups have moved: turns are not small in their derivatives. */
static void stand(double *values) {
    static const double motion[6] = { 0.04, -0.03, 0.5, 1.2, -0.8, 0.2 };
    for (size_t k = 0; k < shot.variables.count; k++) {
        const db_fit_parameter *const p = &settings.parameters[shot.variables.index[k]];
        values[k] = p->group < 0 ? db_parameter_get(&model, p->parameter)
                                 : motion[p->parameter - DB_PANEL_SHIFT_FAST];
    }
}

static double loss_at(const double *values, size_t k, double step) {
    double moved[DB_FIT_MOST_PARAMETERS];
    memcpy(moved, values, sizeof moved);
    moved[k] += step;
    assert_int_equal(db_objective_evaluate(&shot, moved, DB_OBJECTIVE_LOSS), DB_OK);
    return shot.loss;
}

/* Images are stored as floats, so differences are noisy: the tolerance is relative to the largest
 * change of the target that a step of the optimizer's size can make. */
static void compare_with_differences(void) {
    static double values[DB_FIT_MOST_PARAMETERS], gradient[DB_FIT_MOST_PARAMETERS],
        curvature[DB_FIT_MOST_PARAMETERS];
    char name[DB_FIT_NAME_SIZE];
    const size_t n = shot.variables.count;
    stand(values);
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL), DB_OK);
    memcpy(gradient, shot.gradient, n * sizeof *gradient);
    for (size_t k = 0; k < n; k++) curvature[k] = shot.normal[k * n + k];
    for (size_t k = 0; k < n; k++) {
        assert_true(curvature[k] > 0);
        const double h = 0.05 * sqrt(shot.degrees / curvature[k]);
        const double far = loss_at(values, k, 2 * h) - loss_at(values, k, -2 * h);
        const double near = loss_at(values, k, h) - loss_at(values, k, -h);
        const double difference = (8 * near - far) / (12 * h);
        const double scale = fabs(gradient[k]) + 0.05 * sqrt(curvature[k] * shot.degrees);
        const db_fit_parameter *const p = &settings.parameters[shot.variables.index[k]];
        if (fabs(gradient[k] - difference) > 1e-2 * scale)
            fail_msg("%s: gradient %.8g, by differences %.8g",
                     db_fit_quantity_name(&settings.panel_groups, db_fit_quantity_of(p), name),
                     gradient[k], difference);
    }
}

static void gradient_with_free_intensities(void **state) {
    (void)state;
    refine_groups(DB_FIT_FREE);
    create(DB_FIT_WEIGHTED);
    compare_with_differences();
}

static void gradient_with_known_amplitudes(void **state) {
    (void)state;
    refine_groups(DB_FIT_KNOWN);
    create(DB_FIT_GAUSSIAN);
    compare_with_differences();
}

/* Derivatives of all pixels by one quantity, from the rendered images. */
static void differentiate(const double *values, size_t k, double h, double *slope) {
    const size_t pixels = (size_t)image.fast_pixels * (size_t)image.slow_pixels;
    (void)loss_at(values, k, h);
    for (size_t i = 0; i < pixels; i++) slope[i] = (double)shot.shape[i];
    (void)loss_at(values, k, -h);
    for (size_t i = 0; i < pixels; i++) slope[i] = (slope[i] - (double)shot.shape[i]) / (2 * h);
}

/* Without linear coefficients the normal matrix is the weighted sum of products of all pixels'
 * derivatives; nothing couples two groups. */
static void the_normal_matrix_is_that_of_all_pixels(void **state) {
    (void)state;
    static double values[DB_FIT_MOST_PARAMETERS];
    const size_t pixels = (size_t)image.fast_pixels * (size_t)image.slow_pixels;
    refine_groups(DB_FIT_KNOWN);
    settings.background = DB_FIT_BACKGROUND_NONE;
    refine_parameter(&settings, DB_SCALE, -1); /* so that it is no linear coefficient */
    settings.parameter_count--;
    create(DB_FIT_WEIGHTED);
    shot.rule = DB_INTENSITY_ONE;
    const size_t n = shot.variables.count;
    double *const slopes = malloc(n * pixels * sizeof *slopes);
    double *const normal = malloc(n * n * sizeof *normal);
    assert_true(slopes && normal);
    stand(values);
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL), DB_OK);
    memcpy(normal, shot.normal, n * n * sizeof *normal);
    for (size_t k = 0; k < n; k++)
        differentiate(values, k, 0.005 * sqrt(shot.degrees / normal[k * n + k]),
                      slopes + k * pixels);
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l <= k; l++) {
            double sum = 0;
            for (size_t i = 0; i < pixels; i++)
                sum += (double)taken.blocks.weight[i] * slopes[k * pixels + i] *
                       slopes[l * pixels + i];
            const double unit = sqrt(normal[k * n + k] * normal[l * n + l]);
            if (!(fabs(normal[k * n + l] - sum) < 2e-3 * unit))
                fail_msg("element %zu %zu: %.6g of %.6g, by differences %.6g", k, l,
                         normal[k * n + l], unit, sum);
            const int group_k = settings.parameters[shot.variables.index[k]].group,
                      group_l = settings.parameters[shot.variables.index[l]].group;
            if (group_k >= 0 && group_l >= 0 && group_k != group_l)
                assert_true(normal[k * n + l] == 0);
        }
    }
    free(slopes);
    free(normal);
}

static void threads_do_not_change_the_result(void **state) {
    (void)state;
    static double values[DB_FIT_MOST_PARAMETERS];
    double gradient[2][11], normal[2][121], scatter[2][121];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_context_set_threads(context, i ? 3 : 1), DB_OK);
        refine_groups(DB_FIT_KNOWN);
        create(DB_FIT_WEIGHTED);
        stand(values);
        assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL), DB_OK);
        assert_int_equal(shot.variables.count, 11);
        memcpy(gradient[i], shot.gradient, sizeof gradient[i]);
        memcpy(normal[i], shot.normal, sizeof normal[i]);
        memcpy(scatter[i], shot.scatter, sizeof scatter[i]);
        if (i == 0) (void)forget(NULL);
    }
    assert_int_equal(db_context_set_threads(context, 0), DB_OK);
    assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
    assert_memory_equal(normal[0], normal[1], sizeof normal[0]);
    assert_memory_equal(scatter[0], scatter[1], sizeof scatter[0]);
}

/* What single blocks pull at, without the part that goes with the shared intensity. */
static void scatter_is_that_of_the_blocks(void **state) {
    (void)state;
    static double values[DB_FIT_MOST_PARAMETERS], total[DB_FIT_MOST_PARAMETERS];
    refine_groups(DB_FIT_FREE);
    create(DB_FIT_WEIGHTED);
    stand(values);
    const size_t n = shot.variables.count;
    double *const sum = calloc(n * n, sizeof *sum);
    assert_non_null(sum);
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_NORMAL), DB_OK);
    memcpy(total, shot.gradient, n * sizeof *total);
    double *const scatter = malloc(n * n * sizeof *scatter);
    assert_non_null(scatter);
    memcpy(scatter, shot.scatter, n * n * sizeof *scatter);
    /* shots of one block each */
    db_fit_blocks all = shot.blocks;
    const db_objective_options options = { .stages = DB_FIT_ALL_STAGES,
                                           .blur = 1,
                                           .target = DB_FIT_WEIGHTED };
    for (size_t b = 0; b < all.count; b++) {
        db_fit_blocks one = all;
        db_objective single;
        one.count = 1;
        one.region = &all.region[b];
        if (all.ridge) one.ridge = &all.ridge[b];
        assert_int_equal(db_objective_create(context, &model, &settings, &one, &options, &single),
                         DB_OK);
        assert_int_equal(db_objective_evaluate(&single, values, DB_OBJECTIVE_GRADIENT), DB_OK);
        for (size_t k = 0; k < n; k++) {
            total[k] -= single.gradient[k];
            for (size_t l = 0; l < n; l++)
                sum[k * n + l] += 0.25 * single.gradient[k] * single.gradient[l];
        }
        db_objective_destroy(&single);
    }
    for (size_t k = 0; k < n; k++) {
        assert_true(fabs(total[k]) < 1e-6 * sqrt(sum[k * n + k]));
        for (size_t l = 0; l < n; l++)
            assert_true(fabs(scatter[k * n + l] - sum[k * n + l]) <
                        1e-6 * sqrt(sum[k * n + k] * sum[l * n + l]));
    }
    free(sum);
    free(scatter);
}

/* Slope and half the curvature of a prior are those of its loss. */
static void priors_pull_by_their_slope(void **state) {
    (void)state;
    const double centre = 58, sigma = 0.3, h = 1e-3;
    for (double value = 57; value < 60; value += 0.37) {
        const db_prior_pull at = db_prior_at(value, centre, sigma),
                            before = db_prior_at(value - h, centre, sigma),
                            after = db_prior_at(value + h, centre, sigma);
        assert_true(fabs((after.loss - before.loss) / (2 * h) - at.slope) < 1e-8);
        assert_true(fabs((after.slope - before.slope) / (4 * h) - at.curvature) < 1e-8);
    }
    assert_true(db_prior_at(centre + sigma, centre, sigma).loss > 0.999);
    assert_true(db_prior_at(centre + sigma, centre, sigma).loss < 1.001);
    assert_true(db_prior_at(60, centre, INFINITY).slope == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priors_pull_by_their_slope),
        cmocka_unit_test_teardown(gradient_with_free_intensities, forget),
        cmocka_unit_test_teardown(gradient_with_known_amplitudes, forget),
        cmocka_unit_test_teardown(the_normal_matrix_is_that_of_all_pixels, forget),
        cmocka_unit_test_teardown(threads_do_not_change_the_result, forget),
        cmocka_unit_test_teardown(scatter_is_that_of_the_blocks, forget),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
