/* Normal deviates: ratio of uniform deviates (Kinderman, Monahan 1977) with the bounds of Leva
 * (1992, ACM Trans. Math. Softw. 18, 449). Exact; the logarithm is needed for 1 in 80. */
#ifndef DB_NOISE_NORMAL_H
#define DB_NOISE_NORMAL_H

#include "noise/random_stream.h"

/* Whether v/u is a normal deviate: v^2 <= -4 u^2 log u, decided by ellipses inside and outside that
 * region where possible. */
AD_PORTABLE_FN int noise_normal_accepts(double u, double v) {
    const double x = u - 0.449871, y = (v < 0 ? -v : v) + 0.386595;
    const double q = x * x + y * (0.19600 * y - 0.25472 * x);
    if (q < 0.27597) return 1;
    if (q > 0.27846) return 0;
    return v * v <= -4 * u * u * portable_log(u);
}

/* Half width of the box around the region: 2 sqrt(2/e) = 1.71552..., rounded up. */
#define DB_NOISE_NORMAL_BOX 1.7156

/* The next deviate of mean 0 and standard deviation 1. */
AD_PORTABLE_FN double noise_normal(noise_stream *s) {
    for (;;) {
        const noise_pair pair = noise_next_pair(s);
        const double u = pair.first, v = DB_NOISE_NORMAL_BOX * (pair.second - 0.5);
        if (noise_normal_accepts(u, v)) return v / u;
    }
}

#endif
