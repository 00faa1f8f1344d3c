/* Number of threads for work, and number of the present one. */
#ifndef DB_BASE_THREADS_H
#define DB_BASE_THREADS_H

#include "base/context_internal.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

/* Threads of the context. */
static inline int db_threads(const db_context *context) {
#if defined(_OPENMP)
    return context->threads ? context->threads : omp_get_max_threads();
#else
    (void)context;
    return 1;
#endif
}

/* Threads of the context, at most one for each piece of work. */
static inline int db_threads_for(const db_context *context, long pieces) {
    const int wanted = db_threads(context);
    return (int)(wanted < pieces ? wanted : pieces > 0 ? pieces : 1);
}

/* Threads with at least 100 us of work each, for pieces that take one thread this many ns: waking a thread takes a
 * good part of 100 us, and on a busy machine it runs late. */
static inline int db_threads_worth(const db_context *context, long pieces, double ns) {
    const double shares = (double)pieces * ns / 100e3;
    return db_threads_for(context, shares < (double)pieces ? (long)shares : pieces);
}

/* Number of this thread, from 0. */
static inline int db_thread_number(void) {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

#endif
