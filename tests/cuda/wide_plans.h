/* Plans of a small crystal on a panel of wide rows, on the processor and on a device: set-up of each test, and what tests
 * of the backend have in common. */
#ifndef DB_TESTS_CUDA_WIDE_PLANS_H
#define DB_TESTS_CUDA_WIDE_PLANS_H

#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_WAVELENGTH
#include "support/small_crystal.h"
#include "takes_all.h"
#include "two_contexts.h"

#include <dualbragg/normal.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 300, SLOW = 11, PIXELS = FAST * SLOW };

static inline int start(void **state) {
    (void)state;
    machine_reset();
    machine_takes_all();
    open_both(FAST, SLOW, 3);
    return 0;
}

static inline db_plan *plan_of(db_context *context, db_plan_options options) {
    db_plan *plan;
    options.parameters = some;
    options.parameter_count = SOME;
    const db_status status = db_plan_create(context, &experiment, &options, &plan);
    if (status != DB_OK) print_error("%s\n", db_context_message(context));
    assert_int_equal(status, DB_OK);
    return plan;
}

static inline db_plan_options defaults(void) { return (db_plan_options)DB_PLAN_OPTIONS_INIT; }

static inline void expect_near(const float *found, const float *expected, size_t count,
                               double bound) {
    double largest = 0, off = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(isfinite(found[i]));
        largest = fmax(largest, fabs((double)expected[i]));
        off = fmax(off, fabs((double)found[i] - (double)expected[i]));
    }
    if (off > bound * largest) print_error("off by %g of %g\n", off, largest);
    assert_true(off <= bound * largest);
}

static inline void give_list(int interpolate) {
    db_structure_factors *f = &experiment.structure_factors;
    const int half = 20, extent = 2 * half + 1;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -half;
        f->extent[j] = extent;
    }
    const size_t count = (size_t)extent * (size_t)extent * (size_t)extent;
    f->amplitude = malloc(count * sizeof(double));
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < count; i++) f->amplitude[i] = 20 + (double)((i * 7919) % 31);
    f->interpolate = interpolate;
}

/* What db_plan_normal fills. */
typedef struct {
    double chi2, gradient[SOME], curvature[SOME * SOME];
} equations;

static inline db_status normal(db_plan *plan, const float *data, const float *weight,
                               equations *e) {
    return db_plan_normal(plan, DB_FLOAT32, data, weight, &e->chi2, e->gradient, e->curvature);
}

#endif
