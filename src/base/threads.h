/* How many threads a piece of work gets, and which of them this one is. */
#ifndef DB_BASE_THREADS_H
#define DB_BASE_THREADS_H

#include "base/context_internal.h"

#if defined(_OPENMP)
#include <omp.h>
#endif

/* As many as the context wants. */
static inline int db_threads(const db_context *context) {
#if defined(_OPENMP)
    return context->threads ? context->threads : omp_get_max_threads();
#else
    (void)context;
    return 1;
#endif
}

/* The same, but at most one thread for each piece of work. */
static inline int db_threads_for(const db_context *context, long pieces) {
    const int wanted = db_threads(context);
    return (int)(wanted < pieces ? wanted : pieces > 0 ? pieces : 1);
}

/* The same, each with 100 us of work at least, of pieces that take one thread so many ns: to wake a
 * thread takes a good part of that, and on a busy machine it is long until it runs and can be waited
 * for. */
static inline int db_threads_worth(const db_context *context, long pieces, double ns) {
    const double shares = (double)pieces * ns / 100e3;
    return db_threads_for(context, shares < (double)pieces ? (long)shares : pieces);
}

/* From 0. */
static inline int db_thread_number(void) {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

#endif
