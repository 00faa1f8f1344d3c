/* The device code, run on the processor, gives the processor's images, derivatives and normal
 * equations, for every kind of experiment and in both precisions. */
#include "support/unit_test.h"
#include "support/by_parameters.h"
#include "gradient/configurations.h"
#include "gradient/images.h"
#include "machine.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/normal.h>
#include <dualbragg/products.h>
#include <dualbragg/expert/oracle.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the largest value: rounding, with another order of operations. */
static const double image_bounds[] = { 1e-12, 2e-6 }, slope_bounds[] = { 1e-12, 2e-6 },
                    sum_bounds[] = { 1e-12, 2e-6 };

/* That of tests/gradient/test_contraction.c. */
static const double oracle_bound = 1e-11;

/* More spots in closed form: of more tiles than one, and with more spots in a tile than a block's memory
 * holds. */
static void closed_still(db_context *context, db_experiment *e) {
    (void)context;
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = 0.04;
    e->spread.strain = 5;
    e->spread.bandwidth = 3;
    for (int i = 0; i < 3; i++) e->crystal.Ncells[i] *= 3;
    e->detector.panels[0].fast_pixels = 75; /* two tiles, three rows of them */
    e->detector.panels[0].slow_pixels = 37;
    e->detector.panels[0].pixel_size[0] = e->detector.panels[0].pixel_size[1] = 0.3;
}

static void closed_rotation(db_context *context, db_experiment *e) {
    closed_still(context, e);
    e->goniometer.phi_step = 1.5;
    e->spread.tails = 1;
    e->spread.tail_fraction[0] = 0.3;
    e->spread.tail_width[0] = 1.8;
}

static void many_spots(db_experiment *e) {
    e->crystal.cell[0] = 200;
    e->crystal.cell[1] = 190;
    e->crystal.cell[2] = 165;
    for (int i = 0; i < 3; i++) e->crystal.Ncells[i] = 6 + i;
    e->detector.panels[0].fast_pixels = 19;
    e->detector.panels[0].slow_pixels = 9;
}

static void closed_many_spots(db_context *context, db_experiment *e) {
    closed_still(context, e);
    many_spots(e);
}

static void closed_rotation_of_many_spots(db_context *context, db_experiment *e) {
    closed_rotation(context, e);
    many_spots(e);
    e->background.water_size = 0.02;
    e->crystal.b_factor = 12;
    e->oversample = 2;
}

static void closed_panels(db_context *context, db_experiment *e) {
    static const double wavelength[3] = { 1.28, 1.3, 1.33 }, weight[3] = { 0.4, 3, 1 };
    db_panel two[2];
    closed_still(context, e);
    two[0] = two[1] = e->detector.panels[0];
    two[1].origin[0] = 23;
    two[1].origin[2] = 0.7;
    assert_int_equal(db_experiment_set_panels(context, e, two, 2), DB_OK);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 3, 1), DB_OK);
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->spread.footprint[0] = 0.05;
    e->crystal.b_factor = 20;
}

static const configuration closed[] = {
    { "closed: still", closed_still, 0, NULL },
    { "closed: rotation with tails, slow", closed_rotation, 0, NULL },
    { "closed: many spots", closed_many_spots, 0, NULL },
    { "closed: rotation of many spots, water, slow", closed_rotation_of_many_spots, 0, NULL },
    { "closed: panels, sources, sensor, slow", closed_panels, 0, "source_weight:1" },
};
enum { CLOSED = sizeof closed / sizeof *closed };

typedef struct {
    db_context *processor, *device;
    db_experiment experiment;
    db_parameter parameters[MOST_PARAMETERS];
    size_t count;
} bench;

/* Of spots in closed form processor and device each make the slopes, with their own rounding: of those
 * that turn, slopes by the ends of a short range nearly cancel. */
static double bound_of(const double bounds[], const bench *b, db_precision precision) {
    return (b->experiment.spread.spots == DB_SPOTS_CLOSED ? 5 : 1) * bounds[precision];
}

static bench open_bench(const configuration *which) {
    bench b;
    machine_reset();
    assert_int_equal(db_context_create(&b.processor), DB_OK);
    assert_int_equal(db_context_create(&b.device), DB_OK);
    assert_int_equal(db_context_set_device(b.device, "cuda"), DB_OK);
    b.experiment = configured(b.processor, which);
    b.count = parameters_of(which, &b.experiment, b.parameters);
    return b;
}

static void close_bench(bench *b) {
    db_experiment_clear(&b->experiment);
    db_context_destroy(&b->processor);
    db_context_destroy(&b->device);
    COUNTED(assert_int_equal(stand_in.live, 0);)
}

static db_plan *plan_of(const bench *b, db_context *context, db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = b->parameters;
    options.parameter_count = b->count;
    const db_status status = db_plan_create(context, &b->experiment, &options, &plan);
    if (status != DB_OK) print_error("%s\n", db_context_message(context));
    assert_int_equal(status, DB_OK);
    return plan;
}

static void expect_near(const char *what, const double *found, const double *expected, size_t count,
                        double scale, double bound) {
    const double off = largest_difference(found, expected, count);
    if (off <= bound * scale) return;
    print_error("%s: off by %g of %g, bound %g\n", what, off / scale, scale, bound);
    fail();
}

/* Full-width duals of the same experiment; oracle: room for them. */
static void compare_to_oracle(const bench *b, db_plan *plan, const images *found, images *oracle) {
    const size_t pixels = db_plan_pixels(plan);
    assert_int_equal(db_plan_oracle(plan, oracle->image, oracle->derivative), DB_OK);
    const double peak = largest(oracle->image, pixels);
    expect_near("image of the oracle", found->image, oracle->image, pixels, peak, oracle_bound);
    for (size_t k = 0; k < b->count; k++) {
        char name[64];
        db_parameter_name(b->parameters[k], name, sizeof name);
        const double unit = fmax(largest(oracle->derivative[k], pixels),
                                 1e-6 * peak / db_parameter_describe(b->parameters[k])->scale);
        expect_near(name, found->derivative[k], oracle->derivative[k], pixels, unit, oracle_bound);
    }
}

static void compare_images(const bench *b, db_precision precision) {
    db_plan *plan = plan_of(b, b->processor, precision), *own = plan_of(b, b->device, precision);
    const size_t pixels = db_plan_pixels(plan);
    images expected = images_create(pixels), found = images_create(pixels);
    assert_string_equal(db_plan_device(own), "cuda:0");
    assert_int_equal(db_plan_forward(plan, expected.image), DB_OK);
    assert_int_equal(db_plan_forward(own, found.image), DB_OK);
    const double peak = largest(expected.image, pixels);
    expect_near("image", found.image, expected.image, pixels, peak, image_bounds[precision]);
    memset(found.image, 0, pixels * sizeof *found.image);
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    assert_int_equal(db_plan_gradient(own, found.image, (void *const *)found.derivative), DB_OK);
    expect_near("image with derivatives", found.image, expected.image, pixels, peak,
                image_bounds[precision]);
    for (size_t k = 0; k < b->count; k++) {
        char name[64];
        db_parameter_name(b->parameters[k], name, sizeof name);
        /* as in the tests of contraction: one that nearly cancels is known to the image's
         * precision */
        const double unit = fmax(largest(expected.derivative[k], pixels),
                                 (precision == DB_PRECISION_MIXED ? 1 : 0) * peak /
                                     db_parameter_describe(b->parameters[k])->scale);
        expect_near(name, found.derivative[k], expected.derivative[k], pixels, unit,
                    bound_of(slope_bounds, b, precision));
    }
    if (precision == DB_PRECISION_DOUBLE) compare_to_oracle(b, own, &found, &expected);
    images_destroy(&expected);
    images_destroy(&found);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* A step of each parameter that changes the image about as much as the others' steps. */
static void compare_tangents(const bench *b, db_precision precision) {
    db_plan *plan = plan_of(b, b->processor, precision), *own = plan_of(b, b->device, precision);
    const size_t pixels = db_plan_pixels(plan);
    images expected = images_create(pixels), found = images_create(pixels);
    double direction[MOST_PARAMETERS], scale = 0;
    for (size_t k = 0; k < b->count; k++)
        direction[k] = db_parameter_describe(b->parameters[k])->scale * (k % 3 ? 0.01 : -0.02);
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    for (size_t k = 0; k < b->count; k++)
        scale += fabs(direction[k]) * largest(expected.derivative[k], pixels);
    assert_int_equal(jvp_by_parameters(plan, direction, expected.image, expected.derivative[0]),
                     DB_OK);
    assert_int_equal(jvp_by_parameters(own, direction, found.image, found.derivative[0]), DB_OK);
    expect_near("image of a tangent", found.image, expected.image, pixels,
                largest(expected.image, pixels), image_bounds[precision]);
    expect_near("tangent", found.derivative[0], expected.derivative[0], pixels, scale,
                bound_of(slope_bounds, b, precision));
    images_destroy(&expected);
    images_destroy(&found);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

typedef struct {
    double chi2, gradient[MOST_PARAMETERS], curvature[MOST_PARAMETERS * MOST_PARAMETERS];
} equations;

static equations normal_of(db_plan *plan, const float *data, const float *weight) {
    equations e;
    assert_int_equal(
        db_plan_normal(plan, DB_FLOAT32, data, weight, &e.chi2, e.gradient, e.curvature), DB_OK);
    return e;
}

static void compare_normal(const bench *b, db_precision precision, int weighted) {
    db_plan *plan = plan_of(b, b->processor, precision), *own = plan_of(b, b->device, precision);
    const size_t pixels = db_plan_pixels(plan);
    double *image = calloc(pixels, sizeof *image);
    float *data = calloc(pixels, sizeof *data), *weight = calloc(pixels, sizeof *weight);
    assert_true(image && data && weight);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    const double mean = largest(image, pixels) / 50;
    for (size_t i = 0; i < pixels; i++) {
        data[i] = (float)(image[i] * (0.6 + 0.1 * (double)(i * 7919 % 11)) + 0.1 * mean);
        weight[i] = i % 7 == 3 ? 0.0F : (float)(1 / (mean + (double)data[i]));
        if (weighted && i % 7 == 3) data[i] = NAN;
    }
    const equations expected = normal_of(plan, data, weighted ? weight : NULL),
                    found = normal_of(own, data, weighted ? weight : NULL);
    const double bound = bound_of(sum_bounds, b, precision);
    expect_near("chi2", &found.chi2, &expected.chi2, 1, expected.chi2, bound);
    for (size_t k = 0; k < b->count; k++) {
        const double length = sqrt(expected.curvature[k * b->count + k]);
        expect_near("gradient", &found.gradient[k], &expected.gradient[k], 1,
                    length * sqrt(expected.chi2), bound);
        for (size_t l = 0; l < b->count; l++)
            expect_near("curvature", &found.curvature[k * b->count + l],
                        &expected.curvature[k * b->count + l], 1,
                        length * sqrt(expected.curvature[l * b->count + l]), bound);
    }
    free(image);
    free(data);
    free(weight);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* Devices have no halo beside spots in closed form. */
static int is_refused(const bench *b) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    if (b->experiment.spread.spots != DB_SPOTS_CLOSED ||
        !(b->experiment.crystal.diffuse_gamma[0] > 0))
        return 0;
    assert_int_equal(db_plan_create(b->device, &b->experiment, &options, &plan),
                     DB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(db_context_message(b->device), "a diffuse halo"));
    return 1;
}

static void equals_the_processor(void **state) {
    bench b = open_bench(*state);
    const size_t all = b.count;
    if (is_refused(&b)) {
        close_bench(&b);
        return;
    }
    for (int p = 0; p < 2; p++) {
        const db_precision precision = p ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        b.count = all;
        compare_images(&b, precision);
        compare_tangents(&b, precision);
        compare_normal(&b, precision, 1);
        /* without the cell counts, which have kernels of their own; the lattice by its parameters
         */
        b.count = 5;
        compare_images(&b, precision);
        compare_normal(&b, precision, 0);
    }
    close_bench(&b);
}

int main(void) {
    struct CMUnitTest tests[64];
    machine_find();
    const size_t shared = configurations_and_closed(), count = shared + CLOSED;
    for (size_t i = 0; i < count; i++) {
        const configuration *c = i < shared ? configuration_or_closed(i) : &closed[i - shared];
        tests[i] =
            (struct CMUnitTest){ c->name, equals_the_processor, NULL, NULL, (void *)(uintptr_t)c };
    }
    choose_cases(); /* not those whose names end in ", slow" */
    return _cmocka_run_group_tests("same as processor", tests, count, NULL, NULL);
}
