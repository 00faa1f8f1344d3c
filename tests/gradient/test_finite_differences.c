/* The oracle's own oracle: wide duals against Richardson-extrapolated central differences of
 * the image. */
#include "support/unit_test.h"
#include "configurations.h"
#include "images.h"

#include <math.h>
#include <stdlib.h>
#include <dualbragg/expert/oracle.h>

enum { LEVELS = 4 };

static int moves[DB_PARAMETER_COUNT]; /* a parameter's derivative is not 0 somewhere */

static db_plan *plan_of(db_context *context, const db_experiment *e, const db_parameter *parameters,
                        size_t count) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.pixel_type = DB_FLOAT64;
    options.parameters = parameters;
    options.parameter_count = count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

/* Central differences with steps h, h/2, h/4, h/8, extrapolated to h = 0 (error of order h^8). */
static void differences(db_plan *plan, db_experiment *e, db_parameter p, double step,
                        double *result, double *work, size_t pixels) {
    const double value = db_parameter_get(e, p);
    double *table[LEVELS];
    for (int level = 0; level < LEVELS; level++) {
        const double h = ldexp(step, -level);
        table[level] = work + (size_t)level * pixels;
        db_parameter_set(e, p, value - h);
        assert_int_equal(db_plan_update(plan, e), DB_OK);
        assert_int_equal(db_plan_forward(plan, table[level]), DB_OK);
        db_parameter_set(e, p, value + h);
        assert_int_equal(db_plan_update(plan, e), DB_OK);
        assert_int_equal(db_plan_forward(plan, result), DB_OK);
        for (size_t i = 0; i < pixels; i++)
            table[level][i] = (result[i] - table[level][i]) / (2 * h);
    }
    db_parameter_set(e, p, value);
    for (int order = 1; order < LEVELS; order++)
        for (int level = LEVELS - 1; level >= order; level--) {
            const double weight = ldexp(1, 2 * order);
            for (size_t i = 0; i < pixels; i++)
                table[level][i] = (weight * table[level][i] - table[level - 1][i]) / (weight - 1);
        }
    for (size_t i = 0; i < pixels; i++) result[i] = table[LEVELS - 1][i];
}

static void note_moving(const db_parameter *parameters, size_t count, const images *oracle) {
    for (size_t p = 0; p < count; p++)
        if (parameters[p] < DB_PARAMETER_COUNT &&
            largest(oracle->derivative[p], oracle->pixels) > 0)
            moves[parameters[p]] = 1;
}

static void oracle_equals_differences(void **state) {
    const configuration *which = *state;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    db_experiment e = configured(context, which);
    db_parameter parameters[MOST_PARAMETERS];
    const size_t count = parameters_of(which, &e, parameters);
    db_plan *plan = plan_of(context, &e, parameters, count);
    const size_t pixels = db_plan_pixels(plan);
    images oracle = images_create(pixels);
    double *result = malloc(pixels * sizeof(double)),
           *work = malloc(LEVELS * pixels * sizeof(double));
    assert_true(result && work);
    assert_int_equal(db_plan_oracle(plan, oracle.image, oracle.derivative), DB_OK);
    note_moving(parameters, count, &oracle);
    for (size_t p = 0; p < count; p++) {
        const db_parameter_info *info = db_parameter_describe(parameters[p]);
        const double scale = largest(oracle.derivative[p], pixels);
        /* a parameter without effect here has derivative zero both ways */
        const double bound = scale > 0 ? 1e-7 * scale : 1e-12 * largest(oracle.image, pixels);
        double difference = INFINITY;
        /* a weak derivative needs longer steps, where the rounding of the image counts less */
        for (int longer = 1; longer <= 4 && !(difference <= bound); longer *= 2) {
            const double step = longer * which->step * info->scale;
            differences(plan, &e, parameters[p], step, result, work, pixels);
            difference = largest_difference(result, oracle.derivative[p], pixels);
        }
        if (!(difference <= bound)) {
            print_error("%s: off by %g of the largest derivative %g\n", info->name,
                        difference / scale, scale);
            fail();
        }
    }
    free(result);
    free(work);
    images_destroy(&oracle);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
    db_context_destroy(&context);
}

/* Which parameters are allowed to have no effect anywhere: none. */
static void every_parameter_has_an_effect_somewhere(void **state) {
    (void)state;
    for (int p = 0; p < DB_PARAMETER_COUNT; p++)
        if (!moves[p]) fail_msg("%s has no effect", db_parameter_describe((db_parameter)p)->name);
}

int main(void) {
    struct CMUnitTest tests[64];
    for (size_t i = 0; i < configurations_and_closed(); i++)
        tests[i] = (struct CMUnitTest){ configuration_or_closed(i)->name, oracle_equals_differences,
                                        NULL, NULL, (void *)(uintptr_t)configuration_or_closed(i) };
    tests[configurations_and_closed()] =
        (struct CMUnitTest)cmocka_unit_test(every_parameter_has_an_effect_somewhere);
    choose_cases(); /* not those whose names end in ", slow" */
    return _cmocka_run_group_tests("finite differences", tests, configurations_and_closed() + 1,
                                   NULL, NULL);
}
