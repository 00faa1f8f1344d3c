/* Lanes that fill exactly one hardware vector. */
typedef AD_PASTE2(vec, REAL) lane;
typedef AD_PASTE2(vec_mask, REAL) lane_mask;

AD_INLINE lane l_set(REAL a) { return a - (lane){ 0 }; }
AD_INLINE lane l_load(const REAL *p) {
    lane r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
AD_INLINE void l_store(REAL *p, lane a) { __builtin_memcpy(p, &a, sizeof a); }
AD_INLINE lane l_iota(void) {
    lane r;
    for (int i = 0; i < LANES; i++) r[i] = (REAL)i;
    return r;
}
AD_INLINE lane l_add(lane a, lane b) { return a + b; }
AD_INLINE lane l_sub(lane a, lane b) { return a - b; }
AD_INLINE lane l_mul(lane a, lane b) { return a * b; }
AD_INLINE lane l_div(lane a, lane b) { return a / b; }
AD_INLINE lane l_neg(lane a) { return -a; }
AD_INLINE lane l_fma(lane a, lane b, lane c) { return AD_PASTE2(vec_fma, REAL)(a, b, c); }
AD_INLINE lane l_fnma(lane a, lane b, lane c) { return AD_PASTE2(vec_fnma, REAL)(a, b, c); }
AD_INLINE lane l_sqrt(lane a) { return AD_PASTE2(vec_sqrt, REAL)(a); }
AD_INLINE lane l_rsqrt(lane a) { return AD_PASTE2(vec_rsqrt, REAL)(a); }
AD_INLINE lane_mask l_lt(lane a, lane b) { return a < b; }
AD_INLINE lane_mask l_le(lane a, lane b) { return a <= b; }
AD_INLINE lane_mask l_eq(lane a, lane b) { return a == b; }
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) { return a & b; }
/* By bits, so that neither value nor slope of the branch not taken (perhaps NaN) leaks through. */
AD_INLINE lane l_select(lane_mask m, lane a, lane b) {
    return (lane)((m & (lane_mask)a) | (~m & (lane_mask)b));
}
AD_INLINE lane l_abs(lane a) { return (lane)((lane_mask)a & ~(lane_mask)l_set((REAL)-0.0)); }

#if AD_SIZE == 4
#define AD_RINT_MAGIC 12582912.0f /* 1.5 * 2^23: adding it leaves no fraction bits */
#define AD_MANTISSA_BITS 23
#define AD_EXPONENT_BIAS 127
#else
#define AD_RINT_MAGIC 6755399441055744.0 /* 1.5 * 2^52 */
#define AD_MANTISSA_BITS 52
#define AD_EXPONENT_BIAS 1023
#endif
/* Nearest integer, halves to even, for |a| below 2^22 (float) or 2^51 (double). */
AD_INLINE lane l_rint(lane a) { return (a + AD_RINT_MAGIC) - AD_RINT_MAGIC; }
/* a * 2^k for integral k of a normal result: the low bits of k + magic are k. */
AD_INLINE lane l_scale2(lane a, lane k) {
    const lane_mask bits = (lane_mask)(k + AD_RINT_MAGIC) + AD_EXPONENT_BIAS;
    return a * (lane)(bits << AD_MANTISSA_BITS);
}
#undef AD_RINT_MAGIC
#undef AD_MANTISSA_BITS
#undef AD_EXPONENT_BIAS
