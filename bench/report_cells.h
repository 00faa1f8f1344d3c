/* Pieces of Markdown tables. */
#ifndef DB_BENCH_REPORT_CELLS_H
#define DB_BENCH_REPORT_CELLS_H

#include "bench/results.h"

#include <stdio.h>

/* Three significant digits, but whole numbers whole; "-" for what was not measured. */
void db_bench_put_number(FILE *out, double value);

void db_bench_put_cell(FILE *out, double value);

/* Two cells: minimum and median in milliseconds. */
void db_bench_put_times(FILE *out, const db_bench_series *series);

/* A table's head: titles up to NULL; the first `texts` are text, the rest numbers. */
void db_bench_put_head(FILE *out, const char *const *titles, int texts);

/* Largest difference of images, in parts of the maximum. */
void db_bench_put_difference(FILE *out, const db_bench_comparison *comparison);

/* Millions of samples per second, by a time in seconds. */
double db_bench_sample_rate(const db_bench_row *row, double seconds);

#endif
