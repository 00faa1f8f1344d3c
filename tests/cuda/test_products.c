/* Backgrounds, data of 64 bits and derivatives by structure factors of plans on a GPU, with images in the
 * memory of either: as on the processor. */
#include "two_plans.h"
#include "support/by_parameters.h"

#include <dualbragg/normal.h>
#include <dualbragg/products.h>

static const int rendered[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 };

static double value(const both *b, const void *pixels, size_t i) {
    return each(b) == sizeof(double) ? ((const double *)pixels)[i] : ((const float *)pixels)[i];
}

static void put(const both *b, void *pixels, size_t i, double v) {
    if (each(b) == sizeof(double))
        ((double *)pixels)[i] = v;
    else
        ((float *)pixels)[i] = (float)v;
}

static void expect_near(const both *b, const void *found, const void *expected) {
    double most = 0, off = 0;
    const double bound = db_plan_describe(b->device).precision == DB_PRECISION_MIXED ? 4e-6
                         : each(b) == sizeof(double)                                 ? 2e-12
                                                                                     : 4e-7;
    for (size_t i = 0; i < b->count; i++) {
        most = fmax(most, fabs(value(b, expected, i)));
        off = fmax(off, fabs(value(b, found, i) - value(b, expected, i)));
        if (isnan(value(b, found, i))) off = INFINITY;
    }
    if (off > bound * most) print_error("off by %g of %g\n", off, most);
    assert_true(off <= bound * most);
}

/* With types, precisions, places of the images, and regions, each with each of the others. */
typedef void (*check_function)(both *b, int there);
static void with_all(check_function check) {
    static const int way[] = { 0, 3, 5, 6, 9, 10, 12, 15 };
    for (int i = 0; i < 8; i++) {
        const int n = way[i];
        both b = plans_of(n & 1 ? DB_FLOAT64 : DB_FLOAT32,
                          n & 2 ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE, n >> 3);
        check(&b, n >> 2 & 1);
        destroy(&b);
    }
}

static void fill(const both *b, void *pixels, double first, double step) {
    for (size_t i = 0; i < b->count; i++) put(b, pixels, i, first + step * (double)(i * 7919 % 17));
}

static void check_background(both *b, int there) {
    static double background[PIXELS], expected[PIXELS], found[PIXELS], tangent[2][PIXELS];
    const double direction[SOME] = { 0.1, -0.02, 0.3, 1, 0.001 };
    fill(b, background, 3, 0.25);
    memset(expected, 0, sizeof expected);
    assert_int_equal(db_plan_set_background(b->processor, background), DB_OK);
    picture from = picture_of(b, there, background);
    assert_int_equal(db_plan_set_background(b->device, from.memory), DB_OK);
    take(b, &from, background);
    for (int round = 0; round < 3; round++) {
        if (round == 2) { /* another one; the round before has found the first on the device */
            fill(b, background, 5, 0.5);
            assert_int_equal(db_plan_set_background(b->processor, background), DB_OK);
            assert_int_equal(db_plan_set_background(b->device, background), DB_OK);
        }
        assert_int_equal(db_plan_forward(b->processor, expected), DB_OK);
        memset(found, 0, sizeof found);
        picture image = picture_of(b, there, found);
        assert_int_equal(db_plan_forward(b->device, image.memory), DB_OK);
        take(b, &image, found);
        expect_near(b, found, expected);
    }
    for (size_t i = 0; b->count == ELEMENTS && i < ELEMENTS; i++)
        assert_true(rendered[i] == (value(b, found, i) != 0));
    memset(tangent, 0, sizeof tangent);
    assert_int_equal(jvp_by_parameters(b->processor, direction, expected, tangent[0]), DB_OK);
    picture image = picture_of(b, there, found), moved = picture_of(b, there, tangent[1]);
    assert_int_equal(jvp_by_parameters(b->device, direction, image.memory, moved.memory), DB_OK);
    take(b, &image, found);
    take(b, &moved, tangent[1]);
    expect_near(b, found, expected);
    expect_near(b, tangent[1], tangent[0]);
    assert_int_equal(db_plan_set_background(b->device, NULL), DB_OK);
    assert_int_equal(db_plan_set_background(b->processor, NULL), DB_OK);
    assert_int_equal(db_plan_forward(b->processor, expected), DB_OK);
    assert_int_equal(db_plan_forward(b->device, found), DB_OK);
    expect_near(b, found, expected);
}

static void backgrounds_are_added(void **state) {
    (void)state;
    with_all(check_background);
}

/* Data of either type, less the background, and cotangents of the plan's. */
static void check_sums(both *b, int there) {
    static double background[PIXELS], cotangent[PIXELS], data[PIXELS], weight[PIXELS];
    double chi2[2], gradient[2][SOME], curvature[2][SOME * SOME];
    const double bound = db_plan_describe(b->device).precision == DB_PRECISION_MIXED ? 1e-5 : 1e-11;
    fill(b, background, 3, 0.25);
    fill(b, cotangent, -1, 0.125);
    fill(b, data, 5, 1);
    fill(b, weight, 0, 0.5);
    assert_int_equal(db_plan_set_background(b->processor, background), DB_OK);
    assert_int_equal(db_plan_set_background(b->device, background), DB_OK);
    picture d = picture_of(b, there, data), w = picture_of(b, there, weight),
            c = picture_of(b, there, cotangent);
    const db_pixel_type type = db_plan_describe(b->device).pixel_type;
    assert_int_equal(
        db_plan_normal(b->processor, type, data, weight, &chi2[0], gradient[0], curvature[0]),
        DB_OK);
    assert_int_equal(
        db_plan_normal(b->device, type, d.memory, w.memory, &chi2[1], gradient[1], curvature[1]),
        DB_OK);
    assert_true(fabs(chi2[1] - chi2[0]) <= bound * chi2[0]);
    for (int k = 0; k < SOME; k++) {
        const double length = sqrt(curvature[0][k * (SOME + 1)]);
        assert_true(fabs(gradient[1][k] - gradient[0][k]) <= bound * length * sqrt(chi2[0]));
    }
    assert_int_equal(vjp_by_parameters(b->processor, cotangent, NULL, gradient[0]), DB_OK);
    assert_int_equal(vjp_by_parameters(b->device, c.memory, NULL, gradient[1]), DB_OK);
    for (int k = 0; k < SOME; k++)
        assert_true(fabs(gradient[1][k] - gradient[0][k]) <=
                    20 * bound * sqrt(curvature[0][k * (SOME + 1)] * (double)b->count));
    take(b, &d, data);
    take(b, &w, weight);
    take(b, &c, cotangent);
}

static void data_of_any_type_are_compared(void **state) {
    (void)state;
    with_all(check_sums);
}

/* Everything at once, both ways. */
static void check_table(both *b, int there) {
    static double cotangent[PIXELS], image[2][PIXELS], tangent[2][PIXELS], background[2][PIXELS];
    static double amplitudes[2][ENTRIES];
    double parameters[2][SOME], default_F[2];
    db_plan_vector v[2] = { DB_PLAN_VECTOR_INIT, DB_PLAN_VECTOR_INIT };
    const double bound = db_plan_describe(b->device).precision == DB_PRECISION_MIXED ? 1e-5 : 1e-11;
    memset(image, 0, sizeof image);
    memset(tangent, 0, sizeof tangent);
    memset(background, 0, sizeof background);
    fill(b, cotangent, -1, 0.125);
    picture c = picture_of(b, there, cotangent), i = picture_of(b, there, image[1]),
            g = picture_of(b, there, background[1]);
    for (int n = 0; n < 2; n++) {
        v[n].parameters = parameters[n];
        v[n].amplitudes = amplitudes[n];
        v[n].default_F = &default_F[n];
        v[n].background = n ? g.memory : background[0];
    }
    assert_int_equal(db_plan_vjp(b->processor, cotangent, image[0], &v[0]), DB_OK);
    assert_int_equal(db_plan_vjp(b->device, c.memory, i.memory, &v[1]), DB_OK);
    assert_non_null(strstr(db_plan_device_note(b->device), "structure factors"));
    take(b, &i, image[1]);
    take(b, &g, background[1]);
    expect_near(b, image[1], image[0]);
    expect_near(b, background[1], background[0]);
    expect_sums(amplitudes[1], amplitudes[0], ENTRIES, bound);
    expect_sums(parameters[1], parameters[0], SOME, 20 * bound);
    assert_true(fabs(default_F[1] - default_F[0]) <= bound * (fabs(default_F[0]) + 1));

    for (int n = 0; n < ENTRIES; n++) amplitudes[0][n] = 0.01 * (n % 23) - 0.1;
    for (int k = 0; k < SOME; k++) parameters[0][k] = 1e-3 * (k + 1);
    default_F[0] = 0.2;
    fill(b, background[0], 0.1, 0.05);
    for (int part = 0; part < 3; part++) { /* all, without parameters, amplitudes alone */
        db_plan_vector direction = v[0];
        if (part) direction.parameters = NULL;
        if (part == 2) direction.background = NULL;
        assert_int_equal(db_plan_jvp(b->processor, &direction, image[0], tangent[0]), DB_OK);
        memset(tangent[1], 0, sizeof tangent[1]);
        picture t = picture_of(b, there, tangent[1]), again = picture_of(b, there, tangent[1]),
                from = picture_of(b, there, background[0]);
        if (part < 2) direction.background = from.memory;
        assert_int_equal(db_plan_jvp(b->device, &direction, again.memory, t.memory), DB_OK);
        assert_string_equal(db_plan_device_note(b->device), "");
        take(b, &from, background[0]);
        take(b, &again, image[1]);
        take(b, &t, tangent[1]);
        expect_near(b, image[1], image[0]);
        expect_near(b, tangent[1], tangent[0]);
    }
    take(b, &c, cotangent);
}

static void the_table_has_derivatives(void **state) {
    (void)state;
    with_all(check_table);
}

static void spots_in_closed_form_have_them(void **state) {
    (void)state;
    experiment.spread.spots = DB_SPOTS_CLOSED;
    experiment.spread.mosaic = 0.4;
    with_all(check_table);
    with_all(check_background);
    with_all(check_sums);
}

/* An interpolated list's direction is the processor's work, wherever the tangent is. */
static void what_the_processor_does_is_said(void **state) {
    (void)state;
    static float image[2][PIXELS], tangent[2][PIXELS];
    static double amplitudes[ENTRIES];
    db_plan_vector direction = DB_PLAN_VECTOR_INIT;
    for (int n = 0; n < ENTRIES; n++) amplitudes[n] = 0.01 * (n % 23) - 0.1;
    direction.amplitudes = amplitudes;
    experiment.structure_factors.interpolate = 1;
    both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    assert_string_equal(db_plan_device_note(b.device), "");
    assert_int_equal(db_plan_jvp(b.processor, &direction, image[0], tangent[0]), DB_OK);
    for (int there = 0; there < 2; there++) {
        memset(tangent[1], 0, sizeof tangent[1]);
        picture t = picture_of(&b, there, tangent[1]);
        assert_int_equal(db_plan_jvp(b.device, &direction, image[1], t.memory), DB_OK);
        assert_string_equal(db_plan_device_note(b.device),
                            "the image along a direction of interpolated structure factors");
        take(&b, &t, tangent[1]);
        expect_near(&b, tangent[1], tangent[0]);
    }
    assert_string_equal(db_plan_device_note(b.processor), "");
    /* it is of the last call */
    double sums[SOME];
    direction.amplitudes = NULL;
    direction.parameters = sums;
    assert_int_equal(db_plan_vjp(b.device, image[0], NULL, &direction), DB_OK);
    assert_string_equal(db_plan_device_note(b.device), "");
    destroy(&b);
}

/* Overlapping regions with a gap have as many pixels as elements, but are no whole panel: neighbours in
 * locked memory do not come in one piece. */
static void locked_neighbours_with_a_gap(void **state) {
    (void)state;
    static float expected[SOME + 1][ELEMENTS];
    void *locked, *image[SOME + 1], *own[SOME + 1];
    both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 1);
    assert_int_equal(db_plan_memory_create(b.device, DB_MEMORY_HOST, sizeof expected, &locked),
                     DB_OK);
    memset(locked, 0, sizeof expected);
    for (int k = 0; k <= SOME; k++) {
        image[k] = (float *)locked + (size_t)k * ELEMENTS;
        own[k] = expected[k];
    }
    assert_int_equal(db_plan_gradient(b.processor, own[0], own + 1), DB_OK);
    assert_int_equal(db_plan_gradient(b.device, image[0], image + 1), DB_OK);
    for (int k = 0; k <= SOME; k++) expect_near(&b, image[k], own[k]);
    db_plan_memory_destroy(b.device, &locked);
    destroy(&b);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(backgrounds_are_added),           TEST(data_of_any_type_are_compared),
        TEST(the_table_has_derivatives),       TEST(spots_in_closed_form_have_them),
        TEST(what_the_processor_does_is_said), TEST(locked_neighbours_with_a_gap),
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
