#include "bench/image_comparison.h"

#include <math.h>

static int both_finite(const float *a, const float *b, size_t i) {
    return isfinite(a[i]) && isfinite(b[i]);
}

db_bench_comparison db_bench_compare(const float *image, const float *reference, size_t pixels) {
    double sum_a = 0, sum_b = 0, difference = 0, largest = 0, aa = 0, bb = 0, ab = 0;
    size_t used = 0;
    for (size_t i = 0; i < pixels; i++) {
        if (!both_finite(image, reference, i)) continue;
        used++;
        sum_a += (double)image[i];
        sum_b += (double)reference[i];
        difference = fmax(difference, fabs((double)image[i] - (double)reference[i]));
        largest = fmax(largest, (double)reference[i]);
    }
    const double mean_a = sum_a / (double)used, mean_b = sum_b / (double)used;
    for (size_t i = 0; i < pixels; i++) {
        if (!both_finite(image, reference, i)) continue;
        const double a = (double)image[i] - mean_a, b = (double)reference[i] - mean_b;
        aa += a * a;
        bb += b * b;
        ab += a * b;
    }
    return (db_bench_comparison){ aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN,
                                  largest > 0 ? difference / largest : NAN, pixels - used };
}
