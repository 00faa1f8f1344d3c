/* Probes: warm calls of which only ratios count, each timed next to the call that it is compared
 * with. */
#ifndef DB_BENCH_PROBES_H
#define DB_BENCH_PROBES_H

#include "bench/library_calls.h"
#include "bench/options.h"
#include "bench/statistics.h"

typedef enum db_bench_probe {
    DB_BENCH_ONE_THREAD,
    DB_BENCH_TWO_THREADS,
    DB_BENCH_AVX2,
    DB_BENCH_AVX512,
    DB_BENCH_IMAGE_1,
    DB_BENCH_NORMAL_1,
    DB_BENCH_IMAGE_100,
    DB_BENCH_NORMAL_100,
    DB_BENCH_NORMAL_16,
    DB_BENCH_NORMAL_32,
    DB_BENCH_PROBES
} db_bench_probe;

/* All in mixed precision. */
typedef struct db_bench_probe_info {
    const char *name; /* in the JSON report */
    const char *load; /* key */
    int threads;      /* 0: as many as the others have */
    const char *isa;  /* NULL: that of the others */
    db_bench_output output;
    int parameters; /* 0: 16 */
} db_bench_probe_info;
extern const db_bench_probe_info db_bench_probes[DB_BENCH_PROBES];

typedef struct db_bench_prober {
    db_context *context[DB_BENCH_PROBES]; /* NULL: not to be had on this machine */
    db_bench_caller caller[DB_BENCH_PROBES];
    db_bench_images images;
} db_bench_prober;

/* Prepares the plans; a probe whose instruction set or threads the machine lacks stays empty. Close
 * it after a failure, too. series: [DB_BENCH_PROBES]. */
db_status db_bench_prober_open(db_context *context, const db_bench_options *options, int processors,
                               db_bench_prober *prober, db_bench_series *series);
db_status db_bench_prober_visit(db_bench_prober *prober, db_bench_series *series);
void db_bench_prober_close(db_bench_prober *prober);

#endif
