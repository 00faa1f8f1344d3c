/* Logarithm and exponential of basic IEEE operations alone.
 *
 * libm differs from machine to machine in the last bits, and a random deviate that is accepted or
 * rejected by such a bit differs altogether. Sums, products, quotients and square roots of doubles
 * are rounded alike everywhere (without contraction to fused operations: -ffp-contract=off, nvcc:
 * -fmad=false), so a seed gives the same image on every compiler, processor and device. */
#ifndef AD_PORTABLE_MATH_H
#define AD_PORTABLE_MATH_H

#include "ad/device_language.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define AD_LN2_HIGH 6.93147180369123816490e-01 /* 32 bits: products with exponents are exact */
#define AD_LN2_LOW 1.90821492927058770002e-10

/* 2^k for normal results, -1022 <= k <= 1023. */
AD_PORTABLE_FN double portable_power_of_two(int k) {
    const uint64_t bits = (uint64_t)(1023 + k) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* (artanh f - f)/f^3 = 1/3 + t/5 + t^2/7 + ... for t = f^2 < 0.03. */
AD_PORTABLE_FN double portable_artanh_series(double t) {
    const double c[11] = { 1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                           1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3 };
    double series = c[0];
    for (int i = 1; i < 11; i++) series = series * t + c[i];
    return series;
}

/* log(x) of a positive normal number, to 2 ulp. */
AD_PORTABLE_FN double portable_log(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 52) - 1023;
    bits = (bits & 0x000fffffffffffffu) | (uint64_t)1023 << 52;
    double m; /* 1 to 2, then 0.7 to 1.4 */
    memcpy(&m, &bits, sizeof m);
    if (m > 1.4142135623730951) {
        m *= 0.5;
        exponent++;
    }
    /* log m = 2 artanh f; f^2 < 0.0295 */
    const double f = (m - 1) / (m + 1), t = f * f;
    return exponent * AD_LN2_HIGH +
           (exponent * AD_LN2_LOW + 2 * f * (t * portable_artanh_series(t))) + 2 * f;
}

/* exp(x) for -700 <= x <= 0, to 2 ulp. */
AD_PORTABLE_FN double portable_exp(double x) {
    const int k = (int)(x * 1.4426950408889634 - 0.5); /* nearest, as x <= 0 */
    const double r = (x - k * AD_LN2_HIGH) - k * AD_LN2_LOW;
    const double c[15] = { 1.0 / 87178291200,
                           1.0 / 6227020800,
                           1.0 / 479001600,
                           1.0 / 39916800,
                           1.0 / 3628800,
                           1.0 / 362880,
                           1.0 / 40320,
                           1.0 / 5040,
                           1.0 / 720,
                           1.0 / 120,
                           1.0 / 24,
                           1.0 / 6,
                           1.0 / 2,
                           1.0,
                           1.0 };
    double series = c[0]; /* Taylor's; |r| <= 0.35 */
    for (int i = 1; i < 15; i++) series = series * r + c[i];
    return series * portable_power_of_two(k);
}

#endif
