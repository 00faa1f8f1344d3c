/* Normal deviates: ratio of uniform deviates (Kinderman, Monahan 1977) with the bounds of Leva
 * (1992, ACM Trans. Math. Softw. 18, 449). Exact; the logarithm is needed for 1 in 80. */
#ifndef DB_NOISE_NORMAL_H
#define DB_NOISE_NORMAL_H

#include "noise/random_stream.h"

/* Leva's quadratic form: below the inner bound the point is inside the region, above the outer one
 * outside. */
#define NOISE_NORMAL_INNER 0.27597
#define NOISE_NORMAL_OUTER 0.27846
AD_PORTABLE_FN double noise_normal_form(double u, double v) {
    const double x = u - 0.449871, y = (v < 0 ? -v : v) + 0.386595;
    return x * x + y * (0.19600 * y - 0.25472 * x);
}

/* Whether v/u is a normal deviate: v^2 <= -4 u^2 log u, decided by the form where possible. */
AD_PORTABLE_FN int noise_normal_accepts(double u, double v) {
    const double q = noise_normal_form(u, v);
    if (q < NOISE_NORMAL_INNER) return 1;
    if (q > NOISE_NORMAL_OUTER) return 0;
    return v * v <= -4 * u * u * portable_log(u);
}

/* Width of the box around the region: 2 sqrt(2/e) = 1.71552..., rounded up. */
#define DB_NOISE_NORMAL_BOX 1.7156

/* v of a uniform deviate. */
AD_PORTABLE_FN double noise_normal_across(double uniform) {
    return DB_NOISE_NORMAL_BOX * (uniform - 0.5);
}

/* The next deviate of mean 0 and standard deviation 1. */
AD_PORTABLE_FN double noise_normal(noise_stream *s) {
    for (;;) {
        const noise_pair pair = noise_next_pair(s);
        const double u = pair.first, v = noise_normal_across(pair.second);
        if (noise_normal_accepts(u, v)) return v / u;
    }
}

#endif
