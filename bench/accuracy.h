/* Comparison of images, and rounding errors of the images of the loads. */
#ifndef DB_BENCH_ACCURACY_H
#define DB_BENCH_ACCURACY_H

#include "bench/workloads.h"

#include <stddef.h>

typedef struct db_bench_comparison {
    double correlation; /* Pearson's; NAN if an image is constant */
    /* |image - reference| / largest pixel of the reference; NAN if that is 0 */
    double largest_difference;
    size_t left_out; /* pixels that are not finite in one of them */
} db_bench_comparison;

db_bench_comparison db_bench_compare(const float *image, const float *reference, size_t pixels);

/* Rounding errors of the images of the loads. */

typedef struct db_bench_rounding {
    const db_bench_load *load;
    size_t pixels, bright; /* rendered; above 1e-6 of the maximum */
    /* largest relative error of a bright pixel of a float image made in double precision; NAN
     * without bright pixels */
    double in_double;
    double mixed; /* largest error of a pixel in mixed precision, in parts of the maximum */
} db_bench_rounding;

/* Compares images of a load with those of long double arithmetic, model included, in rows spread
 * over the detector, with about `samples` samples in all. */
db_status db_bench_measure_rounding(db_context *context, const db_bench_load *load,
                                    const char *list, double samples, db_bench_rounding *rounding);

#endif
