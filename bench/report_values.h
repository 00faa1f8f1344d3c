/* Values of the JSON report. */
#ifndef DB_BENCH_REPORT_VALUES_H
#define DB_BENCH_REPORT_VALUES_H

#include "bench/measure.h"

#include <jansson.h>

json_t *db_bench_number_json(double value); /* null unless it is finite */
json_t *db_bench_series_json(const db_bench_series *series);
json_t *db_bench_spots_json(const db_bench_results *results);

#endif
