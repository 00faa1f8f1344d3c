/* Contexts for threads, with the settings of another context. */
#ifndef DB_FIT_CONFIG_WORKER_CONTEXT_H
#define DB_FIT_CONFIG_WORKER_CONTEXT_H

#include "base/context_internal.h"

#include <dualbragg/context.h>
#include <dualbragg/device.h>
#include <dualbragg/expert/instruction_set.h>
#include <stdlib.h>

/* After a failure *worker may exist, with the message. */
static inline db_status db_worker_context_create(const db_context *model, int threads,
                                                 db_context **worker) {
    DB_TRY(db_context_create(worker));
    DB_TRY(db_context_set_threads(*worker, threads));
    DB_TRY(db_context_set_isa(*worker, db_context_isa(model)));
    return db_context_set_device(*worker, db_context_device(model));
}

/* Contexts of `count` workers with `threads` threads each. The caller destroys the list, also after a failure. */
static inline db_status db_worker_contexts_create(db_context *model, int count, int threads,
                                                  db_context ***workers) {
    *workers = NULL;
    if (count < 1)
        return db_fail(model, DB_ERROR_USAGE, "threads: expected at least one, found %d", count);
    *workers = calloc((size_t)count, sizeof **workers);
    if (!*workers) return db_fail_memory(model, "the threads' contexts");
    for (int t = 0; t < count; t++) {
        db_context **const worker = &(*workers)[t];
        const db_status status = db_worker_context_create(model, threads, worker);
        if (status != DB_OK)
            return db_fail(model, status, "a thread's context: %s",
                           *worker ? db_context_message(*worker) : "out of memory");
    }
    return DB_OK;
}

static inline void db_worker_contexts_destroy(db_context ***workers, int count) {
    for (int t = 0; t < count && *workers; t++) db_context_destroy(&(*workers)[t]);
    free(*workers);
    *workers = NULL;
}

#endif
