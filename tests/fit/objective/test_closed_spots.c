/* Spreads of spots in closed form come back from a start that knows nothing of them: variances of 0, and
 * a mosaic spread that is the same about all axes; or all of them 0, a bent crystal's mode too, with
 * orientation, cell, beam and distance a little off. */
#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"

#include <math.h>
#include <string.h>

enum { PIXELS = 800 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;

typedef struct scene {
    void (*arrange)(db_experiment *e); /* the truth's spreads and the rest */
    void (*spoil)(db_experiment *e);   /* of a start without spreads */
    const db_parameter *list;
    size_t count;
} scene;

static void set(double *v, int count, const double *values) {
    memcpy(v, values, (size_t)count * sizeof *v);
}

static void turn_off(db_experiment *e) {
    for (int i = 0; i < 3; i++) e->crystal.misset[i] += i == 1 ? -0.05 : 0.05;
}

static void rotations_and_beam(db_experiment *e) {
    set(e->spread.mosaic_tensor, 6, (double[]){ 0.06, 0.02, 0.03, 0, 0, 0.015 });
    set(e->spread.divergence, 2, (double[]){ 0.25, 0.04 });
    e->spread.bandwidth = 1;
}

static void isotropic_start(db_experiment *e) {
    turn_off(e);
    for (int i = 0; i < 3; i++) e->spread.mosaic_tensor[i] = 0.02;
}

static const db_parameter of_rotations[] = {
    DB_MISSET_X,  DB_MISSET_Y,  DB_MISSET_Z,      DB_MOSAIC_XX,     DB_MOSAIC_YY,
    DB_MOSAIC_ZZ, DB_MOSAIC_XY, DB_DIVERGENCE_HH, DB_DIVERGENCE_VV, DB_BANDWIDTH_VARIANCE
};
static const scene rotations = { rotations_and_beam, isotropic_start, of_rotations,
                                 sizeof of_rotations / sizeof of_rotations[0] };

static void bent_crystal(db_experiment *e) {
    e->spread.mosaic = 0.015;
    set(e->spread.footprint, 2, (double[]){ 0.04, 0.015 });
    set(e->spread.mode[0], 9, (double[]){ 0.8, -3.1, 1.4, 2.5, -0.6, -1.8, -2.2, 1.3, 1 });
}

static void start_at_zero(db_experiment *e) {
    turn_off(e);
    e->crystal.cell[0] *= 1.001;
    e->crystal.cell[2] *= 0.999;
    e->detector.distance *= 1.0005;
    e->detector.centre[0] += 0.06;
    e->detector.centre[1] -= 0.05;
}

static const db_parameter of_bent[] = {
    DB_MISSET_X, DB_MISSET_Y,  DB_MISSET_Z,  DB_CELL_A,       DB_CELL_C,
    DB_DISTANCE, DB_BEAM_FAST, DB_BEAM_SLOW, DB_FOOTPRINT_HH, DB_FOOTPRINT_VV,
    DB_MODE1_XX, DB_MODE1_XY,  DB_MODE1_XZ,  DB_MODE1_YX,     DB_MODE1_YY,
    DB_MODE1_YZ, DB_MODE1_ZX,  DB_MODE1_ZY,  DB_MODE1_ZZ,     DB_MOSAIC_VARIANCE,
};
static const scene bent = { bent_crystal, start_at_zero, of_bent,
                            sizeof of_bent / sizeof of_bent[0] };

static int begin(void **state) {
    const scene *const s = *state;
    if (db_context_create(&context) != DB_OK ||
        rendered_experiment(context, PIXELS, 3000, &truth) != DB_OK)
        return -1;
    truth.spread = (db_spread){ .spots = DB_SPOTS_CLOSED };
    s->arrange(&truth);
    if (rendered_image(context, &truth, 3, &image) != DB_OK ||
        db_experiment_copy(context, &truth, &start) != DB_OK)
        return -1;
    start.spread = (db_spread){ .spots = DB_SPOTS_CLOSED };
    s->spoil(&start);
    db_fit_settings_init(&settings);
    for (size_t i = 0; i < s->count; i++) refine_parameter(&settings, s->list[i], -1);
    return 0;
}

static int forget(void **state) {
    (void)state;
    db_fit_settings_clear(&settings);
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

static int is_of_mode(db_parameter p) { return p >= DB_MODE1_XX && p <= DB_MODE1_ZZ; }

/* A mode is one up to its sign. */
static double sign_of_mode(const db_fit_result *r) {
    double sum = 0;
    for (size_t i = 0; i < r->estimates.count; i++)
        if (is_of_mode(r->estimates.list[i].parameter))
            sum += r->estimates.list[i].value *
                   db_parameter_get(&truth, r->estimates.list[i].parameter);
    return sum < 0 ? -1 : 1;
}

/* Each within the errors. */
static void comes_back(void) {
    db_fit_result *result;
    double square = 0;
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    const double sign = sign_of_mode(result);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_parameter p = result->estimates.list[i].parameter;
        const double value = (is_of_mode(p) ? sign : 1) * result->estimates.list[i].value;
        const double pull = (value - db_parameter_get(&truth, p)) / result->estimates.list[i].error;
        print_message("%-18s %9.4f +- %.4f, %+.1f errors off\n", db_parameter_describe(p)->name,
                      value, result->estimates.list[i].error, pull);
        square += pull * pull / (double)result->estimates.count;
        if (!(fabs(pull) < 4))
            fail_msg("%s is %.1f errors off", db_parameter_describe(p)->name, pull);
    }
    print_message(
        "chi2/dof %.3f -> %.3f, strong pixels explained %.3f -> %.3f, pulls %.2f rms, %s\n",
        result->before.chi2_reduced, result->after.chi2_reduced, result->before.strong_explained,
        result->after.strong_explained, sqrt(square), result->reason);
    assert_true(result->status == DB_OK);
    assert_true(result->after.chi2_reduced < 1.3);
    assert_true(result->after.chi2 < 0.9 * result->before.chi2);
    fit_still_destroy(&result);
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

#define TEST(function, scene)                                                                      \
    { #function ", " #scene, function, begin, forget, (void *)(uintptr_t)&scene }

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(known_amplitudes_bring_spreads_back, rotations),
        TEST(free_intensities_bring_spreads_back, rotations),
        TEST(known_amplitudes_bring_spreads_back, bent),
        TEST(free_intensities_bring_spreads_back, bent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
