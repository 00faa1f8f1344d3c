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
    const int half = LANES / 2;
    for (int i = 0; i < half; i++) {
        r.lo[i] = (REAL)i;
        r.hi[i] = (REAL)(i + half);
    }
    return r;
}
AD_INLINE lane l_add(lane a, lane b) { return (lane){ a.lo + b.lo, a.hi + b.hi }; }
AD_INLINE lane l_sub(lane a, lane b) { return (lane){ a.lo - b.lo, a.hi - b.hi }; }
AD_INLINE lane l_mul(lane a, lane b) { return (lane){ a.lo * b.lo, a.hi * b.hi }; }
AD_INLINE lane l_div(lane a, lane b) { return (lane){ a.lo / b.lo, a.hi / b.hi }; }
AD_INLINE lane l_neg(lane a) { return (lane){ -a.lo, -a.hi }; }
AD_INLINE lane l_fma(lane a, lane b, lane c) {
    return (lane){ AD_PASTE2(vec_fma, REAL)(a.lo, b.lo, c.lo),
                   AD_PASTE2(vec_fma, REAL)(a.hi, b.hi, c.hi) };
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
#define AD_PAIR_COMPARE(name)                                                                      \
    AD_INLINE lane_mask l_##name(lane a, lane b) {                                                 \
        lane_mask m;                                                                               \
        m.lo = AD_PASTE2(vec_##name, REAL)(a.lo, b.lo);                                            \
        m.hi = AD_PASTE2(vec_##name, REAL)(a.hi, b.hi);                                            \
        return m;                                                                                  \
    }
AD_PAIR_COMPARE(lt)
AD_PAIR_COMPARE(le)
AD_PAIR_COMPARE(eq)
#undef AD_PAIR_COMPARE
AD_INLINE lane_mask l_and(lane_mask a, lane_mask b) {
    a.lo = AD_PASTE2(vec_and, REAL)(a.lo, b.lo);
    a.hi = AD_PASTE2(vec_and, REAL)(a.hi, b.hi);
    return a;
}
AD_INLINE unsigned l_bitmask(lane_mask m) {
    return AD_PASTE2(vec_bitmask, REAL)(m.lo) | AD_PASTE2(vec_bitmask, REAL)(m.hi) << LANES / 2;
}
AD_INLINE int l_any(lane_mask m) { return l_bitmask(m) != 0; }
AD_INLINE lane l_keep(lane_mask m, lane a) {
    return (lane){ AD_PASTE2(vec_keep, REAL)(m.lo, a.lo), AD_PASTE2(vec_keep, REAL)(m.hi, a.hi) };
}
AD_INLINE lane l_max(lane a, lane b) {
    return (lane){ AD_PASTE2(vec_max, REAL)(a.lo, b.lo), AD_PASTE2(vec_max, REAL)(a.hi, b.hi) };
}
AD_INLINE lane l_select(lane_mask m, lane a, lane b) {
    return (lane){ AD_PASTE2(vec_select, REAL)(m.lo, a.lo, b.lo),
                   AD_PASTE2(vec_select, REAL)(m.hi, a.hi, b.hi) };
}
AD_INLINE lane l_rint(lane a) {
    return (lane){ AD_PASTE2(vec_rint, REAL)(a.lo), AD_PASTE2(vec_rint, REAL)(a.hi) };
}
AD_INLINE lane l_reduce(lane a) {
    return (lane){ AD_PASTE2(vec_reduce, REAL)(a.lo), AD_PASTE2(vec_reduce, REAL)(a.hi) };
}

#if AD_SIZE != 8
#error "pairs are for doubles"
#endif
AD_INLINE lane l_abs(lane a) {
    const vec_bits_double sign = (vec_bits_double)(-0.0 - (AD_HALF){ 0 });
    return (lane){ (AD_HALF)((vec_bits_double)a.lo & ~sign),
                   (AD_HALF)((vec_bits_double)a.hi & ~sign) };
}
AD_INLINE lane l_scale2(lane a, lane k) {
    const double magic = 6755399441055744.0; /* as in lane_vector.h */
    return (lane){ a.lo * (AD_HALF)(((vec_bits_double)(k.lo + magic) + 1023) << 52),
                   a.hi * (AD_HALF)(((vec_bits_double)(k.hi + magic) + 1023) << 52) };
}
#undef AD_HALF
#undef AD_HALF_MASK
