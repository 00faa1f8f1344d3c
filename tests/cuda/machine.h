/* What a test of the backend runs on: the stand-in, whose calls can be counted, or a GPU. */
#ifndef DB_TESTS_CUDA_MACHINE_H
#define DB_TESTS_CUDA_MACHINE_H

#include "support/unit_test.h"

#include <dualbragg/cuda.h>
#include <dualbragg/dualbragg.h>

#include <stdio.h>
#include <stdlib.h>

enum { SKIPPED = 77 };

#if defined(DB_ON_GPU)
#define COUNTED(check)
static inline void machine_reset(void) {}

/* Ends the program as skipped where there is no GPU. */
static inline void machine_find(void) {
    db_context *context;
    db_cuda_register();
    if (db_context_create(&context) != DB_OK || db_context_set_device(context, "cuda") != DB_OK) {
        printf("skipped: %s\n", db_context_message(context));
        exit(SKIPPED);
    }
    printf("%s: %s\n", db_context_device(context), db_context_device_model(context));
    db_context_destroy(&context);
}
#else
#include "stand_in.h"

#define COUNTED(check) check
static inline void machine_reset(void) { stand_in_reset(); }

/* A new context with this device, on a machine on which nothing has failed; nothing is left of the former one. */
static inline void machine_begin_again(db_context **device, const char *name) {
    db_context_destroy(device); /* with what plans have left */
    assert_int_equal(stand_in.live, 0);
    stand_in_reset();
    assert_int_equal(db_context_create(device), DB_OK);
    assert_int_equal(db_context_set_device(*device, name), DB_OK);
}

#if defined(__SANITIZE_THREAD__)
#define DB_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DB_THREAD_SANITIZER 1
#endif
#endif

/* The stand-in's threads are contexts that take turns, which the thread sanitizer does not follow.
 */
static inline void machine_find(void) {
#if defined(DB_THREAD_SANITIZER)
    printf("skipped: the stand-in does not run under the thread sanitizer\n");
    exit(SKIPPED);
#endif
    db_cuda_register();
}
#endif

#endif
