/* How many threads a piece of work gets. */
#ifndef DB_ENGINE_THREADS_H
#define DB_ENGINE_THREADS_H

#include "base/context_internal.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

/* As many as the context wants, at most one for each of so many pieces. */
static inline int db_threads_for(const db_context *context, long pieces) {
#if defined(_OPENMP)
    const long wanted = context->threads ? context->threads : omp_get_max_threads();
    return (int)(wanted < pieces ? wanted : pieces > 0 ? pieces : 1);
#else
    (void)context, (void)pieces;
    return 1;
#endif
}

#endif
