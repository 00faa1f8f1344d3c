/* Many shots that share nothing, by several numbers of threads, on a device and on the processor. */
#ifndef DB_BENCH_FIT_SHOT_THREADS_H
#define DB_BENCH_FIT_SHOT_THREADS_H

#include <stdio.h>

/* Writes a table for a number of shots, the fastest of several runs; returns the exit status. */
int db_bench_shot_threads(const char *device, int repeats, int shots, FILE *out);

#endif
