/* Which rows the tables have. */
#ifndef DB_BENCH_ROWS_H
#define DB_BENCH_ROWS_H

#include "bench/results.h"
#include "bench/scratch_folder.h"

/* Makes the rows from the options: the loads of the main tables at all sizes, then the others. */
db_status db_bench_rows_create(db_context *context, db_bench_results *results);

/* 1 if a row is one of the main tables. */
int db_bench_row_is_plain(const db_bench_row *row);

/* Writes the list of structure factors that some loads use into the folder, if one is among the
 * rows, and tells them. path: where the rows keep its name. */
db_status db_bench_rows_write_list(db_context *context, db_bench_results *results,
                                   const char *folder, char path[DB_BENCH_PATH_SIZE]);

#endif
