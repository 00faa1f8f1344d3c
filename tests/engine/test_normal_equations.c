/* Normal equations of plans, and products with a cotangent or a direction: regions, masks, same bits for any number of threads, warm calls
 * without allocation, misuse. That the sums are right is tested beside the gradients. */
#include "support/failing_allocation.h"
#include "support/small_crystal.h"
#include "support/by_parameters.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 203, SLOW = 149, PIXELS = FAST * SLOW };

static db_context *context;
static db_experiment experiment;
static float *data, *weight;

typedef struct {
    double chi2, gradient[SOME], curvature[SOME * SOME];
} equations;

static int start(void **state) {
    (void)state;
    assert_int_equal(db_context_create(&context), DB_OK);
    small_crystal(context, FAST, SLOW, 29, &experiment);
    experiment.crystal.mosaic_spread = 0.5;
    experiment.crystal.mosaic_domains = 3;
    data = malloc(PIXELS * sizeof *data);
    weight = malloc(PIXELS * sizeof *weight);
    assert_true(data && weight);
    for (int i = 0; i < PIXELS; i++) {
        data[i] = (float)(i * 31 % 17);
        weight[i] = 1 / (1 + data[i]);
    }
    return 0;
}

static int finish(void **state) {
    (void)state;
    free(data);
    free(weight);
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

/* All bytes written, so that results may be compared as memory. */
static equations normal(db_plan *plan, const float *its_data, const float *its_weight) {
    equations r;
    memset(&r, 0xff, sizeof r);
    assert_int_equal(
        db_plan_normal(plan, DB_FLOAT32, its_data, its_weight, &r.chi2, r.gradient, r.curvature),
        DB_OK);
    return r;
}

static void expect_same(const equations *a, const equations *b) {
    assert_memory_equal(a, b, sizeof *a);
}

static void expect_near(const equations *a, const equations *b, double bound) {
    assert_true(fabs(a->chi2 - b->chi2) <= bound * b->chi2);
    for (int k = 0; k < SOME; k++) {
        const double length = sqrt(b->curvature[k * SOME + k]);
        assert_true(length > 0);
        assert_true(fabs(a->gradient[k] - b->gradient[k]) <= bound * length * sqrt(b->chi2));
        for (int l = 0; l < SOME; l++)
            assert_true(fabs(a->curvature[k * SOME + l] - b->curvature[k * SOME + l]) <=
                        bound * length * sqrt(b->curvature[l * SOME + l]));
    }
}

static void expect_same_for_any_number_of_threads(db_plan *plan) {
    db_context_set_threads(context, 1);
    const equations one = normal(plan, data, weight);
    for (int threads = 2; threads <= 5; threads++) {
        db_context_set_threads(context, threads);
        const equations many = normal(plan, data, weight);
        expect_same(&many, &one);
    }
}

static void same_bits_for_any_number_of_threads(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        db_plan *plan = small_plan(context, &experiment, (db_precision)precision, NULL, 0);
        expect_same_for_any_number_of_threads(plan);
        db_plan_destroy(&plan);
    }
}

/* Shoeboxes of all widths around the lane counts, anywhere on the panel and packed one after
 * another: the same as the panel, shown through a mask for each of them. */
static void regions_add_up(void **state) {
    (void)state;
    enum { BOXES = 40 };
    for (int precision = 0; precision < 2; precision++) {
        db_plan *whole = small_plan(context, &experiment, (db_precision)precision, NULL, 0);
        db_region boxes[BOXES];
        float *box_data = malloc(PIXELS * sizeof(float)),
              *box_weight = malloc(PIXELS * sizeof(float));
        assert_true(box_data && box_weight);
        equations sum;
        memset(&sum, 0, sizeof sum);
        size_t n = 0;
        for (int i = 0; i < BOXES; i++) {
            db_region *b = &boxes[i];
            *b = (db_region){ 0, 5 * i % 160, 3 * i, i + 1, 1 + i % 7, n, (size_t)i + 1 };
            float *shown = calloc(PIXELS, sizeof *shown);
            assert_non_null(shown);
            for (int s = 0; s < b->slow_count; s++)
                for (int f = 0; f < b->fast_count; f++, n++) {
                    const int at = (b->slow_start + s) * FAST + b->fast_start + f;
                    box_data[n] = data[at];
                    box_weight[n] = shown[at] = weight[at];
                }
            const equations box = normal(whole, data, shown);
            sum.chi2 += box.chi2;
            for (int k = 0; k < SOME; k++) sum.gradient[k] += box.gradient[k];
            for (int k = 0; k < SOME * SOME; k++) sum.curvature[k] += box.curvature[k];
            free(shown);
        }
        db_plan *packed = small_plan(context, &experiment, (db_precision)precision, boxes, BOXES);
        const equations found = normal(packed, box_data, box_weight);
        expect_near(&found, &sum, precision == DB_PRECISION_MIXED ? 1e-6 : 1e-12);
        db_plan_destroy(&packed);
        db_plan_destroy(&whole);
        free(box_data);
        free(box_weight);
    }
}

/* More tiles than sums are kept for. */
static void thousands_of_regions(void **state) {
    (void)state;
    enum { BOXES = 9000 };
    db_region *boxes = calloc(BOXES, sizeof *boxes);
    assert_non_null(boxes);
    float *shown = calloc(PIXELS, sizeof *shown);
    assert_non_null(shown);
    for (int i = 0; i < BOXES; i++) {
        const int fast = 2 * (i % 100), slow = i / 100;
        boxes[i] = (db_region){ 0, fast, slow, 1 + i % 2, 1, (size_t)(slow * FAST + fast), 2 };
        for (int f = 0; f < 1 + i % 2; f++)
            shown[slow * FAST + fast + f] = weight[slow * FAST + fast + f];
    }
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_DOUBLE, boxes, BOXES);
    expect_same_for_any_number_of_threads(plan);
    const equations found = normal(plan, data, weight);
    db_plan *whole = small_plan(context, &experiment, DB_PRECISION_DOUBLE, NULL, 0);
    const equations expected = normal(whole, data, shown);
    expect_near(&found, &expected, 1e-12);
    db_plan_destroy(&plan);
    db_plan_destroy(&whole);
    free(boxes);
    free(shown);
}

static void pixels_of_weight_0_are_left_out(void **state) {
    (void)state;
    for (int precision = 0; precision < 2; precision++) {
        db_plan *plan = small_plan(context, &experiment, (db_precision)precision, NULL, 0);
        for (int i = 0; i < PIXELS; i++)
            if (i % 5 == 2 || (i > 3000 && i < 9000)) weight[i] = 0;
        const equations expected = normal(plan, data, weight);
        for (int i = 0; i < PIXELS; i++)
            if (weight[i] == 0) data[i] = i % 2 ? NAN : -INFINITY;
        const equations found = normal(plan, data, weight);
        expect_same(&found, &expected);
        for (int i = 0; i < PIXELS; i++) {
            if (weight[i] == 0) data[i] = 1;
            weight[i] = 0;
        }
        const equations nothing = normal(plan, data, weight);
        assert_true(nothing.chi2 == 0);
        for (int k = 0; k < SOME * SOME; k++) assert_true(nothing.curvature[k] == 0);
        for (int i = 0; i < PIXELS; i++) weight[i] = 1;
        const equations ones = normal(plan, data, weight), none = normal(plan, data, NULL);
        expect_same(&none, &ones);
        db_plan_destroy(&plan);
    }
}

/* d chi2/dp by central differences of chi2 alone. */
static void the_gradient_is_that_of_chi2(void **state) {
    (void)state;
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_DOUBLE, NULL, 0);
    const equations here = normal(plan, data, weight);
    for (int k = 0; k < SOME; k++) {
        const double value = db_parameter_get(&experiment, some[k]),
                     step = 1e-3 * db_parameter_describe(some[k])->scale;
        double chi2[2];
        for (int side = 0; side < 2; side++) {
            db_parameter_set(&experiment, some[k], value + (side ? step : -step));
            assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
            chi2[side] = normal(plan, data, weight).chi2;
        }
        db_parameter_set(&experiment, some[k], value);
        const double slope = (chi2[1] - chi2[0]) / (4 * step);
        assert_true(fabs(slope - here.gradient[k]) <=
                    1e-5 * sqrt(here.chi2 * here.curvature[k * SOME + k]));
    }
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    const equations again = normal(plan, data, weight);
    expect_same(&again, &here);
    db_plan_destroy(&plan);
}

static void warm_calls_allocate_nothing(void **state) {
    (void)state;
    if (!can_fail_allocations()) skip();
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    for (int round = 0; round < 4; round++) {
        db_context_set_threads(context, 1 + round % 2);
        experiment.crystal.cell[0] += 0.1;
        fail_allocation(-1);
        const db_status updated = db_plan_update(plan, &experiment);
        normal(plan, data, weight);
        const long allocations = stop_failing_allocations(NULL);
        assert_int_equal(updated, DB_OK);
        if (round > 1) assert_int_equal(allocations, 0);
    }
    db_plan_destroy(&plan);
}

static void expect_refusal(db_plan *plan, db_status status, const char *fragment) {
    equations r;
    assert_int_equal(
        db_plan_normal(plan, DB_FLOAT32, data, weight, &r.chi2, r.gradient, r.curvature), status);
    if (!strstr(db_context_message(context), fragment)) {
        print_error("expected '%s' in: %s\n", fragment, db_context_message(context));
        fail();
    }
}

static void bad_pixels_are_named(void **state) {
    (void)state;
    enum { AT = 31 * FAST + 77 };
    db_plan *plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    const float kept_data = data[AT], kept_weight = weight[AT];
    const float bad_weights[] = { -1, NAN, INFINITY }, bad_data[] = { NAN, INFINITY };
    for (int i = 0; i < 3; i++) {
        weight[AT] = bad_weights[i];
        expect_refusal(plan, DB_ERROR_INPUT, "weight of pixel (77, 31) of panel 0");
    }
    weight[AT] = kept_weight;
    for (int i = 0; i < 2; i++) {
        data[AT] = bad_data[i];
        expect_refusal(plan, DB_ERROR_INPUT, "data of pixel (77, 31) of panel 0");
    }
    data[AT] = 1e30F;
    expect_refusal(plan, DB_ERROR_INPUT, "double precision");
    data[AT] = kept_data;
    normal(plan, data, weight);
    db_plan_destroy(&plan);
}

typedef struct {
    double gradient[SOME];
    float image[PIXELS], tangent[PIXELS];
} products;

/* By one number of threads or another, of the panel or of shoeboxes of it. */
static products *products_of(db_plan *plan, const float *cotangent, const double *direction) {
    products *p = calloc(1, sizeof *p);
    assert_non_null(p);
    assert_int_equal(vjp_by_parameters(plan, cotangent, NULL, p->gradient), DB_OK);
    assert_int_equal(jvp_by_parameters(plan, direction, p->image, p->tangent), DB_OK);
    return p;
}

static void direction_of(double direction[SOME]) {
    for (int k = 0; k < SOME; k++)
        direction[k] = (k % 2 ? -1 : 0.5) * db_parameter_describe(some[k])->scale;
}

/* The two are adjoint to each other, and have the same bits for any number of threads. */
static void expect_adjoint(db_plan *plan, db_precision precision) {
    double direction[SOME], by_gradient = 0, by_tangent = 0, c2 = 0, t2 = 0;
    const size_t pixels = db_plan_pixels(plan);
    float *c = calloc(PIXELS, sizeof *c);
    assert_non_null(c);
    for (size_t i = 0; i < pixels; i++) c[i] = i % 50 < 20 ? 0 : (float)(i * 31 % 17) - 7;
    direction_of(direction);
    db_context_set_threads(context, 1);
    products *const one = products_of(plan, c, direction);
    for (int threads = 2; threads <= 3; threads++) {
        db_context_set_threads(context, threads);
        products *const many = products_of(plan, c, direction);
        assert_memory_equal(many, one, sizeof *one);
        free(many);
    }
    for (int k = 0; k < SOME; k++) by_gradient += one->gradient[k] * direction[k];
    for (size_t i = 0; i < pixels; i++) {
        by_tangent += (double)c[i] * one->tangent[i];
        c2 += (double)c[i] * c[i];
        t2 += (double)one->tangent[i] * one->tangent[i];
    }
    assert_true(t2 > 0);
    /* pixels are floats in both precisions */
    const double bound = precision == DB_PRECISION_MIXED ? 1e-6 : 1e-7;
    assert_true(fabs(by_gradient - by_tangent) <= bound * sqrt(c2 * t2));
    free(one);
    free(c);
}

static void products_are_adjoint(void **state) {
    (void)state;
    const db_region boxes[] = { { 0, 5, 7, 3, 6, 0, 3 }, { 0, 60, 50, 100, 40, 18, 100 } };
    for (int precision = 0; precision < 2; precision++)
        for (size_t n = 0; n <= 2; n += 2) {
            db_plan *plan =
                small_plan(context, &experiment, (db_precision)precision, n ? boxes : NULL, n);
            expect_adjoint(plan, (db_precision)precision);
            db_plan_destroy(&plan);
        }
}

static void expect_message(const char *fragment) {
    if (strstr(db_context_message(context), fragment)) return;
    print_error("expected '%s' in: %s\n", fragment, db_context_message(context));
    fail();
}

static void products_refuse_what_is_bad(void **state) {
    (void)state;
    enum { AT = 31 * FAST + 77 };
    const float bad[] = { NAN, INFINITY, -INFINITY };
    double gradient[SOME], direction[SOME];
    float *image = calloc(2 * PIXELS, sizeof *image);
    db_plan *plan;
    assert_non_null(image);
    direction_of(direction);
    assert_int_equal(db_plan_create(context, &experiment, NULL, &plan), DB_OK);
    assert_int_equal(vjp_by_parameters(plan, data, NULL, gradient), DB_ERROR_USAGE);
    expect_message("without parameters");
    assert_int_equal(jvp_by_parameters(plan, direction, image, image + PIXELS), DB_ERROR_USAGE);
    expect_message("without parameters");
    db_plan_destroy(&plan);
    plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    assert_int_equal(vjp_by_parameters(plan, NULL, NULL, gradient), DB_ERROR_USAGE);
    expect_message("NULL for the cotangent");
    assert_int_equal(vjp_by_parameters(plan, data, NULL, NULL), DB_ERROR_USAGE);
    expect_message("gradient: expected at least one member");
    assert_int_equal(jvp_by_parameters(plan, NULL, image, image + PIXELS), DB_ERROR_USAGE);
    expect_message("direction: expected at least one member");
    assert_int_equal(jvp_by_parameters(plan, direction, NULL, image), DB_ERROR_USAGE);
    assert_int_equal(jvp_by_parameters(plan, direction, image, NULL), DB_ERROR_USAGE);
    expect_message("NULL for the tangent");
    static const int at[] = { AT, 0, FAST - 1, PIXELS - 1 }; /* also at the ends of rows */
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
            const float kept = data[at[k]];
            char place[100];
            data[at[k]] = bad[i];
            assert_int_equal(vjp_by_parameters(plan, data, NULL, gradient), DB_ERROR_INPUT);
            snprintf(place, sizeof place, "cotangent of pixel (%d, %d) of panel 0", at[k] % FAST,
                     at[k] / FAST);
            expect_message(place);
            data[at[k]] = kept;
        }
    direction[1] = NAN;
    assert_int_equal(jvp_by_parameters(plan, direction, image, image + PIXELS), DB_ERROR_INPUT);
    expect_message("expected a finite number, found nan");
    /* of nothing: nothing */
    memset(direction, 0, sizeof direction);
    assert_int_equal(jvp_by_parameters(plan, direction, image, image + PIXELS), DB_OK);
    assert_int_equal(vjp_by_parameters(plan, image + PIXELS, image, gradient), DB_OK);
    for (int k = 0; k < SOME; k++) assert_true(gradient[k] == 0);
    for (int i = 0; i < PIXELS; i++) assert_true(image[PIXELS + i] == 0);
    db_plan_destroy(&plan);
    free(image);
}

static int cancel_half_way(void *user, double fraction) {
    (void)user;
    return fraction >= 0.5;
}

static void misuse_is_refused_with_a_reason(void **state) {
    (void)state;
    db_plan *plan;
    equations r;
    assert_int_equal(db_plan_create(context, &experiment, NULL, &plan), DB_OK);
    expect_refusal(plan, DB_ERROR_USAGE, "without parameters");
    db_plan_destroy(&plan);
    plan = small_plan(context, &experiment, DB_PRECISION_MIXED, NULL, 0);
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, NULL, NULL, &r.chi2, r.gradient, r.curvature),
                     DB_ERROR_USAGE);
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, NULL, NULL, r.gradient, r.curvature),
                     DB_ERROR_USAGE);
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, NULL, &r.chi2, NULL, r.curvature),
                     DB_ERROR_USAGE);
    assert_int_equal(db_plan_normal(plan, DB_FLOAT32, data, NULL, &r.chi2, r.gradient, NULL),
                     DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "NULL for curvature"));
    db_context_set_threads(context, 1);
    db_context_set_progress(context, cancel_half_way, NULL);
    expect_refusal(plan, DB_ERROR_CANCELLED, "progress callback");
    db_context_set_progress(context, NULL, NULL);
    normal(plan, data, weight);
    db_plan_destroy(&plan);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same_bits_for_any_number_of_threads, start, finish),
        cmocka_unit_test_setup_teardown(regions_add_up, start, finish),
        cmocka_unit_test_setup_teardown(thousands_of_regions, start, finish),
        cmocka_unit_test_setup_teardown(pixels_of_weight_0_are_left_out, start, finish),
        cmocka_unit_test_setup_teardown(the_gradient_is_that_of_chi2, start, finish),
        cmocka_unit_test_setup_teardown(warm_calls_allocate_nothing, start, finish),
        cmocka_unit_test_setup_teardown(bad_pixels_are_named, start, finish),
        cmocka_unit_test_setup_teardown(products_are_adjoint, start, finish),
        cmocka_unit_test_setup_teardown(products_refuse_what_is_bad, start, finish),
        cmocka_unit_test_setup_teardown(misuse_is_refused_with_a_reason, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
