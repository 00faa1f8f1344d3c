/* Lanes that fill two hardware vectors: doubles that accompany a full vector of floats. */
#define AD_HALF AD_PASTE2(vec, REAL)
#define AD_HALF_MASK AD_PASTE2(vec_mask, REAL)
typedef struct {
    AD_HALF lo, hi;
} lane;
typedef struct {
    AD_HALF_MASK lo, hi;
} lane_mask;

AD_INLINE lane l_set(REAL a) { return (lane){ a - (AD_HALF){ 0 }, a - (AD_HALF){ 0 } }; }
AD_INLINE lane l_load(const REAL *p) {
    lane r;
    __builtin_memcpy(&r.lo, p, sizeof r.lo);
    __builtin_memcpy(&r.hi, p + LANES / 2, sizeof r.hi);
    return r;
}
AD_INLINE void l_store(REAL *p, lane a) {
    __builtin_memcpy(p, &a.lo, sizeof a.lo);
    __builtin_memcpy(p + LANES / 2, &a.hi, sizeof a.hi);
}
AD_INLINE lane l_iota(void) {
    lane r;
    for (int i = 0; i < LANES / 2; i++) {
        r.lo[i] = (REAL)i;
        r.hi[i] = (REAL)(i + LANES / 2);
    }
    return r;
}
AD_INLINE lane l_add(lane a, lane b) { return (lane){ a.lo + b.lo, a.hi + b.hi }; }
AD_INLINE lane l_sub(lane a, lane b) { return (lane){ a.lo - b.lo, a.hi - b.hi }; }
AD_INLINE lane l_mul(lane a, lane b) { return (lane){ a.lo * b.lo, a.hi * b.hi }; }
AD_INLINE lane l_div(lane a, lane b) { return (lane){ a.lo / b.lo, a.hi / b.hi }; }
AD_INLINE lane l_neg(lane a) { return (lane){ -a.lo, -a.hi }; }
AD_INLINE lane l_fma(lane a, lane b, lane c) {
    return (lane){ AD_PASTE2(vec_fma, REAL)(a.lo, b.lo, c.lo), AD_PASTE2(vec_fma, REAL)(a.hi, b.hi, c.hi) };
}
AD_INLINE lane l_fnma(lane a, lane b, lane c) {
    return (lane){ AD_PASTE2(vec_fnma, REAL)(a.lo, b.lo, c.lo),
                   AD_PASTE2(vec_fnma, REAL)(a.hi, b.hi, c.hi) };
}
AD_INLINE lane l_sqrt(lane a) {
    return (lane){ AD_PASTE2(vec_sqrt, REAL)(a.lo), AD_PASTE2(vec_sqrt, REAL)(a.hi) };
}
AD_INLINE lane l_rsqrt(lane a) {
    return (lane){ AD_PASTE2(vec_rsqrt, REAL)(a.lo), AD_PASTE2(vec_rsqrt, REAL)(a.hi) };
}
AD_INLINE lane_mask l_lt(lane a, lane b) { return (lane_mask){ a.lo < b.lo, a.hi < b.hi }; }
AD_INLINE lane_mask l_le(lane a, lane b) { return (lane_mask){ a.lo <= b.lo, a.hi <= b.hi }; }
AD_INLINE lane_mask l_eq(lane a, lane b) { return (lane_mask){ a.lo == b.lo, a.hi == b.hi }; }
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) { return (lane_mask){ a.lo & b.lo, a.hi & b.hi }; }
AD_INLINE lane l_select(lane_mask m, lane a, lane b) {
    return (lane){ (AD_HALF)((m.lo & (AD_HALF_MASK)a.lo) | (~m.lo & (AD_HALF_MASK)b.lo)),
                   (AD_HALF)((m.hi & (AD_HALF_MASK)a.hi) | (~m.hi & (AD_HALF_MASK)b.hi)) };
}
AD_INLINE lane l_abs(lane a) {
    const AD_HALF_MASK sign = (AD_HALF_MASK)((REAL)-0.0 - (AD_HALF){ 0 });
    return (lane){ (AD_HALF)((AD_HALF_MASK)a.lo & ~sign), (AD_HALF)((AD_HALF_MASK)a.hi & ~sign) };
}
#if AD_SIZE != 8
#error "pairs are for doubles"
#endif
AD_INLINE lane l_rint(lane a) {
    const double magic = 6755399441055744.0; /* 1.5 * 2^52, as in lane_vector.h */
    return (lane){ (a.lo + magic) - magic, (a.hi + magic) - magic };
}
AD_INLINE lane l_scale2(lane a, lane k) {
    const double magic = 6755399441055744.0;
    return (lane){ a.lo * (AD_HALF)(((AD_HALF_MASK)(k.lo + magic) + 1023) << 52),
                   a.hi * (AD_HALF)(((AD_HALF_MASK)(k.hi + magic) + 1023) << 52) };
}
#undef AD_HALF
#undef AD_HALF_MASK
