/* The precision advised: where it is mixed, the mixed image is within 1e-6 of the maximum of the
 * double one, and its derivatives within 1e-5 of theirs, on random jobs of all kinds. */
#include "engine/precision.h"
#include "support/unit_test.h"
#include "drawn_amplitudes.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 300, GRADIENT_JOBS = 100, WANTED = 5 };

static const db_parameter wanted[WANTED] = { DB_CELL_A, DB_MISSET_Y, DB_WAVELENGTH, DB_DISTANCE,
                                             DB_CELLS_B };

static void random_crystal(db_crystal *c) {
    for (int k = 0; k < 3; k++) {
        c->cell[k] = scaled(20, 400);
        c->Ncells[k] = floor(scaled(1, 400));
        c->misset[k] = uniform(0, 360);
    }
    if (once_in(2))
        for (int k = 1; k < 3; k++) c->Ncells[k] = c->Ncells[0];
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_SQUARE, DB_SHAPE_ROUND,
                                               DB_SHAPE_GAUSS };
    c->shape = shapes[whole(0, 3)];
    if (!once_in(2)) return;
    c->mosaic_spread = scaled(0.01, 2);
    c->mosaic_domains = whole(1, 8);
}

static void random_detector(db_detector *d) {
    db_panel *const panel = &d->panels[0];
    const double pixel = scaled(0.01, 0.5);
    panel->fast_pixels = whole(64, 300);
    panel->slow_pixels = whole(64, 300);
    panel->pixel_size[0] = panel->pixel_size[1] = pixel;
    d->distance = scaled(20, 2000);
    for (int i = 0; i < 2; i++) d->centre[i] = pixel * uniform(-80, 320);
    /* a curved one reaches to the point opposite to the direct beam at most */
    d->curved = once_in(10) && 600 * pixel < 3 * d->distance;
    if (!once_in(5)) return;
    d->sensor_thickness = scaled(0.01, 500);
    d->attenuation_depth = scaled(100, 1000);
    d->sensor_layers = whole(1, 3);
}

static db_experiment random_job(db_context *context) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    random_crystal(&e.crystal);
    e.structure_factors.default_F = scaled(0.01, 1e4);
    if (once_in(4)) drawn_amplitudes(&e.structure_factors);
    random_detector(&e.detector);
    e.beam.wavelength = scaled(0.5, 8);
    e.oversample = once_in(3) ? whole(1, 3) : 1;
    if (once_in(3)) {
        e.goniometer.phi_step = scaled(0.001, 1);
        e.goniometer.phi_steps = whole(1, 5);
    }
    if (once_in(5)) e.background.water_size = scaled(1, 1000);
    if (once_in(5)) e.dmin = scaled(1, 5);
    return e;
}

/* Image and derivatives one behind the other. */
static double *rendered(db_context *context, const db_experiment *e, db_plan_options options,
                        db_precision precision, size_t *pixels) {
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    *pixels = db_plan_pixels(plan);
    double *const images = calloc(*pixels * (WANTED + 1), sizeof *images);
    assert_non_null(images);
    void *derivative[WANTED];
    for (size_t k = 0; k < WANTED; k++) derivative[k] = images + (k + 1) * *pixels;
    assert_int_equal(options.parameter_count ? db_plan_gradient(plan, images, derivative)
                                             : db_plan_forward(plan, images),
                     DB_OK);
    db_plan_destroy(&plan);
    return images;
}

static double error_of(const double *tried, const double *exact, size_t pixels) {
    double largest = 0, error = 0;
    for (size_t i = 0; i < pixels; i++) {
        const double difference = fabs(tried[i] - exact[i]);
        if (!(difference <= error)) error = difference;
        largest = fmax(largest, fabs(exact[i]));
    }
    return error > 0 ? error / largest : 0;
}

/* Returns how often mixed is advised. */
static int try_jobs(int jobs, size_t parameters) {
    db_context *context;
    int mixed = 0;
    assert_int_equal(db_context_create(&context), DB_OK);
    for (int job = 0; job < jobs; job++) {
        db_experiment e = random_job(context);
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.parameters = wanted;
        options.parameter_count = parameters;
        db_precision_advice advice;
        assert_int_equal(db_precision_by_trial(context, &e, &options, &advice), DB_OK);
        if (advice.precision == DB_PRECISION_MIXED) {
            size_t pixels;
            double *exact = rendered(context, &e, options, DB_PRECISION_DOUBLE, &pixels),
                   *tried = rendered(context, &e, options, DB_PRECISION_MIXED, &pixels);
            for (size_t k = 0; k <= parameters; k++) {
                const double error = error_of(tried + k * pixels, exact + k * pixels, pixels);
                if (error <= (k ? 1e-5 : 1e-6)) continue;
                print_error("job %d, image %zu: off by %g, expected %g\n", job, k, error,
                            advice.error);
                fail();
            }
            free(exact);
            free(tried);
            mixed++;
        }
        db_experiment_clear(&e);
    }
    db_context_destroy(&context);
    return mixed;
}

static void mixed_images_are_within_their_bound(void **unused) {
    (void)unused;
    const int mixed = try_jobs(JOBS, 0);
    print_message("mixed for %d of %d jobs\n", mixed, JOBS);
    /* the advice would be useless if it were never mixed, and wrong if it were always */
    assert_in_range(mixed, JOBS / 5, 4 * JOBS / 5);
}

static void mixed_derivatives_are_within_their_bound(void **unused) {
    (void)unused;
    const int mixed = try_jobs(GRADIENT_JOBS, WANTED);
    print_message("mixed for %d of %d jobs with derivatives\n", mixed, GRADIENT_JOBS);
    assert_in_range(mixed, GRADIENT_JOBS / 20, GRADIENT_JOBS / 2);
}

static db_context *context;
static db_experiment large;

/* 16 million samples, few cells, the direct beam in the middle: a case for mixed. */
static int start(void **unused) {
    (void)unused;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, &large), DB_OK);
    for (int k = 0; k < 3; k++) {
        large.crystal.cell[k] = 100;
        large.crystal.Ncells[k] = 5;
    }
    large.beam.wavelength = 6.2;
    large.structure_factors.default_F = 100;
    db_panel *const panel = &large.detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = 4096;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.1;
    large.detector.distance = 100;
    large.detector.centre[0] = large.detector.centre[1] = 204.8;
    return 0;
}

static int finish(void **unused) {
    (void)unused;
    db_experiment_clear(&large);
    db_context_destroy(&context);
    return 0;
}

static db_precision_advice advice_for(const db_experiment *e) {
    db_precision_advice advice;
    assert_int_equal(db_precision_recommend(context, e, NULL, &advice), DB_OK);
    return advice;
}

static void expect_double(const db_experiment *e, const char *reason) {
    const db_precision_advice advice = advice_for(e);
    assert_int_equal(advice.precision, DB_PRECISION_DOUBLE);
    if (!strstr(advice.reason, reason)) fail_msg("'%s' is not in '%s'", reason, advice.reason);
}

static void large_jobs_are_mixed(void **unused) {
    (void)unused;
    const db_precision_advice advice = advice_for(&large), again = advice_for(&large);
    assert_int_equal(advice.precision, DB_PRECISION_MIXED);
    assert_true(advice.error > 1e-8 && advice.error <= 1e-6);
    assert_true(again.error == advice.error);
}

static void others_are_double_for_a_reason(void **unused) {
    (void)unused;
    db_experiment e = large;
    e.detector.panels = malloc(sizeof *e.detector.panels);
    assert_non_null(e.detector.panels);
    *e.detector.panels = large.detector.panels[0];
    e.detector.panels->slow_pixels = 1024;
    expect_double(&e, "small");
    free(e.detector.panels);
    e = large;
    e.crystal.shape = DB_SHAPE_TOPHAT;
    expect_double(&e, "flat spots");
    e = large;
    e.reference.on = 1;
    e.reference.distance = 0.1;
    expect_double(&e, "-compat");
    e = large;
    e.structure_factors.default_F = 0;
    expect_double(&e, "dark");
    e = large; /* pixels far from all nodes: the maximum is on a fringe */
    for (int k = 0; k < 3; k++) e.crystal.Ncells[k] = 300;
    e.crystal.misset[0] = 17;
    e.detector.centre[0] = -3000;
    expect_double(&e, "");
}

/* Compact spots with a tolerance: whether samples are left out at all depends on the precision. */
static void advice_does_not_depend_on_the_tolerance(void **unused) {
    (void)unused;
    db_experiment e;
    int mixed = 0;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    e.structure_factors.default_F = 100;
    e.detector.panels->fast_pixels = e.detector.panels->slow_pixels = 256;
    e.detector.centre[0] = e.detector.centre[1] = 12.8;
    for (int k = 0; k < 3; k++) e.crystal.cell[k] = 40;
    for (int n = 4; n <= 10; n++) {
        e.crystal.shape = n % 2 ? DB_SHAPE_GAUSS : DB_SHAPE_ROUND;
        for (int k = 0; k < 3; k++) e.crystal.Ncells[k] = n / 2.0;
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        db_precision_advice without, with;
        size_t pixels;
        double *const image = rendered(context, &e, options, DB_PRECISION_DOUBLE, &pixels);
        assert_int_equal(db_precision_by_trial(context, &e, &options, &without), DB_OK);
        for (size_t i = 0; i < pixels; i++) options.tolerance = fmax(options.tolerance, image[i]);
        options.tolerance *= 1e-2;
        assert_int_equal(db_precision_by_trial(context, &e, &options, &with), DB_OK);
        assert_string_equal(with.reason, without.reason);
        assert_true(with.error == without.error);
        mixed += with.precision == DB_PRECISION_MIXED;
        free(image);
    }
    assert_true(mixed > 0);
    db_experiment_clear(&e);
}

static void wrong_use_is_an_error(void **unused) {
    (void)unused;
    db_precision_advice advice;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    const db_region outside = {
        .panel = 3, .fast_count = 4096, .slow_count = 4096, .stride = 4096
    };
    options.regions = &outside;
    options.region_count = 1;
    assert_int_equal(db_precision_recommend(context, &large, &options, &advice), DB_ERROR_USAGE);
    options.region_count = 0;
    assert_int_equal(db_precision_recommend(context, &large, &options, &advice), DB_ERROR_USAGE);
    options.size = 1;
    assert_int_equal(db_precision_recommend(context, &large, &options, &advice), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "DB_PLAN_OPTIONS_INIT"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_images_are_within_their_bound),
        cmocka_unit_test(mixed_derivatives_are_within_their_bound),
        cmocka_unit_test_setup_teardown(large_jobs_are_mixed, start, finish),
        cmocka_unit_test_setup_teardown(others_are_double_for_a_reason, start, finish),
        cmocka_unit_test_setup_teardown(advice_does_not_depend_on_the_tolerance, start, finish),
        cmocka_unit_test_setup_teardown(wrong_use_is_an_error, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
