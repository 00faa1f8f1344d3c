/* Expectations about calls of the library that fail or succeed. */
#ifndef DB_TESTS_SUPPORT_EXPECT_H
#define DB_TESTS_SUPPORT_EXPECT_H

#include "support/unit_test.h"

#include <dualbragg/context.h>

#include <stdio.h>
#include <string.h>

/* The call succeeds; otherwise its message is shown. */
#define expect_ok(context, call)                                                                   \
    do {                                                                                           \
        if ((call) != DB_OK) fail_msg("%s", db_context_message(context));                          \
    } while (0)

/* The call fails with the status, and its message contains every one of the texts that follow. */
#define expect_failure(context, expected, call, ...)                                               \
    do {                                                                                           \
        const db_status status_ = (call);                                                          \
        const char *message_ = status_ == DB_OK ? "" : db_context_message(context);                \
        if (status_ != (expected))                                                                 \
            fail_msg("expected status %d, found %d: %s", (int)(expected), (int)status_, message_); \
        const char *texts_[] = { __VA_ARGS__ };                                                    \
        for (size_t i_ = 0; i_ < sizeof texts_ / sizeof *texts_; i_++)                             \
            if (!strstr(message_, texts_[i_]))                                                     \
                fail_msg("expected '%s' in '%s'", texts_[i_], message_);                           \
    } while (0)

/* A context for the whole program. */
static inline db_context *test_context(void) {
    static db_context *context;
    if (!context) assert_int_equal(db_context_create(&context), DB_OK);
    return context;
}

#endif
