/* Plans: same bits for any number of threads, regions, warm calls without allocation, cancelling,
 * misuse. */
#include "support/failing_allocation.h"
#include "support/shown_regions.h"
#include "support/small_crystal.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_experiment experiment;

static int start(void **state) {
    (void)state;
    assert_int_equal(db_context_create(&context), DB_OK);
    small_crystal(context, 203, 149, 29, &experiment);
    experiment.crystal.mosaic_spread = 0.5;
    experiment.crystal.mosaic_domains = 3;
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

static void same_bits_for_any_number_of_threads(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        db_plan *plan = small_plan(context, &experiment, (db_precision)precision, NULL, 0);
        const size_t pixels = db_plan_pixels(plan);
        result one = result_create(pixels), many = result_create(pixels);
        db_context_set_threads(context, 1);
        float *forward = malloc(pixels * sizeof(float));
        assert_non_null(forward);
        assert_int_equal(db_plan_forward(plan, forward), DB_OK);
        assert_int_equal(db_plan_gradient(plan, one.image, (void *const *)one.derivative), DB_OK);
        for (int threads = 2; threads <= 5; threads++) {
            db_context_set_threads(context, threads);
            memset(many.image, 0xff, pixels * sizeof(float));
            assert_int_equal(db_plan_forward(plan, many.image), DB_OK);
            assert_memory_equal(many.image, forward, pixels * sizeof(float));
            assert_int_equal(db_plan_gradient(plan, many.image, (void *const *)many.derivative),
                             DB_OK);
            assert_memory_equal(many.image, one.image, pixels * sizeof(float));
            for (int k = 0; k < SOME; k++)
                assert_memory_equal(many.derivative[k], one.derivative[k], pixels * sizeof(float));
        }
        free(forward);
        result_destroy(&one);
        result_destroy(&many);
        db_plan_destroy(&plan);
    }
}

/* Shoeboxes of all widths around the lane counts, packed one after another. */
static void regions_hold_the_pixels_of_the_whole_image(void **state) {
    (void)state;
    enum { BOXES = 40 };
    db_region boxes[BOXES];
    size_t offset = 0;
    for (int i = 0; i < BOXES; i++) {
        boxes[i] = (db_region){ 0, 5 * i % 160, 3 * i, i + 1, 1 + i % 7, offset, (size_t)i + 1 };
        offset += (size_t)(boxes[i].fast_count * boxes[i].slow_count);
    }
    for (int precision = 0; precision < 2; precision++) {
        db_plan *whole_plan = small_plan(context, &experiment, (db_precision)precision, NULL, 0);
        db_plan *box_plan = small_plan(context, &experiment, (db_precision)precision, boxes, BOXES);
        assert_int_equal(db_plan_pixels(box_plan), offset);
        result whole = result_create(db_plan_pixels(whole_plan)), packed = result_create(offset);
        assert_int_equal(db_plan_gradient(whole_plan, whole.image, (void *const *)whole.derivative),
                         DB_OK);
        assert_int_equal(db_plan_gradient(box_plan, packed.image, (void *const *)packed.derivative),
                         DB_OK);
        size_t n = 0;
        for (int i = 0; i < BOXES; i++)
            for (int s = 0; s < boxes[i].slow_count; s++)
                for (int f = 0; f < boxes[i].fast_count; f++, n++) {
                    const size_t at =
                        (size_t)(boxes[i].slow_start + s) * 203 + (size_t)(boxes[i].fast_start + f);
                    assert_memory_equal(&packed.image[n], &whole.image[at], sizeof(float));
                    for (int k = 0; k < SOME; k++)
                        assert_memory_equal(&packed.derivative[k][n], &whole.derivative[k][at],
                                            sizeof(float));
                }
        result_destroy(&whole);
        result_destroy(&packed);
        db_plan_destroy(&whole_plan);
        db_plan_destroy(&box_plan);
    }
}

/* Each region by itself, of a crystal without any other reflection. */
static void render_alone(const shown_regions *shown, db_precision precision, float *image) {
    db_structure_factors *const f = &experiment.structure_factors;
    const db_structure_factors all = *f;
    for (size_t i = 0; i < shown->count; i++) {
        double amplitude = all.default_F;
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        db_plan *plan;
        *f = (db_structure_factors){ .amplitude = &amplitude, .listed = 1 };
        size_t entry = 0;
        int inside = all.amplitude != NULL;
        for (int j = 0; j < 3; j++) {
            const int offset = shown->hkl[i][j] - all.min[j];
            inside = inside && offset >= 0 && offset < all.extent[j];
            entry = entry * (size_t)all.extent[j] + (size_t)offset;
            f->min[j] = shown->hkl[i][j];
            f->extent[j] = 1;
        }
        if (inside) amplitude = all.amplitude[entry];
        options.precision = precision;
        options.regions = &shown->region[i];
        options.region_count = 1;
        assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
        assert_int_equal(db_plan_forward(plan, image), DB_OK);
        db_plan_destroy(&plan);
    }
    *f = all;
}

/* Same bits; and the neighbours' light is not there. */
static void compare_shown(void) {
    for (int precision = 0; precision < 2; precision++) {
        const shown_regions shown = shown_regions_of(context, &experiment, 9);
        db_plan_options options = shown_options(&shown, (db_precision)precision);
        float *const found = calloc(shown.pixels, sizeof *found);
        float *const expected = calloc(shown.pixels, sizeof *expected);
        float *const all = calloc(shown.pixels, sizeof *all);
        db_plan *plan;
        double own = 0, foreign = 0;
        assert_true(found && expected && all);
        assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
        assert_int_equal(db_plan_forward(plan, found), DB_OK);
        db_plan_destroy(&plan);
        render_alone(&shown, options.precision, expected);
        assert_memory_equal(found, expected, shown.pixels * sizeof *found);
        options.reflections = NULL;
        assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
        assert_int_equal(db_plan_forward(plan, all), DB_OK);
        db_plan_destroy(&plan);
        for (size_t i = 0; i < shown.pixels; i++) {
            own += (double)found[i];
            foreign += (double)all[i] - (double)found[i];
        }
        assert_true(own > 0 && foreign > 0.01 * own);
        free(found);
        free(expected);
        free(all);
    }
}

static void give_amplitudes(void) {
    db_structure_factors *const f = &experiment.structure_factors;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -3 - j;
        f->extent[j] = 6 + j;
    }
    f->amplitude = malloc(6 * 7 * 8 * sizeof *f->amplitude);
    assert_non_null(f->amplitude);
    for (int i = 0; i < 6 * 7 * 8; i++) f->amplitude[i] = 5 + i % 11;
}

static void regions_may_show_one_reflection_each(void **state) {
    (void)state;
    compare_shown();
    give_amplitudes();
    compare_shown();
    experiment.detector.sensor_thickness = 100; /* a general job */
    experiment.detector.attenuation_depth = 300;
    compare_shown();
}

static void so_do_those_of_spots_in_closed_form(void **state) {
    (void)state;
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.3;
    experiment.crystal.mosaic_spread = 0;
    experiment.crystal.mosaic_domains = 1;
    compare_shown();
    give_amplitudes();
    experiment.goniometer.phi_step = 1;
    compare_shown();
}

static void expect_refusal(const db_plan_options *options, db_status status, const char *fragment);

/* What needs all reflections says so. */
static void one_reflection_is_not_for_everything(void **state) {
    (void)state;
    const shown_regions shown = shown_regions_of(context, &experiment, 4);
    db_plan_options options = shown_options(&shown, DB_PRECISION_DOUBLE);
    db_plan_vector gradient = DB_PLAN_VECTOR_INIT;
    double by_default = 0;
    db_plan *plan;
    db_plan_batch *batch = NULL;
    float *const image = calloc(shown.pixels, sizeof *image);
    assert_non_null(image);
    gradient.default_F = &by_default;
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
    assert_int_equal(db_plan_vjp(plan, image, NULL, &gradient), DB_ERROR_UNSUPPORTED);
    assert_non_null(strstr(db_context_message(context), "all reflections"));
    db_plan_destroy(&plan);
    assert_int_equal(db_plan_batch_create(context, &experiment, &options, &batch),
                     DB_ERROR_UNSUPPORTED);
    assert_null(batch);
    options.parameters = some;
    options.parameter_count = 1;
    expect_refusal(&options, DB_ERROR_UNSUPPORTED, "without parameters");
    options.parameter_count = 0;
    const size_t region_count = options.region_count;
    options.regions = NULL;
    options.region_count = 0;
    expect_refusal(&options, DB_ERROR_USAGE, "expected regions");
    options.region_count = region_count;
    options.regions = shown.region;
    give_amplitudes();
    experiment.structure_factors.interpolate = 1;
    expect_refusal(&options, DB_ERROR_UNSUPPORTED, "interpolated");
    free(image);
}

static void pixels_outside_the_regions_stay_untouched(void **state) {
    (void)state;
    const db_region box = { 0, 20, 30, 33, 11, 30 * 203 + 20, 203 };
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_MIXED, &box, 1);
    float *image = malloc(203 * 149 * sizeof(float));
    assert_non_null(image);
    for (size_t i = 0; i < 203 * 149; i++) image[i] = -1;
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    for (int s = 0; s < 149; s++)
        for (int f = 0; f < 203; f++) {
            const int inside = f >= 20 && f < 53 && s >= 30 && s < 41;
            assert_true((image[s * 203 + f] >= 0) == inside);
        }
    free(image);
    db_plan_destroy(&plan);
}

static void warm_calls_allocate_nothing(void **state) {
    (void)state;
    if (!can_fail_allocations()) skip();
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    result r = result_create(db_plan_pixels(plan));
    for (int round = 0; round < 4; round++) {
        db_context_set_threads(context, 1 + round % 2);
        experiment.crystal.cell[0] += 0.1;
        experiment.beam.wavelength *= 1.001;
        fail_allocation(-1);
        const db_status updated = db_plan_update(plan, &experiment);
        const db_status drawn = db_plan_forward(plan, r.image);
        const db_status slopes = db_plan_gradient(plan, r.image, (void *const *)r.derivative);
        const long allocations = stop_failing_allocations(NULL);
        assert_true(updated == DB_OK && drawn == DB_OK && slopes == DB_OK);
        if (round > 1) assert_int_equal(allocations, 0);
    }
    result_destroy(&r);
    db_plan_destroy(&plan);
}

static void an_updated_plan_equals_a_new_one(void **state) {
    (void)state;
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_DOUBLE, NULL, 0);
    result updated = result_create(db_plan_pixels(plan)),
           fresh = result_create(db_plan_pixels(plan));
    assert_int_equal(db_plan_gradient(plan, updated.image, (void *const *)updated.derivative),
                     DB_OK);
    experiment.crystal.mosaic_seed = 77;
    experiment.crystal.shape = DB_SHAPE_GAUSS;
    experiment.structure_factors.default_F = 20;
    experiment.detector.twotheta = 5;
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_gradient(plan, updated.image, (void *const *)updated.derivative),
                     DB_OK);
    db_plan *other = small_plan(context, &experiment, DB_PRECISION_DOUBLE, NULL, 0);
    assert_int_equal(db_plan_gradient(other, fresh.image, (void *const *)fresh.derivative), DB_OK);
    const size_t bytes = db_plan_pixels(plan) * sizeof(float);
    assert_memory_equal(updated.image, fresh.image, bytes);
    for (int k = 0; k < SOME; k++)
        assert_memory_equal(updated.derivative[k], fresh.derivative[k], bytes);
    result_destroy(&updated);
    result_destroy(&fresh);
    db_plan_destroy(&plan);
    db_plan_destroy(&other);
}

static int cancel_half_way(void *user, double fraction) {
    *(double *)user = fraction;
    return fraction >= 0.5;
}

static int watch(void *user, double fraction) {
    double *last = user;
    assert_true(fraction >= 0 && fraction <= 1);
    *last = fraction;
    return 0;
}

static void progress_can_be_watched_and_cancelled(void **state) {
    (void)state;
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    float *image = calloc(db_plan_pixels(plan), sizeof(float));
    assert_non_null(image);
    double fraction = 0;
    db_context_set_threads(context, 1);
    db_context_set_progress(context, watch, &fraction);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    assert_true(fraction == 1);
    db_context_set_progress(context, cancel_half_way, &fraction);
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_CANCELLED);
    assert_true(fraction >= 0.5 && fraction < 1);
    db_context_set_progress(context, NULL, NULL);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    free(image);
    db_plan_destroy(&plan);
}

static void expect_refusal(const db_plan_options *options, db_status status, const char *fragment) {
    db_plan *plan = (db_plan *)&context;
    assert_int_equal(db_plan_create(context, &experiment, options, &plan), status);
    assert_null(plan);
    assert_non_null(strstr(db_context_message(context), fragment));
}

static void misuse_is_refused_with_a_reason(void **state) {
    (void)state;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    const db_region outside = { 0, 200, 0, 4, 1, 0, 4 }, no_panel = { 1, 0, 0, 4, 1, 0, 4 },
                    narrow = { 0, 0, 0, 4, 2, 0, 3 };
    const db_parameter twice[] = { DB_CELL_A, DB_CELL_A }, unknown[] = { DB_PARAMETER_COUNT };
    options.region_count = 1;
    options.regions = &outside;
    expect_refusal(&options, DB_ERROR_USAGE, "region 0");
    options.regions = &no_panel;
    expect_refusal(&options, DB_ERROR_USAGE, "panel 1 of 1");
    options.regions = &narrow;
    expect_refusal(&options, DB_ERROR_USAGE, "stride 3");
    options.regions = NULL;
    options.region_count = 0;
    options.parameters = twice;
    options.parameter_count = 2;
    expect_refusal(&options, DB_ERROR_USAGE, "cell_a: expected once, found twice");
    options.parameters = unknown;
    options.parameter_count = 1;
    expect_refusal(&options, DB_ERROR_USAGE, "does not exist");
    options.parameter_count = 0;
    options.size = 3;
    expect_refusal(&options, DB_ERROR_USAGE, "DB_PLAN_OPTIONS_INIT");

    db_plan *plan;
    assert_int_equal(db_plan_create(context, &experiment, NULL, &plan), DB_OK);
    assert_int_equal(db_plan_gradient(plan, NULL, NULL), DB_ERROR_USAGE);
    experiment.crystal.mosaic_domains = 4;
    assert_int_equal(db_plan_update(plan, &experiment), DB_ERROR_USAGE);
    experiment.crystal.mosaic_domains = 3;
    experiment.crystal.cell[3] = NAN;
    assert_int_equal(db_plan_update(plan, &experiment), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "alpha"));
    db_plan_destroy(&plan);
    assert_null(plan);
    db_plan_destroy(&plan);
    db_plan_destroy(NULL);
}

/* Impossible values, each named. */
static void impossible_experiments_are_refused(void **state) {
    (void)state;
    const struct {
        double *member, value;
        const char *fragment;
    } cases[] = {
        { &experiment.crystal.cell[1], 0, "cell edge b" },
        { &experiment.crystal.cell[2], NAN, "cell edge c" },
        { &experiment.crystal.cell[4], 190, "beta" },
        { &experiment.crystal.cell[5], 180, "gamma" },
        { &experiment.crystal.Ncells[0], -1, "crystal size N" },
        { &experiment.crystal.orientation[0], 0.9, "rotation matrix" },
        { &experiment.crystal.b_factor, NAN, "B factor" },
        { &experiment.crystal.b_factor, -1000, "B factor: expected at least -" },
        { &experiment.beam.wavelength, 0, "wavelength" },
        { &experiment.beam.direction[0], 2, "beam direction" },
        { &experiment.beam.fluence, -1, "fluence" },
        { &experiment.beam.sources[0].weight, 0, "source weights" },
        { &experiment.beam.sources[0].wavelength_ratio, INFINITY, "source wavelength" },
        { &experiment.goniometer.phi, NAN, "phi" },
        { &experiment.detector.distance, -70, "distance" },
        { &experiment.detector.rotation[1], 120, "behind" },
        { &experiment.detector.panels[0].pixel_size[1], 0, "pixel size" },
        { &experiment.structure_factors.default_F, NAN, "default F" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double kept = *cases[i].member;
        *cases[i].member = cases[i].value;
        const db_status status = db_experiment_check(context, &experiment);
        if (status != DB_ERROR_INPUT)
            print_error("%g was accepted for: %s\n", cases[i].value, cases[i].fragment);
        assert_int_equal(status, DB_ERROR_INPUT);
        if (!strstr(db_context_message(context), cases[i].fragment)) {
            print_error("expected '%s' in: %s\n", cases[i].fragment, db_context_message(context));
            fail();
        }
        *cases[i].member = kept;
        assert_int_equal(db_experiment_check(context, &experiment), DB_OK);
    }
    /* three angles that are each possible, but not together */
    experiment.crystal.cell[3] = 100;
    experiment.crystal.cell[4] = experiment.crystal.cell[5] = 40;
    assert_int_equal(db_experiment_check(context, &experiment), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "no cell has them"));
}

/* Indices of a million: more than the offsets along rows have room for. */
static void huge_indices_keep_their_fractions(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        experiment.crystal.cell[i] = 3e5;
        experiment.crystal.Ncells[i] = 3;
    }
    experiment.beam.wavelength = 0.1;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    double *image[2], peak = 0, worst = 0;
    size_t pixels = 0;
    options.pixel_type = DB_FLOAT64;
    for (int mixed = 0; mixed < 2; mixed++) {
        db_plan *plan;
        options.precision = mixed ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
        pixels = db_plan_pixels(plan);
        image[mixed] = malloc(pixels * sizeof(double));
        assert_non_null(image[mixed]);
        assert_int_equal(db_plan_forward(plan, image[mixed]), DB_OK);
        db_plan_destroy(&plan);
    }
    for (size_t i = 0; i < pixels; i++) {
        peak = fmax(peak, image[0][i]);
        worst = fmax(worst, fabs(image[1][i] - image[0][i]));
    }
    if (!(worst <= 1e-6 * peak)) fail_msg("off by %g of the maximum", worst / peak);
    free(image[0]);
    free(image[1]);
}

static void a_plan_tells_what_it_was_made_for(void **state) {
    (void)state;
    const db_region given = { 0, 3, 5, 150, 40, 7, 160 };
    const int min[3] = { -1, 0, 2 }, extent[3] = { 3, 2, 4 };
    double list[24] = { 0 };
    assert_int_equal(db_experiment_set_amplitudes(context, &experiment, min, extent, list), DB_OK);
    for (int closed = 0; closed < 2; closed++) {
        const db_parameter own[] = { DB_DISTANCE, DB_SCALE, db_parameter_amplitude(-1, 0, 3) };
        db_plan_options options = DB_PLAN_OPTIONS_INIT;
        db_plan *plan;
        options.parameters = own;
        options.parameter_count = 3;
        options.regions = &given;
        options.region_count = 1;
        options.pixel_type = DB_FLOAT64;
        options.precision = DB_PRECISION_MIXED;
        experiment.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
        experiment.crystal.mosaic_spread = 0;
        experiment.crystal.mosaic_domains = 1;
        assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
        const db_plan_info info = db_plan_describe(plan);
        assert_int_equal(info.parameter_count, 3);
        assert_memory_equal(info.parameters, own, sizeof own);
        assert_int_equal(info.amplitude_count, 24);
        assert_int_equal(info.region_count, 1);
        assert_memory_equal(info.regions, &given, sizeof given);
        assert_int_equal(info.pixel_type, DB_FLOAT64);
        assert_int_equal(info.precision, DB_PRECISION_MIXED);
        db_plan_destroy(&plan);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(huge_indices_keep_their_fractions, start, finish),
        cmocka_unit_test_setup_teardown(a_plan_tells_what_it_was_made_for, start, finish),
        cmocka_unit_test_setup_teardown(same_bits_for_any_number_of_threads, start, finish),
        cmocka_unit_test_setup_teardown(regions_hold_the_pixels_of_the_whole_image, start, finish),
        cmocka_unit_test_setup_teardown(pixels_outside_the_regions_stay_untouched, start, finish),
        cmocka_unit_test_setup_teardown(regions_may_show_one_reflection_each, start, finish),
        cmocka_unit_test_setup_teardown(so_do_those_of_spots_in_closed_form, start, finish),
        cmocka_unit_test_setup_teardown(one_reflection_is_not_for_everything, start, finish),
        cmocka_unit_test_setup_teardown(warm_calls_allocate_nothing, start, finish),
        cmocka_unit_test_setup_teardown(an_updated_plan_equals_a_new_one, start, finish),
        cmocka_unit_test_setup_teardown(progress_can_be_watched_and_cancelled, start, finish),
        cmocka_unit_test_setup_teardown(misuse_is_refused_with_a_reason, start, finish),
        cmocka_unit_test_setup_teardown(impossible_experiments_are_refused, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
