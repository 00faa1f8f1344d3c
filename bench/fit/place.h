/* Where a benchmark runs: a context on a device. */
#ifndef DB_BENCH_FIT_PLACE_H
#define DB_BENCH_FIT_PLACE_H

#include <dualbragg/fit.h>

/* A context on a device with a number of threads, 0: the usual number; *name: how tables call it. NULL, with
 * a complaint and *failed, the exit status, otherwise. */
enum { DB_BENCH_PLACE_SIZE = 64 };
db_context *db_bench_context(const char *device, int threads, char *name, int *failed);

/* Says what went wrong; returns the exit status. */
int db_bench_complain(db_context *context, const char *what, db_status status);

#endif
