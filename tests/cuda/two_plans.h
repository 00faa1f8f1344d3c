/* Plans of a small crystal with structure factors of their own on the processor and on a device, and images in
 * the memory of either. */
#ifndef DB_TESTS_CUDA_TWO_PLANS_H
#define DB_TESTS_CUDA_TWO_PLANS_H

#define SMALL_CRYSTAL_PARAMETERS DB_CELL_A, DB_MISSET_Y, DB_SCALE, DB_DISTANCE, DB_WAVELENGTH
#include "support/small_crystal.h"
#include "two_contexts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 36, SLOW = 9, PIXELS = FAST * SLOW, HALF = 4, SIDE = 2 * HALF + 1 };
enum { ENTRIES = SIDE * SIDE * SIDE };

static inline void give_list(void) {
    db_structure_factors *f = &experiment.structure_factors;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -HALF;
        f->extent[j] = SIDE;
    }
    f->amplitude = malloc(ENTRIES * sizeof(double));
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < ENTRIES; i++) f->amplitude[i] = 20 + (double)((i * 7919) % 31);
}

static inline int start(void **state) {
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
enum { BOXES = 3, ELEMENTS = 25 };

typedef struct {
    db_plan *processor, *device;
    size_t count; /* of elements */
} both;

/* Of the whole panel, with the derivatives above. */
static inline db_plan_options options_of(db_pixel_type type, db_precision precision) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = type;
    options.precision = precision;
    options.parameters = some;
    options.parameter_count = SOME;
    return options;
}

static inline both plans_of(db_pixel_type type, db_precision precision, int boxed) {
    db_plan_options options = options_of(type, precision);
    both b;
    options.regions = boxed ? boxes : NULL;
    options.region_count = boxed ? BOXES : 0;
    assert_int_equal(db_plan_create(processor, &experiment, &options, &b.processor), DB_OK);
    assert_int_equal(db_plan_create(device, &experiment, &options, &b.device), DB_OK);
    b.count = db_plan_pixels(b.processor);
    return b;
}

static inline void destroy(both *b) {
    db_plan_destroy(&b->processor);
    db_plan_destroy(&b->device);
}

static inline size_t each(const both *b) {
    return db_plan_describe(b->device).pixel_type == DB_FLOAT64 ? sizeof(double) : sizeof(float);
}

/* An image: of the host, or of the device where `there`. */
typedef struct {
    void *memory;
    int there;
} picture;

static inline picture picture_of(const both *b, int there, const void *pixels) {
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
static inline void take(const both *b, picture *p, void *pixels) {
    if (p->there) {
        assert_int_equal(db_plan_memory_read(b->device, p->memory, pixels, b->count * each(b)),
                         DB_OK);
        db_plan_memory_destroy(b->device, &p->memory);
    } else {
        memcpy(pixels, p->memory, b->count * each(b));
        free(p->memory);
    }
}

static inline void expect_sums(const double *found, const double *expected, size_t count,
                               double bound) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, fabs(expected[i]));
    for (size_t i = 0; i < count; i++)
        if (!(fabs(found[i] - expected[i]) <= bound * most)) {
            print_error("sum %zu: %g, expected %g of %g\n", i, found[i], expected[i], most);
            fail();
        }
}

#endif
