/* Sums over the lanes of many vectors at once: log2(lanes) additions per vector instead of lanes.
 *
 * vec_fold<s>_<real>(a, b) adds lanes i and i + s, for i whose bit s is 0, and leaves the sum of a
 * in lane i, that of b in lane i + s. Folding pairs of neighbours with s = 1, then pairs of the
 * results with s = 2 and so on leaves in lane i the sum of all lanes of vector i. */
#ifndef AD_VEC_FOLD_H
#define AD_VEC_FOLD_H

#include "ad/vec_isa.h"

#define AD_FOLD_FIRST(i, s, n) (((i) & (s)) ? (n) + (i) - (s) : (i))
#define AD_FOLD_SECOND(i, s, n) (((i) & (s)) ? (n) + (i) : (i) + (s))
#define AD_FOLD_2(f, i, s, n) f(i, s, n), f((i) + 1, s, n)
#define AD_FOLD_4(f, i, s, n) AD_FOLD_2(f, i, s, n), AD_FOLD_2(f, (i) + 2, s, n)
#define AD_FOLD_8(f, i, s, n) AD_FOLD_4(f, i, s, n), AD_FOLD_4(f, (i) + 4, s, n)
#define AD_FOLD_16(f, i, s, n) AD_FOLD_8(f, i, s, n), AD_FOLD_8(f, (i) + 8, s, n)
#define AD_VEC_FOLD(real, n, s)                                                                    \
    static inline vec_##real vec_fold##s##_##real(vec_##real a, vec_##real b) {                    \
        return __builtin_shufflevector(a, b, AD_FOLD_##n(AD_FOLD_FIRST, 0, s, n)) +                \
               __builtin_shufflevector(a, b, AD_FOLD_##n(AD_FOLD_SECOND, 0, s, n));                \
    }

#if AD_VEC_BYTES == 64
AD_VEC_FOLD(double, 8, 1)
AD_VEC_FOLD(double, 8, 2)
AD_VEC_FOLD(double, 8, 4)
AD_VEC_FOLD(float, 16, 1)
AD_VEC_FOLD(float, 16, 2)
AD_VEC_FOLD(float, 16, 4)
AD_VEC_FOLD(float, 16, 8)
#elif AD_VEC_BYTES == 32
AD_VEC_FOLD(double, 4, 1)
AD_VEC_FOLD(double, 4, 2)
AD_VEC_FOLD(float, 8, 1)
AD_VEC_FOLD(float, 8, 2)
AD_VEC_FOLD(float, 8, 4)
#else
AD_VEC_FOLD(double, 2, 1)
AD_VEC_FOLD(float, 4, 1)
AD_VEC_FOLD(float, 4, 2)
#endif

#endif
