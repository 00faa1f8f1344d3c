/* Samples of the crystal that are too far from their node to count. Where F_latt^2 is certainly at
 * most a part e of its peak N^2 = N_a^2 N_b^2 N_c^2, the kernels take it and its slopes to be 0,
 * and a sample of which that is true in all lanes is passed over. Include after kernel/lattice.h.
 *
 * Whether a sample counts in a lane depends on that lane alone, so that a pixel has the same bits
 * beside any other spots. What is left out is never negative, and at most e N^2. Of its
 * slope by h_j at most m_j e N^2 is left out, of that by N_j at most c_j e N^2.
 *
 * GAUSS: with g = fudge G, F_latt^2/N^2 = exp(-2 g/0.63) is e at g = (0.63/2) ln(1/e). Its slope by
 * h_j has a factor (4/0.63) fudge N_j^2 dh_j, at most (4/0.63) N_j sqrt(fudge g), its relative
 * slope by N_j is at most (2 + (4/0.63) g)/N_j; sqrt(g) and g times the exponential fall from g =
 * 0.315 on, so that the values at the edge, m_j = (4/0.63) N_j sqrt(fudge g) and c_j = (2 +
 * (4/0.63) g)/N_j, hold beyond it.
 *
 * TOPHAT is 0 beyond its edge: nothing is left out.
 *
 * ROUND: with x = pi sqrt(g), |sin x - x cos x| <= sqrt(1 + x^2), hence F_latt^2/N^2 <= b(x) =
 * 9 c^2 (1 + x^2)/x^6, c = 0.7236. From x = 2 on its slope by x is at most 2.8 b (|j_2| <= 1.4
 * sqrt(1 + x^2)/x^2 there), and x changes with h_j by at most pi sqrt(fudge) N_j, with N_j by at
 * most half of pi sqrt(fudge): m_j = 2.8 pi sqrt(fudge) N_j, c_j = 2/N_j + 1.4 pi sqrt(fudge).
 *
 * SQUARE: |sin(N_j pi dh)/sin(pi dh)| <= E_j = min(N_j, 1/s), where s = |dh| (3 - 4 dh^2) <=
 * sin(pi |dh|) up to dh = 1/2: the cubic agrees at 0 and 1/2, and its ratio to the sine rises from
 * 0.955 to 1. The product of the squares is at most e N^2 where the product of max(1, N_j s)^2 is
 * at least 1/e. Slope by h_j: beyond the first zero pi (N_j E_j^2 + 2 E_j^3), and E_j <= N_j;
 * before it |d/dx (sin N x/sin x)| <= (pi/2) N^2: together m_j = pi^2 N_j. Slope by N_j: x/sin x <=
 * pi/2, so pi E_j, and c_j = pi. */
#ifndef DB_KERNEL_SPOT_CUT_H
#define DB_KERNEL_SPOT_CUT_H

/* The cut, below which a sample counts: of g for compact shapes, of the product of max(1, N_j s)^2
 * for the square shape. */
AD_INLINE double spot_cut(db_crystal_shape shape, double part) {
    const double pi = 3.141592653589793238462643383279502884;
    double square = 1; /* x^2 */
    switch (shape) {
    case DB_SHAPE_GAUSS: return 0.63 / 2 * log(1 / part);
    case DB_SHAPE_TOPHAT: return TOPHAT_EDGE;
    case DB_SHAPE_ROUND: /* contracts at least threefold */
        for (int i = 0; i < 50; i++) square = cbrt(9 * ROUND_PEAK * (1 + square) / part);
        return square / (pi * pi);
    case DB_SHAPE_SQUARE: break;
    }
    return 1 / part;
}

/* g below the cut; the sum is that of compact_factor. */
AD_INLINE lane_mask near_node(const lane offset[3], const lane cells[3], lane fudge, lane cut) {
    lane share[3];
    for (int j = 0; j < 3; j++) {
        const lane x = l_mul(cells[j], offset[j]);
        share[j] = l_mul(x, x);
    }
    return l_lt(l_mul(fudge, l_add(share[0], l_add(share[1], share[2]))), cut);
}

/* On the streaks of the square shape that are still bright enough. */
AD_INLINE lane_mask on_streaks(const lane offset[3], const lane cells[3], lane cut) {
    const lane one = l_set((REAL)1), three = l_set((REAL)3), four = l_set((REAL)4);
    lane factor[3];
    for (int j = 0; j < 3; j++) {
        const lane cubic = l_fnma(four, l_mul(offset[j], offset[j]), three);
        const lane ns = l_mul(l_mul(cells[j], offset[j]), cubic);
        factor[j] = l_max(l_mul(ns, ns), one);
    }
    return l_lt(l_mul(factor[0], l_mul(factor[1], factor[2])), cut);
}

#endif
