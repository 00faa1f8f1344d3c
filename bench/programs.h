/* Whole programs run on a workload: the reference, and ours beside it. */
#ifndef DB_BENCH_PROGRAMS_H
#define DB_BENCH_PROGRAMS_H

#include "bench/options.h"
#include "bench/scratch_folder.h"
#include "bench/workloads.h"

typedef struct db_bench_programs {
    char reference[DB_BENCH_PATH_SIZE]; /* "": none */
    char ours[DB_BENCH_PATH_SIZE];      /* "": none found */
    char folder[DB_BENCH_PATH_SIZE];    /* where they run */
} db_bench_programs;

/* Finds the programs and makes their folder. Close it whatever the
 * status. */
db_status db_bench_programs_open(db_context *context, const db_bench_options *options,
                                 db_bench_programs *programs);
void db_bench_programs_close(db_bench_programs *programs);

/* Time a program from start to end, threads and instruction set as in the context. image: receives
 * the float image that it wrote, if not NULL. */
db_status db_bench_run_reference(db_context *context, const db_bench_programs *programs,
                                 const db_bench_workload *workload, double *seconds, float *image);
db_status db_bench_run_ours(db_context *context, const db_bench_programs *programs,
                            const db_bench_workload *workload, db_precision precision,
                            double *seconds, float *image);

/* Our program alone, in mixed precision, writing a float image and nothing else; image and
 * peak_bytes (see db_bench_run_program) may be NULL. */
db_status db_bench_run_ours_alone(db_context *context, const db_bench_programs *programs,
                                  const db_bench_workload *workload, double *seconds,
                                  double *peak_bytes);

#endif
