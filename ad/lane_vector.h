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
AD_INLINE lane_mask l_lt(lane a, lane b) { return AD_PASTE2(vec_lt, REAL)(a, b); }
AD_INLINE lane_mask l_le(lane a, lane b) { return AD_PASTE2(vec_le, REAL)(a, b); }
AD_INLINE lane_mask l_eq(lane a, lane b) { return AD_PASTE2(vec_eq, REAL)(a, b); }
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) { return AD_PASTE2(vec_and, REAL)(a, b); }
AD_INLINE unsigned l_bitmask(lane_mask m) { return AD_PASTE2(vec_bitmask, REAL)(m); }
AD_INLINE int l_any(lane_mask m) { return l_bitmask(m) != 0; }
AD_INLINE lane l_keep(lane_mask m, lane a) { return AD_PASTE2(vec_keep, REAL)(m, a); }
AD_INLINE lane l_max(lane a, lane b) { return AD_PASTE2(vec_max, REAL)(a, b); }
AD_INLINE lane l_select(lane_mask m, lane a, lane b) {
    return AD_PASTE2(vec_select, REAL)(m, a, b);
}
AD_INLINE lane l_rint(lane a) { return AD_PASTE2(vec_rint, REAL)(a); }
AD_INLINE lane l_reduce(lane a) { return AD_PASTE2(vec_reduce, REAL)(a); }

#define AD_BITS AD_PASTE2(vec_bits, REAL)
AD_INLINE lane l_abs(lane a) { return (lane)((AD_BITS)a & ~(AD_BITS)l_set((REAL)-0.0)); }
/* a * 2^k for integral k and a normal result: the low bits of k + 1.5 * 2^52 (2^23) are k. */
AD_INLINE lane l_scale2(lane a, lane k) {
#if AD_SIZE == 4
    return a * (lane)(((AD_BITS)(k + 12582912.0f) + 127) << 23);
#else
    return a * (lane)(((AD_BITS)(k + 6755399441055744.0) + 1023) << 52);
#endif
}
#undef AD_BITS
