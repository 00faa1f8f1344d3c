#include "bench/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double db_bench_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *left, const void *right) {
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Quantile of sorted values, linear between neighbours. */
static double quantile(const double *sorted, int count, double fraction) {
    const double at = fraction * (count - 1);
    const int below = (int)at;
    const int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

double db_bench_median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return quantile(values, count, 0.5);
}

db_bench_summary db_bench_summarize(const db_bench_series *series) {
    double sorted[DB_BENCH_MAX_ROUNDS];
    const int n = series->count;
    if (n < 1) return (db_bench_summary){ NAN, NAN, NAN, NAN };
    memcpy(sorted, series->seconds, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    return (db_bench_summary){ sorted[0], quantile(sorted, n, 0.25), quantile(sorted, n, 0.5),
                               quantile(sorted, n, 0.75) };
}

double db_bench_median_ratio(const db_bench_series *numerator, const db_bench_series *denominator) {
    db_bench_series ratios = { .count = numerator->count < denominator->count
                                            ? numerator->count
                                            : denominator->count };
    for (int i = 0; i < ratios.count; i++)
        ratios.seconds[i] = numerator->seconds[i] / denominator->seconds[i];
    return db_bench_summarize(&ratios).median;
}

double db_bench_minimum_ratio(const db_bench_series *numerator,
                              const db_bench_series *denominator) {
    return db_bench_summarize(numerator).minimum / db_bench_summarize(denominator).minimum;
}
