/* Inside of a context, and functions for failures. */
#ifndef DB_BASE_CONTEXT_INTERNAL_H
#define DB_BASE_CONTEXT_INTERNAL_H

#include "base/device.h"

#include <dualbragg/context.h>
#include <dualbragg/expert/stages.h>
#include <stdint.h>

enum { DB_MESSAGE_SIZE = 1024, DB_NOTICES_KEPT = 64 };

typedef enum db_isa { DB_ISA_BASELINE, DB_ISA_AVX2, DB_ISA_AVX512, DB_ISA_COUNT } db_isa;

struct db_context {
    char message[DB_MESSAGE_SIZE];
    int threads; /* 0: all */
    db_isa isa;
    db_device device;
    /* memory on the device from plans that were destroyed, for later plans, and the backend's function that frees
     * it */
    void *device_pool;
    void (*pool_destroy)(void *pool);
    db_progress_function progress;
    void *progress_user;
    db_stage_function stage;
    void *stage_user;
    db_notice_function notice;
    void *notice_user;
    uint64_t noticed[DB_NOTICES_KEPT]; /* hashes of the last reported lines */
    unsigned notice_count;
};

/* Records a message, printf style; context may be NULL. Characters of strings that could act on a terminal become
 * \x1b, here and in notices (base/shown_text.h). */
DB_API void db_record_message(db_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Reports contents of a file that are doubtful or not used: a line that begins with the name of the file. Equal
 * lines are reported once. context may be NULL. */
DB_API void db_notice(db_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Hash of a reported line, and whether it is among the `count` ones so far. */
uint64_t db_notice_hash(const char *line);
int db_notice_is_told(const uint64_t noticed[DB_NOTICES_KEPT], unsigned count, uint64_t hash);

/* Records a message and returns the status. A macro, so that readers and analysers see the status in the caller. */
#define db_fail(context, status, ...)                                                              \
    (db_record_message((context), __VA_ARGS__), (db_status)(status))

/* Records an out-of-memory message for `what`. */
#define db_fail_memory(context, what)                                                              \
    db_fail((context), DB_ERROR_MEMORY, "out of memory for %s", (what))

/* DB_OK if the memory was there. */
#define db_need_memory(context, made, what) ((made) ? DB_OK : db_fail_memory((context), (what)))

/* Returns a failed status to the caller. */
#define DB_TRY(call)                                                                               \
    do {                                                                                           \
        const db_status db_try_status_ = (call);                                                   \
        if (db_try_status_ != DB_OK) return db_try_status_;                                        \
    } while (0)

/* Marks of stages, for measuring times (db_context_set_stages). */

/* Called by the thread that called the library. name: static storage. context may be NULL. */
DB_API void db_enter_stage(const db_context *context, const char *name);
DB_API void db_leave_stage(const db_context *context, const char *name);

/* DB_TRY for a call that is a stage. */
#define DB_TRY_STAGE(context, name, call)                                                          \
    do {                                                                                           \
        db_enter_stage((context), (name));                                                         \
        const db_status db_stage_status_ = (call);                                                 \
        db_leave_stage((context), (name));                                                         \
        if (db_stage_status_ != DB_OK) return db_stage_status_;                                    \
    } while (0)

#endif
