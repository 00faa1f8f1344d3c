/* Spots in closed form on a device: lists of regions, spots that come and go, empty tiles, results
 * that stay there, and memory that runs out. Images, derivatives and normal equations of all kinds
 * of scenes are in test_same_as_processor.c. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_MOSAIC_VARIANCE
#include "support/small_crystal.h"
#include "support/shown_regions.h"
#include "support/by_parameters.h"
#include "two_contexts.h"
#include "takes_all.h"

#include "cuda/plan.h"
#include "engine/spots.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/normal.h>
#include <dualbragg/products.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 150, SLOW = 40, PIXELS = FAST * SLOW };

static int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 12);
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.01;
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

static void expect_near(const float *found, const float *expected, size_t count) {
    double largest = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        largest = fmax(largest, fabs((double)expected[i]));
        off = fmax(off, fabs((double)found[i] - (double)expected[i]));
    }
    if (off > 5e-6 * largest) print_error("off by %g of %g\n", off, largest);
    assert_true(largest > 0 && off <= 5e-6 * largest);
}

/* What plans for either give now. */
static void compare(db_plan *plan, db_plan *own) {
    const size_t pixels = db_plan_pixels(plan);
    result expected = result_create(pixels), found = result_create(pixels);
    assert_string_equal(db_plan_device(own), "cuda:0");
    assert_int_equal(db_plan_forward(plan, expected.image), DB_OK);
    assert_int_equal(db_plan_forward(own, found.image), DB_OK);
    expect_near(found.image, expected.image, pixels);
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    assert_int_equal(db_plan_gradient(own, found.image, (void *const *)found.derivative), DB_OK);
    expect_near(found.image, expected.image, pixels);
    for (int k = 0; k < SOME; k++) expect_near(found.derivative[k], expected.derivative[k], pixels);
    result_destroy(&expected);
    result_destroy(&found);
}

typedef struct {
    double chi2, gradient[SOME], curvature[SOME * SOME];
} equations;

static equations normal_of(db_plan *plan, const float *data) {
    equations e;
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, NULL, &e.chi2, e.gradient, e.curvature),
                     DB_OK);
    return e;
}

static void compare_normal(db_plan *plan, db_plan *own) {
    const size_t pixels = db_plan_pixels(plan);
    float *data = calloc(pixels, sizeof *data);
    assert_non_null(data);
    for (size_t i = 0; i < pixels; i++) data[i] = (float)(i * 7919 % 11);
    const equations expected = normal_of(plan, data), found = normal_of(own, data),
                    again = normal_of(own, data);
    assert_memory_equal(&again, &found, sizeof found);
    assert_true(fabs(found.chi2 - expected.chi2) <= 5e-6 * expected.chi2);
    for (int k = 0; k < SOME; k++)
        for (int l = 0; l < SOME; l++)
            assert_true(
                fabs(found.curvature[k * SOME + l] - expected.curvature[k * SOME + l]) <=
                5e-6 * sqrt(expected.curvature[k * SOME + k] * expected.curvature[l * SOME + l]));
    free(data);
}

/* The device has the gradient from its normal equations. */
static void compare_products(db_plan *plan, db_plan *own, double bound) {
    const size_t pixels = db_plan_pixels(plan);
    float *c = calloc(pixels, sizeof *c);
    double expected[SOME], found[SOME], chi2, length[SOME * SOME], unused[SOME], square = 0;
    assert_non_null(c);
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, c, NULL, &chi2, unused, length), DB_OK);
    for (size_t i = 0; i < pixels; i++) {
        c[i] = (float)(i * 7919 % 11) - 5;
        square += (double)c[i] * c[i];
    }
    assert_int_equal(vjp_by_parameters(plan, c, NULL, expected), DB_OK);
    assert_int_equal(vjp_by_parameters(own, c, NULL, found), DB_OK);
    for (int k = 0; k < SOME; k++)
        assert_true(fabs(found[k] - expected[k]) <= bound * sqrt(length[k * SOME + k] * square));
    c[3] = INFINITY;
    assert_int_equal(vjp_by_parameters(own, c, NULL, found), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cotangent of pixel"));
    free(c);
}

/* Each parameter changes the tangent about as much. */
static void compare_tangents(db_plan *plan, db_plan *own, double bound) {
    const size_t pixels = db_plan_pixels(plan);
    result expected = result_create(pixels), found = result_create(pixels);
    double direction[SOME];
    float scale = 0;
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    for (int k = 0; k < SOME; k++) {
        float largest = 1e-30F;
        for (size_t i = 0; i < pixels; i++)
            largest = fmaxf(largest, fabsf(expected.derivative[k][i]));
        direction[k] = (k % 2 ? -1 : 2) / (double)largest;
        scale += 2;
    }
    assert_int_equal(jvp_by_parameters(plan, direction, expected.image, expected.derivative[0]),
                     DB_OK);
    assert_int_equal(jvp_by_parameters(own, direction, found.image, found.derivative[0]), DB_OK);
    for (size_t i = 0; i < pixels; i++)
        assert_true(fabsf(found.derivative[0][i] - expected.derivative[0][i]) <= bound * scale);
    /* slopes of single parameters again */
    assert_int_equal(db_plan_gradient(plan, expected.image, (void *const *)expected.derivative),
                     DB_OK);
    assert_int_equal(db_plan_gradient(own, found.image, (void *const *)found.derivative), DB_OK);
    for (int k = 0; k < SOME; k++)
        for (size_t i = 0; i < pixels; i++)
            assert_true(fabsf(found.derivative[k][i] - expected.derivative[k][i]) *
                            fabs(direction[k]) <=
                        2 * bound);
    result_destroy(&expected);
    result_destroy(&found);
}

static void compare_all(db_plan_options options) {
    for (int p = 0; p < 2; p++) {
        options.precision = p ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
        db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
        compare(plan, own);
        compare_normal(plan, own);
        compare_products(plan, own, p ? 5e-6 : 1e-9);
        compare_tangents(plan, own, p ? 5e-6 : 1e-9);
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

/* Shoeboxes, one after the other; and one with pixels between its rows that are not its own. */
static void regions_equal_the_processors(void **state) {
    (void)state;
    db_region boxes[7] = { 0 };
    for (int i = 0; i < 6; i++)
        boxes[i] = (db_region){ .fast_start = 19 * i + 3,
                                .slow_start = 4 * i,
                                .fast_count = 17,
                                .slow_count = 17,
                                .offset = (size_t)i * 17 * 17,
                                .stride = 17 };
    boxes[6] = (db_region){ .fast_start = 20,
                            .slow_start = 1,
                            .fast_count = 70,
                            .slow_count = 18,
                            .offset = 6 * 17 * 17 + 11,
                            .stride = 90 };
    db_plan_options options = defaults();
    options.regions = boxes;
    options.region_count = 7;
    compare_all(options);
}

/* Regions that show one reflection each. */
static void compare_shown(db_precision precision) {
    const shown_regions shown = shown_regions_of(processor, &experiment, 5);
    const db_plan_options options = shown_options(&shown, precision);
    float *const expected = shown_pixels(processor, &experiment, &options, &shown);
    float *const found = shown_pixels(device, &experiment, &options, &shown);
    expect_near(found, expected, shown.pixels);
    free(expected);
    free(found);
}

static void regions_of_one_reflection_equal_the_processors(void **state) {
    (void)state;
    compare_shown(DB_PRECISION_DOUBLE);
    compare_shown(DB_PRECISION_MIXED);
}

static void whole_panel_equals_the_processors(void **state) {
    (void)state;
    experiment.oversample = 2;
    compare_all(defaults());
    experiment.goniometer.phi_step = 2;
    compare_all(defaults());
}

/* No spot reaches most tiles; with nothing at all, the squares of the data are left. */
static void empty_tiles_equal_the_processors(void **state) {
    (void)state;
    experiment.spread.mosaic = 1e-4;
    for (int i = 0; i < 3; i++) experiment.crystal.Ncells[i] = 100;
    experiment.goniometer.phi_step = 0.5;
    compare_all(defaults());
    experiment.dmin = 1e3; /* but for the direct beam, which is beside the panel */
    experiment.detector.centre[0] = -90;
    db_plan *own = plan_of(device, defaults());
    static float data[PIXELS], image[PIXELS];
    double squares = 0;
    for (int i = 0; i < PIXELS; i++) {
        data[i] = (float)(i % 5);
        squares += (double)(data[i] * data[i]);
    }
    assert_int_equal(db_plan_forward(own, image), DB_OK);
    for (int i = 0; i < PIXELS; i++) assert_true(image[i] == 0);
    assert_true(normal_of(own, data).chi2 == squares);
    db_plan_destroy(&own);
}

/* The numbers of spots change from update to update; what the device has follows. */
static void spots_come_and_go(void **state) {
    (void)state;
    static const double mosaic[] = { 1e-4, 0.3, 0.01, 1 };
    db_plan *plan = plan_of(processor, defaults()), *own = plan_of(device, defaults());
    for (size_t i = 0; i < sizeof mosaic / sizeof *mosaic; i++) {
        experiment.spread.mosaic = mosaic[i];
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_update(own, &experiment), DB_OK);
        compare(plan, own);
        compare_normal(plan, own);
    }
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* Those of all tiles reach nearly all of a small region's pixels. */
static void more_spots_than_a_list_has_slow(void **state) {
    (void)state;
    static const db_region region = {
        .fast_start = 60, .slow_start = 10, .fast_count = 11, .slow_count = 6, .stride = 11
    };
    db_plan_options options = defaults();
    options.regions = &region;
    options.region_count = 1;
    experiment.spread.mosaic = 1;
    experiment.beam.wavelength /= 4;
    db_plan *plan = plan_of(processor, options), *own = plan_of(device, options);
    compare(plan, own);
    compare_normal(plan, own);
    assert_true(plan->job.spots.most > 2 * DB_CUDA_CELL_SPOTS);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

/* Lists */

static int by_name(const void *a, const void *b) {
    const db_spot_name *const x = &((const db_spot_entry *)a)->name;
    const db_spot_name *const y = &((const db_spot_entry *)b)->name;
    if (x->source != y->source) return x->source < y->source ? -1 : 1;
    for (int c = 0; c < 3; c++)
        if (x->hkl[c] != y->hkl[c]) return x->hkl[c] < y->hkl[c] ? -1 : 1;
    if (x->panel != y->panel) return x->panel < y->panel ? -1 : 1;
    if (x->tail != y->tail) return x->tail < y->tail ? -1 : 1;
    const double apart = x->passage.from - y->passage.from,
                 rounding = 1e-9; /* passages are far apart */
    return (apart > rounding) - (apart < -rounding);
}

static void *copy_of(db_plan *own, const void *there, size_t bytes) {
    void *const copy = malloc(bytes + 1);
    assert_non_null(copy);
    assert_int_equal(db_plan_memory_read(own, there, copy, bytes), DB_OK);
    return copy;
}

static void expect_same_spot(const db_spot_entry *x, const db_spot_entry *y) {
    assert_int_equal(by_name(x, y), 0);
    assert_int_equal(x->name.passage.moves, y->name.passage.moves);
    assert_int_equal(x->name.passage.at_kind, y->name.passage.at_kind);
    assert_true(fabs(x->name.passage.at - y->name.passage.at) < 1e-9);
    assert_true(fabs(x->cut - y->cut) <= 1e-9 * fabs(x->cut));
    for (int i = 0; i < 2; i++) {
        assert_true(abs(x->fast[i] - y->fast[i]) <= 1);
        assert_true(abs(x->slow[i] - y->slow[i]) <= 1);
    }
}

/* The device's list of spots is the processor's but for its order, tiles have as many of them, and each tile's
 * spots are sorted by sources. */
static void expect_same_lists(db_plan *plan, db_plan *own) {
    const db_kernel_spots *const expected = &plan->job.spots;
    const db_cuda_made *const made = &own->device.part->made;
    const size_t count = expected->count, tiles = plan->tiles.region_count;
    const db_cuda_found *const found = made->host.memory;
    assert_true(count > 0);
    assert_int_equal(made->count, count);
    db_spot_entry *const mine = malloc(count * sizeof *mine), *const its =
                                                                  copy_of(own, made->entry.memory,
                                                                          count * sizeof *its);
    const db_kernel_spot *const spot = copy_of(own, made->spot.memory, count * sizeof *spot);
    const uint32_t *const first = copy_of(own, made->first.memory, (tiles + 1) * sizeof *first),
                          *const number =
                              copy_of(own, made->number.memory, found->numbers * sizeof *number);
    assert_non_null(mine);
    for (size_t t = 0; t <= tiles; t++) assert_int_equal(first[t], expected->first[t]);
    for (size_t t = 0; t < tiles; t++)
        for (uint32_t i = first[t]; i + 1 < first[t + 1]; i++)
            assert_true(spot[number[i]].source <= spot[number[i + 1]].source &&
                        number[i] != number[i + 1]);
    memcpy(mine, expected->entry, count * sizeof *mine);
    qsort(mine, count, sizeof *mine, by_name);
    qsort(its, count, sizeof *its, by_name);
    for (size_t i = 0; i < count; i++) expect_same_spot(&mine[i], &its[i]);
    free(mine);
    free(its);
    free((void *)(uintptr_t)spot);
    free((void *)(uintptr_t)first);
    free((void *)(uintptr_t)number);
}

/* Images of both, then their lists. */
static void compare_lists(db_plan *plan, db_plan *own) {
    static float expected[PIXELS], found[PIXELS];
    assert_int_equal(db_plan_forward(plan, expected), DB_OK);
    assert_int_equal(db_plan_forward(own, found), DB_OK);
    expect_near(found, expected, db_plan_pixels(plan));
    expect_same_lists(plan, own);
}

/* Without parameters, so that the device makes the lists of all images. */
static void compare_lists_of(const db_region *regions, size_t count) {
    db_plan_options options = defaults();
    db_plan *plan, *own;
    options.regions = regions;
    options.region_count = count;
    assert_int_equal(db_plan_create(processor, &experiment, &options, &plan), DB_OK);
    assert_int_equal(db_plan_create(device, &experiment, &options, &own), DB_OK);
    compare_lists(plan, own);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

static void list_amplitudes(void) {
    enum { EXTENT = 9 };
    db_structure_factors *const f = &experiment.structure_factors;
    f->amplitude = calloc(EXTENT * EXTENT * EXTENT, sizeof *f->amplitude);
    assert_non_null(f->amplitude);
    for (int i = 0; i < 3; i++) {
        f->min[i] = -3 - i;
        f->extent[i] = EXTENT;
    }
    f->listed = EXTENT * EXTENT * EXTENT;
    for (size_t i = 0; i < f->listed; i++) f->amplitude[i] = i % 3 ? 5 + (double)(i % 7) : 0;
    f->default_F = 0;
}

static void lists_are_the_processors(void **state) {
    (void)state;
    static const double wavelength[3] = { 0.98, 1, 1.03 }, weight[3] = { 0.4, 3, 1 };
    const db_region two[2] = {
        { .fast_start = 11, .slow_start = 3, .fast_count = 70, .slow_count = 20, .stride = 70 },
        { .fast_start = 60,
          .slow_start = 10,
          .fast_count = 50,
          .slow_count = 9,
          .offset = 1400,
          .stride = 50 }
    };
    compare_lists_of(NULL, 0);
    compare_lists_of(two, 2);
    experiment.spread.tails = 2;
    experiment.spread.tail_fraction[0] = 0.3;
    experiment.spread.tail_fraction[1] = 0.1;
    experiment.spread.tail_width[0] = 1.8;
    experiment.spread.tail_width[1] = 3;
    assert_int_equal(db_beam_set_spectrum(processor, &experiment.beam, wavelength, weight, 3, 1),
                     DB_OK);
    compare_lists_of(two, 2);
    experiment.goniometer.phi_step = 200; /* several passages of a node */
    experiment.dmin = 14;
    compare_lists_of(NULL, 0);
    list_amplitudes();
    compare_lists_of(NULL, 0);
}

/* Where lists are too short, they are made once more. */
static void lists_outgrow_their_room(void **state) {
    (void)state;
    const db_cuda_found rooms[] = { { 1, 1, 1, 0 }, { 1000, 1, 1000, 0 }, { 1000, 1000, 1, 0 } };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        db_plan *plan = plan_of(processor, defaults()), *own = plan_of(device, defaults());
        own->device.part->made.room = rooms[i];
        compare_lists(plan, own);
        for (int k = 0; k < 3; k++) experiment.crystal.cell[k] *= 1.5;
        assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
        assert_int_equal(db_plan_update(own, &experiment), DB_OK);
        compare_lists(plan, own);
        for (int k = 0; k < 3; k++) experiment.crystal.cell[k] /= 1.5;
        db_plan_destroy(&plan);
        db_plan_destroy(&own);
    }
}

/* The device names the reflection that the processor names. */
static void spreads_that_are_no_covariance_are_refused(void **state) {
    (void)state;
    static float image[PIXELS];
    char expected[200];
    db_plan *plan = plan_of(processor, defaults()), *own = plan_of(device, defaults());
    plan->values.interface.spread.size[0].v = own->values.interface.spread.size[0].v = -1;
    assert_int_equal(db_plan_forward(plan, image), DB_ERROR_INPUT);
    snprintf(expected, sizeof expected, "%s", db_context_message(processor));
    assert_int_equal(db_plan_forward(own, image), DB_ERROR_INPUT);
    assert_string_equal(db_context_message(device), expected);
    assert_int_equal(db_plan_update(own, &experiment), DB_OK);
    assert_int_equal(db_plan_forward(own, image), DB_OK);
    db_plan_destroy(&plan);
    db_plan_destroy(&own);
}

static void images_may_stay_on_the_device(void **state) {
    (void)state;
    db_plan *own = plan_of(device, defaults());
    static float expected[PIXELS], found[PIXELS];
    void *there;
    assert_int_equal(db_plan_memory_create(own, DB_MEMORY_DEVICE, sizeof found, &there), DB_OK);
    assert_int_equal(db_plan_forward(own, expected), DB_OK);
    assert_int_equal(db_plan_forward(own, there), DB_OK);
    assert_int_equal(db_plan_memory_read(own, there, found, sizeof found), DB_OK);
    assert_memory_equal(found, expected, sizeof found);
    db_plan_memory_destroy(own, &there);
    db_plan_destroy(&own);
}

#if !defined(DB_ON_GPU)
/* Nothing is copied to the device twice. */
static void warm_calls_copy_no_spots(void **state) {
    (void)state;
    db_plan *own = plan_of(device, defaults());
    result r = result_create(PIXELS);
    for (int i = 0; i < 2; i++) { /* where all has its place */
        assert_int_equal(db_plan_gradient(own, r.image, (void *const *)r.derivative), DB_OK);
        assert_int_equal(db_plan_forward(own, r.image), DB_OK);
    }
    const long copies = stand_in.copies_to_device;
    const long back = stand_in.copies_to_host;
    assert_int_equal(db_plan_gradient(own, r.image, (void *const *)r.derivative), DB_OK);
    assert_int_equal(db_plan_forward(own, r.image), DB_OK);
    assert_int_equal(stand_in.copies_to_device, copies);
    /* all images come back in one piece, though their tiles are many */
    assert_int_equal(stand_in.copies_to_host, back + 2);
    /* what the device makes spots and slopes of comes together */
    const size_t bytes = stand_in.bytes_to_device;
    experiment.crystal.misset[0] += 0.01;
    assert_int_equal(db_plan_update(own, &experiment), DB_OK);
    assert_int_equal(db_plan_gradient(own, r.image, (void *const *)r.derivative), DB_OK);
    assert_int_equal(stand_in.copies_to_device, copies + 1);
    assert_true(stand_in.bytes_to_device - bytes < 16 << 10);
    assert_int_equal(db_plan_forward(own, r.image), DB_OK);
    assert_int_equal(stand_in.copies_to_device, copies + 1);
    result_destroy(&r);
    db_plan_destroy(&own);
}

static void memory_that_runs_out_is_said(void **state) {
    (void)state;
    static float image[PIXELS];
    const size_t enough = PIXELS * sizeof(float) + (16 << 10);
    experiment.spread.mosaic = 1;
    stand_in.memory = enough;
    db_plan *own = plan_of(device, defaults());
    assert_int_equal(db_plan_forward(own, image), DB_ERROR_MEMORY);
    assert_non_null(strstr(db_context_message(device), "the list of spots"));
    stand_in.memory = (size_t)1 << 30;
    assert_int_equal(db_plan_forward(own, image), DB_OK);
    db_plan_destroy(&own);
    db_context_destroy(&device); /* with what the plan has left */
    open_device();
    assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
    stand_in.memory = enough;
    own = plan_of(device, defaults());
    assert_string_equal(db_plan_device(own), "cuda:0");
    assert_int_equal(db_plan_forward(own, image), DB_OK);
    assert_string_equal(db_plan_device(own), "cpu");
    assert_non_null(strstr(db_context_device_note(device), "the list of spots"));
    db_plan_destroy(&own);
}

/* Whichever call of the runtime fails: a status and a message, nothing left behind. */
static void any_call_may_fail(void **state) {
    (void)state;
    static float data[PIXELS];
    const db_region part = {
        .fast_start = 20, .slow_start = 4, .fast_count = 70, .slow_count = 18, .stride = 70
    };
    result r = result_create(PIXELS);
    long failures = 0;
    for (long n = 0;; n++) {
        db_plan_options options = defaults();
        db_plan *plan;
        double chi2, gradient[SOME], curvature[SOME * SOME];
        db_context_destroy(&device);
        assert_int_equal(stand_in.live, 0);
        stand_in_reset();
        open_device();
        stand_in.calls_until_failure = n;
        options.regions = &part;
        options.region_count = 1;
        options.parameters = some;
        options.parameter_count = SOME;
        db_status status = db_plan_create(device, &experiment, &options, &plan);
        if (status == DB_OK) status = db_plan_forward(plan, r.image);
        if (status == DB_OK) status = db_plan_gradient(plan, r.image, (void *const *)r.derivative);
        if (status == DB_OK)
            status = db_plan_normal(plan, DB_FLOAT32, data, NULL, &chi2, gradient, curvature);
        const int unharmed = stand_in.calls_until_failure >= 0;
        stand_in.calls_until_failure = -1;
        if (status != DB_OK) {
            failures++;
            assert_true(status == DB_ERROR_MEMORY || status == DB_ERROR_DEVICE);
        }
        if (status != DB_OK && !plan) assert_int_equal(stand_in.live, 0);
        db_plan_destroy(&plan);
        if (unharmed) break;
    }
    assert_true(failures > 30);
    result_destroy(&r);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(regions_equal_the_processors),
        TEST(regions_of_one_reflection_equal_the_processors),
        TEST(whole_panel_equals_the_processors),
        TEST(empty_tiles_equal_the_processors),
        TEST(spots_come_and_go),
        TEST(more_spots_than_a_list_has_slow),
        TEST(lists_are_the_processors),
        TEST(lists_outgrow_their_room),
        TEST(spreads_that_are_no_covariance_are_refused),
        TEST(images_may_stay_on_the_device),
#if !defined(DB_ON_GPU)
        TEST(warm_calls_copy_no_spots),
        TEST(memory_that_runs_out_is_said),
        TEST(any_call_may_fail),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
