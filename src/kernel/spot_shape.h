/* The value of a spot in closed form at one point. Include once per (REAL, DIRS) that needs it, after ad/num.h.
 * Source: docs/theory/spots.md, Rotation. */

#define spot_gaussian AD_NUM(spot_gaussian)
#define spot_between AD_NUM(spot_between)
#define spot_passed AD_NUM(spot_passed)

/* exp(-square/2). */
AD_INLINE num spot_gaussian(num square) { return n_exp(n_scale(square, l_set((REAL)-0.5))); }

/* erf(b/sqrt 2) - erf(a/sqrt 2), a < b. If both ends are more than two standard deviations off on one side, it is
 * computed as the difference of the tails beyond them, because erf itself is near 1 there. */
AD_INLINE num spot_between(num a, num b) {
    const lane root = l_set((REAL)0.707106781186547524400844362105L);
    const num first = n_scale(a, root), last = n_scale(b, root);
    num ends = n_sub(n_erf(last), n_erf(first));
    const lane near = l_max(first.v, l_neg(last.v)), far = l_max(last.v, l_neg(first.v));
    const lane_mask tail = l_lt(l_set((REAL)1.4142135623730950488L), near);
    if (l_any(tail)) ends.v = l_select(tail, l_sub(l_erfc_tail(near), l_erfc_tail(far)), ends.v);
    return ends; /* slopes are those of the ends, which have full precision anyway */
}

#ifndef DB_KERNEL_SPOT_SHAPE_H
#define DB_KERNEL_SPOT_SHAPE_H
/* A range this narrow (in standard deviations) is integrated by Gauss and Legendre's six points, to
 * 1e-15, since the difference of two error functions would lose digits: in float 3e-7 of it here. */
#define DB_SPOT_NARROW 0.5
#endif

/* Part of a normal distribution about z that lies between two ends: Phi(to - z) - Phi(from - z). */
AD_INLINE num spot_passed(int narrow, num from, num to, num z) {
    if (!narrow) return n_scale(spot_between(n_sub(from, z), n_sub(to, z)), l_set((REAL)0.5));
    static const REAL place[3] = { (REAL)0.932469514203152027812301554494L,
                                   (REAL)0.661209386466264513661399595020L,
                                   (REAL)0.238619186083196908630501721681L },
                      weight[3] = { (REAL)0.171324492379170345040296142173L,
                                    (REAL)0.360761573048138607569833513838L,
                                    (REAL)0.467913934572691047389870343990L };
    /* the width before z is subtracted, which may be much larger */
    const num half = n_scale(n_sub(to, from), l_set((REAL)0.5)),
              middle = n_sub(n_add(from, half), z);
    num sum = n_passive(l_set((REAL)0));
    for (int i = 0; i < 3; i++) {
        const num aside = n_scale(half, l_set(place[i]));
        const num both = n_add(spot_gaussian(n_sqr(n_add(middle, aside))),
                               spot_gaussian(n_sqr(n_sub(middle, aside))));
        sum = n_add(sum, n_scale(both, l_set(weight[i])));
    }
    return n_mul(n_scale(half, l_set((REAL)0.398942280401432677939946059934L)), sum);
}
