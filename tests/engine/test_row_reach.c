/* A group of pixels that stand far apart: samples whose node lies between its ends, off the
 * straight line, are not passed over (kernel/row_reach.h). */
#include "support/unit_test.h"
#include "engine/exact_image.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>

enum { PIXELS = 48 };

static db_experiment coarse(db_context *context, db_crystal_shape shape, double pixel) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 16 + 2 * i;
        e.crystal.Ncells[i] = 40;
        e.crystal.misset[i] = 13 * i + 7;
    }
    e.crystal.shape = shape;
    e.crystal.mosaic_spread = 1;
    e.crystal.mosaic_domains = 100;
    e.structure_factors.default_F = 100;
    db_panel *const panel = &e.detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = pixel;
    panel->pixel_size[1] = 1.9;
    e.detector.centre[0] = 0.5 * PIXELS * pixel;
    e.detector.centre[1] = 70;
    return e;
}

static double *image_of(db_context *context, const db_experiment *e, db_precision precision,
                        double tolerance) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.tolerance = tolerance;
    double *image = malloc(PIXELS * PIXELS * sizeof *image);
    assert_non_null(image);
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    return image;
}

static void compare(db_context *context, db_crystal_shape shape, db_precision precision,
                    double pixel) {
    db_experiment e = coarse(context, shape, pixel);
    const db_region whole = { .fast_count = PIXELS, .slow_count = PIXELS, .stride = PIXELS };
    long double *all = malloc(PIXELS * PIXELS * sizeof *all);
    double largest = 0;
    assert_non_null(all);
    assert_int_equal(db_exact_image(context, &e, NULL, &whole, 1, all), DB_OK);
    for (int i = 0; i < PIXELS * PIXELS; i++) largest = fmax(largest, (double)all[i]);
    const double tolerance = 1e-4 * largest;
    double *some = image_of(context, &e, precision, tolerance);
    for (int i = 0; i < PIXELS * PIXELS; i++)
        if (!(fabs((double)all[i] - some[i]) <= 1.1 * tolerance)) /* and rounding */
            fail_msg("shape %d: pixel %d is %g, expected %g within %g", shape, i, some[i],
                     (double)all[i], tolerance);
    free(all);
    free(some);
    db_experiment_clear(&e);
}

static void samples_between_the_ends_of_a_group_count(void **state) {
    (void)state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    for (double pixel = 5; pixel < 14; pixel *= 1.4) /* mm, for few and many lanes */
        for (int precision = 0; precision < 2; precision++) {
            const db_precision p = precision ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
            compare(context, DB_SHAPE_GAUSS, p, pixel);
            compare(context, DB_SHAPE_ROUND, p, pixel);
        }
    db_context_destroy(&context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_between_the_ends_of_a_group_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
