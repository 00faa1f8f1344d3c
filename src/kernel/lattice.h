/* The interference function of the crystal: squared lattice amplitude F_latt^2 near a node, as a
 * function of the offsets dh, dk, dl from it (|dh| <= 1/2) and the cell counts N. Include once per
 * (REAL, DIRS) that needs it, after ad/num.h.
 *
 * Every shape is built from per-axis factors, so that an instance with one direction per axis (dh)
 * or two (dh, N) suffices in the inner loop. Only squares appear: the sign of sin(N pi h)/sin(pi h)
 * does not matter, and the argument can be reduced to the node, which is what keeps digits. Source:
 * docs/theory/pixel.md, Lattice factor. */

#define sine_quotient AD_NUM(sine_quotient)
#define square_axis AD_NUM(square_axis)
#define square_factor AD_NUM(square_factor)
#define few_cells_factors AD_NUM(few_cells_factors)
#define spot_radius_axis AD_NUM(spot_radius_axis)
#define round_spot AD_NUM(round_spot)
#define gauss_spot AD_NUM(gauss_spot)
#define tophat_spot AD_NUM(tophat_spot)

#include "kernel/few_cells.h"

/* SQUARE: sin(N pi dh)/sin(pi dh) along one axis, as a quotient. With X = N dh and k the integer
 * nearest to X the sine of pi X is, up to sign, y S(y^2) with y = X - k; for k = 0 the factor dh is
 * cancelled analytically, so that the quotient and its slope keep all digits down to the node
 * itself. */
typedef struct {
    num top, bottom;
} sine_quotient;

AD_INLINE sine_quotient square_axis(num dh, num cells) {
    const num x = n_mul(cells, dh);
    num y = x;
    y.v = l_reduce(x.v); /* the integer k has no slope */
    const lane_mask central = l_eq(y.v, x.v);
    sine_quotient r;
    r.top = n_mul(n_select(central, cells, y), n_sinpic(n_sqr(y)));
    r.bottom = n_mul(n_select(central, n_constant((REAL)1), dh), n_sinpic(n_sqr(dh)));
    return r;
}

/* Its square, given 1/bottom: the three axes share one division. */
AD_INLINE num square_factor(sine_quotient q, lane inverse_bottom) {
    return n_sqr(n_quotient(q.top, q.bottom, inverse_bottom));
}

/* SQUARE with a small whole number of cells, without a division. With x = pi dh and w = 2 cos 2x,
 * sin (n + 2)x = w sin nx - sin (n - 2)x, which from sin x and sin -x upwards makes sin Nx/sin x a
 * polynomial in w; for even N the recurrence starts from sin 0 and sin 2x, and (sin 2x/sin x)^2 is
 * 2 + w. */
#define few_cells_powers AD_PASTE2(db_few_cells, REAL)
AD_INLINE void few_cells_factors(const num dh[3], const few_cells_powers p[3], num factor[3]) {
    num w[3], quotient[3];
    for (int j = 0; j < 3; j++) w[j] = n_sinpi(dh[j]);
    for (int j = 0; j < 3; j++) w[j] = n_affine(n_sqr(w[j]), l_set((REAL)-4), l_set((REAL)2));
    for (int j = 0; j < 3; j++)
        quotient[j] = n_affine(w[j], l_set(p[j].power[DB_FEW_CELLS / 2 - 1]),
                               l_set(p[j].power[DB_FEW_CELLS / 2 - 2]));
    for (int n = DB_FEW_CELLS / 2 - 3; n >= 0; n--)
        for (int j = 0; j < 3; j++) quotient[j] = n_fma(quotient[j], w[j], l_set(p[j].power[n]));
    for (int j = 0; j < 3; j++) {
        factor[j] = n_sqr(quotient[j]);
        if (p[j].even) factor[j] = n_mul(factor[j], n_shift(w[j], l_set((REAL)2)));
    }
}

/* ROUND, GAUSS, TOPHAT: (N dh)^2, the part of one axis in the squared distance G from the node. */
AD_INLINE num spot_radius_axis(num dh, num cells) { return n_sqr(n_mul(cells, dh)); }

/* The squared amplitude as a function of fudge G, for one cell (N = 1); N^2 multiplies it. */
#define ROUND_PEAK (0.723601254558268 * 0.723601254558268)
#define TOPHAT_EDGE 0.3969
AD_INLINE num round_spot(num g) {
    /* pi/6: an ellipsoid with the integrated intensity of the box */
    return n_scale(n_sqr(n_sphere(g)), l_set((REAL)ROUND_PEAK));
}
AD_INLINE num gauss_spot(num g) { return n_exp(n_scale(g, l_set((REAL)(-2 / 0.63)))); }
/* Its slope is 0 almost everywhere and undefined at the edge. */
AD_INLINE num tophat_spot(num g) {
    return n_passive(l_select(l_lt(g.v, l_set((REAL)TOPHAT_EDGE)), l_set((REAL)1), l_set((REAL)0)));
}
