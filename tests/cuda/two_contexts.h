/* A crystal, and contexts of the processor and of a device that renders it: set-up and tear-down of each
 * test. To be read after support/small_crystal.h. */
#ifndef DB_TESTS_CUDA_TWO_CONTEXTS_H
#define DB_TESTS_CUDA_TWO_CONTEXTS_H

#include "machine.h"

static db_context *processor, *device;
static db_experiment experiment;

/* A context without what plans before have left. */
static void open_device(void) {
    assert_int_equal(db_context_create(&device), DB_OK);
    assert_int_equal(db_context_set_device(device, "cuda"), DB_OK);
}

/* After machine_reset. */
static void open_both(int fast_pixels, int slow_pixels, int cells) {
    assert_int_equal(db_context_create(&processor), DB_OK);
    open_device();
    small_crystal(processor, fast_pixels, slow_pixels, cells, &experiment);
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&processor);
    db_context_destroy(&device);
    COUNTED(assert_int_equal(stand_in.live, 0);)
    return 0;
}

#endif
