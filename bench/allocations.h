/* Whether code uses the heap. */
#ifndef DB_BENCH_ALLOCATIONS_H
#define DB_BENCH_ALLOCATIONS_H

#include <stddef.h>

typedef struct db_bench_heap {
    size_t calls; /* of malloc and its kin, from this program and the library linked into it, since
                     the start */
    size_t bytes; /* handed out by the C library to everybody, the thread runtime included */
} db_bench_heap;

db_bench_heap db_bench_heap_now(void);

#endif
