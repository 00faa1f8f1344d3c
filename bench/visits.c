#include "bench/visits.h"

#include "bench/timing.h"
#include "base/context_internal.h"

#include <math.h>

/* A visit to a short call repeats it for so long (seconds), but not more often than so. */
static const double VISIT = 2e-3;
enum { MOST_CALLS = 64 };

/* Several calls are for short ones: one more restores what the visits between have driven out of
 * the caches. */
db_status db_bench_visit(db_bench_caller *caller, db_bench_output output,
                         const db_bench_images *images, db_bench_series *series) {
    double seconds[MOST_CALLS];
    if (series->calls > 1) DB_TRY(db_bench_call_warm(caller, output, images));
    for (int i = 0; i < series->calls; i++) {
        const double start = db_bench_seconds();
        DB_TRY(db_bench_call_warm(caller, output, images));
        seconds[i] = db_bench_seconds() - start;
    }
    series->seconds[series->count++] = db_bench_median(seconds, series->calls);
    return DB_OK;
}

db_status db_bench_choose_calls(db_bench_caller *caller, db_bench_output output,
                                const db_bench_images *images, db_bench_series *series) {
    series->calls = 1;
    DB_TRY(db_bench_call_warm(caller, output, images));
    do DB_TRY(db_bench_visit(caller, output, images, series));
    while (series->count < 3 && series->seconds[series->count - 1] < 10 * VISIT);
    series->calls = (int)fmin(MOST_CALLS, ceil(VISIT / db_bench_summarize(series).minimum));
    series->count = 0;
    return DB_OK;
}
