/* Backgrounds, data of 64 bits and derivatives by structure factors of plans on a GPU, with images in the
 * memory of either: as on the processor. */
#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_WAVELENGTH
#include "support/small_crystal.h"
#include "support/by_parameters.h"
#include "two_contexts.h"
#include "takes_all.h"

#include <dualbragg/batch.h>
#include <dualbragg/noise.h>
#include <dualbragg/normal.h>
#include <dualbragg/products.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 36, SLOW = 9, PIXELS = FAST * SLOW, HALF = 4, SIDE = 2 * HALF + 1 };
enum { ENTRIES = SIDE * SIDE * SIDE };

static void give_list(void) {
    db_structure_factors *f = &experiment.structure_factors;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -HALF;
        f->extent[j] = SIDE;
    }
    f->amplitude = malloc(ENTRIES * sizeof(double));
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < ENTRIES; i++) f->amplitude[i] = 20 + (double)((i * 7919) % 31);
}

static int start(void **state) {
    (void)state;
    machine_reset();
    open_both(FAST, SLOW, 3);
    give_list();
    return 0;
}

/* Boxes that overlap, not in the order of their places, with a gap behind: as many pixels as elements. */
static const db_region boxes[] = { { 0, 5, 0, 10, 1, 5, 10 },
                                   { 0, 30, 0, 5, 1, 20, 5 },
                                   { 0, 0, 0, 10, 1, 0, 10 } };
static const int rendered[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 };
enum { BOXES = 3, ELEMENTS = 25 };

typedef struct {
    db_plan *processor, *device;
    size_t count; /* of elements */
} both;

static both plans_of(db_pixel_type type, db_precision precision, int boxed) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    both b;
    options.pixel_type = type;
    options.precision = precision;
    options.parameters = some;
    options.parameter_count = SOME;
    options.regions = boxed ? boxes : NULL;
    options.region_count = boxed ? BOXES : 0;
    assert_int_equal(db_plan_create(processor, &experiment, &options, &b.processor), DB_OK);
    assert_int_equal(db_plan_create(device, &experiment, &options, &b.device), DB_OK);
    b.count = db_plan_pixels(b.processor);
    return b;
}

static void destroy(both *b) {
    db_plan_destroy(&b->processor);
    db_plan_destroy(&b->device);
}

static size_t each(const both *b) {
    return db_plan_describe(b->device).pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
}

/* An image: of the host, or of the device where `there`. */
typedef struct {
    void *memory;
    int there;
} picture;

static picture picture_of(const both *b, int there, const void *pixels) {
    picture p = { NULL, there };
    if (there) {
        assert_int_equal(
            db_plan_memory_create(b->device, DB_MEMORY_DEVICE, b->count * each(b), &p.memory),
            DB_OK);
        assert_int_equal(db_plan_memory_write(b->device, p.memory, pixels, b->count * each(b)),
                         DB_OK);
    } else {
        p.memory = malloc(b->count * each(b));
        assert_non_null(p.memory);
        memcpy(p.memory, pixels, b->count * each(b));
    }
    return p;
}

/* Into `pixels`; frees it. */
static void take(const both *b, picture *p, void *pixels) {
    if (p->there) {
        assert_int_equal(db_plan_memory_read(b->device, p->memory, pixels, b->count * each(b)),
                         DB_OK);
        db_plan_memory_destroy(b->device, &p->memory);
    } else {
        memcpy(pixels, p->memory, b->count * each(b));
        free(p->memory);
    }
}

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

static void expect_sums(const double *found, const double *expected, size_t count, double bound) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(found[i] - expected[i]) <= bound * most)) {
            print_error("sum %zu: %g, expected %g of %g\n", i, found[i], expected[i], most);
            fail();
        }
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

#if !defined(DB_ON_GPU)
/* Sums and copies of images name what is in the memory of another device. */
static void images_of_another_device_are_refused(void **state) {
    (void)state;
    static float pixels[PIXELS], image[PIXELS], tangent[PIXELS];
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    assert_int_equal(db_context_set_device(device, "cuda:1"), DB_OK);
    both other = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    picture there = picture_of(&other, 1, pixels), here = picture_of(&b, 1, pixels);
    v.background = there.memory;
    assert_int_equal(db_plan_jvp(b.device, &v, image, here.memory), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cuda:0: the background: expected memory"));
    assert_int_equal(db_plan_vjp(b.device, pixels, NULL, &v), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(device), "cuda:0: the image: expected memory"));
    /* the processor brings it from wherever it is */
    assert_int_equal(db_plan_jvp(b.device, &v, image, tangent), DB_OK);
    assert_int_equal(db_plan_set_background(b.device, there.memory), DB_OK);
    take(&b, &here, pixels);
    take(&other, &there, pixels);
    destroy(&other);
    destroy(&b);
}

static both plans_on(const char *name, cudaError_t failure) {
    machine_takes_all();
    assert_int_equal(db_context_set_device(device, name), DB_OK);
    const both b = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
    assert_string_equal(db_plan_device(b.device), "cuda:0");
    stand_in.failure = failure;
    return b;
}

static void expect_device_error(db_plan *plan, db_status status) {
    assert_int_equal(status, DB_ERROR_DEVICE);
    assert_string_equal(db_plan_device(plan), "cuda:0");
}

/* From the failure on the device says no more which memory is its own, and the kernel says what the host can
 * read: with "auto" the processor takes over what is all the host's. */
static int expect_lost(const char *name, long calls) {
    float pixels[PIXELS] = { 0 };
    double gradient[SOME];
    db_plan_vector sums = DB_PLAN_VECTOR_INIT;
    both b = plans_on(name, cudaErrorIllegalAddress);
    picture p = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = calls;
    const db_status status = db_plan_forward(b.device, p.memory);
    const int failed = stand_in.calls_until_failure < 0;
    sums.background = pixels;
    if (failed) {
        expect_device_error(b.device, status);
        expect_device_error(b.device, db_plan_forward(b.device, p.memory));
        expect_device_error(b.device, vjp_by_parameters(b.device, p.memory, NULL, gradient));
        expect_device_error(b.device, vjp_by_parameters(b.device, pixels, p.memory, gradient));
        expect_device_error(b.device, db_plan_vjp(b.device, p.memory, NULL, &sums));
        expect_device_error(b.device, db_plan_set_background(b.device, p.memory));
        const int moves = strcmp(name, "auto") == 0;
        assert_int_equal(db_plan_forward(b.device, pixels), moves ? DB_OK : DB_ERROR_DEVICE);
        assert_string_equal(db_plan_device(b.device), moves ? "cpu" : "cuda:0");
    }
    machine_reset();
    take(&b, &p, pixels);
    destroy(&b);
    return failed;
}

static void memory_of_a_lost_device_is_left_alone(void **state) {
    (void)state;
    static const char *const names[] = { "cuda", "auto" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        long calls = 0;
        while (expect_lost(names[i], calls)) calls++;
        assert_true(calls > 3);
    }
}

/* What calls of all kinds say, all of it in the host's memory. */
typedef struct {
    float pixels[5 + SOME]
                [PIXELS]; /* of images and along directions, of two shots too, and derivatives */
    double sums[3 + SOME + SOME * SOME + SOME + ENTRIES];
    int32_t number[PIXELS];
} answers;

static db_status call_products(db_plan *plan, const float *data, answers *a) {
    static float background[PIXELS];
    double *const sums = a->sums + 3 + SOME + SOME * SOME;
    double direction[SOME] = { 0.1, -0.02, 0.3, 1, 0.001 };
    db_plan_vector all = DB_PLAN_VECTOR_INIT, along = DB_PLAN_VECTOR_INIT;
    void *derivatives[SOME];
    for (int k = 0; k < SOME; k++) derivatives[k] = a->pixels[5 + k];
    for (int i = 0; i < PIXELS; i++) background[i] = (float)(i % 5);
    all.parameters = sums;
    all.amplitudes = sums + SOME;
    along.parameters = direction;
    DB_TRY(db_plan_set_background(plan, background));
    DB_TRY(db_plan_forward(plan, a->pixels[0]));
    DB_TRY(db_plan_gradient(plan, a->pixels[0], derivatives));
    DB_TRY(db_plan_jvp(plan, &along, a->pixels[1], a->pixels[2]));
    DB_TRY(db_plan_vjp(plan, data, NULL, &all));
    return db_plan_normal(plan, DB_FLOAT32, data, NULL, a->sums, a->sums + 3, a->sums + 3 + SOME);
}

static db_status call_batch(db_context *context, const float *data, answers *a) {
    const db_experiment *const shots[] = { &experiment, &experiment };
    const void *const both_data[] = { data, data };
    void *const images[] = { a->pixels[3], a->pixels[4] };
    double curvatures[2 * SOME * SOME], gradients[2 * SOME];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan_batch *batch;
    options.pixel_type = DB_FLOAT32;
    options.precision = DB_PRECISION_DOUBLE;
    options.parameters = some;
    options.parameter_count = SOME;
    DB_TRY(db_plan_batch_create(context, &experiment, &options, &batch));
    db_status status = db_plan_batch_forward(batch, shots, 2, images);
    if (status == DB_OK)
        status = db_plan_batch_normal(batch, shots, 2, DB_FLOAT32, both_data, NULL, a->sums + 1,
                                      gradients, curvatures);
    db_plan_batch_destroy(&batch);
    return status;
}

static db_status call_noise(db_context *context, const float *expected, answers *a) {
#if defined(DB_HAVE_RANDOM123)
    const db_noise_options options = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = expected, .number = a->number
    };
    return db_noise_apply(context, &options, &frame, NULL);
#else
    (void)context;
    (void)expected;
    (void)a;
    return DB_OK;
#endif
}

static db_status call_all(db_context *context, const float *data, answers *a) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.pixel_type = DB_FLOAT32;
    options.precision = DB_PRECISION_DOUBLE;
    options.parameters = some;
    options.parameter_count = SOME;
    DB_TRY(db_plan_create(context, &experiment, &options, &plan));
    db_status status = call_products(plan, data, a);
    db_plan_destroy(&plan);
    if (status == DB_OK) status = call_noise(context, data, a);
    return status == DB_OK ? call_batch(context, data, a) : status;
}

static void expect_images(const float *found, const float *expected, double bound) {
    double f[PIXELS], e[PIXELS];
    for (int i = 0; i < PIXELS; i++) f[i] = (double)found[i], e[i] = (double)expected[i];
    expect_sums(f, e, PIXELS, bound);
}

static void expect_answers(const answers *found, const answers *expected) {
    for (size_t k = 0; k < sizeof found->pixels / sizeof *found->pixels; k++)
        expect_images(found->pixels[k], expected->pixels[k], 2e-6);
    expect_sums(found->sums, expected->sums, 3, 1e-6);
    expect_sums(found->sums + 3, expected->sums + 3, SOME, 1e-6);
    expect_sums(found->sums + 3 + SOME, expected->sums + 3 + SOME, SOME * SOME, 1e-6);
    expect_sums(found->sums + 3 + SOME + SOME * SOME, expected->sums + 3 + SOME + SOME * SOME, SOME,
                1e-6);
    expect_sums(found->sums + 3 + 2 * SOME + SOME * SOME,
                expected->sums + 3 + 2 * SOME + SOME * SOME, ENTRIES, 1e-6);
    assert_memory_equal(found->number, expected->number, sizeof found->number);
}

/* Whichever call of the runtime fails, once or for good: with "auto" all that is the host's has the processor's
 * results. Every `step`th call, in turn. */
static void fail_calls_with_auto(long step) {
    static float data[PIXELS];
    static answers expected, found;
    machine_takes_all();
    for (int i = 0; i < PIXELS; i++) data[i] = (float)(i % 11);
    assert_int_equal(call_all(processor, data, &expected), DB_OK);
    for (int final = 0; final < 2; final++) {
        long n = final;
        for (int failed = 1; failed; n += step) {
            db_context_destroy(&device); /* with what plans have left */
            machine_reset();
            assert_int_equal(db_context_create(&device), DB_OK);
            assert_int_equal(db_context_set_device(device, "auto"), DB_OK);
            stand_in.failure = final ? cudaErrorIllegalAddress : cudaSuccess;
            stand_in.calls_until_failure = n;
            found = (answers){ 0 };
            const db_status status = call_all(device, data, &found);
            failed = stand_in.calls_until_failure < 0;
            if (status != DB_OK) print_error("call %ld: %s\n", n, db_context_message(device));
            assert_int_equal(status, DB_OK);
            expect_answers(&found, &expected);
        }
        machine_reset();
        assert_true(n > 60);
    }
}

static void with_auto_calls_may_fail(void **state) {
    (void)state;
    fail_calls_with_auto(19);
}

static void with_auto_any_call_may_fail_slow(void **state) {
    (void)state;
    fail_calls_with_auto(1);
}

/* The cotangent is the host's, the image the device's: the processor cannot take over. 0: no call failed */
static int expect_no_move(long calls, long *errors) {
    float pixels[PIXELS] = { 0 };
    double gradient[SOME];
    both b = plans_on("auto", cudaSuccess);
    picture p = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = calls;
    const db_status status = vjp_by_parameters(b.device, pixels, p.memory, gradient);
    const int failed = stand_in.calls_until_failure < 0;
    /* memory that there is none of may be found among what other plans have left */
    assert_true(status == DB_OK || status == DB_ERROR_DEVICE || status == DB_ERROR_MEMORY);
    *errors += status != DB_OK;
    assert_string_equal(db_plan_device(b.device), "cuda:0");
    machine_reset();
    take(&b, &p, pixels);
    destroy(&b);
    return failed;
}

/* A call with one piece of memory on the device, whichever: number `piece`. */
static db_status call_with(db_plan *plan, int piece, void *there) {
    static float pixels[PIXELS];
    static float other[SOME][PIXELS];
    double chi2, gradient[SOME] = { 1 }, curvature[SOME * SOME];
    void *derivatives[SOME];
    for (int k = 0; k < SOME; k++) derivatives[k] = k == piece ? there : other[k];
    switch (piece - SOME) {
    case 0: return db_plan_gradient(plan, there, derivatives);
    case 1: return db_plan_normal(plan, DB_FLOAT32, there, pixels, &chi2, gradient, curvature);
    case 2: return db_plan_normal(plan, DB_FLOAT32, pixels, there, &chi2, gradient, curvature);
    case 3: return jvp_by_parameters(plan, gradient, there, pixels);
    case 4: return jvp_by_parameters(plan, gradient, pixels, there);
    default: return db_plan_gradient(plan, pixels, derivatives);
    }
}

static void any_memory_on_the_device_keeps_the_plan_there(void **state) {
    (void)state;
    enum { CALLS = SOME + 5 };
    float pixels[PIXELS] = { 0 };
    for (int piece = 0; piece < CALLS; piece++) {
        both b = plans_on("auto", cudaSuccess);
        picture p = picture_of(&b, 1, pixels);
        assert_int_equal(call_with(b.device, piece, p.memory), DB_OK);
        /* the last call of the runtime waits for the results */
        const long before = stand_in.calls;
        assert_int_equal(call_with(b.device, piece, p.memory), DB_OK);
        stand_in.calls_until_failure = stand_in.calls - before - 1;
        assert_int_equal(call_with(b.device, piece, p.memory), DB_ERROR_DEVICE);
        assert_string_equal(db_plan_device(b.device), "cuda:0");
        machine_reset();
        take(&b, &p, pixels);
        destroy(&b);
    }
}

static void an_image_on_the_device_keeps_its_product_there(void **state) {
    (void)state;
    long calls = 0, errors = 0;
    while (expect_no_move(calls, &errors)) calls++;
    assert_true(errors > 6);
}

/* A plan of "auto" whose device fails at its first image, in the host's memory. */
static both moved_plans(cudaError_t failure, picture *there) {
    float pixels[PIXELS] = { 0 };
    both b = plans_on("auto", failure);
    *there = picture_of(&b, 1, pixels);
    stand_in.calls_until_failure = 3;
    assert_int_equal(db_plan_forward(b.device, pixels), DB_OK);
    assert_string_equal(db_plan_device(b.device), "cpu");
    return b;
}

static void expect_refusal(db_status status) {
    if (status != DB_ERROR_DEVICE) print_error("status %d\n", (int)status);
    assert_int_equal(status, DB_ERROR_DEVICE);
    assert_non_null(strstr(db_context_message(device), "expected memory of the host"));
    assert_non_null(strstr(db_context_message(device), "cuda:0: "));
}

static void expect_batch_to_refuse(void *there) {
    float pixels[PIXELS];
    const db_experiment *const shots[] = { &experiment, &experiment };
    void *const images[] = { pixels, there };
    const db_experiment *const *const given = shots;
    db_plan_batch *batch;
    assert_int_equal(db_context_set_threads(device, 2), DB_OK);
    assert_int_equal(db_plan_batch_create(device, &experiment, NULL, &batch), DB_OK);
    expect_refusal(db_plan_batch_forward(batch, given, 2, images));
    db_plan_batch_destroy(&batch);
}

static void expect_noise_to_refuse(float *there) {
#if defined(DB_HAVE_RANDOM123)
    static int32_t number[PIXELS];
    const db_noise_options options = DB_NOISE_OPTIONS_INIT;
    const db_noise_frame frame = {
        .fast_pixels = FAST, .slow_pixels = SLOW, .expected = there, .number = number
    };
    expect_refusal(db_noise_apply(device, &options, &frame, NULL));
#else
    (void)there;
#endif
}

/* The processor has taken over, and images are still in the device's memory, which it cannot reach. */
static void expect_refusals(const both *b, void *there) {
    static float pixels[PIXELS], other[PIXELS];
    static double amplitudes[ENTRIES];
    void *derivatives[SOME];
    double chi2, sums[SOME] = { 0 }, curvature[SOME * SOME];
    db_plan *const plan = b->device;
    db_plan_vector v = DB_PLAN_VECTOR_INIT;
    for (int k = 0; k < SOME; k++) derivatives[k] = k == SOME - 1 ? there : other;
    expect_refusal(db_plan_forward(plan, there));
    expect_refusal(db_plan_gradient(plan, pixels, derivatives));
    expect_refusal(db_plan_normal(plan, DB_FLOAT32, there, NULL, &chi2, sums, curvature));
    expect_refusal(db_plan_normal(plan, DB_FLOAT32, pixels, there, &chi2, sums, curvature));
    expect_refusal(vjp_by_parameters(plan, there, NULL, sums));
    expect_refusal(vjp_by_parameters(plan, pixels, there, sums));
    expect_refusal(jvp_by_parameters(plan, sums, there, pixels));
    expect_refusal(jvp_by_parameters(plan, sums, pixels, there));
    expect_refusal(db_plan_set_background(plan, there));
    v.background = there;
    expect_refusal(db_plan_vjp(plan, pixels, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, other));
    v.background = other;
    expect_refusal(db_plan_vjp(plan, there, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, there));
    v.background = NULL;
    v.amplitudes = amplitudes;
    expect_refusal(db_plan_vjp(plan, there, NULL, &v));
    expect_refusal(db_plan_jvp(plan, &v, pixels, there));
    /* a forward image after derivatives that are gone */
    for (int k = 0; k < SOME; k++) derivatives[k] = malloc((size_t)1 << 20);
    assert_int_equal(db_plan_gradient(plan, pixels, derivatives), DB_OK);
    for (int k = 0; k < SOME; k++) free(derivatives[k]);
    assert_int_equal(db_plan_forward(plan, pixels), DB_OK);
}

/* What is created now is ordinary; what was created before goes to where it came from. */
static void expect_ordinary_memory(const both *b) {
    static float expected[PIXELS], found[PIXELS];
    void *memory[2];
    assert_int_equal(db_plan_forward(b->processor, expected), DB_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(db_plan_memory_create(b->device, i ? DB_MEMORY_DEVICE : DB_MEMORY_HOST,
                                               sizeof found, &memory[i]),
                         DB_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_plan_memory_write(b->device, memory[i], found, sizeof found), DB_OK);
        assert_int_equal(db_plan_forward(b->device, memory[i]), DB_OK);
        assert_int_equal(db_plan_memory_read(b->device, memory[i], found, sizeof found), DB_OK);
        assert_memory_equal(found, expected, sizeof found);
        db_plan_memory_destroy(b->device, &memory[i]);
    }
}

static void a_plan_that_has_moved_leaves_the_devices_memory_alone(void **state) {
    (void)state;
    float pixels[PIXELS];
    for (int final = 0; final < 2; final++) {
        picture p;
        both b = moved_plans(final ? cudaErrorIllegalAddress : cudaErrorLaunchOutOfResources, &p);
        expect_refusals(&b, p.memory);
        expect_batch_to_refuse(p.memory);
        expect_noise_to_refuse(p.memory);
        expect_ordinary_memory(&b);
        both later = plans_of(DB_FLOAT32, DB_PRECISION_DOUBLE, 0);
        assert_string_equal(db_plan_device(later.device), "cpu");
        expect_refusals(&later, p.memory);
        destroy(&later);
        assert_int_equal(db_plan_memory_read(b.device, p.memory, pixels, sizeof pixels),
                         final ? DB_ERROR_DEVICE : DB_OK);
        machine_reset();
        take(&b, &p, pixels);
        destroy(&b);
    }
}

/* An image of the host's memory moves the plan, and the tangent is in the device's. 0: no call failed */
static int expect_no_half_way(long calls, int parts, long *refusals) {
    float pixels[PIXELS] = { 0 };
    static double amplitudes[ENTRIES];
    double parameters[SOME] = { 0.1 };
    db_plan_vector direction = DB_PLAN_VECTOR_INIT;
    both b = plans_on("auto", cudaSuccess);
    picture p = picture_of(&b, 1, pixels);
    amplitudes[100] = 1;
    if (parts & 1) direction.parameters = parameters;
    if (parts & 2) direction.amplitudes = amplitudes;
    if (parts & 4) direction.background = pixels;
    stand_in.calls_until_failure = calls;
    const db_status status = db_plan_jvp(b.device, &direction, pixels, p.memory);
    const int failed = stand_in.calls_until_failure < 0;
    if (status == DB_OK) assert_string_equal(db_plan_device(b.device), "cuda:0");
    assert_true(status == DB_OK || status == DB_ERROR_DEVICE || status == DB_ERROR_MEMORY);
    *refusals += status != DB_OK && strcmp(db_plan_device(b.device), "cpu") == 0;
    machine_reset();
    take(&b, &p, pixels);
    destroy(&b);
    return failed;
}

static void a_tangent_on_the_device_is_not_for_the_processor(void **state) {
    (void)state;
    long refusals = 0;
    for (int parts = 1; parts < 8; parts++)
        for (long calls = 0; expect_no_half_way(calls, parts, &refusals);) calls++;
    assert_true(refusals > 6);
}
#endif

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, finish)
    const struct CMUnitTest tests[] = {
        TEST(backgrounds_are_added),
        TEST(data_of_any_type_are_compared),
        TEST(the_table_has_derivatives),
        TEST(spots_in_closed_form_have_them),
        TEST(what_the_processor_does_is_said),
        TEST(locked_neighbours_with_a_gap),
#if !defined(DB_ON_GPU)
        TEST(images_of_another_device_are_refused),
        TEST(memory_of_a_lost_device_is_left_alone),
        TEST(with_auto_calls_may_fail),
        TEST(with_auto_any_call_may_fail_slow),
        TEST(any_memory_on_the_device_keeps_the_plan_there),
        TEST(an_image_on_the_device_keeps_its_product_there),
        TEST(a_plan_that_has_moved_leaves_the_devices_memory_alone),
        TEST(a_tangent_on_the_device_is_not_for_the_processor),
#endif
    };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
