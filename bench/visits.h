/* Warm calls, timed. */
#ifndef DB_BENCH_VISITS_H
#define DB_BENCH_VISITS_H

#include "bench/library_calls.h"
#include "bench/statistics.h"

/* Finds how many calls make a visit; the first creates threads and is thrown away. */
db_status db_bench_choose_calls(db_bench_caller *caller, db_bench_output output,
                                const db_bench_images *images, db_bench_series *series);

/* Adds a time to the series: the median of a visit's calls, which is not moved by one that was
 * interrupted. */
db_status db_bench_visit(db_bench_caller *caller, db_bench_output output,
                         const db_bench_images *images, db_bench_series *series);

#endif
