/* How many threads a context wants for the refinement's own loops, and which of them this one is.
 */
#ifndef DB_FIT_CONFIG_THREADS_H
#define DB_FIT_CONFIG_THREADS_H

#include <dualbragg/context.h>

#if defined(_OPENMP)
#include <omp.h>
#endif

static inline int db_fit_threads(const db_context *context) {
#if defined(_OPENMP)
    const int wanted = db_context_threads(context);
    return wanted > 0 ? wanted : omp_get_max_threads();
#else
    (void)context;
    return 1;
#endif
}

static inline int db_fit_thread_number(void) {
#if defined(_OPENMP)
    return omp_get_thread_num();
#else
    return 0;
#endif
}

#endif
