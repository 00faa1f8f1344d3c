/* Contexts for threads of their own that do as another context says. */
#ifndef DB_FIT_CONFIG_WORKER_CONTEXT_H
#define DB_FIT_CONFIG_WORKER_CONTEXT_H

#include "base/context_internal.h"

#include <dualbragg/context.h>
#include <dualbragg/device.h>

/* *worker may be there on failure, with the message. */
static inline db_status db_worker_context_create(const db_context *model, int threads,
                                                 db_context **worker) {
    DB_TRY(db_context_create(worker));
    DB_TRY(db_context_set_threads(*worker, threads));
    DB_TRY(db_context_set_isa(*worker, db_context_isa(model)));
    return db_context_set_device(*worker, db_context_device(model));
}

#endif
