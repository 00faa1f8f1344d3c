/* A context for the tests of one program: its group's set-up and tear-down. */
#ifndef DB_TESTS_SUPPORT_CONTEXT_H
#define DB_TESTS_SUPPORT_CONTEXT_H

#include "support/unit_test.h"

#include <dualbragg/context.h>

static db_context *context;

static int open_context(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    db_context_destroy(&context);
    return 0;
}

#endif
