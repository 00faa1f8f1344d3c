/* Images, derivatives and normal equations of the CUDA backend beside the processor's: shapes, samples, sources, regions. */
#include "wide_plans.h"

#include "support/shown_regions.h"

#include <dualbragg/expert/beam_sources.h>

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

static void wide_rows_equal_the_processors(void **state) {
    (void)state;
    static const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS,
                                               DB_SHAPE_TOPHAT };
    for (int i = 0; i < 4; i++) {
        experiment.crystal.shape = shapes[i];
        compare_precisions(defaults());
    }
    experiment.crystal.shape = DB_SHAPE_SQUARE;
    experiment.crystal.Ncells[1] = 17.5; /* no polynomial */
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
    for (int j = 0; j < 3; j++) experiment.crystal.Ncells[j] = 30;
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

/* Terms come in pieces: of whole partial sums, the last one not full; with sub-pixels and a list. */
static void samples_in_pieces_equal_the_processors(void **state) {
    (void)state;
    db_region rows = {
        .fast_start = 11, .slow_start = 3, .fast_count = 280, .slow_count = 1, .stride = 280
    };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = &rows;
    options.region_count = 1;
    experiment.crystal.mosaic_spread = 0.3;
    experiment.crystal.mosaic_domains = 847;
    compare_precisions(options);
    experiment.crystal.mosaic_domains = 515;
    experiment.oversample = 2;
    experiment.crystal.b_factor = 12;
    give_list(0);
    compare_precisions(options);
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
                db_plan_normal(plan, DB_FLOAT32, data, NULL, &chi2[i], gradient[i], curvature[i]);
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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(wide_rows_equal_the_processors),
        TEST(the_same_samples_are_left_out),
        TEST(many_sources_and_samples_equal_the_processors),
        TEST(samples_in_pieces_equal_the_processors),
        TEST(regions_equal_the_processors),
        TEST(regions_of_one_reflection_equal_the_processors),
        TEST(pixels_between_regions_stay),
        TEST(many_parameters_serve),
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
