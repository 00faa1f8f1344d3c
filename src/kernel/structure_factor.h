/* Interpolation of structure factors, the resolution limit, the Debye-Waller factor, and amorphous
 * matter. Include once per (REAL, DIRS) that needs it, after ad/num.h. Source:
 * docs/theory/pixel.md, Structure factor. */

#define lagrange_weights AD_NUM(lagrange_weights)
#define amorphous_intensity AD_NUM(amorphous_intensity)
#define resolution AD_NUM(resolution)
#define within_resolution AD_NUM(within_resolution)
#define debye_waller_factor AD_NUM(debye_waller_factor)

/* Weights of the nodes -1, 0, 1, 2 in the cubic through them, at u in [0, 1]. */
AD_INLINE void lagrange_weights(num u, num weight[4]) {
    const num before = n_shift(u, l_set((REAL)1)), one = n_shift(u, l_set((REAL)-1)),
              two = n_shift(u, l_set((REAL)-2));
    const num inner = n_mul(one, two), outer = n_mul(before, u);
    weight[0] = n_scale(n_mul(u, inner), l_set((REAL)(-1.0 / 6)));
    weight[1] = n_scale(n_mul(before, inner), l_set((REAL)0.5));
    weight[2] = n_scale(n_mul(outer, two), l_set((REAL)-0.5));
    weight[3] = n_scale(n_mul(outer, one), l_set((REAL)(1.0 / 6)));
}

/* sin(theta)/lambda = |q|/2 (1/angstrom). |q| has a kink at 0, in the direct beam, where rounding
 * alone would decide its slope: it is 0 there, without a slope. */
AD_INLINE num resolution(num q_square) {
    const lane_mask tip = l_le(q_square.v, l_set((REAL)1e-20));
    return n_scale(n_sqrt(n_select(tip, n_constant(0), q_square)), l_set((REAL)0.5));
}

/* 1 where the spacing 1/|q| is at least dmin; with dmin 0 everywhere. */
AD_INLINE lane_mask within_resolution(lane q_square, lane dmin) {
    return l_le(l_mul(q_square, l_mul(dmin, dmin)), l_set((REAL)1));
}

/* The Debye-Waller factor of a crystal's intensity: exp(-2 B (sin(theta)/lambda)^2), where
 * (sin(theta)/lambda)^2 = |q|^2/4; B in angstrom^2. Source: P. Debye, Ann. Phys. 348, 49 (1913); I.
 * Waller, Z. Phys. 17, 398 (1923). */
AD_INLINE num debye_waller_factor(num q_square, num b_factor) {
    return n_exp(n_scale(n_mul(b_factor, q_square), l_set((REAL)-0.5)));
}

/* sign(F) F^2 of an amorphous molecule, F being a cubic of u = sin(theta)/lambda less the cubic's
 * origin. */
AD_INLINE num amorphous_intensity(num u, const lane cubic[4]) {
    num f = n_passive(cubic[3]);
    f = n_shift(n_mul(f, u), cubic[2]);
    f = n_shift(n_mul(f, u), cubic[1]);
    f = n_shift(n_mul(f, u), cubic[0]);
    return n_mul(f, n_select(l_lt(f.v, l_set((REAL)0)), n_neg(f), f));
}
