/* What a spot in closed form shows of itself at one point. Include once per (REAL, DIRS) that needs
 * it, after ad/num.h. Source: docs/theory/spots.md, Rotation. */

#define spot_gaussian AD_NUM(spot_gaussian)
#define spot_passed AD_NUM(spot_passed)

/* exp(-square/2). */
AD_INLINE num spot_gaussian(num square) { return n_exp(n_scale(square, l_set((REAL)-0.5))); }

#ifndef DB_KERNEL_SPOT_SHAPE_H
#define DB_KERNEL_SPOT_SHAPE_H
/* A range this narrow (in standard deviations) is integrated by Gauss and Legendre's four points,
 * since the difference of two error functions would lose digits. */
#define DB_SPOT_NARROW 0.125
#endif

/* Part of a normal distribution about z that lies between two ends: Phi(to - z) - Phi(from - z). */
AD_INLINE num spot_passed(int narrow, num from, num to, num z) {
    const num first = n_sub(from, z), last = n_sub(to, z);
    if (!narrow) {
        const lane root = l_set((REAL)0.707106781186547524400844362105L);
        const num ends = n_sub(n_erf(n_scale(last, root)), n_erf(n_scale(first, root)));
        return n_scale(ends, l_set((REAL)0.5));
    }
    static const REAL place[2] = { (REAL)0.861136311594052575223946488893L,
                                   (REAL)0.339981043584856264802665759103L },
                      weight[2] = { (REAL)0.347854845137453857373063949222L,
                                    (REAL)0.652145154862546142626936050778L };
    const num middle = n_scale(n_add(first, last), l_set((REAL)0.5)),
              half = n_scale(n_sub(last, first), l_set((REAL)0.5));
    num sum = n_passive(l_set((REAL)0));
    for (int i = 0; i < 2; i++) {
        const num aside = n_scale(half, l_set(place[i]));
        const num both = n_add(spot_gaussian(n_sqr(n_add(middle, aside))),
                               spot_gaussian(n_sqr(n_sub(middle, aside))));
        sum = n_add(sum, n_scale(both, l_set(weight[i])));
    }
    return n_mul(n_scale(half, l_set((REAL)0.398942280401432677939946059934L)), sum);
}
