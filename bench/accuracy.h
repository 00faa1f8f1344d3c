/* How alike two images are, and how exact those of the loads. */
#ifndef DB_BENCH_ACCURACY_H
#define DB_BENCH_ACCURACY_H

#include "bench/workloads.h"

#include <stddef.h>

typedef struct db_bench_comparison {
    double correlation;        /* Pearson's; NAN if an image is constant */
    double largest_difference; /* |image - reference| / largest pixel of the reference; NAN if that
                                  is 0 */
    size_t left_out;           /* pixels that are not finite in one of them */
} db_bench_comparison;

db_bench_comparison db_bench_compare(const float *image, const float *reference, size_t pixels);

/* How exact the images of the loads are. */

typedef struct db_bench_rounding {
    const db_bench_load *load;
    size_t pixels, bright; /* rendered; above 1e-6 of the maximum */
    double in_double;      /* largest relative error of a bright pixel of a float image made in
                              double precision; NAN without bright pixels */
    double mixed; /* largest error of a pixel in mixed precision, in parts of the maximum */
} db_bench_rounding;

/* Compares images of a load with those of long double arithmetic, model included, in rows all over
 * the detector, `samples` samples altogether, more or less. */
db_status db_bench_measure_rounding(db_context *context, const db_bench_load *load,
                                    const char *list, double samples, db_bench_rounding *rounding);

#endif
