/* Stages against the moments of spots: a bent crystal's mode is found from 0 and kept, that of a
 * crystal that is not bent is left out; the places of given spots; and Student's density. */
#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/search/moments.h"

#include <dualbragg/spots.h>
#include <dualbragg/expert/spot_places.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 800 };
static db_context *context;

static void arrange(int bent, db_experiment *e) {
    static const double bend[9] = { 0.8, -3.1, 1.4, 2.5, -0.6, -1.8, -2.2, 1.3, 1 };
    assert_int_equal(rendered_experiment(context, PIXELS, 3000, e), DB_OK);
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = bent ? 0.015 : 0.03;
    e->spread.footprint[0] = 0.04;
    e->spread.footprint[1] = 0.015;
    if (bent) memcpy(e->spread.mode[0], bend, sizeof bend);
}

static void make_settings(db_fit_settings *settings) {
    static const db_parameter list[] = { DB_MISSET_X,  DB_MISSET_Y,     DB_MISSET_Z,
                                         DB_CELL_A,    DB_CELL_C,       DB_MOSAIC_VARIANCE,
                                         DB_BEAM_FAST, DB_FOOTPRINT_HH, DB_FOOTPRINT_VV };
    db_fit_settings_init(settings);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) refine_parameter(settings, list[i], -1);
    for (int p = DB_MODE1_XX; p <= (int)DB_MODE2_ZZ; p++)
        refine_parameter(settings, (db_parameter)p, -1);
}

/* Refines the image of a truth from a start that is turned by 0.1 degree, whose cell is off by 0.2 %,
 * and that knows nothing of spreads. most: the bound of the modes. */
static db_fit_result *refine_within(const db_experiment *truth, double most) {
    db_measured_image image;
    db_fit_settings settings;
    db_fit_result *result;
    db_experiment start;
    assert_int_equal(rendered_image(context, truth, 3, &image), DB_OK);
    assert_int_equal(db_experiment_copy(context, truth, &start), DB_OK);
    start.spread = (db_spread){ .spots = DB_SPOTS_CLOSED, .mosaic = 0.01 };
    for (int i = 0; i < 3; i++) start.crystal.misset[i] += i == 1 ? -0.06 : 0.06;
    start.crystal.cell[0] *= 1.002;
    start.crystal.cell[2] *= 0.998;
    make_settings(&settings);
    for (size_t i = 0; i < settings.parameter_count; i++) {
        db_fit_parameter *const p = &settings.parameters[i];
        if (p->parameter < DB_MODE1_XX || p->parameter > DB_MODE2_ZZ) continue;
        p->lower = -most;
        p->upper = most;
    }
    fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    if (!result) fail_msg("%s", db_context_message(context));
    for (size_t i = 0; i < result->trial_count; i++)
        print_message("stage %d: %s, %.3f -> %.3f, %zu spots\n", result->trials[i].stage,
                      result->trials[i].kept ? "kept" : "left out", result->trials[i].before,
                      result->trials[i].after, result->trials[i].spots);
    print_message("chi2/dof %.3f, strong pixels explained %.3f, %s\n", result->after.chi2_reduced,
                  result->after.strong_explained, result->reason);
    db_fit_settings_clear(&settings);
    db_experiment_clear(&start);
    db_measured_image_clear(&image);
    return result;
}

static db_fit_result *refine(const db_experiment *truth) { return refine_within(truth, INFINITY); }

static void a_mode_is_earned_by_a_bent_crystal(void **state) {
    db_experiment truth;
    (void)state;
    arrange(1, &truth);
    db_fit_result *result = refine(&truth);
    assert_int_equal(result->trial_count, 3);
    assert_true(result->trials[2].kept && result->trials[2].misfit < 1.5); /* pixels */
    assert_true(result->trials[0].kept);
    assert_true(result->after.chi2_reduced < 1.3);
    fit_still_destroy(&result);
    db_experiment_clear(&truth);
}

/* A mode shapes spots, and does not move them: orientation and cell are right if it needs to be longer. */
static void a_mode_at_its_bound_spoils_no_result(void **state) {
    const double short_of = 2.4; /* 1e-3: the true mode has components up to 3.1 */
    db_experiment truth;
    int at_bound = 0;
    (void)state;
    arrange(1, &truth);
    db_fit_result *result = refine_within(&truth, short_of);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_fit_estimate *const e = &result->estimates.list[i];
        at_bound += e->parameter >= DB_MODE1_XX && e->parameter <= DB_MODE2_ZZ && e->at_bound;
    }
    assert_true(at_bound > 0);
    assert_int_equal(result->status, DB_OK);
    assert_true(result->verdict.usable);
    assert_true(fabs(result->experiment.crystal.cell[0] / truth.crystal.cell[0] - 1) < 1e-3);
    fit_still_destroy(&result);
    db_experiment_clear(&truth);
}

static void a_mode_that_is_not_earned_stays_0(void **state) {
    db_experiment truth;
    (void)state;
    arrange(0, &truth);
    db_fit_result *result = refine(&truth);
    assert_int_equal(result->trial_count, 3);
    assert_true(result->trials[2].kept && result->trials[2].misfit < 1.5); /* pixels */
    assert_false(result->trials[0].kept);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_parameter p = result->estimates.list[i].parameter;
        if (p < DB_MODE1_XX || p > DB_MODE1_ZZ) continue;
        assert_true(fabs(result->estimates.list[i].value) <= 0);
        assert_true(isnan(result->estimates.list[i].error));
    }
    assert_true(result->after.chi2_reduced < 1.3);
    fit_still_destroy(&result);
    db_experiment_clear(&truth);
}

static void given_spots_are_placed_as_predicted(void **state) {
    const double turns[] = { 0, 0.5 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        db_experiment e;
        db_predicted_spots predicted;
        arrange(1, &e);
        e.goniometer.phi_steps = 1;
        e.goniometer.phi_step = turns[k];
        assert_int_equal(db_spots_predict(context, &e, NULL, &predicted), DB_OK);
        assert_true(predicted.count > 100);
        db_spot *const given = calloc(predicted.count, sizeof *given);
        assert_non_null(given);
        for (size_t i = 0; i < predicted.count; i++) {
            const db_spot *const wanted = &predicted.spot[i];
            memcpy(given[i].hkl, wanted->hkl, sizeof given[i].hkl);
            given[i].panel = wanted->panel;
        }
        db_spot last = given[predicted.count - 1]; /* by itself, too */
        assert_int_equal(db_spots_place(context, &e, 1, given, predicted.count), DB_OK);
        assert_int_equal(db_spots_place(context, &e, 1, &last, 1), DB_OK);
        assert_memory_equal(&last, &given[predicted.count - 1], sizeof last);
        for (size_t i = 0; i < predicted.count; i++) {
            const db_spot *const wanted = &predicted.spot[i], *const found = &given[i];
            assert_true(fabs(found->position[0] - wanted->position[0]) < 1e-9);
            assert_true(fabs(found->position[1] - wanted->position[1]) < 1e-9);
            assert_true(fabs(found->photons - wanted->photons) <= 1e-9 * wanted->photons);
            if (k == 0)
                assert_true(fabs(found->width * found->excitation - found->turn) <
                            1e-9 * found->width);
        }
        free(given);
        db_spot beside = { .panel = e.detector.panel_count };
        assert_int_equal(db_spots_place(context, &e, 1, &beside, 1), DB_ERROR_USAGE);
        db_predicted_spots_clear(&predicted);
        e.spread.spots = DB_SPOTS_SAMPLED;
        assert_int_equal(db_spots_place(context, &e, 1, &beside, 1), DB_ERROR_UNSUPPORTED);
        db_experiment_clear(&e);
    }
}

/* Spots that are all a little beside and wider than the model's. */
static void observe_all(const db_experiment *e, const db_spot_options *options, size_t most,
                        const db_variables *v, db_moments *m) {
    db_predicted_spots predicted;
    assert_int_equal(db_spots_predict(context, e, options, &predicted), DB_OK);
    const size_t n = predicted.count < most ? predicted.count : most;
    assert_int_equal(db_moments_allocate(context, e, n, v, 0, m), DB_OK);
    m->count = m->to = n;
    for (size_t i = 0; i < n; i++) {
        const db_spot *const s = &predicted.spot[i];
        db_observed_moments *const seen = &m->observed[i];
        m->spot[i] = *s;
        for (int c = 0; c < 2; c++)
            seen->place[c] = s->position[c] + 0.1 * (double)((int)i % 7 - 3);
        for (int c = 0; c < 3; c++)
            seen->covariance[c] = (1 + 0.1 * (double)(i % 5)) * s->covariance[c];
    }
    db_predicted_spots_clear(&predicted);
}

/* Against central differences, at spreads that are not those of the spots. */
static void slopes_are_those_of_the_loss(void **state) {
    enum { MOST = 60 };
    const double part = 1e-3; /* of a typical step */
    static const db_panel_placement still;
    db_experiment truth;
    db_fit_settings settings;
    db_variables v;
    db_moments m;
    double x[MOST], ahead[MOST], gradient[MOST], unused[MOST], curved[MOST], loss, sides[2];
    (void)state;
    arrange(1, &truth);
    make_settings(&settings);
    truth.spread.divergence[0] = 0.1;
    truth.spread.mode[1][4] = 1;
    assert_int_equal(
        db_variables_make(context, &settings, DB_FIT_ALL_STAGES, NULL, &truth, &still, &v), DB_OK);
    assert_true(v.count > 20 && v.count <= MOST);
    double *const normal = malloc(v.count * v.count * sizeof *normal);
    assert_non_null(normal);
    observe_all(&truth, NULL, 150, &v, &m);
    memcpy(x, v.start, v.count * sizeof *x);
    assert_int_equal(db_moments_evaluate(&m, x, &loss, gradient, normal), 0);
    for (size_t k = 0; k < v.count;
         k++) { /* the experiment is left where the loss is, not the slopes */
        const double at = db_parameter_get(&m.experiment, v.parameter[k]);
        if (!(fabs(at - x[k]) <= 1e-12 * fabs(x[k])))
            fail_msg("%s: evaluated at %.17g, left at %.17g",
                     db_parameter_describe(v.parameter[k])->name, x[k], at);
    }
    /* the same bits, whichever threads have which variables */
    double *const again = malloc(v.count * v.count * sizeof *again);
    assert_non_null(again);
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_int_equal(db_context_set_threads(context, threads), DB_OK);
        assert_int_equal(db_moments_evaluate(&m, x, &loss, unused, again), 0);
        assert_memory_equal(unused, gradient, v.table_count * sizeof *gradient);
        assert_memory_equal(again, normal, v.count * v.count * sizeof *normal);
    }
    assert_int_equal(db_context_set_threads(context, 0), DB_OK);
    free(again);
    for (size_t k = 0; k < v.count; k++) curved[k] = normal[k * v.count + k];
    for (size_t k = 0; k < v.count; k++) {
        const double scale = db_parameter_describe(v.parameter[k])->scale;
        for (int side = 0; side < 2; side++) {
            memcpy(ahead, x, v.count * sizeof *x);
            ahead[k] += (side ? part : -part) * scale;
            assert_int_equal(db_moments_evaluate(&m, ahead, &sides[side], unused, normal), 0);
        }
        const double slope = (sides[1] - sides[0]) / (2 * part);
        /* where the loss is flat, a difference has its curvature as an error */
        const double most = 1e-4 * fabs(slope) + 3e-5 * curved[k] * scale * scale;
        if (!(fabs(gradient[k] * scale - slope) <= most))
            fail_msg("%s: slope %g, difference %g, at most %g apart",
                     db_parameter_describe(v.parameter[k])->name, gradient[k] * scale, slope, most);
    }
    /* places that move along with the model are no jumps */
    double farthest = 0;
    for (size_t k = 0; k < v.table_count; k++) {
        assert_int_equal(db_moments_evaluate(&m, x, &loss, unused, normal), 0);
        const double before[2] = { m.spot[0].position[0], m.spot[0].position[1] };
        memcpy(ahead, x, v.count * sizeof *x);
        ahead[k] += 5 * db_parameter_describe(v.parameter[k])->scale;
        assert_int_equal(db_moments_evaluate(&m, ahead, &loss, unused, normal), 0);
        assert_false(m.has_lost);
        farthest = fmax(
            farthest, hypot(m.spot[0].position[0] - before[0], m.spot[0].position[1] - before[1]));
    }
    assert_true(farthest > 2); /* pixels */
    free(normal);
    db_moments_clear(&m);
    db_variables_clear(&v);
    db_fit_settings_clear(&settings);
    db_experiment_clear(&truth);
}

/* The first misset_x beyond the start (degree) at which the place of a spot jumps, to a millionth; 0: none. */
static double find_jump(const db_experiment *truth, db_spot *spot, size_t count) {
    const double step = 1e-3, far = 1; /* degree; pixels: a step moves a spot by less */
    double(*const before)[2] = malloc(count * sizeof *before);
    db_experiment e;
    double found = 0;
    assert_non_null(before);
    assert_int_equal(db_experiment_copy(context, truth, &e), DB_OK);
    for (int n = 0; n < 400 && found <= 0; n++) {
        e.crystal.misset[0] = truth->crystal.misset[0] + n * step;
        assert_int_equal(db_spots_place(context, &e, 0, spot, count), DB_OK);
        size_t jumped = count;
        for (size_t i = 0; i < count; i++) {
            if (n &&
                hypot(spot[i].position[0] - before[i][0], spot[i].position[1] - before[i][1]) > far)
                jumped = i;
            if (jumped < count) break;
            memcpy(before[i], spot[i].position, sizeof before[i]);
        }
        if (jumped == count) continue;
        double sides[2] = { (n - 1) * step, n * step };
        db_spot one = spot[jumped];
        while (sides[1] - sides[0] > 1e-6 * step) {
            const double middle = 0.5 * (sides[0] + sides[1]);
            e.crystal.misset[0] = truth->crystal.misset[0] + middle;
            assert_int_equal(db_spots_place(context, &e, 0, &one, 1), DB_OK);
            const int beyond = hypot(one.position[0] - before[jumped][0],
                                     one.position[1] - before[jumped][1]) > far;
            sides[beyond] = middle;
        }
        found = sides[0];
    }
    db_experiment_clear(&e);
    free(before);
    return found;
}

/* A spot of a large mosaic spread, far from the sphere, is brightest at two places: which is the brighter one changes at an
 * angle. */
static void a_jump_of_a_place_is_no_slope(void **state) {
    enum { MOST = 60 };
    static const db_panel_placement still;
    db_spot_options far = DB_SPOT_OPTIONS_INIT;
    db_experiment truth;
    db_fit_settings settings;
    db_predicted_spots all;
    db_variables v;
    db_moments m;
    double x[MOST], slope[2][MOST], loss;
    (void)state;
    arrange(0, &truth);
    truth.spread.mosaic = 0.5; /* degree^2 */
    far.most_excitation = 4.5;
    assert_int_equal(db_spots_predict(context, &truth, &far, &all), DB_OK);
    const double jump = find_jump(&truth, all.spot, all.count);
    print_message("%zu spots, one jumps at %.9f degree\n", all.count, jump);
    assert_true(jump > 0);
    db_fit_settings_init(&settings);
    refine_parameter(&settings, DB_MISSET_X, -1);
    assert_int_equal(
        db_variables_make(context, &settings, DB_FIT_ALL_STAGES, NULL, &truth, &still, &v), DB_OK);
    observe_all(&truth, &far, all.count, &v, &m);
    double normal;
    for (int side = 0; side < 2; side++) {
        x[0] = v.start[0] + jump + (side ? 1e-4 : -1e-9);
        assert_int_equal(db_moments_evaluate(&m, x, &loss, slope[side], &normal), 0);
        print_message("slope %.4g, normal %.4g, loss %.6g\n", slope[side][0], normal, loss);
    }
    assert_true(fabs(slope[0][0] - slope[1][0]) < 0.01 * normal); /* by a hundredth of a degree */
    /* without the spot the loss has no step there */
    double sides[2];
    for (int side = 0; side < 2; side++) {
        x[0] = v.start[0] + jump + (side ? 1e-6 : -1e-9);
        assert_int_equal(db_moments_evaluate(&m, x, &sides[side], slope[side], &normal), 0);
    }
    assert_true(fabs(sides[1] - sides[0]) < 0.1);
    db_moments_take_all(&m);
    for (int side = 0; side < 2; side++) {
        x[0] = v.start[0] + jump + (side ? 1e-6 : -1e-9);
        assert_int_equal(db_moments_slopes(&m, x, NULL, 0, &sides[side], NULL), 0);
    }
    assert_true(fabs(sides[1] - sides[0]) > 1);
    /* evaluations on both sides find it, too, if neither is next to it */
    for (int again = 0; again < 2; again++)
        for (int side = 0; side < 2; side++) {
            x[0] = v.start[0] + jump + (side ? 2e-4 : -2e-4);
            assert_int_equal(db_moments_evaluate(&m, x, &sides[side], slope[side], &normal), 0);
            assert_int_equal(m.has_lost, !again && side);
        }
    const double by_slopes = 4e-4 * 0.5 * (slope[0][0] + slope[1][0]);
    assert_true(fabs(sides[1] - sides[0] - by_slopes) < 0.1);
    db_moments_clear(&m);
    db_variables_clear(&v);
    db_predicted_spots_clear(&all);
    db_fit_settings_clear(&settings);
    db_experiment_clear(&truth);
}

static void moments_need_spots_in_closed_form(void **state) {
    db_experiment truth;
    db_measured_image image;
    db_fit_settings settings;
    db_fit_result *result;
    (void)state;
    arrange(0, &truth);
    assert_int_equal(rendered_image(context, &truth, 3, &image), DB_OK);
    make_settings(&settings);
    settings.intensity = DB_FIT_KNOWN;
    db_fit_settings_default_stages(&settings);
    settings.stages[0].kind = DB_STAGE_MOMENTS;
    assert_int_equal(fit_still(context, &truth, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "moments"));
    settings.intensity = DB_FIT_FREE;
    db_fit_settings_default_stages(&settings);
    settings.stages[0].earned = 1;
    assert_int_equal(fit_still(context, &truth, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "earned"));
    db_fit_settings_clear(&settings);
    db_measured_image_clear(&image);
    db_experiment_clear(&truth);
}

/* The power of Student's density of three coordinates: with (1 + r^2/f)^-power, f degrees of freedom, its integral over
 * space is (pi f)^(3/2) Gamma(f/2) / Gamma((f + 3)/2). Here r = sqrt(f) tan(t), by midpoints of t. */
static void the_density_of_three_coordinates_has_its_integral(void **state) {
    (void)state;
    const int parts = 2000;
    const double f = DB_STUDENT_FREEDOM, pi = acos(-1);
    double sum = 0;
    for (int i = 0; i < parts; i++) {
        const double t = pi / 2 * (i + 0.5) / parts, square = f * tan(t) * tan(t);
        sum += 4 * pi * square * pow(1 + square / f, -DB_STUDENT_POWER) * sqrt(f) /
               (cos(t) * cos(t)) * (pi / 2 / parts);
    }
    const double integral = pow(pi * f, 1.5) * tgamma(f / 2) / tgamma((f + 3) / 2);
    assert_true(fabs(sum - integral) < 1e-6 * integral);
}

static int begin(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mode_is_earned_by_a_bent_crystal),
        cmocka_unit_test(a_mode_at_its_bound_spoils_no_result),
        cmocka_unit_test(a_mode_that_is_not_earned_stays_0),
        cmocka_unit_test(given_spots_are_placed_as_predicted),
        cmocka_unit_test(slopes_are_those_of_the_loss),
        cmocka_unit_test(a_jump_of_a_place_is_no_slope),
        cmocka_unit_test(moments_need_spots_in_closed_form),
        cmocka_unit_test(the_density_of_three_coordinates_has_its_integral),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
