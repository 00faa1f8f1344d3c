#include "bench/targets.h"

#include "bench/rows.h"

#include <math.h>

/* The times are asked for with this number of threads. */
enum { THREADS = 2 };

/* Median time (ms) of a warm image; NAN if it was not measured. */
static double warm_image(const db_bench_results *results, int size, int samples,
                         db_precision precision) {
    if (results->threads != THREADS) return NAN;
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_row *row = &results->rows[i];
        if (row->workload.size == size && db_bench_row_is_plain(row) &&
            db_bench_load_samples(row->workload.load) == samples && row->precision == precision)
            return 1e3 * db_bench_summarize(&row->timing[DB_BENCH_FORWARD_WARM]).median;
    }
    return NAN;
}

static double largest_ratio(const db_bench_results *results) {
    double largest = NAN;
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_series *timing = results->rows[i].timing;
        largest = fmax(largest, db_bench_median_ratio(&timing[DB_BENCH_GRADIENT_WARM],
                                                      &timing[DB_BENCH_FORWARD_WARM]));
    }
    return largest;
}

static db_bench_heap most_heap(const db_bench_results *results) {
    db_bench_heap most = { 0 };
    for (int i = 0; i < results->row_count; i++) {
        const db_bench_heap *heap = &results->rows[i].warm_heap;
        if (heap->calls > most.calls) most.calls = heap->calls;
        if (heap->bytes > most.bytes) most.bytes = heap->bytes;
    }
    return most;
}

void db_bench_judge(const db_bench_results *results, db_bench_target targets[DB_BENCH_TARGETS]) {
    const db_precision d = DB_PRECISION_DOUBLE, m = DB_PRECISION_MIXED;
    const db_bench_heap heap = most_heap(results);
    const db_bench_target list[DB_BENCH_TARGETS] = {
        { "4096² image, 1 sample, double, 2 threads", " ms", 40, warm_image(results, 4096, 1, d),
          0 },
        { "4096² image, 1 sample, mixed, 2 threads", " ms", 40, warm_image(results, 4096, 1, m),
          0 },
        { "1024² image, 100 samples, double, 2 threads", " ms", 150,
          warm_image(results, 1024, 100, d), 0 },
        { "1024² image, 100 samples, mixed, 2 threads", " ms", 150,
          warm_image(results, 1024, 100, m), 0 },
        { "16 derivative images / image, largest of all rows", "", 5, largest_ratio(results), 0 },
        { "allocations, most of all rows", "", 0, (double)heap.calls, 0 },
        { "heap growth, most of all rows", " byte", 0, (double)heap.bytes, 0 },
    };
    for (int i = 0; i < DB_BENCH_TARGETS; i++) {
        targets[i] = list[i];
        targets[i].reached = list[i].measured <= list[i].limit;
    }
}
