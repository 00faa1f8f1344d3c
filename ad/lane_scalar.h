/* Lanes of width one: the plain number. */
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef REAL lane;
typedef int lane_mask;

AD_INLINE lane l_set(REAL a) { return a; }
AD_INLINE lane l_load(const REAL *p) { return *p; }
AD_INLINE void l_store(REAL *p, lane a) { *p = a; }
AD_INLINE lane l_iota(void) { return (REAL)0; }
AD_INLINE lane l_add(lane a, lane b) { return a + b; }
AD_INLINE lane l_sub(lane a, lane b) { return a - b; }
AD_INLINE lane l_mul(lane a, lane b) { return a * b; }
#if defined(__CUDA_ARCH__) && AD_SIZE == 4
AD_INLINE lane l_div(lane a, lane b) { return __fdividef(a, b); }
#else
AD_INLINE lane l_div(lane a, lane b) { return a / b; }
#endif
AD_INLINE lane l_neg(lane a) { return -a; }
#if defined(AD_DEVICE_LANGUAGE)
#if AD_SIZE == 4
AD_INLINE lane l_fma(lane a, lane b, lane c) { return fmaf(a, b, c); }
AD_INLINE lane l_fnma(lane a, lane b, lane c) { return fmaf(-a, b, c); }
#else
AD_INLINE lane l_fma(lane a, lane b, lane c) { return fma(a, b, c); }
AD_INLINE lane l_fnma(lane a, lane b, lane c) { return fma(-a, b, c); }
#endif
#else
AD_INLINE lane l_fma(lane a, lane b, lane c) { return a * b + c; }
AD_INLINE lane l_fnma(lane a, lane b, lane c) { return c - a * b; }
#endif
#if AD_SIZE == 4
AD_INLINE lane l_sqrt(lane a) { return sqrtf(a); }
AD_INLINE lane l_abs(lane a) { return fabsf(a); }
#elif AD_SIZE == 8
AD_INLINE lane l_sqrt(lane a) { return sqrt(a); }
AD_INLINE lane l_abs(lane a) { return fabs(a); }
#endif
#if defined(__CUDA_ARCH__)
/* On devices two additions replace a slow conversion; for numbers below 2^51 (2^22), as in
 * ad/vec_isa.h. */
#if AD_SIZE == 4
AD_INLINE lane l_rint(lane a) { return __fadd_rn(__fadd_rn(a, 12582912.0f), -12582912.0f); }
AD_INLINE lane l_scale2(lane a, lane k) { return a * __int_as_float(((int)k + 127) << 23); }
#else
AD_INLINE lane l_rint(lane a) {
    return __dadd_rn(__dadd_rn(a, 6755399441055744.0), -6755399441055744.0);
}
AD_INLINE lane l_scale2(lane a, lane k) { return a * __hiloint2double(((int)k + 1023) << 20, 0); }
#endif
#elif AD_SIZE == 4
AD_INLINE lane l_rint(lane a) { return rintf(a); }
AD_INLINE lane l_scale2(lane a, lane k) { return ldexpf(a, (int)k); }
#elif AD_SIZE == 8
AD_INLINE lane l_rint(lane a) { return rint(a); }
AD_INLINE lane l_scale2(lane a, lane k) {
    if (!(fabs(k) < 1023)) return ldexp(a, (int)k);
    const uint64_t bits = (uint64_t)(1023 + (int)k) << 52; /* of 2^k */
    double power;
    memcpy(&power, &bits, sizeof power);
    return a * power;
}
#else
AD_INLINE lane l_sqrt(lane a) { return sqrtl(a); }
AD_INLINE lane l_abs(lane a) { return fabsl(a); }
AD_INLINE lane l_rint(lane a) { return rintl(a); }
AD_INLINE lane l_scale2(lane a, lane k) { return ldexpl(a, (int)k); }
#endif
#if AD_SIZE == 8
/* Of a number below 2^19 to which 1.5 * 2^20 has been added, the amount by which it exceeds the
 * nearest integer: the low half of the mantissa, a signed integer (vec_fraction of
 * ad/vec_isa.h). */
AD_INLINE float l_fraction_double(lane shifted) {
#if defined(__CUDA_ARCH__)
    const int32_t low = __double2loint(shifted);
#else
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    const int32_t low = (int32_t)(uint32_t)bits;
#endif
    return 0x1p-32f * (float)low;
}
#endif
/* what rounding removes */
AD_INLINE lane l_reduce(lane a) { return a - l_rint(a); }
#if !defined(__CUDA_ARCH__)
AD_INLINE lane l_rsqrt(lane a) { return (REAL)1 / l_sqrt(a); }
#elif AD_SIZE == 4
AD_INLINE lane l_rsqrt(lane a) { return rsqrtf(a); }
#else
AD_INLINE lane l_rsqrt(lane a) { return rsqrt(a); }
#endif
AD_INLINE lane_mask l_lt(lane a, lane b) { return a < b; }
AD_INLINE lane_mask l_le(lane a, lane b) { return a <= b; }
AD_INLINE lane_mask l_eq(lane a, lane b) { return a == b; }
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) { return a && b; }
AD_INLINE unsigned l_bitmask(lane_mask m) { return m ? 1 : 0; }
AD_INLINE int l_any(lane_mask m) { return m; }
AD_INLINE lane l_keep(lane_mask m, lane a) { return m ? a : 0; }
AD_INLINE lane l_max(lane a, lane b) { return a > b ? a : b; }
AD_INLINE lane l_select(lane_mask m, lane a, lane b) { return m ? a : b; }
