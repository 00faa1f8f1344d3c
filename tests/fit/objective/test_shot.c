/* A shot's gradient against finite differences, with ties and blur, for every loss; a shared scale
 * against a refined one; threads do not change anything. */

#include "support/unit_test.h"
#include "fit/objective/evaluate.h"
#include "loss/eliminate.h"
#include "fit/rendered_image.h"
#include "fit/objective/stage_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 600 };
static db_context *context;
static db_experiment crystal; /* somewhat off the rendered one, so that there is a slope */
static db_crystal rendered;
static db_measured_image image;
static db_strong_pixels strong;
static db_fit_settings settings;
static db_fit_data data = { &image, &strong, &settings };

static int make(void **state) {
    (void)state;
    if (rendered_begin(PIXELS, 2000, 3, &context, &crystal, &image) != 0) return -1;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 8;
    if (db_strong_pixels_find(context, &image, &settings, &strong) != DB_OK) return -1;
    rendered = crystal.crystal;
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_strong_pixels_clear(&strong);
    return rendered_end(&context, &crystal, &image);
}

static void refine_everything(db_fit_intensity intensity) {
    static const db_parameter list[] = { DB_MISSET_X,  DB_MISSET_Y,   DB_MISSET_Z,
                                         DB_CELL_A,    DB_CELL_C,     DB_BEAM_FAST,
                                         DB_BEAM_SLOW, DB_DISTANCE,   DB_CELLS_A,
                                         DB_CELLS_C,   DB_WAVELENGTH, DB_MOSAIC_VARIANCE };
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 8;
    settings.intensity = intensity;
    settings.precision = DB_PRECISION_DOUBLE;
    settings.max_shoeboxes = 60;
    const int roi[4] = { 140, 395, 150, 405 }; /* of known amplitudes; with some of the gaps */
    memcpy(settings.roi, roi, sizeof roi);
    const int known = intensity == DB_FIT_KNOWN;
    crystal.spread.spots = known ? DB_SPOTS_SAMPLED : DB_SPOTS_CLOSED;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings,
                         known && list[i] == DB_MOSAIC_VARIANCE ? DB_MOSAIC_SPREAD : list[i], -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
}

static double loss_at(db_objective *shot, const double *values, size_t k, double step) {
    double moved[DB_PARAMETER_COUNT];
    memcpy(moved, values, sizeof moved);
    moved[k] += step;
    assert_int_equal(db_objective_evaluate(shot, moved, DB_OBJECTIVE_LOSS), DB_OK);
    return shot->loss;
}

/* Images are stored as floats, so differences are noisy: the tolerance is relative to the largest
 * change of the target that a step of the optimizer's size can make. */
static void compare_with_differences(db_objective *shot) {
    double values[DB_PARAMETER_COUNT], gradient[DB_PARAMETER_COUNT],
        curvature[DB_PARAMETER_COUNT] = { 0 };
    for (size_t k = 0; k < shot->variables.count; k++)
        values[k] =
            db_parameter_get(&crystal, settings.parameters[shot->variables.index[k]].parameter);
    assert_int_equal(db_objective_evaluate(shot, values, DB_OBJECTIVE_NORMAL), DB_OK);
    memcpy(gradient, shot->gradient, shot->variables.count * sizeof *gradient);
    for (size_t k = 0; k < shot->variables.count; k++)
        curvature[k] = shot->normal[k * shot->variables.count + k];
    for (size_t k = 0; k < shot->variables.count; k++) {
        /* a variance stays one */
        const double h = fmin(0.05 * sqrt(shot->degrees / curvature[k]), 0.4 * fabs(values[k]));
        const double far = loss_at(shot, values, k, 2 * h) - loss_at(shot, values, k, -2 * h);
        const double near = loss_at(shot, values, k, h) - loss_at(shot, values, k, -h);
        const double difference = (8 * near - far) / (12 * h);
        const double scale = fabs(gradient[k]) + 0.05 * sqrt(curvature[k] * shot->degrees);
        if (fabs(gradient[k] - difference) > 1e-2 * scale)
            fail_msg("target %d, %s: gradient %.8g, by differences %.8g", (int)shot->loss_of.target,
                     db_parameter_describe(settings.parameters[shot->variables.index[k]].parameter)
                         ->name,
                     gradient[k], difference);
    }
}

/* Robust losses have several minima where nothing fits: there they are looked at from nearer by. */
static void stand(db_fit_target target) {
    const double part = target == DB_FIT_HUBER || target == DB_FIT_STUDENT ? 0.1 : 1;
    const double misset[3] = { 0.02, -0.03, 0 };
    for (int i = 0; i < 3; i++) crystal.crystal.misset[i] = rendered.misset[i] + part * misset[i];
    crystal.crystal.cell[2] = rendered.cell[2] * (1 + 0.0005 * part);
    crystal.crystal.Ncells[0] = crystal.crystal.Ncells[1] = rendered.Ncells[0] + 9.5 * part;
    crystal.crystal.Ncells[2] = rendered.Ncells[2] + 4.3 * part;
    crystal.crystal.mosaic_spread = rendered.mosaic_spread + 0.03 * part;
    crystal.spread.mosaic = pow(0.5 * crystal.crystal.mosaic_spread, 2);
}

static void create(db_stage_data *taken, double blur, db_fit_target target, db_objective *shot) {
    stand(target);
    const db_objective_options request = { .stages = DB_FIT_ALL_STAGES, .target = target };
    assert_int_equal(
        db_stage_data_take(context, &crystal, &data, 2, blur, DB_SHOEBOXES_STRONG, taken), DB_OK);
    taken->blocks.tolerance = 0; /* differences see what pixels lack */
    assert_int_equal(db_stage_data_objective(context, &crystal, &data, taken, &request, shot),
                     DB_OK);
}

static void check(db_fit_intensity intensity, double blur, db_fit_target target) {
    db_stage_data taken;
    db_objective shot;
    refine_everything(intensity);
    create(&taken, blur, target, &shot);
    assert_int_equal(shot.variables.count,
                     settings.parameter_count - 2); /* without the tied ones */
    compare_with_differences(&shot);
    db_objective_destroy(&shot);
    db_stage_data_clear(&taken);
}

static void gradient_with_free_intensities(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++)
        check(DB_FIT_FREE, 1, (db_fit_target)target);
}

static void gradient_of_blurred_spots(void **state) {
    (void)state;
    check(DB_FIT_FREE, 2, DB_FIT_WEIGHTED);
}

/* Boxes that a model with known amplitudes makes bright: none of them is chosen by what was
 * measured. */
static void bright_boxes_are_those_of_the_model(void **state) {
    (void)state;
    db_shoeboxes boxes[2];
    db_measured_image dark = image;
    db_strong_pixels none = strong;
    const db_fit_data blank = { &dark, &none, &settings };
    const size_t pixels = (size_t)PIXELS * PIXELS;
    refine_everything(DB_FIT_KNOWN);
    dark.value = calloc(pixels, sizeof *dark.value);
    none.strong = calloc(pixels, 1);
    none.count = 0;
    assert_true(dark.value && none.strong);
    assert_int_equal(
        db_shoeboxes_place(context, &crystal, &data, 2, DB_SHOEBOXES_BRIGHT, &boxes[0]), DB_OK);
    assert_int_equal(
        db_shoeboxes_place(context, &crystal, &blank, 2, DB_SHOEBOXES_BRIGHT, &boxes[1]), DB_OK);
    assert_int_equal(boxes[0].count, settings.max_shoeboxes);
    assert_int_equal(boxes[0].count, boxes[1].count);
    assert_memory_equal(boxes[0].region, boxes[1].region, boxes[0].count * sizeof *boxes[0].region);
    for (size_t b = 0; b < boxes[0].count; b++) {
        const db_region *const r = &boxes[0].region[b];
        assert_true(r->fast_start >= settings.roi[0] && r->slow_start >= settings.roi[2]);
        assert_true(r->fast_start + r->fast_count - 1 <= settings.roi[1] &&
                    r->slow_start + r->slow_count - 1 <= settings.roi[3]);
    }
    for (int i = 0; i < 2; i++) db_shoeboxes_clear(&boxes[i]);
    free(dark.value);
    free(none.strong);
}

static void gradient_with_known_amplitudes_in_shoeboxes(void **state) {
    (void)state;
    db_stage_data taken;
    db_objective shot;
    refine_everything(DB_FIT_KNOWN);
    settings.pixels = DB_FIT_PIXELS_SHOEBOXES;
    create(&taken, 1, DB_FIT_GAUSSIAN, &shot);
    assert_int_equal(shot.blocks.count, settings.max_shoeboxes);
    assert_int_equal(shot.rule, DB_INTENSITY_SHARED);
    compare_with_differences(&shot);
    db_objective_destroy(&shot);
    db_stage_data_clear(&taken);
}

static void gradient_with_known_amplitudes(void **state) {
    (void)state;
    check(DB_FIT_KNOWN, 1, DB_FIT_WEIGHTED);
    check(DB_FIT_KNOWN, 1, DB_FIT_GAUSSIAN);
}

/* The scale as a parameter, at the value that is best when the blocks share it, and then
 * eliminated: the same loss, gradient and normal matrix. */
static void a_shared_scale_is_an_eliminated_parameter(void **state) {
    (void)state;
    for (int target = DB_FIT_WEIGHTED; target <= DB_FIT_STUDENT; target++) {
        db_stage_data taken[2];
        db_objective shot[2];
        double values[DB_PARAMETER_COUNT];
        refine_everything(DB_FIT_KNOWN);
        create(&taken[0], 1, (db_fit_target)target, &shot[0]);
        refine_parameter(&settings, DB_SCALE, -1);
        create(&taken[1], 1, (db_fit_target)target, &shot[1]);
        const size_t n = shot[0].variables.count;
        assert_int_equal(shot[1].variables.count, n + 1);
        memcpy(values, shot[1].variables.start, (n + 1) * sizeof *values);
        /* Outliers' losses are hardly convex: the last digits of the coefficients come slowly. */
        for (int again = 0; again < 5; again++)
            assert_int_equal(db_objective_evaluate(&shot[0], values, DB_OBJECTIVE_NORMAL), DB_OK);
        values[n] *= shot[0].solution[0].linear[0];
        assert_int_equal(db_objective_evaluate(&shot[1], values, DB_OBJECTIVE_NORMAL), DB_OK);
        assert_true(fabs(shot[1].loss - shot[0].loss) < 1e-6 * fabs(shot[0].loss));
        double *const full = shot[1].normal, *const reduced = shot[0].normal;
        const double slope = shot[1].gradient[n] / sqrt(full[n * (n + 1) + n]);
        if (!(fabs(slope) < 1e-2)) fail_msg("target %d: the scale is %g errors off", target, slope);
        db_eliminate(n + 1, n, shot[1].gradient, full, n + 1);
        for (size_t k = 0; k < n; k++) {
            for (size_t l = 0; l <= k; l++) {
                const double unit = sqrt(reduced[k * n + k] * reduced[l * n + l]);
                if (!(fabs(full[k * (n + 1) + l] - reduced[k * n + l]) < 1e-4 * unit))
                    fail_msg("target %d, element %zu %zu: %.8g and %.8g", target, k, l,
                             full[k * (n + 1) + l], reduced[k * n + l]);
            }
        }
        for (int i = 0; i < 2; i++) {
            db_objective_destroy(&shot[i]);
            db_stage_data_clear(&taken[i]);
        }
    }
}

static void threads_do_not_change_the_result(void **state) {
    (void)state;
    for (int known = 0; known < 2; known++) {
        double loss[2], gradient[2][DB_PARAMETER_COUNT];
        double normal[2][DB_PARAMETER_COUNT * DB_PARAMETER_COUNT];
        refine_everything(known ? DB_FIT_KNOWN : DB_FIT_FREE);
        for (int i = 0; i < 2; i++) {
            db_stage_data taken;
            db_objective shot;
            assert_int_equal(db_context_set_threads(context, i ? 3 : 1), DB_OK);
            create(&taken, 1, DB_FIT_GAUSSIAN, &shot);
            assert_int_equal(
                db_objective_evaluate(&shot, shot.variables.start, DB_OBJECTIVE_NORMAL), DB_OK);
            loss[i] = shot.loss;
            memset(gradient[i], 0, sizeof gradient[i]);
            memcpy(gradient[i], shot.gradient, shot.variables.count * sizeof gradient[i][0]);
            memset(normal[i], 0, sizeof normal[i]);
            memcpy(normal[i], shot.normal,
                   shot.variables.count * shot.variables.count * sizeof normal[i][0]);
            db_objective_destroy(&shot);
            db_stage_data_clear(&taken);
        }
        assert_true(loss[0] == loss[1] && loss[0] > 0);
        assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
        assert_memory_equal(normal[0], normal[1], sizeof normal[0]);
    }
}

/* An evaluation is a function of the values: what was evaluated before does not matter, but for
 * rounding. */
static void earlier_evaluations_do_not_matter(void **state) {
    (void)state;
    db_stage_data taken;
    db_objective shot;
    double values[DB_PARAMETER_COUNT], loss[2];
    refine_everything(DB_FIT_FREE);
    create(&taken, 1, DB_FIT_GAUSSIAN, &shot);
    memcpy(values, shot.variables.start, shot.variables.count * sizeof *values);
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_LOSS), DB_OK);
    loss[0] = shot.loss;
    values[0] += 0.3;
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_LOSS), DB_OK);
    values[0] = shot.variables.start[0];
    assert_int_equal(db_objective_evaluate(&shot, values, DB_OBJECTIVE_LOSS), DB_OK);
    loss[1] = shot.loss;
    assert_true(fabs(loss[0] - loss[1]) < 1e-9 * fabs(loss[0]));
    db_objective_destroy(&shot);
    db_stage_data_clear(&taken);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_with_free_intensities),
        cmocka_unit_test(gradient_of_blurred_spots),
        cmocka_unit_test(gradient_with_known_amplitudes),
        cmocka_unit_test(gradient_with_known_amplitudes_in_shoeboxes),
        cmocka_unit_test(bright_boxes_are_those_of_the_model),
        cmocka_unit_test(a_shared_scale_is_an_eliminated_parameter),
        cmocka_unit_test(threads_do_not_change_the_result),
        cmocka_unit_test(earlier_evaluations_do_not_matter),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
