/* A derivative does not depend on which others are asked for, nor on the pixels rendered beside it:
 * kernels of their own for fewer parameters, long rows and narrow regions all say the same. */
#include "support/context.h"
#include "configurations.h"
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static images derivatives_of(const db_experiment *e, const db_plan_options *given,
                             const db_parameter *parameters, size_t count) {
    db_plan_options options = *given;
    db_plan *plan = NULL;
    options.pixel_type = DB_FLOAT64;
    options.parameters = parameters;
    options.parameter_count = count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    images made = images_create(db_plan_pixels(plan));
    assert_int_equal(db_plan_gradient(plan, made.image, (void *const *)made.derivative), DB_OK);
    db_plan_destroy(&plan);
    return made;
}

/* Every stride-th parameter, from the first on; in reverse, so that their order changes, too.
 * Without cell counts, which have kernels of their own. */
static void compare_subset(const db_experiment *e, const char *name, const db_parameter *all,
                           size_t count, const images *expected, size_t first, size_t stride) {
    const db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_parameter some[MOST_PARAMETERS];
    size_t from[MOST_PARAMETERS], chosen = 0;
    for (size_t k = count; k-- > 0;) {
        if (k % stride != first % stride) continue;
        if (all[k] >= DB_CELLS_A && all[k] <= DB_CELLS_C) continue;
        from[chosen] = k;
        some[chosen++] = all[k];
    }
    if (chosen == 0) return;
    images found = derivatives_of(e, &options, some, chosen);
    assert_true(largest_difference(found.image, expected->image, found.pixels) <=
                1e-12 * largest(expected->image, found.pixels));
    for (size_t k = 0; k < chosen; k++) {
        const double *const right = expected->derivative[from[k]];
        const double scale = largest(right, found.pixels),
                     difference = largest_difference(found.derivative[k], right, found.pixels);
        if (!(difference <= 1e-11 * scale))
            fail_msg("%s, %zu of %zu parameters: %s is off by %g of its largest", name, chosen,
                     count, db_parameter_describe(some[k])->name, difference / scale);
    }
    images_destroy(&found);
}

static void a_derivative_does_not_depend_on_the_others(void **state) {
    (void)state;
    const db_plan_options options = DB_PLAN_OPTIONS_INIT;
    for (size_t i = 0; i < configuration_count; i++) {
        db_experiment e = configured(context, &configurations[i]);
        db_parameter all[MOST_PARAMETERS];
        const size_t count = parameters_of(&configurations[i], &e, all);
        images expected = derivatives_of(&e, &options, all, count);
        compare_subset(&e, configurations[i].name, all, count, &expected, 0, 1);
        compare_subset(&e, configurations[i].name, all, count, &expected, 0, 2);
        compare_subset(&e, configurations[i].name, all, count, &expected, 1, 2);
        compare_subset(&e, configurations[i].name, all, count, &expected, i, 7);
        images_destroy(&expected);
        db_experiment_clear(&e);
    }
}

/* The whole panel in one region, and in regions that begin anywhere: the same bits, with samples
 * left out as well. */
static void compare_regions(const db_experiment *e, const db_plan_options *options,
                            const db_parameter *parameters, size_t count) {
    const db_panel *panel = &e->detector.panels[0];
    images whole = derivatives_of(e, options, parameters, count);
    for (int first = 1; first < panel->fast_pixels; first += 1 + first) {
        const db_region part = { .fast_start = first,
                                 .fast_count = panel->fast_pixels - first,
                                 .slow_count = panel->slow_pixels,
                                 .offset = (size_t)first,
                                 .stride = (size_t)panel->fast_pixels };
        db_plan_options of_part = *options;
        of_part.regions = &part;
        of_part.region_count = 1;
        images some = derivatives_of(e, &of_part, parameters, count);
        for (int slow = 0; slow < panel->slow_pixels; slow++) {
            const size_t at = (size_t)slow * part.stride + part.offset;
            const size_t bytes = (size_t)part.fast_count * sizeof(double);
            assert_memory_equal(some.image + at, whole.image + at, bytes);
            for (size_t k = 0; k < count; k++)
                assert_memory_equal(some.derivative[k] + at, whole.derivative[k] + at, bytes);
        }
        images_destroy(&some);
    }
    images_destroy(&whole);
}

static void a_derivative_has_the_same_bits_in_any_region(void **state) {
    (void)state;
    static const db_parameter some[] = { DB_CELLS_A, DB_CELLS_B,  DB_CELLS_C,     DB_CELL_A,
                                         DB_CELL_C,  DB_MISSET_Y, DB_POLARIZATION };
    const db_crystal_shape shapes[] = { DB_SHAPE_SQUARE, DB_SHAPE_ROUND, DB_SHAPE_GAUSS };
    for (int shape = 0; shape < 3; shape++)
        for (int precision = 0; precision < 2; precision++) {
            db_experiment e = configured(context, &configurations[0]);
            db_plan_options options = DB_PLAN_OPTIONS_INIT;
            options.precision = precision ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
            e.crystal.shape = shapes[shape];
            for (int i = 0; i < 3; i++) e.crystal.Ncells[i] = 25 + 3 * i;
            e.crystal.mosaic_spread = 0.3;
            e.crystal.mosaic_domains = 6;
            /* 1e-4 of a peak: F^2, N^2 and the solid angle of a pixel (sr) */
            options.tolerance = 1e-4 * (100 * 100) * pow(28, 6) * 5e-5;
            compare_regions(&e, &options, some, 7);
            db_experiment_clear(&e);
        }
}

/* With sampled spots, or a halo, columns of lattice and panels are no neighbours. The image does without. */
static void the_spindle_has_no_derivative_where_it_carries_the_crystal(void **state) {
    (void)state;
    static const db_parameter spindle[] = { DB_PHI, DB_SPINDLE_TILT_BEAM, DB_SPINDLE_TILT_ACROSS };
    for (size_t k = 0; k < sizeof spindle / sizeof *spindle; k++)
        for (int closed = 0; closed < 2; closed++) {
            db_experiment e = configured(context, &configurations[0]);
            db_plan_options options = DB_PLAN_OPTIONS_INIT;
            db_plan *plan;
            options.pixel_type = DB_FLOAT64;
            options.parameters = &spindle[k];
            options.parameter_count = 1;
            e.spread.spots = closed ? DB_SPOTS_CLOSED : DB_SPOTS_SAMPLED;
            assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
            const size_t pixels = db_plan_pixels(plan);
            images both = images_create(pixels);
            assert_int_equal(db_plan_gradient(plan, both.image, (void *const *)both.derivative),
                             DB_OK);
            e.crystal.position[1] = 0.3;
            assert_int_equal(db_plan_update(plan, &e), DB_OK);
            assert_int_equal(db_plan_forward(plan, both.image), DB_OK);
            const db_status status =
                db_plan_gradient(plan, both.image, (void *const *)both.derivative);
            assert_int_equal(status, closed ? DB_OK : DB_ERROR_USAGE);
            assert_int_equal(db_parameter_exists(&e, spindle[k]), closed);
            if (!closed) assert_non_null(strstr(db_context_message(context), "off the origin"));
            db_plan_destroy(&plan);
            assert_int_equal(db_plan_create(context, &e, &options, &plan), status);
            db_plan_destroy(&plan);
            images_destroy(&both);
            db_experiment_clear(&e);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_derivative_does_not_depend_on_the_others, open_context,
                                        close_context),
        cmocka_unit_test_setup_teardown(the_spindle_has_no_derivative_where_it_carries_the_crystal,
                                        open_context, close_context),
        cmocka_unit_test_setup_teardown(a_derivative_has_the_same_bits_in_any_region, open_context,
                                        close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
