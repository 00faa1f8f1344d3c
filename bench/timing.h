/* The clock. */
#ifndef DB_BENCH_TIMING_H
#define DB_BENCH_TIMING_H

/* Seconds since some fixed moment; never set back. */
double db_bench_seconds(void);

#endif
