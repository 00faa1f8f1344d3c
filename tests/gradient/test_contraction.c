/* Interface contraction, in every instruction set and precision, gives the derivatives of the
 * wide duals. */
#include "support/unit_test.h"
#include "support/instruction_sets.h"
#include "configurations.h"
#include "images.h"

#include <dualbragg/expert/instruction_set.h>
#include <dualbragg/expert/oracle.h>
#include <math.h>
#include <string.h>

typedef struct parameter_set {
    db_parameter list[MOST_PARAMETERS];
    size_t count;
} parameter_set;

static db_plan *plan_of(db_context *context, const db_experiment *e, const parameter_set *set,
                        db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.pixel_type = DB_FLOAT64;
    options.parameters = set->list;
    options.parameter_count = set->count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

static void compare_images(const db_context *context, const double *image, const images *oracle,
                           double bound) {
    const double difference = largest_difference(image, oracle->image, oracle->pixels);
    if (difference <= bound) return;
    print_error("%s: image off by %g, bound %g\n", db_context_isa(context), difference, bound);
    fail();
}

static void compare(db_context *context, const db_experiment *e, const parameter_set *set,
                    const images *oracle, db_precision precision, double image_bound,
                    double slope_bound) {
    /* in mixed precision a derivative that nearly cancels is known to the image's precision only:
     * what a typical step of the parameter changes, to that part of the peak */
    const double step_bound = precision == DB_PRECISION_MIXED ? image_bound : 0;
    db_plan *plan = plan_of(context, e, set, precision);
    images fast = images_create(oracle->pixels);
    const double peak = largest(oracle->image, oracle->pixels);
    assert_true(peak > 0);
    assert_int_equal(db_plan_forward(plan, fast.image), DB_OK);
    compare_images(context, fast.image, oracle, image_bound * peak);
    memset(fast.image, 0, oracle->pixels * sizeof(double));
    assert_int_equal(db_plan_gradient(plan, fast.image, (void *const *)fast.derivative), DB_OK);
    compare_images(context, fast.image, oracle, image_bound * peak);
    for (size_t p = 0; p < set->count; p++) {
        const db_parameter_info *info = db_parameter_describe(set->list[p]);
        const double scale = largest(oracle->derivative[p], oracle->pixels);
        const double bound = fmax(slope_bound * scale, step_bound * peak / info->scale);
        const double difference =
            largest_difference(fast.derivative[p], oracle->derivative[p], oracle->pixels);
        if (!(difference <= bound)) {
            print_error("%s, %s: off by %g of the largest derivative %g\n", db_context_isa(context),
                        info->name, difference / scale, scale);
            fail();
        }
    }
    images_destroy(&fast);
    db_plan_destroy(&plan);
}

/* A set without cell counts, for which there are kernels of their own, and the oracle's images of
 * it. */
static parameter_set without_cells(const parameter_set *all, const images *oracle, images *own) {
    parameter_set set = { .count = 0 };
    *own = *oracle;
    for (size_t p = 0; p < all->count; p++) {
        if (db_parameter_describe(all->list[p])->facts->moves & DB_MOVES_CELLS) continue;
        own->derivative[set.count] = oracle->derivative[p];
        set.list[set.count++] = all->list[p];
    }
    return set;
}

static void contraction_equals_oracle(void **state) {
    const configuration *which = *state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_experiment e = configured(context, which);
    parameter_set set;
    set.count = parameters_of(which, &e, set.list);
    db_plan *plan = plan_of(context, &e, &set, DB_PRECISION_DOUBLE);
    images oracle = images_create(db_plan_pixels(plan));
    assert_int_equal(db_plan_oracle(plan, oracle.image, oracle.derivative), DB_OK);
    images others;
    const parameter_set fewer = without_cells(&set, &oracle, &others);
    assert_true(fewer.count + 3 == set.count);
    for (size_t tried = 0; use_next_instruction_set(context, &tried);) {
        compare(context, &e, &set, &oracle, DB_PRECISION_DOUBLE, 1e-12, 1e-11);
        compare(context, &e, &set, &oracle, DB_PRECISION_MIXED, 1e-6, 1e-5);
        compare(context, &e, &fewer, &others, DB_PRECISION_DOUBLE, 1e-12, 1e-11);
        compare(context, &e, &fewer, &others, DB_PRECISION_MIXED, 1e-6, 1e-5);
    }
    images_destroy(&oracle);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

/* The direct beam is in the image's middle, and next to it scattering vectors, their slopes by
 * wavelength and direction of the beam, and what polarization changes are small differences: those
 * are taken in double, so that mixed precision keeps its digits. */
static void digits_are_kept_near_the_direct_beam(void **unused) {
    (void)unused;
    static const db_precision precision[2] = { DB_PRECISION_DOUBLE, DB_PRECISION_MIXED };
    const parameter_set set = { { DB_MISSET_Y, DB_MISSET_Z, DB_CELL_A, DB_CELL_BETA, DB_WAVELENGTH,
                                  DB_BEAM_VERTICAL, DB_POLARIZATION },
                                7 };
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_experiment e = configured(context, &configurations[0]);
    e.detector.distance *= 1000;
    e.detector.centre[0] = e.detector.centre[1] = 0;
    images by[2];
    for (int i = 0; i < 2; i++) {
        db_plan *plan = plan_of(context, &e, &set, precision[i]);
        by[i] = images_create(db_plan_pixels(plan));
        assert_int_equal(db_plan_gradient(plan, by[i].image, (void *const *)by[i].derivative),
                         DB_OK);
        db_plan_destroy(&plan);
    }
    for (size_t p = 0; p < set.count; p++) {
        const double scale = largest(by[0].derivative[p], by[0].pixels),
                     difference =
                         largest_difference(by[0].derivative[p], by[1].derivative[p], by[0].pixels);
        assert_true(scale > 0);
        if (!(difference <= 3e-6 * scale))
            fail_msg("%s: off by %g of %g", db_parameter_describe(set.list[p])->name, difference,
                     scale);
    }
    for (int i = 0; i < 2; i++) images_destroy(&by[i]);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

int main(void) {
    struct CMUnitTest tests[64];
    for (size_t i = 0; i < configurations_and_closed(); i++)
        tests[i] = (struct CMUnitTest){ configuration_or_closed(i)->name, contraction_equals_oracle,
                                        NULL, NULL, (void *)(uintptr_t)configuration_or_closed(i) };
    tests[configurations_and_closed()] =
        (struct CMUnitTest)cmocka_unit_test(digits_are_kept_near_the_direct_beam);
    return _cmocka_run_group_tests("contraction", tests, configurations_and_closed() + 1, NULL,
                                   NULL);
}
