/* What is measured: the rows of the tables, and everything a run of the benchmark found. */
#ifndef DB_BENCH_MEASURE_H
#define DB_BENCH_MEASURE_H

#include "bench/library_calls.h"
#include "bench/accuracy.h"
#include "bench/closed_spots.h"
#include "bench/convergence.h"
#include "bench/machine.h"
#include "bench/options.h"
#include "bench/probes.h"
#include "bench/programs.h"
#include "bench/statistics.h"

typedef enum db_bench_timing {
    DB_BENCH_FORWARD_WARM,
    DB_BENCH_GRADIENT_WARM,
    DB_BENCH_FORWARD_COLD,
    DB_BENCH_GRADIENT_COLD,
    DB_BENCH_TIMINGS
} db_bench_timing;

typedef struct db_bench_timing_info {
    const char *name; /* in the JSON report */
    db_bench_output output;
    int cold;
} db_bench_timing_info;
extern const db_bench_timing_info db_bench_timings[DB_BENCH_TIMINGS];

/* One workload in one precision. */
typedef struct db_bench_row {
    db_bench_workload workload;
    db_precision precision;
    db_bench_series timing[DB_BENCH_TIMINGS];
    db_bench_series device[DB_BENCH_DEVICE_TIMINGS]; /* empty on the processor */
    db_bench_heap warm_heap;
    /* with a reference program, for workloads within its limit */
    db_bench_series reference; /* whole process; the same in all rows of a workload */
    db_bench_series program;   /* whole process of dualbragg sim; empty if it was not found */
    db_bench_comparison to_reference, to_program; /* of the library's image */
} db_bench_row;

typedef struct db_bench_results {
    db_bench_options options;
    db_bench_machine machine;
    int threads;
    char isa[16], date[32], device[160]; /* "": the processor */
    double load_before, load_after;
    char reference_name[256], program_name[256]; /* "": none */
    db_bench_row *rows; /* workload after workload, its precisions together */
    int row_count;
    db_bench_series probe[DB_BENCH_PROBES];
    db_bench_series cold_start; /* whole process; empty without our program */
    double peak_memory;         /* bytes beyond the image; NAN without our program */
    db_bench_rounding rounding[DB_BENCH_LOADS];
    int rounding_count;
    db_bench_spots_results spots;
    db_bench_convergence convergence;
} db_bench_results;

/* Measures everything. Clear *results after a failure, too. */
db_status db_bench_measure(db_context *context, const db_bench_options *options,
                           db_bench_results *results);
void db_bench_results_clear(db_bench_results *results);

/* Which rows the tables have. */

/* Makes the rows from the options: the loads of the main tables at all sizes, then the others. */
db_status db_bench_rows_create(db_context *context, db_bench_results *results);

/* 1 if a row is one of the main tables. */
int db_bench_row_is_plain(const db_bench_row *row);

/* Writes the list of structure factors into the folder if a load among the rows uses it, and gives
 * its name to the rows. path: room for the name, which the rows borrow. */
db_status db_bench_rows_write_list(db_context *context, db_bench_results *results,
                                   const char *folder, char path[DB_BENCH_PATH_SIZE]);

/* A single call, for a profiler. */

/* Runs what --once says, by one db_plan_forward, db_plan_gradient or db_plan_normal. */
db_status db_bench_single_call(db_context *context, const db_bench_options *options);

#endif
