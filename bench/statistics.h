/* The clock, and summary statistics: median, quartiles, ratios. */
#ifndef DB_BENCH_STATISTICS_H
#define DB_BENCH_STATISTICS_H

/* Seconds since some fixed moment; never set back. */
double db_bench_seconds(void);

/* Summary statistics. */

enum { DB_BENCH_MAX_ROUNDS = 1000 };

/* One measured time per round. */
typedef struct db_bench_series {
    double seconds[DB_BENCH_MAX_ROUNDS];
    int count;
    int calls; /* each entry is the median of this number of calls */
} db_bench_series;

typedef struct db_bench_summary {
    double minimum, lower_quartile, median, upper_quartile; /* seconds; NAN of an empty series */
} db_bench_summary;

/* Median of count >= 1 values, which get sorted. */
double db_bench_median(double *values, int count);

db_bench_summary db_bench_summarize(const db_bench_series *series);

/* Median over the rounds of numerator / denominator, in which a disturbance of a whole round
 * cancels. NAN if one is empty. */
double db_bench_median_ratio(const db_bench_series *numerator, const db_bench_series *denominator);

/* Ratio of the shortest times. NAN if one is empty. */
double db_bench_minimum_ratio(const db_bench_series *numerator, const db_bench_series *denominator);

#endif
