/* Reports of the results: Markdown and JSON. */
#ifndef DB_BENCH_REPORT_H
#define DB_BENCH_REPORT_H

#include "bench/measure.h"

#include <stdio.h>

/* Each makes a whole text, to be freed with free(). */
db_status db_bench_report_markdown(db_context *context, const db_bench_results *results,
                                   char **text);
db_status db_bench_report_json(db_context *context, const db_bench_results *results, char **text);

/* The tables of spots in closed form. */
void db_bench_put_spots(FILE *out, const db_bench_results *results);

#endif
