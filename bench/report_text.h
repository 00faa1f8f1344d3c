/* Cells of Markdown tables. */
#ifndef DB_BENCH_REPORT_TEXT_H
#define DB_BENCH_REPORT_TEXT_H

#include "bench/statistics.h"

#include <stdio.h>

void db_bench_put_number(FILE *out, double value); /* "-" unless it is finite */
void db_bench_put_cell(FILE *out, double value);
/* Minimum and median in milliseconds. */
void db_bench_put_times(FILE *out, const db_bench_series *series);
/* titles: ended by NULL; the first `texts` columns are left-aligned. */
void db_bench_put_head(FILE *out, const char *const *titles, int texts);

#endif
