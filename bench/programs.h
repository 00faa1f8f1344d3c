/* Whole programs, timed: the reference program and dualbragg sim. */
#ifndef DB_BENCH_PROGRAMS_H
#define DB_BENCH_PROGRAMS_H

#include "bench/options.h"
#include "bench/statistics.h"
#include "bench/workloads.h"

#include <dualbragg/context.h>

enum { DB_BENCH_PATH_SIZE = 4096 };

/* Makes an empty folder in TMPDIR (or the system's folder for temporary files); its path is
 * absolute. */
db_status db_bench_scratch_create(db_context *context, char path[DB_BENCH_PATH_SIZE]);

/* Removes the files in it. */
void db_bench_scratch_empty(const char *path);

/* Removes it with the files in it; "" is allowed. */
void db_bench_scratch_remove(char *path);

/* Running another program to its end. */

/* Runs program (searched for in PATH if its name has no slash) in a folder, with OMP_NUM_THREADS
 * set and its output thrown away; argv as for main, ended by NULL. *seconds: from before its start
 * to after its end. *peak_bytes (may be NULL): the most memory that was resident in it, or in this
 * process when it was started, whichever is more. DB_ERROR_FILE if it cannot be started, or ends
 * with anything but exit status 0. */
db_status db_bench_run_program(db_context *context, const char *program, char *const *argv,
                               int threads, const char *folder, double *seconds,
                               double *peak_bytes);

/* Whole programs run on a workload: the reference program and dualbragg sim. */

typedef struct db_bench_programs {
    char reference[DB_BENCH_PATH_SIZE]; /* "": none */
    char ours[DB_BENCH_PATH_SIZE];      /* "": none found */
    char folder[DB_BENCH_PATH_SIZE];    /* where they run */
} db_bench_programs;

/* Finds the programs and makes their folder. Close it after a failure, too. */
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

/* What our program needs from its start to an image on disk. */

/* Peak memory (bytes) beyond the image of 4096 x 4096 floats (quick: 1024 x 1024), program and
 * libraries included. To be measured before this process has grown, see db_bench_run_program. */
db_status db_bench_peak_memory(db_context *context, const db_bench_programs *programs, int quick,
                               double *bytes);

/* Adds the time from the start of a process to its end, with an image of 512 x 512 pixels of one
 * sample written. */
db_status db_bench_visit_cold_start(db_context *context, const db_bench_programs *programs,
                                    db_bench_series *series);

#endif
