/* The context's inside, and the one way to fail. */
#ifndef DB_BASE_CONTEXT_INTERNAL_H
#define DB_BASE_CONTEXT_INTERNAL_H

#include "base/device.h"

#include <dualbragg/context.h>

enum { DB_MESSAGE_SIZE = 1024 };

typedef enum db_isa { DB_ISA_SSE2, DB_ISA_AVX2, DB_ISA_AVX512, DB_ISA_COUNT } db_isa;

struct db_context {
    char message[DB_MESSAGE_SIZE];
    int threads; /* 0: all */
    db_isa isa;
    db_device device;
    db_progress_function progress;
    void *progress_user;
    db_stage_function stage;
    void *stage_user;
};

/* Records a message, printf style; context may be NULL. */
DB_API void db_record_message(db_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Records a message and is the status. A macro, so that readers and analysers of the caller see
 * which status that is. */
#define db_fail(context, status, ...)                                                              \
    (db_record_message((context), __VA_ARGS__), (db_status)(status))

/* Records an out-of-memory message for `what`. */
#define db_fail_memory(context, what)                                                              \
    db_fail((context), DB_ERROR_MEMORY, "out of memory for %s", (what))

/* Passes a failed status on to the caller. */
#define DB_TRY(call)                                                                               \
    do {                                                                                           \
        const db_status db_try_status_ = (call);                                                   \
        if (db_try_status_ != DB_OK) return db_try_status_;                                        \
    } while (0)

#endif
