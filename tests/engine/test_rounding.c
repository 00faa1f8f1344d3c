/* What rounding does to images, measured by the same physics in long double, model included. */
#include "support/context.h"
#include "engine/exact_image.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Half the distance of neighbouring floats: what storage alone does. */
static const double STORAGE = 1.0 / (1 << 24);

typedef struct {
    const char *name;
    double cell, wavelength; /* A */
    int cells;
    db_crystal_shape shape;
    int domains, phi_steps, size;
} condition;

/* The second is hard: at high resolution a large crystal of a large cell has Miller indices of
 * which many digits are lost in their fraction. */
static const condition conditions[] = {
    { "small crystal", 100, 6.2, 5, DB_SHAPE_SQUARE, 1, 1, 256 },
    { "large crystal", 250, 0.9, 100, DB_SHAPE_SQUARE, 1, 1, 512 },
    { "small crystal, 100 samples", 100, 6.2, 5, DB_SHAPE_SQUARE, 25, 4, 96 },
    { "large crystal, 100 samples", 250, 0.9, 100, DB_SHAPE_SQUARE, 25, 4, 96 },
    { "small ball", 100, 6.2, 5, DB_SHAPE_ROUND, 1, 1, 256 },
    { "large ball", 250, 0.9, 100, DB_SHAPE_ROUND, 1, 1, 256 },
    { "small Gaussian crystal", 100, 6.2, 5, DB_SHAPE_GAUSS, 25, 4, 96 },
    { "larger Gaussian crystal", 250, 0.9, 30, DB_SHAPE_GAUSS, 25, 4, 96 },
    { "small ball, 100 samples", 100, 6.2, 5, DB_SHAPE_ROUND, 25, 4, 96 },
    { "sweep of 100 steps", 100, 6.2, 5, DB_SHAPE_SQUARE, 1, 100, 96 },
};
enum { CONDITIONS = sizeof conditions / sizeof conditions[0] };

typedef struct {
    double in_double, stored, mixed; /* mixed: of the maximum, the others relative */
    size_t compared;
} errors;

static void set_up(const condition *c, db_experiment *e) {
    db_setup setup;
    db_setup_init(&setup);
    for (int i = 0; i < 3; i++) {
        setup.cell[i] = c->cell;
        setup.cell[i + 3] = 90;
        setup.Ncells[i] = c->cells;
        setup.misset[i] = 3 + 7 * i;
    }
    setup.default_F = 100;
    setup.interpolate = 0;
    setup.shape = c->shape;
    setup.wavelength = c->wavelength;
    setup.detector_pixels[0] = setup.detector_pixels[1] = c->size;
    setup.oversample = 1;
    if (c->domains > 1) {
        setup.mosaic_spread = 1;
        setup.mosaic_domains = c->domains;
        setup.osc = 1;
        setup.phi_steps = c->phi_steps;
    }
    assert_int_equal(db_setup_resolve(context, &setup, e, NULL, NULL), DB_OK);
}

static void render(const db_experiment *e, db_precision precision, db_pixel_type type,
                   void *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.precision = precision;
    options.pixel_type = type;
    db_plan *plan;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
}

/* Relative errors are those of pixels above 1e-6 of the maximum. */
static errors compare(const long double *exact, const double *in_double, const float *stored,
                      const float *mixed, size_t pixels) {
    double maximum = 0;
    errors worst = { 0 };
    for (size_t i = 0; i < pixels; i++) maximum = fmax(maximum, (double)exact[i]);
    for (size_t i = 0; i < pixels; i++) {
        worst.mixed = fmax(worst.mixed, (double)fabsl(mixed[i] - exact[i]) / maximum);
        if (!(exact[i] > 1e-6 * maximum)) continue;
        worst.compared++;
        worst.in_double =
            fmax(worst.in_double, (double)(fabsl(in_double[i] - exact[i]) / exact[i]));
        worst.stored = fmax(worst.stored, (double)(fabsl(stored[i] - exact[i]) / exact[i]));
    }
    return worst;
}

static errors measure(const condition *c) {
    db_experiment e;
    set_up(c, &e);
    const size_t pixels = db_experiment_pixels(&e);
    const db_region all = { .fast_count = c->size,
                            .slow_count = c->size,
                            .stride = (size_t)c->size };
    long double *exact = calloc(pixels, sizeof *exact);
    double *in_double = calloc(pixels, sizeof *in_double);
    float *stored = calloc(pixels, sizeof *stored), *mixed = calloc(pixels, sizeof *mixed);
    assert_true(exact && in_double && stored && mixed);
    assert_int_equal(db_exact_image(context, &e, NULL, &all, 1, exact), DB_OK);
    render(&e, DB_PRECISION_DOUBLE, DB_FLOAT64, in_double);
    render(&e, DB_PRECISION_DOUBLE, DB_FLOAT32, stored);
    render(&e, DB_PRECISION_MIXED, DB_FLOAT32, mixed);
    const errors worst = compare(exact, in_double, stored, mixed, pixels);
    free(exact);
    free(in_double);
    free(stored);
    free(mixed);
    db_experiment_clear(&e);
    printf("%-28s %6zu pixels: double %.1e, stored %.1e; mixed %.1e of the maximum\n", c->name,
           worst.compared, worst.in_double, worst.stored, worst.mixed);
    return worst;
}

/* 1e-8: Miller indices up to 200, known to 1e-16 of themselves, near the zeros of sin(N pi h),
 * where a pixel of 1e-6 of the maximum is within 1e-5 of its zero. */
static void images_are_exact_up_to_their_precision(void **state) {
    (void)state;
    for (int i = 0; i < CONDITIONS; i++) {
        const errors worst = measure(&conditions[i]);
        assert_true(worst.compared > 100);
        assert_true(worst.in_double < 1e-8);
        assert_true(worst.in_double > 0);
        assert_true(worst.stored < STORAGE + 1e-8);
        assert_true(worst.mixed < 1e-6);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(images_are_exact_up_to_their_precision, open_context,
                                        close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
