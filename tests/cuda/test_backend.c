/* The CUDA backend beside its kernels: regions, pixel types, memory of the device, what warm calls
 * copy, and failures. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_WAVELENGTH
#include "support/small_crystal.h"
#include "support/shown_regions.h"
#include "two_contexts.h"
#include "takes_all.h"

#include <dualbragg/normal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 300, SLOW = 11, PIXELS = FAST * SLOW };

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 3);
    return 0;
}

static db_plan *plan_of(db_context *context, db_plan_options options) {
    db_plan *plan;
    options.parameters = some;
    options.parameter_count = SOME;
    const db_status status = db_plan_create(context, &experiment, &options, &plan);
    if (status != DB_OK) print_error("%s\n", db_context_message(context));
    assert_int_equal(status, DB_OK);
    return plan;
}

static db_plan_options defaults(void) { return (db_plan_options)DB_PLAN_OPTIONS_INIT; }

static void expect_near(const float *found, const float *expected, size_t count, double bound) {
    double largest = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        largest = fmax(largest, fabs((double)expected[i]));
        off = fmax(off, fabs((double)found[i] - (double)expected[i]));
    }
    if (off > bound * largest) print_error("off by %g of %g\n", off, largest);
    assert_true(off <= bound * largest);
}

/* Image and derivatives on both, with floats: as near as these are to each other. */
static void compare(db_plan_options options) {
    const double bound = options.precision == DB_PRECISION_MIXED ? 1e-5 : 2e-7;
    db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
    const size_t pixels = db_plan_pixels(plan);
    result expected = result_create(pixels), found = result_create(pixels);
    assert_string_equal(db_plan_device(own), "cuda:0");
    assert_int_equal(db_plan_forward(plan, expected.image), DB_OK);
    assert_int_equal(db_plan_forward(own, found.image), DB_OK);
    expect_near(found.image, expected.image, pixels, bound);
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    memset(found.image, 0, pixels * sizeof(float));
    assert_int_equal(db_plan_gradient(own, found.image, (void *const *)found.derivative), DB_OK);
    expect_near(found.image, expected.image, pixels, bound);
    for (int k = 0; k < SOME; k++)
        expect_near(found.derivative[k], expected.derivative[k], pixels, bound);
    result_destroy(&expected);
    result_destroy(&found);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

static void compare_precisions(db_plan_options options) {
    options.precision = DB_PRECISION_DOUBLE;
    compare(options);
    options.precision = DB_PRECISION_MIXED;
    compare(options);
}

static void give_list(int interpolate) {
    db_structure_factors *f = &experiment.structure_factors;
    const int half = 20, extent = 2 * half + 1;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -half;
        f->extent[j] = extent;
    }
    const size_t count = (size_t)extent * (size_t)extent * (size_t)extent;
    f->amplitude = malloc(count * sizeof(double));
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < count; i++) f->amplitude[i] = 20 + (double)((i * 7919) % 31);
    f->interpolate = interpolate;
}

static void wide_rows_equal_the_processors(void **state) {
    (void)state;
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS,
                                               DB_SHAPE_TOPHAT };
    for (int i = 0; i < 4; i++) {
        experiment.crystal.shape = shapes[i];
        compare_precisions(defaults());
    }
    experiment.crystal.shape = DB_SHAPE_SQUARE;
    experiment.crystal.cells[1] = 17.5; /* no polynomial */
    compare_precisions(defaults());
    experiment.crystal.mosaic_spread = 0.3;
    experiment.crystal.mosaic_domains = 37; /* in blocks of 16, the last one not full */
    compare_precisions(defaults());
    experiment.oversample = 2;
    experiment.crystal.mosaic_domains = 3;
    compare_precisions(defaults());
    experiment.crystal.b_factor = 12;
    compare_precisions(defaults());
    experiment.point_pixel = 1;
    give_list(0);
    compare_precisions(defaults());
    experiment.oversample = 1;
    compare_precisions(defaults());
    experiment.crystal.b_factor = 0;
    experiment.crystal.mosaic_domains = 1; /* a still */
    compare_precisions(defaults());
}

/* With a tolerance samples are left out; the square shape's streaks, too. */
static void the_same_samples_are_left_out(void **state) {
    (void)state;
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.tolerance = 1e-4;
    for (int j = 0; j < 3; j++) experiment.crystal.cells[j] = 30;
    for (int i = 0; i < 3; i++) {
        experiment.crystal.shape = shapes[i];
        compare_precisions(options);
    }
}

static void many_sources_and_samples_equal_the_processors(void **state) {
    (void)state;
    const db_beam_spread spread = { 0.004, 0.02, 0.003, 0.01, 3, 3, 1, 0.02, 0.01, 3 };
    assert_int_equal(db_beam_set_spread(processor, &experiment.beam, &spread), DB_OK);
    experiment.crystal.mosaic_spread = 0.3;
    experiment.crystal.mosaic_domains = 8;
    compare_precisions(defaults()); /* terms of the rows fit */
    experiment.crystal.mosaic_domains = 40;
    compare_precisions(defaults()); /* they do not */
}

/* Of any size and place, one overlapping another, with gaps between their rows in the image. */
static void regions_equal_the_processors(void **state) {
    (void)state;
    enum { BOXES = 40 };
    db_region region[BOXES];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    size_t offset = 0;
    for (int i = 0; i < BOXES; i++) {
        region[i] = (db_region){ .fast_start = 7 * i,
                                 .slow_start = i % 5,
                                 .fast_count = 1 + i % 9,
                                 .slow_count = 1 + i % 6,
                                 .offset = offset,
                                 .stride = (size_t)(1 + i % 9) };
        offset += (size_t)region[i].fast_count * (size_t)region[i].slow_count;
    }
    options.regions = region;
    options.region_count = BOXES;
    compare_precisions(options);
    for (int i = 0; i < BOXES; i++) { /* where they are in the image of the panel */
        region[i].offset = (size_t)region[i].slow_start * FAST + (size_t)region[i].fast_start;
        region[i].stride = FAST;
    }
    compare_precisions(options);
    region[0] = (db_region){ .fast_start = 3,
                             .slow_start = 2,
                             .fast_count = 280,
                             .slow_count = 7,
                             .offset = 2 * FAST + 3,
                             .stride = FAST };
    options.region_count = 1;
    compare_precisions(options);
}

/* Regions that show one reflection each. */
static void compare_shown(db_precision precision) {
    const shown_regions shown = shown_regions_of(processor, &experiment, 5);
    const db_plan_options options = shown_options(&shown, precision);
    float *const expected = shown_pixels(processor, &experiment, &options, &shown);
    float *const found = shown_pixels(device, &experiment, &options, &shown);
    expect_near(found, expected, shown.pixels, precision == DB_PRECISION_MIXED ? 1e-5 : 2e-7);
    free(expected);
    free(found);
}

static void regions_of_one_reflection_equal_the_processors(void **state) {
    (void)state;
    compare_shown(DB_PRECISION_DOUBLE);
    compare_shown(DB_PRECISION_MIXED);
    give_list(0);
    experiment.crystal.shape = DB_SHAPE_GAUSS;
    compare_shown(DB_PRECISION_DOUBLE);
    experiment.detector.sensor_thickness = 100;
    experiment.detector.attenuation_depth = 300;
    compare_shown(DB_PRECISION_MIXED);
}

static void pixels_between_regions_stay(void **state) {
    (void)state;
    const db_region region[2] = { { 0, 3, 2, 100, 4, 2 * FAST + 3, FAST },
                                  { 0, 150, 1, 20, 5, FAST + 150, FAST } };
    float image[PIXELS];
    for (int wide = 1; wide <= 2; wide++) {
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.regions = region;
        options.region_count = (size_t)wide;
        db_plan *plan = plan_of(device, options);
        for (int i = 0; i < PIXELS; i++) image[i] = -1;
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        int rendered = 0;
        for (int i = 0; i < PIXELS; i++) rendered += image[i] >= 0;
        assert_int_equal(rendered, wide == 1 ? 400 : 500);
        db_plan_destroy(&plan);
    }
}

/* Images on the device: nothing is copied to the host. */
static void images_may_stay_on_the_device(void **state) {
    (void)state;
    const db_region region = { 0, 3, 2, 270, 4, 2 * FAST + 3, FAST };
    for (int part = 0; part < 2; part++) {
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        if (part) {
            options.regions = &region;
            options.region_count = 1;
        }
        db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
        const size_t pixels = db_plan_pixels(plan), bytes = pixels * sizeof(float);
        result expected = result_create(pixels), found = result_create(pixels);
        void *there[SOME + 1];
        for (int k = 0; k <= SOME; k++) {
            assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &there[k]), DB_OK);
            assert_int_equal(db_plan_memory_write(own, there[k], found.image, bytes), DB_OK);
        }
        assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        assert_int_equal(db_plan_gradient(own, there[0], there + 1), DB_OK);
        machine_reset();
        assert_int_equal(db_plan_gradient(own, there[0], there + 1), DB_OK);
        COUNTED(assert_int_equal(stand_in.launches, 1);)
        COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
        COUNTED(assert_int_equal(stand_in.bytes_to_host, 0);)
        assert_int_equal(db_plan_memory_read(own, there[0], found.image, bytes), DB_OK);
        expect_near(found.image, expected.image, pixels, 2e-7);
        for (int k = 0; k < SOME; k++) {
            assert_int_equal(db_plan_memory_read(own, there[k + 1], found.derivative[k], bytes),
                             DB_OK);
            expect_near(found.derivative[k], expected.derivative[k], pixels, 2e-7);
        }
        /* the image on the device, derivatives on the host */
        memset(found.derivative[1], 0, bytes);
        assert_int_equal(db_plan_gradient(own, there[0], (void *const *)found.derivative), DB_OK);
        for (int k = 0; k < SOME; k++)
            expect_near(found.derivative[k], expected.derivative[k], pixels, 2e-7);
        for (int k = 0; k <= SOME; k++) db_plan_memory_destroy(own, &there[k]);
        result_destroy(&expected);
        result_destroy(&found);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

static void warm_calls_copy_what_changed(void **state) {
    (void)state;
    give_list(0);
    db_plan *plan = plan_of(device, defaults());
    result r = result_create(PIXELS);
    void *const *derivatives = (void *const *)r.derivative;
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, PIXELS * sizeof(float));)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.bytes_to_host, (SOME + 1) * PIXELS * sizeof(float));)
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);) /* of all images */
    COUNTED(assert_in_range(stand_in.waits, 1, 2);)
    COUNTED(assert_int_equal(stand_in.launches, 1);)
    /* the same values again are no change */
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    /* the crystal: a sample and the coefficients of five parameters, not the list */
    experiment.crystal.misset[0] += 0.01;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
    COUNTED(assert_in_range(stand_in.copies_to_device, 1, 2);)
    COUNTED(assert_in_range(stand_in.bytes_to_device, 1, 4096);)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    /* the scale is in the arguments of the kernel */
    experiment.beam.fluence *= 2;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 0);)
    /* the list */
    experiment.structure_factors.amplitude[5] += 1;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    machine_reset();
    assert_int_equal(db_plan_forward(plan, r.image), DB_OK);
    COUNTED(assert_int_equal(stand_in.copies_to_device, 1);)
    COUNTED(assert_int_equal(stand_in.bytes_to_device, (41 * 41 * 41 + 1) * sizeof(double));)
    COUNTED(assert_int_equal(stand_in.allocations, 0);)
    result_destroy(&r);
    db_plan_destroy(&plan);
}

typedef struct {
    double chi2, gradient[SOME], curvature[SOME * SOME];
} equations;

static db_status normal(db_plan *plan, const float *data, const float *weight, equations *e) {
    return db_plan_normal(plan, data, weight, &e->chi2, e->gradient, e->curvature);
}

/* Data and weights may be here or there, in any combination; those there are not copied. */
static void data_may_be_on_the_device(void **state) {
    (void)state;
    const db_region region[2] = { { 0, 3, 2, 100, 4, 2 * FAST + 3, FAST },
                                  { 0, 150, 1, 20, 5, FAST + 150, FAST } };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = region;
    options.region_count = 2;
    db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
    const size_t pixels = db_plan_pixels(plan), bytes = pixels * sizeof(float);
    float *data = malloc(bytes), *weight = malloc(bytes);
    assert_true(data && weight);
    for (size_t i = 0; i < pixels; i++) {
        data[i] = (float)(i % 13);
        weight[i] = i % 3 ? 0.5F : 0;
        if (weight[i] == 0) data[i] = NAN;
    }
    equations expected, found;
    assert_int_equal(normal(plan, data, weight, &expected), DB_OK);
    void *data_there, *weight_there;
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &data_there), DB_OK);
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, bytes, &weight_there), DB_OK);
    assert_int_equal(db_plan_memory_write(own, data_there, data, bytes), DB_OK);
    assert_int_equal(db_plan_memory_write(own, weight_there, weight, bytes), DB_OK);
    double first = 0;
    for (int way = 0; way < 4; way++) {
        const float *const d = way & 1 ? data_there : data, *const w =
                                                                way & 2 ? weight_there : weight;
        assert_int_equal(normal(own, d, w, &found), DB_OK);
        assert_true(fabs(found.chi2 - expected.chi2) <= 1e-12 * expected.chi2);
        if (way == 0) first = found.chi2;
        assert_true(found.chi2 == first); /* the same bits */
        for (int i = 0; i < SOME * SOME; i++)
            assert_true(fabs(found.curvature[i] - expected.curvature[i]) <=
                        1e-12 * sqrt(expected.curvature[i / SOME * (SOME + 1)] *
                                     expected.curvature[i % SOME * (SOME + 1)]));
    }
    machine_reset();
    assert_int_equal(normal(own, data_there, weight_there, &found), DB_OK);
    COUNTED(assert_int_equal(stand_in.bytes_to_device, 0);)
    COUNTED(assert_int_equal(stand_in.copies_to_host, 1);)
    COUNTED(assert_int_equal(stand_in.launches, 2);)
    /* what is wrong with data is found wherever they are */
    data[2 * FAST + 8] = INFINITY;
    weight[2 * FAST + 8] = 1;
    assert_int_equal(db_plan_memory_write(own, data_there, data, bytes), DB_OK);
    assert_int_equal(db_plan_memory_write(own, weight_there, weight, bytes), DB_OK);
    assert_int_equal(normal(own, data_there, weight_there, &found), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "data of pixel (8, 2)"));
    db_plan_memory_destroy(own, &data_there);
    db_plan_memory_destroy(own, &weight_there);
    free(data);
    free(weight);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* All parameters that an experiment can have at once: rows of the normal equations so long that
 * fewer threads make a block. */
static void many_parameters_serve(void **state) {
    (void)state;
    static const char *const more[] = {
        "F:0:0:1", "F:0:1:0", "F:1:0:0",         "F:1:1:0",
        "F:1:1:1", "F:2:1:0", "source_weight:0", "source_weight:1"
    };
    enum { MORE = sizeof more / sizeof *more, MOST = DB_PARAMETER_COUNT + MORE };
    const db_beam_spread spread = { 0.004, 0.02, 0.003, 0.01, 3, 3, 1, 0.02, 0.01, 3 };
    assert_int_equal(db_beam_set_spread(processor, &experiment.beam, &spread), DB_OK);
    experiment.detector.sensor_thickness = 450;
    experiment.detector.attenuation_depth = 300;
    experiment.detector.sensor_layers = 2;
    experiment.background.water_size = 0.02;
    experiment.crystal.mosaic_spread = 0.3;
    experiment.crystal.mosaic_domains = 2;
    experiment.detector.panels[0].fast_pixels = 40;
    give_list(0);
    db_parameter parameters[MOST];
    size_t count = 0;
    for (int p = 0; p < DB_PARAMETER_COUNT; p++)
        if (db_parameter_exists(&experiment, (db_parameter)p))
            parameters[count++] = (db_parameter)p;
    for (int i = 0; i < MORE; i++)
        assert_int_equal(db_parameter_find(NULL, more[i], &parameters[count++]), DB_OK);
    static float data[40 * SLOW];
    for (int i = 0; i < 40 * SLOW; i++) data[i] = (float)(i % 7);
    for (int p = 0; p < 2; p++) {
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.precision = p ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        options.parameters = parameters;
        options.parameter_count = count;
        double chi2[2], gradient[2][MOST];
        static double curvature[2][MOST * MOST];
        for (int i = 0; i < 2; i++) {
            db_plan *plan;
            assert_int_equal(db_plan_create(i ? device : processor, &experiment, &options, &plan),
                             DB_OK);
            const db_status status =
                db_plan_normal(plan, data, NULL, &chi2[i], gradient[i], curvature[i]);
            if (status != DB_OK) print_error("%s\n", db_context_message(device));
            assert_int_equal(status, DB_OK);
            db_plan_destroy(&plan);
        }
        const double bound = p ? 2e-6 : 1e-12;
        assert_true(fabs(chi2[1] - chi2[0]) <= bound * chi2[0]);
        for (size_t k = 0; k < count; k++)
            for (size_t l = 0; l < count; l++)
                assert_true(fabs(curvature[1][k * count + l] - curvature[0][k * count + l]) <=
                            bound *
                                sqrt(curvature[0][k * count + k] * curvature[0][l * count + l]));
    }
}

/* Locked memory of the host is copied as it is. */
/* Image and derivatives of regions in one copy, whatever kind of memory of the host they go to, one
 * behind the other or not. */
static void images_come_together(void **state) {
    (void)state;
    enum { BOXES = 30, BOX = 13 * 7, ALL = BOXES * BOX };
    db_region region[BOXES];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    for (int i = 0; i < BOXES; i++)
        region[i] = (db_region){ 0, 9 * i, i % 5, 13, 7, (size_t)i * BOX, 13 };
    options.regions = region;
    options.region_count = BOXES;
    for (int gaps = 0; gaps < 2; gaps++) {
        for (int i = 0; i < BOXES && gaps; i++) region[i].offset += (size_t)i * 3;
        db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
        const size_t pixels = db_plan_pixels(plan);
        result expected = result_create(pixels), scattered = result_create(pixels);
        void *locked;
        float *image[SOME + 1];
        assert_int_equal(db_plan_memory_create(own, DB_MEMORY_HOST,
                                               (SOME + 1) * pixels * sizeof(float), &locked),
                         DB_OK);
        memset(locked, 0, (SOME + 1) * pixels * sizeof(float));
        for (size_t k = 0; k <= SOME; k++) image[k] = (float *)locked + k * pixels;
        assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                         DB_OK);
        machine_reset();
        assert_int_equal(
            db_plan_gradient(own, scattered.image, (void *const *)scattered.derivative), DB_OK);
        COUNTED(assert_int_equal(stand_in.copies_to_host, 1);)
        machine_reset();
        assert_int_equal(db_plan_gradient(own, image[0], (void *const *)(image + 1)), DB_OK);
        COUNTED(if (!gaps) assert_int_equal(stand_in.copies_to_host, 1);)
        expect_near(scattered.image, expected.image, pixels, 2e-7);
        expect_near(image[0], expected.image, pixels, 2e-7);
        for (int k = 0; k < SOME; k++) {
            expect_near(scattered.derivative[k], expected.derivative[k], pixels, 2e-7);
            assert_memory_equal(image[k + 1], scattered.derivative[k], pixels * sizeof(float));
        }
        db_plan_memory_destroy(own, &locked);
        result_destroy(&expected);
        result_destroy(&scattered);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

static void locked_memory_serves(void **state) {
    (void)state;
    db_plan *plan = plan_of(device, defaults());
    float image[PIXELS];
    void *locked;
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_HOST, sizeof image, &locked), DB_OK);
    memset(locked, 0, sizeof image);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(db_plan_forward(plan, locked), DB_OK);
    assert_memory_equal(image, locked, sizeof image);
    db_plan_memory_destroy(plan, &locked);
    db_plan_destroy(&plan);
}

/* Larger than what a copy takes at a time. */
static void large_images_come_in_pieces(void **state) {
    (void)state;
    experiment.detector.panels[0].fast_pixels = 1500;
    experiment.detector.panels[0].slow_pixels = 1501;
    experiment.detector.panels[0].pixel_size[0] = experiment.detector.panels[0].pixel_size[1] =
        0.05;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    const db_region region = { 0, 1, 1, 1498, 1499, 1501, 1500 };
    db_plan *plan, *own;
    const size_t pixels = 1500 * 1501;
    double *image = calloc(pixels, sizeof *image), *found = calloc(pixels, sizeof *found);
    assert_true(image && found);
    for (int part = 0; part < 2; part++) {
        if (part) {
            options.regions = &region;
            options.region_count = 1;
        }
        plan = plan_of(processor, options);
        own = plan_of(device, options);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        assert_int_equal(db_plan_forward(own, found), DB_OK);
        for (size_t i = 0; i < pixels; i++) assert_true(fabs(found[i] - image[i]) <= 1e-12 * 1e3);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
    free(image);
    free(found);
}

#if !defined(DB_ON_GPU)
static void what_is_missing_is_said(void **state) {
    (void)state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    stand_in.driver = cudaErrorInsufficientDriver;
    assert_int_equal(db_context_set_device(context, "cuda"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "no NVIDIA driver"));
    stand_in.driver = cudaSuccess;
    stand_in.devices = 0;
    assert_int_equal(db_context_set_device(context, "cuda:0"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "no GPU"));
    assert_int_equal(db_context_set_device(context, "auto"), DB_OK);
    assert_string_equal(db_context_device(context), "cpu");
    assert_non_null(strstr(db_context_device_note(context), "no GPU"));
    stand_in.devices = 2;
    assert_int_equal(db_context_set_device(context, "cuda:2"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "below that of GPUs, 2"));
    stand_in.major = 7;
    stand_in.minor = 0;
    assert_int_equal(db_context_set_device(context, "cuda"), DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(context), "compute capability 7.5"));
    stand_in.minor = 5;
    assert_int_equal(db_context_set_device(context, "cuda:1"), DB_OK);
    assert_string_equal(db_context_device_model(context), "Stand-in 1");
    db_context_destroy(&context);
}

/* A plan uses stream, events and memory of one that is gone, and their results do not mix. */
static void a_plan_takes_what_another_has_left(void **state) {
    (void)state;
    static const db_region region = { 0, 3, 2, 270, 4, 2 * FAST + 3, FAST };
    db_plan_options part = DB_PLAN_OPTIONS_INIT;
    part.regions = &region;
    part.region_count = 1;
    result expected = result_create(PIXELS), r = result_create(PIXELS);
    void *const *derivatives = (void *const *)r.derivative;
    give_list(0);
    db_plan *plan = plan_of(processor, defaults());
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    db_plan_destroy(&plan);
    for (int round = 0; round < 3; round++) {
        if (round) stand_in.allocations = stand_in.waits = stand_in.copies_to_device = 0;
        const size_t live = stand_in.live;
        plan = plan_of(device, part);
        if (round) {
            assert_int_equal(stand_in.waits, 0);
            assert_int_equal(stand_in.copies_to_device, 1); /* of the regions */
        }
        assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
        db_plan_destroy(&plan);
        plan = plan_of(device, defaults());
        assert_int_equal(db_plan_gradient(plan, r.image, derivatives), DB_OK);
        for (int k = 0; k < SOME; k++)
            expect_near(r.derivative[k], expected.derivative[k], PIXELS, 2e-7);
        db_plan_destroy(&plan);
        if (!round) continue;
        assert_int_equal(stand_in.allocations, 0);
        assert_int_equal(stand_in.live, live);
    }
    result_destroy(&expected);
    result_destroy(&r);
}

/* What waits for later plans is given up where memory is short. */
static void what_is_left_makes_room(void **state) {
    (void)state;
    static double image[SOME + 1][PIXELS];
    void *images[SOME + 1];
    for (int k = 0; k <= SOME; k++) images[k] = image[k];
    db_plan *plan[2];
    for (int i = 0; i < 2; i++) {
        plan[i] = plan_of(device, defaults());
        assert_int_equal(db_plan_gradient(plan[i], images[0], images + 1), DB_OK);
    }
    for (int i = 0; i < 2; i++) db_plan_destroy(&plan[i]);
    stand_in.memory = stand_in.allocated + 4096;
    db_plan_options wide = DB_PLAN_OPTIONS_INIT;
    wide.pixel_type = DB_FLOAT64; /* twice the memory of one of the two */
    plan[0] = plan_of(device, wide);
    const db_status status = db_plan_gradient(plan[0], images[0], images + 1);
    if (status != DB_OK) print_error("%s\n", db_context_message(device));
    assert_int_equal(status, DB_OK);
    db_plan_destroy(&plan[0]);
}

static void the_callers_device_stays_current(void **state) {
    (void)state;
    float image[PIXELS];
    stand_in.current = 1;
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(stand_in.current, 1);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    assert_int_equal(stand_in.current, 1);
    assert_int_equal(stand_in.pushed, 0);
}

/* A context takes half a gigabyte of a GPU, and processes beside each other have one each. */
static void only_the_plans_device_gets_a_context(void **state) {
    (void)state;
    float image[PIXELS];
    void *there;
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_int_equal(db_plan_memory_create(plan, DB_MEMORY_DEVICE, sizeof image, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(plan, there, image, sizeof image), DB_OK);
    assert_int_equal(db_plan_forward(plan, there), DB_OK);
    db_plan_memory_destroy(plan, &there);
    db_plan_destroy(&plan);
    assert_int_equal(stand_in.contexts, 1U << 1);
    assert_int_equal(stand_in.current, 0);
    assert_int_equal(stand_in.pushed, 0);
}

static void memory_of_another_device_is_refused(void **state) {
    (void)state;
    float image[PIXELS] = { 0 };
    void *there;
    equations e;
    db_plan *own = plan_of(device, defaults());
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    db_plan *other = plan_of(device, defaults());
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, sizeof image, &there), DB_OK);
    assert_int_equal(db_plan_memory_write(own, there, image, sizeof image), DB_OK);
    assert_int_equal(db_plan_forward(own, there), DB_OK);
    assert_int_equal(db_plan_forward(other, there), DB_ERROR_INPUT);
    assert_string_equal(
        db_context_message(device),
        "cuda:1: the image: expected memory of this GPU or of the host, found memory "
        "of cuda:0");
    assert_int_equal(normal(other, image, there, &e), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "weights: expected memory of this GPU"));
    assert_int_equal(db_plan_forward(other, image), DB_OK);
    db_plan_memory_destroy(own, &there);
    db_plan_destroy(&own);
    db_plan_destroy(&other);
}

/* After an illegal address every call fails until the process ends. */
static void a_final_failure_is_said(void **state) {
    (void)state;
    float image[PIXELS];
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    stand_in.failure = cudaErrorIllegalAddress;
    stand_in.calls_until_failure = 3;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_plan_forward(plan, image), DB_ERROR_DEVICE);
        assert_non_null(strstr(db_context_message(device), "illegal memory access"));
        assert_non_null(
            strstr(db_context_message(device), "this process cannot use the GPU any more"));
    }
    db_plan_destroy(&plan);
    stand_in_reset();
    /* with auto the processor goes on, with plans of later, too */
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    plan = plan_of(device, defaults());
    assert_string_equal(db_plan_device(plan), "cuda:0");
    stand_in.failure = cudaErrorIllegalAddress;
    stand_in.calls_until_failure = 3;
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_string_equal(db_context_device(device), "cpu");
    assert_non_null(strstr(db_context_device_note(device), "illegal memory access"));
    const long calls = stand_in.calls;
    db_plan *later = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(later, image), DB_OK);
    assert_int_equal(stand_in.calls, calls);
    assert_non_null(strstr(db_context_device_note(device), "illegal memory access"));
    db_plan_destroy(&later);
    db_plan_destroy(&plan);
    stand_in_reset();
}

static void memory_that_runs_out_is_said(void **state) {
    (void)state;
    db_plan *plan;
    float *image[SOME + 1];
    for (int k = 0; k <= SOME; k++) image[k] = calloc(PIXELS, sizeof(float));
    stand_in.memory = 4096;
    assert_int_equal(db_plan_create(device, &experiment, NULL, &plan), DB_ERROR_MEMORY);
    assert_null(plan);
    assert_non_null(strstr(db_context_message(device), "out of the GPU's memory"));
    assert_int_equal(stand_in.live, 0);
    /* enough for the image, not for derivatives */
    stand_in.memory = PIXELS * sizeof(float) + 8192;
    plan = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(plan, image[0]), DB_OK);
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_ERROR_MEMORY);
    assert_non_null(strstr(db_context_message(device), "derivative images"));
    assert_int_equal(db_plan_forward(plan, image[0]), DB_OK);
    stand_in.memory = (size_t)1 << 30;
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_OK);
    db_plan_destroy(&plan);
    /* with auto the processor does it */
    db_context_destroy(&device); /* with what the plan has left */
    assert_int_equal(db_context_create(&device), DB_OK);
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    stand_in.memory = PIXELS * sizeof(float) + 8192;
    plan = plan_of(device, defaults());
    assert_string_equal(db_plan_device(plan), "cuda:0");
    assert_int_equal(db_plan_gradient(plan, image[0], (void *const *)(image + 1)), DB_OK);
    assert_string_equal(db_plan_device(plan), "cpu");
    assert_non_null(strstr(db_context_device_note(device), "out of the GPU's memory"));
    db_plan_destroy(&plan);
    for (int k = 0; k <= SOME; k++) free(image[k]);
}

/* Whichever call of the runtime fails: a status and a message, nothing left behind, and the next
 * attempt succeeds. */
static void any_call_may_fail(void **state) {
    (void)state;
    float data[PIXELS] = { 0 };
    result r = result_create(PIXELS), expected = result_create(PIXELS);
    equations e;
    db_plan *plan = plan_of(device, defaults());
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    db_plan_destroy(&plan);
    long failures = 0;
    for (long n = 0;; n++) {
        db_context_destroy(&device); /* with what plans have left */
        assert_int_equal(stand_in.live, 0);
        stand_in_reset();
        open_device();
        stand_in.calls_until_failure = n;
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        options.parameters = some;
        options.parameter_count = SOME;
        db_status status = db_plan_create(device, &experiment, &options, &plan);
        if (status == DB_OK) status = db_plan_forward(plan, r.image);
        if (status == DB_OK) status = db_plan_gradient(plan, r.image, (void *const *)r.derivative);
        if (status == DB_OK) status = normal(plan, data, NULL, &e);
        const int unharmed = stand_in.calls_until_failure >= 0;
        stand_in.calls_until_failure = -1;
        if (status != DB_OK) {
            failures++;
            assert_true(status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE);
            assert_true(strncmp(db_context_message(device), "cuda:0: ", 8) == 0);
            if (plan) {
                assert_int_equal(db_plan_gradient(plan, r.image, (void *const *)r.derivative),
                                 DB_OK);
                for (int k = 0; k < SOME; k++)
                    assert_memory_equal(r.derivative[k], expected.derivative[k],
                                        PIXELS * sizeof(float));
            } else {
                assert_int_equal(stand_in.live, 0);
            }
        }
        db_plan_destroy(&plan);
        if (unharmed) break;
    }
    assert_true(failures > 40);
    result_destroy(&r);
    result_destroy(&expected);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(wide_rows_equal_the_processors),
        TEST(the_same_samples_are_left_out),
        TEST(many_sources_and_samples_equal_the_processors),
        TEST(regions_equal_the_processors),
        TEST(regions_of_one_reflection_equal_the_processors),
        TEST(pixels_between_regions_stay),
        TEST(images_may_stay_on_the_device),
        TEST(warm_calls_copy_what_changed),
        TEST(data_may_be_on_the_device),
        TEST(many_parameters_serve),
        TEST(images_come_together),
        TEST(locked_memory_serves),
        TEST(large_images_come_in_pieces),
#if !defined(DB_ON_GPU)
        TEST(what_is_missing_is_said),
        TEST(a_plan_takes_what_another_has_left),
        TEST(what_is_left_makes_room),
        TEST(the_callers_device_stays_current),
        TEST(only_the_plans_device_gets_a_context),
        TEST(memory_of_another_device_is_refused),
        TEST(a_final_failure_is_said),
        TEST(memory_that_runs_out_is_said),
        TEST(any_call_may_fail),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
