/* Performance targets of the library. */
#ifndef DB_BENCH_TARGETS_H
#define DB_BENCH_TARGETS_H

#include "bench/measure.h"

typedef struct db_bench_target {
    const char *text;
    const char *unit; /* printed after the number; may be "" */
    double limit;
    int at_least;    /* 1: the limit is a lower one */
    double measured; /* NAN: not part of this run */
    int reached;
} db_bench_target;

enum { DB_BENCH_TARGETS = 27 };

void db_bench_judge(const db_bench_results *results, db_bench_target targets[DB_BENCH_TARGETS]);

#endif
