/* What our program needs from its start to an image on disk. */
#ifndef DB_BENCH_WHOLE_PROGRAM_H
#define DB_BENCH_WHOLE_PROGRAM_H

#include "bench/programs.h"
#include "bench/statistics.h"

/* Peak memory (bytes) beyond the image of 4096 x 4096 floats (quick: 1024 x 1024), program and
 * libraries included. To be measured before this process has grown, see db_bench_run_program. */
db_status db_bench_peak_memory(db_context *context, const db_bench_programs *programs, int quick,
                               double *bytes);

/* Adds the time from the start of a process to its end, with an image of 512 x 512 pixels of one
 * sample written. */
db_status db_bench_visit_cold_start(db_context *context, const db_bench_programs *programs,
                                    db_bench_series *series);

#endif
