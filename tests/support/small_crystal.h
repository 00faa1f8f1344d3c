/* A small crystal on one panel with the beam near its corner, and images of it with their
 * derivatives. */
#ifndef DB_TESTS_SUPPORT_SMALL_CRYSTAL_H
#define DB_TESTS_SUPPORT_SMALL_CRYSTAL_H

#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>

#include <stdlib.h>

/* Parameters of the derivative images; a test may define others before it includes this. */
#ifndef SMALL_CRYSTAL_PARAMETERS
#define SMALL_CRYSTAL_PARAMETERS                                                                   \
    DB_CELL_A, DB_MISSET_Y, DB_CELLS_B, DB_MOSAIC_SPREAD, DB_WAVELENGTH, DB_DISTANCE
#endif
static const db_parameter some[] = { SMALL_CRYSTAL_PARAMETERS };
enum { SOME = sizeof some / sizeof some[0] };

/* centre_slow: mm from the panel's edge */
static inline void small_crystal(db_context *context, int fast_pixels, int slow_pixels,
                                 double centre_slow, db_experiment *e) {
    assert_int_equal(db_experiment_init(context, e), DB_OK);
    for (int i = 0; i < 3; i++) {
        e->crystal.cell[i] = 50 + 7 * i;
        e->crystal.Ncells[i] = 4 + i;
        e->crystal.misset[i] = 11 * (i + 1);
    }
    e->structure_factors.default_F = 10;
    e->detector.panels[0].fast_pixels = fast_pixels;
    e->detector.panels[0].slow_pixels = slow_pixels;
    e->detector.panels[0].pixel_size[0] = e->detector.panels[0].pixel_size[1] = 0.4;
    e->detector.centre[0] = 37;
    e->detector.centre[1] = centre_slow;
}

/* With these derivative images; to be destroyed. Without regions: the whole detector. */
static inline db_plan *small_plan(db_context *context, const db_experiment *e,
                                  db_precision precision, const db_region *regions,
                                  size_t region_count) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = precision;
    options.parameters = some;
    options.parameter_count = SOME;
    options.regions = regions;
    options.region_count = region_count;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    return plan;
}

typedef struct {
    float *image;
    float *derivative[SOME];
} result;

static inline result result_create(size_t pixels) {
    result r;
    r.image = calloc(pixels, sizeof(float));
    assert_non_null(r.image);
    for (int k = 0; k < SOME; k++) {
        r.derivative[k] = calloc(pixels, sizeof(float));
        assert_non_null(r.derivative[k]);
    }
    return r;
}

static inline void result_destroy(result *r) {
    free(r->image);
    for (int k = 0; k < SOME; k++) free(r->derivative[k]);
}

#endif
