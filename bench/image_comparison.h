/* How alike two images are. */
#ifndef DB_BENCH_IMAGE_COMPARISON_H
#define DB_BENCH_IMAGE_COMPARISON_H

#include <stddef.h>

typedef struct db_bench_comparison {
    double correlation;        /* Pearson's; NAN if an image is constant */
    double largest_difference; /* |image - reference| / largest pixel of the reference; NAN if that
                                  is 0 */
    size_t left_out;           /* pixels that are not finite in one of them */
} db_bench_comparison;

db_bench_comparison db_bench_compare(const float *image, const float *reference, size_t pixels);

#endif
