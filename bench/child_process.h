/* Another program, run to its end. */
#ifndef DB_BENCH_CHILD_PROCESS_H
#define DB_BENCH_CHILD_PROCESS_H

#include <dualbragg/context.h>

/* Runs program (searched for in PATH if its name has no slash) in a folder, with OMP_NUM_THREADS
 * set and its output thrown away; argv as for main, ended by NULL. *seconds: from before its start
 * to after its end. *peak_bytes (may be NULL): the most memory that was resident in it, or
 * in this process when it was started, whichever is more. DB_ERROR_FILE if it cannot be started, or
 * ends with anything but exit status 0.
 */
db_status db_bench_run_program(db_context *context, const char *program, char *const *argv,
                               int threads, const char *folder, double *seconds,
                               double *peak_bytes);

#endif
