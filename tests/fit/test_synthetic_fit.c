/* A crystal that we rendered comes back from a spoilt start; and how refinements end that cannot.
 */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <dualbragg/expert/fit_quantities.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 800 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image, sampled;
static db_fit_settings settings;
static db_fit_result *result;

static int make_image(void **state) {
    (void)state;
    if (rendered_begin(PIXELS, 1000, 1, &context, &truth, &image) != 0) return -1;
    truth.spread.spots = DB_SPOTS_SAMPLED;
    const db_status status = rendered_image(context, &truth, 1, &sampled);
    truth.spread.spots = DB_SPOTS_CLOSED;
    return status == DB_OK ? 0 : -1;
}

static int drop_image(void **state) {
    (void)state;
    db_measured_image_clear(&image);
    return rendered_end(&context, &truth, &sampled);
}

/* 0.2 degree off, edges 0.3 % off, beam half a pixel off, spots of the wrong width. */
static int spoil(void **state) {
    (void)state;
    if (db_experiment_copy(context, &truth, &start) != DB_OK) return -1;
    const double misset[3] = { 0.12, -0.11, 0.12 };
    for (int i = 0; i < 3; i++) start.crystal.misset[i] += misset[i];
    start.crystal.cell[0] = start.crystal.cell[1] = truth.crystal.cell[0] * 1.003;
    start.crystal.cell[2] = truth.crystal.cell[2] * 0.997;
    start.detector.centre[0] += 0.06;
    start.detector.centre[1] -= 0.07;
    start.crystal.Ncells[0] = start.crystal.Ncells[1] = 1.3 * truth.crystal.Ncells[0];
    start.crystal.Ncells[2] = 1.2 * truth.crystal.Ncells[2];
    start.crystal.mosaic_spread = 0.06;
    start.spread.mosaic = 0.0009;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y,       DB_MISSET_Z,  DB_CELL_A,
                                         DB_CELL_C,   DB_BEAM_FAST,      DB_BEAM_SLOW, DB_CELLS_A,
                                         DB_CELLS_C,  DB_MOSAIC_VARIANCE };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
    return 0;
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    db_experiment_clear(&start);
    return 0;
}

/* Known amplitudes, sampled spots. */
static int know(void **state) {
    if (spoil(state) != 0) return -1;
    start.spread.spots = DB_SPOTS_SAMPLED;
    settings.intensity = DB_FIT_KNOWN;
    start.beam.scale = 1.4; /* where it is eliminated, of no consequence */
    for (size_t i = 0; i < settings.parameter_count; i++)
        if (settings.parameters[i].parameter == DB_MOSAIC_VARIANCE)
            settings.parameters[i].parameter = DB_MOSAIC_SPREAD;
    return 0;
}

static void run(void) {
    const db_measured_image *const shown = settings.intensity == DB_FIT_KNOWN ? &sampled : &image;
    if (fit_still(context, &start, shown, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(result->status, DB_OK);
}

static void near_truth(db_parameter p, double tolerance) {
    const double refined = db_parameter_get(&result->experiment, p),
                 true_value = db_parameter_get(&truth, p);
    if (!(fabs(refined - true_value) <= tolerance))
        fail_msg("%s is %.6g instead of %.6g", db_parameter_describe(p)->name, refined, true_value);
}

/* What the photon noise allows, a few times over. */
static void everything_came_back(void) {
    const double angle = misorientation(&truth.crystal, &result->experiment.crystal);
    if (!(angle <= 0.015)) fail_msg("the orientation is %.4f degree off", angle);
    near_truth(DB_MISSET_X, 0.005); /* about the beam */
    near_truth(DB_CELL_A, 2e-4 * 58.4);
    near_truth(DB_CELL_B, 2e-4 * 58.4);
    near_truth(DB_CELL_C, 2e-4 * 152.2);
    near_truth(DB_BEAM_FAST, 0.02 * 0.172);
    near_truth(DB_BEAM_SLOW, 0.02 * 0.172);
    near_truth(DB_CELLS_A, 0.4);
    near_truth(DB_CELLS_B, 0.4);
    near_truth(DB_CELLS_C, 0.2);
    if (settings.intensity == DB_FIT_KNOWN)
        near_truth(DB_MOSAIC_SPREAD, 0.01);
    else
        near_truth(DB_MOSAIC_VARIANCE, 0.0005); /* 0.01 of the cap */
    assert_true(result->before.strong_explained < 0.4);
    assert_true(result->after.strong_explained > 0.9);
    assert_true(result->after.centroid_rms < 0.3 * result->before.centroid_rms);
    assert_true(result->after.correlation > 0.85);
}

/* Deviations from the truth in units of the errors: none large, not all tiny. */
static void errors_are_honest(void) {
    double square = 0;
    int count = 0;
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_parameter p = result->estimates.list[i].parameter;
        if (db_fit_parameter_is_tied(&settings.parameters[i])) {
            assert_true(isnan(result->estimates.list[i].error));
            continue;
        }
        const double pull = (result->estimates.list[i].value - db_parameter_get(&truth, p)) /
                            result->estimates.list[i].error;
        if (!(fabs(pull) < 5))
            fail_msg("%s is %.1f standard deviations off", db_parameter_describe(p)->name, pull);
        square += pull * pull;
        count++;
        /* With right noise and a right shape, single spots disagree as much as noise lets them. */
        const double disagreement =
            result->estimates.list[i].error_robust / result->estimates.list[i].error_unscaled;
        if (!isnan(disagreement)) assert_true(disagreement > 0.5 && disagreement < 2);
    }
    assert_true(square / count > 0.05 && square / count < 5);
}

static void free_intensities_bring_the_crystal_back(void **state) {
    (void)state;
    run();
    everything_came_back();
    errors_are_honest();
    assert_true(result->after.chi2_reduced > 0.7 && result->after.chi2_reduced < 1.3);
    /* Intensities are those of the made-up amplitudes, strongest to weakest. */
    double sum[5] = { 0 };
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        const db_structure_factors *const f = &truth.structure_factors;
        size_t index = 0;
        for (int i = 0; i < 3; i++)
            index = index * (size_t)f->extent[i] + (size_t)(box->hkl[i] - f->min[i]);
        const double x = f->amplitude[index] * f->amplitude[index], y = box->intensity;
        sum[0] += x;
        sum[1] += y;
        sum[2] += x * x;
        sum[3] += y * y;
        sum[4] += x * y;
    }
    const double n = (double)result->shoebox_count;
    const double correlation =
        (sum[4] - sum[0] * sum[1] / n) /
        sqrt((sum[2] - sum[0] * sum[0] / n) * (sum[3] - sum[1] * sum[1] / n));
    if (!(correlation > 0.9))
        fail_msg("intensities correlate with the true ones by %g only", correlation);
}

static void known_amplitudes_bring_the_crystal_back(void **state) {
    (void)state;
    run();
    everything_came_back();
    errors_are_honest();
    assert_true(result->after.chi2_reduced > 0.95 && result->after.chi2_reduced < 1.1);
}

/* The same from the pixels of shoeboxes, a part of the image. */
static void known_amplitudes_in_shoeboxes_bring_the_crystal_back(void **state) {
    (void)state;
    settings.pixels = DB_FIT_PIXELS_SHOEBOXES;
    settings.max_shoeboxes = 300;
    run();
    everything_came_back();
    errors_are_honest();
    assert_true(result->after.chi2_reduced > 0.9 && result->after.chi2_reduced < 1.1);
    assert_int_equal(result->shoebox_count, 300);
    assert_true(result->after.pixels < 300 * 17 * 17);
    /* the image is shown as a whole */
    size_t lit = 0;
    for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) lit += result->model_image[i] > 50;
    assert_true(lit > 500);
}

/* The Kahn factor changes the height of spots, which is free, and next to nothing else. */
static void a_parameter_without_influence_leaves_the_other_errors_alone_slow(void **state) {
    (void)state;
    run();
    double error[DB_PARAMETER_COUNT];
    const size_t n = result->estimates.count;
    for (size_t i = 0; i < n; i++) error[i] = result->estimates.list[i].error;
    fit_still_destroy(&result);
    refine_parameter(&settings, DB_POLARIZATION, -1);
    settings.parameters[settings.parameter_count - 1].lower = 0;
    settings.parameters[settings.parameter_count - 1].upper = 1;
    const db_status status = fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    assert_true(status == DB_OK || status == DB_NOT_CONVERGED);
    for (size_t i = 0; i < n; i++) {
        if (db_fit_parameter_is_tied(&settings.parameters[i])) continue;
        const double ratio = result->estimates.list[i].error / error[i];
        if (!(fabs(ratio - 1) < 0.1))
            fail_msg("%s: error %g instead of %g",
                     db_parameter_describe(result->estimates.list[i].parameter)->name,
                     result->estimates.list[i].error, error[i]);
    }
}

static void scaled_and_unscaled_errors_differ_by_the_misfit(void **state) {
    (void)state;
    settings.gain = 0.5;                       /* a wrong one: half the variance, twice chi2 */
    db_fit_settings_default_stages(&settings); /* by pixels */
    run();
    const double chi2 = result->after.chi2_reduced;
    assert_true(chi2 > 1.2);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_fit_estimate *const e = &result->estimates.list[i];
        if (db_fit_parameter_is_tied(&settings.parameters[i])) continue;
        assert_true(fabs(e->error_scaled / e->error_unscaled / sqrt(chi2) - 1) < 1e-12);
        assert_true(e->error >= fmax(e->error_scaled, e->error_robust)); /* and the held distance */
    }
}

/* Distance and cell scale the pattern alike. */
static void directions_name_what_one_image_does_not_tell_apart(void **state) {
    (void)state;
    refine_parameter(&settings, DB_DISTANCE, -1);
    const db_status status = fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    assert_true(status == DB_OK || status == DB_NOT_CONVERGED);
    assert_int_equal(result->estimates.direction_count,
                     settings.parameter_count - 2); /* two follow */
    const db_fit_direction *const worst = &result->estimates.direction[0];
    assert_true(worst->condition > 30 * result->estimates.direction[2].condition);
    size_t distance = 0, cell_a = 0;
    for (size_t i = 0; i < result->estimates.count; i++) {
        if (result->estimates.list[i].parameter == DB_DISTANCE) distance = i;
        if (result->estimates.list[i].parameter == DB_CELL_A) cell_a = i;
    }
    assert_true(fabs(worst->component[distance]) > 0.5 && fabs(worst->component[cell_a]) > 0.3);
    assert_true(worst->component[distance] * worst->component[cell_a] > 0);
    int warned = 0;
    for (size_t i = 0; i < result->warning_count; i++)
        warned += strstr(result->warnings[i], "distance") && strstr(result->warnings[i], "cell_a");
    assert_true(warned > 0);
}

static void goodness_adds_up_over_shells_and_regions(void **state) {
    (void)state;
    run();
    assert_true(result->shell_count >= 5);
    size_t in_shells = 0, in_regions = 0;
    int area = 0;
    double chi2 = 0, previous = INFINITY;
    for (size_t i = 0; i < result->shell_count; i++) {
        const db_fit_shell *const s = &result->shells[i];
        assert_true(s->d_max <= previous * (1 + 1e-12) && s->d_min < s->d_max);
        previous = s->d_min;
        in_shells += s->after.pixels;
        chi2 += s->after.chi2_reduced * (double)s->after.pixels;
        assert_true(s->after.residual < s->before.residual);
        assert_true(s->after.correlation > s->before.correlation);
        assert_true(s->after.chi2_reduced > 0.6 && s->after.chi2_reduced < 1.4);
    }
    for (size_t i = 0; i < result->region_count; i++) {
        in_regions += result->regions[i].after.pixels;
        area += result->regions[i].fast_count * result->regions[i].slow_count;
        if (result->regions[i].spots >= 5)
            assert_true(hypot(result->regions[i].shift[0], result->regions[i].shift[1]) < 0.5);
    }
    assert_int_equal(in_shells, result->after.pixels);
    assert_int_equal(in_regions, result->after.pixels);
    assert_int_equal(area, PIXELS * PIXELS); /* squares that cover it */
    assert_int_equal(result->region_count, 64);
    for (size_t i = 0; i < result->region_count; i++)
        assert_int_equal(result->regions[i].fast_count, result->regions[i].slow_count);
    assert_true(fabs(chi2 / (double)in_shells / result->after.chi2_reduced - 1) < 1e-9);
}

/* A stripe of counts across one spot. */
static void a_spoilt_shoebox_is_an_outlier(void **state) {
    (void)state;
    run();
    assert_true(result->shoebox_count > 50);
    const db_fit_shoebox box = result->shoeboxes[20];
    const size_t row = (size_t)(box.region.slow_start + 3) * PIXELS;
    float kept[64];
    for (int f = 0; f < box.region.fast_count; f++) {
        float *const value = &image.value[row + (size_t)(box.region.fast_start + f)];
        kept[f] = *value;
        *value += f % 2 ? 150.0F : 0;
    }
    fit_still_destroy(&result);
    const db_status status = fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    for (int f = 0; f < box.region.fast_count; f++)
        image.value[row + (size_t)(box.region.fast_start + f)] = kept[f];
    assert_int_equal(status, DB_OK);
    int outliers = 0, found = 0;
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_fit_shoebox *const s = &result->shoeboxes[b];
        outliers += s->outlier;
        found += s->outlier && memcmp(s->hkl, box.hkl, sizeof box.hkl) == 0 && s->worst_z > 5;
    }
    assert_int_equal(found, 1);
    assert_true(outliers < 12);
}

static void the_scale_can_be_a_parameter(void **state) {
    (void)state;
    const int roi[4] = { 100, 499, 150, 599 };
    memcpy(settings.roi, roi, sizeof roi);
    refine_parameter(&settings, DB_SCALE, -1);
    run();
    near_truth(DB_SCALE, 0.15);
    near_truth(DB_CELL_A, 5e-4 * 58.4);
    errors_are_honest();
}

static int cancel_at_seven(void *user, const db_fit_history *entry) {
    int *const calls = user;
    assert_true(entry->evaluation >= 1 && isfinite(entry->target));
    return ++*calls == 7;
}

static void the_caller_may_cancel(void **state) {
    (void)state;
    int calls = 0;
    assert_int_equal(
        fit_still(context, &start, &image, &settings, cancel_at_seven, &calls, &result),
        DB_ERROR_CANCELLED);
    assert_int_equal(calls, 7);
    /* the best model so far */
    assert_non_null(result);
    assert_int_equal(result->status, DB_ERROR_CANCELLED);
    assert_non_null(strstr(result->reason, "cancelled"));
    assert_int_equal(result->history_count, 7);
    assert_true(result->after.chi2 < result->before.chi2);
}

static void expect_reason(const char *word) {
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                     DB_NOT_CONVERGED);
    assert_non_null(result);
    assert_int_equal(result->status, DB_NOT_CONVERGED);
    if (!strstr(result->reason, word)) fail_msg("reason without '%s': %s", word, result->reason);
}

static void too_few_evaluations_are_said(void **state) {
    (void)state;
    db_fit_settings_default_stages(&settings);
    for (size_t s = 0; s < settings.stage_count; s++) settings.stages[s].max_evaluations = 1;
    expect_reason("limit of 1 evaluations");
    assert_int_equal(result->history_count, settings.stage_count);
}

static void a_bound_in_the_way_is_named(void **state) {
    (void)state;
    for (size_t i = 0; i < settings.parameter_count; i++)
        if (settings.parameters[i].parameter == DB_CELL_A)
            settings.parameters[i].lower =
                start.crystal.cell[0] - 0.05; /* the truth lies 0.18 A below */
    expect_reason("cell_a");
    for (size_t i = 0; i < settings.parameter_count; i++)
        assert_int_equal(result->estimates.list[i].at_bound,
                         result->estimates.list[i].parameter == DB_CELL_A ? -1 : 0);
}

/* Domains that do not differ turn with the crystal: at 0 the mosaic spread has the slopes of a
 * misset, which must not take the misset's errors away. */
static void errors_beside_no_mosaic_spread(unsigned long seed) {
    db_measured_image other;
    const double spread = truth.spread.mosaic;
    truth.spread.mosaic = 0;
    assert_int_equal(rendered_image(context, &truth, seed, &other), DB_OK);
    truth.spread.mosaic = spread;
    if (fit_still(context, &start, &other, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < result->estimates.count; i++) {
        if (result->estimates.list[i].parameter != DB_MOSAIC_VARIANCE) {
            if (!db_fit_parameter_is_tied(&settings.parameters[i]))
                assert_true(isfinite(result->estimates.list[i].error));
            continue;
        }
        assert_true(result->estimates.list[i].value == 0);
        assert_int_equal(result->estimates.list[i].at_bound, -1);
        assert_true(isnan(result->estimates.list[i].error));
    }
    fit_still_destroy(&result);
    db_measured_image_clear(&other);
}

static void no_mosaic_spread_is_a_bound_slow(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) start.crystal.Ncells[i] = 0.8 * truth.crystal.Ncells[i];
    settings.parameter_count = 0;
    for (db_parameter p = DB_MISSET_X; p <= DB_MISSET_Z; p++) refine_parameter(&settings, p, -1);
    refine_parameter(&settings, DB_CELL_A, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    refine_parameter(&settings, DB_CELL_C, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    for (unsigned long seed = 1; seed <= 4; seed++) errors_beside_no_mosaic_spread(seed);
}

static void a_wrong_orientation_is_not_called_converged(void **state) {
    (void)state;
    start.crystal.misset[0] += 7;
    start.crystal.misset[1] += 9;
    expect_reason("nodes of the lattice");
    assert_true(result->after.strong_explained < 0.05);
}

static void expect_refusal(db_status status, const char *word) {
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result), status);
    assert_null(result);
    if (!strstr(db_context_message(context), word))
        fail_msg("message without '%s': %s", word, db_context_message(context));
}

static void impossible_settings_are_refused(void **state) {
    (void)state;
    db_fit_parameter *const first = &settings.parameters[0];
    const db_fit_parameter good = *first;
    first->lower = 30;
    first->upper = 20;
    expect_refusal(DB_ERROR_USAGE, "misset_x: bounds cross");
    first->lower = 28;
    first->upper = 30;
    expect_refusal(DB_ERROR_USAGE, "misset_x: starts at 27.12, outside its bounds");
    *first = good;
    first->follows = db_fit_quantity_make(DB_POLARIZATION, -1);
    expect_refusal(DB_ERROR_USAGE, "misset_x follows polarization");
    *first = good;
    refine_parameter(&settings, DB_SCALE, -1);
    expect_refusal(DB_ERROR_USAGE, "scale cannot be refined with free intensities");
    settings.parameter_count--;
    start.spread.spots = DB_SPOTS_SAMPLED;
    expect_refusal(DB_ERROR_USAGE, "free intensities: expected spots in closed form");
    start.spread.spots = DB_SPOTS_CLOSED;
    refine_parameter(&settings, DB_DISPERSION, -1);
    expect_refusal(DB_ERROR_USAGE, "dispersion_range can only be refined from a positive start");
    settings.parameter_count--;
    db_fit_settings_default_stages(&settings);
    settings.stages[1].kind = DB_STAGE_NLOPT;
    strcpy(settings.stages[1].nlopt, "LN_COBYLA");
    expect_refusal(DB_ERROR_USAGE, "LN_COBYLA");
    strcpy(settings.stages[1].nlopt, "LD_LBFGS");
    for (size_t i = 0; i < settings.parameter_count; i++)
        db_fit_parameter_set_stage(&settings.parameters[i], 0, 0);
    expect_refusal(DB_ERROR_USAGE, "no parameter to refine");
    for (size_t i = 0; i < settings.parameter_count; i++)
        db_fit_parameter_set_stage(&settings.parameters[i], 0, 1);
    settings.gain = -1;
    expect_refusal(DB_ERROR_USAGE, "gain");
    settings.gain = 1;
    start.detector.panels[0].fast_pixels--;
    expect_refusal(DB_ERROR_INPUT, "the image has 800 x 800 pixels");
}

static void a_cap_of_nothing_is_refused(void **state) {
    (void)state;
    start.crystal.mosaic_spread = 0;
    expect_refusal(DB_ERROR_USAGE, "mosaic_spread can only be refined from a positive start");
}

static void an_empty_image_is_refused(void **state) {
    (void)state;
    db_measured_image blank = image;
    float *const value = malloc(sizeof *value * PIXELS * PIXELS);
    assert_non_null(value);
    for (int i = 0; i < PIXELS * PIXELS; i++) value[i] = (float)(3 + (i % 1000 * 7919) % 5);
    blank.value = value;
    assert_int_equal(fit_still(context, &start, &blank, &settings, NULL, NULL, &result),
                     DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "blank image"));
    assert_null(result);
    free(value);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(free_intensities_bring_the_crystal_back, spoil, forget),
        cmocka_unit_test_setup_teardown(known_amplitudes_bring_the_crystal_back, know, forget),
        cmocka_unit_test_setup_teardown(known_amplitudes_in_shoeboxes_bring_the_crystal_back, know,
                                        forget),
        cmocka_unit_test_setup_teardown(the_scale_can_be_a_parameter, know, forget),
        cmocka_unit_test_setup_teardown(
            a_parameter_without_influence_leaves_the_other_errors_alone_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(scaled_and_unscaled_errors_differ_by_the_misfit, spoil,
                                        forget),
        cmocka_unit_test_setup_teardown(directions_name_what_one_image_does_not_tell_apart, spoil,
                                        forget),
        cmocka_unit_test_setup_teardown(goodness_adds_up_over_shells_and_regions, spoil, forget),
        cmocka_unit_test_setup_teardown(a_spoilt_shoebox_is_an_outlier, spoil, forget),
        cmocka_unit_test_setup_teardown(the_caller_may_cancel, spoil, forget),
        cmocka_unit_test_setup_teardown(too_few_evaluations_are_said, spoil, forget),
        cmocka_unit_test_setup_teardown(a_bound_in_the_way_is_named, spoil, forget),
        cmocka_unit_test_setup_teardown(no_mosaic_spread_is_a_bound_slow, spoil, forget),
        cmocka_unit_test_setup_teardown(a_wrong_orientation_is_not_called_converged, spoil, forget),
        cmocka_unit_test_setup_teardown(impossible_settings_are_refused, spoil, forget),
        cmocka_unit_test_setup_teardown(a_cap_of_nothing_is_refused, know, forget),
        cmocka_unit_test_setup_teardown(an_empty_image_is_refused, spoil, forget),
    };
    return cmocka_run_group_tests(tests, make_image, drop_image);
}
