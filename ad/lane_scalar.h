/* Lanes of width one: the plain number. */
#include <math.h>
#include <stdint.h>

typedef REAL lane;
typedef int lane_mask;

AD_INLINE lane l_set(REAL a) { return a; }
AD_INLINE lane l_load(const REAL *p) { return *p; }
AD_INLINE void l_store(REAL *p, lane a) { *p = a; }
AD_INLINE lane l_iota(void) { return (REAL)0; }
AD_INLINE lane l_add(lane a, lane b) { return a + b; }
AD_INLINE lane l_sub(lane a, lane b) { return a - b; }
AD_INLINE lane l_mul(lane a, lane b) { return a * b; }
AD_INLINE lane l_div(lane a, lane b) { return a / b; }
AD_INLINE lane l_neg(lane a) { return -a; }
#if defined(__CUDACC__)
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
AD_INLINE lane l_rint(lane a) { return rintf(a); }
AD_INLINE lane l_scale2(lane a, lane k) { return ldexpf(a, (int)k); }
#elif AD_SIZE == 8
AD_INLINE lane l_sqrt(lane a) { return sqrt(a); }
AD_INLINE lane l_abs(lane a) { return fabs(a); }
AD_INLINE lane l_rint(lane a) { return rint(a); }
AD_INLINE lane l_scale2(lane a, lane k) { return ldexp(a, (int)k); }
#else
AD_INLINE lane l_sqrt(lane a) { return sqrtl(a); }
AD_INLINE lane l_abs(lane a) { return fabsl(a); }
AD_INLINE lane l_rint(lane a) { return rintl(a); }
AD_INLINE lane l_scale2(lane a, lane k) { return ldexpl(a, (int)k); }
#endif
/* what rounding takes away */
AD_INLINE lane l_reduce(lane a) { return a - l_rint(a); }
AD_INLINE lane l_rsqrt(lane a) { return (REAL)1 / l_sqrt(a); }
AD_INLINE lane_mask l_lt(lane a, lane b) { return a < b; }
AD_INLINE lane_mask l_le(lane a, lane b) { return a <= b; }
AD_INLINE lane_mask l_eq(lane a, lane b) { return a == b; }
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) { return a && b; }
AD_INLINE int l_any(lane_mask m) { return m; }
AD_INLINE lane l_keep(lane_mask m, lane a) { return m ? a : 0; }
AD_INLINE lane l_max(lane a, lane b) { return a > b ? a : b; }
AD_INLINE lane l_select(lane_mask m, lane a, lane b) { return m ? a : b; }
