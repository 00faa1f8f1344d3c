/* The table of realistic loads. */
#ifndef DB_BENCH_REPORT_LOADS_H
#define DB_BENCH_REPORT_LOADS_H

#include "bench/results.h"

#include <stdio.h>

void db_bench_put_loads(FILE *out, const db_bench_results *results);

#endif
