/* The diffuse halo about the nodes. Include once per (REAL, DIRS) that needs it, after ad/num.h,
 * ad/vec3.h and ad/mat3.h. Source: docs/theory/halo.md.
 *
 * In Miller indices h it is
 *
 *   density h.U h sum over nodes n of F_n^2 (1/y^2 + rest/27),   y = 1 + |C o|^2,
 *
 * over the nodes around the nearest one (DB_HALO_REACH). o is h - n in a basis of the nodes, softest axis
 * first, and C has an upper triangle only. The rest is what all nodes beyond add if structure factors are
 * equal. With (C o)_0 left out of y, a sum over nodes becomes one over rods along the softest axis, and one
 * over sheets without (C o)_1, too. In the integral of t exp(-t y), which is 1/y^2, they take turns:
 *
 *   rest = even + sum over sheets of sheet (part 1 until t_1 - part 1 until t_2)
 *               + sum over rods of rod (part 2 until t_0 - part 2 until t_1)
 *               - sum over nodes of part 3 until t_0.
 *
 * Symmetric tensors: xx, yy, zz, xy, xz, yz. */
#include "model/halo_numbers.h"

#define halo_profile AD_NUM(halo_profile)
#define halo_form AD_NUM(halo_form)
#define halo_gamma AD_NUM(halo_gamma)
#define halo_part AD_NUM(halo_part)

/* The transform of exp(-r/gamma), in units of its peak. */
AD_INLINE num halo_profile(num y) { return n_sqr(n_div(n_constant((REAL)1), y)); }

/* Incomplete gamma function: the integral of s^(a - 1) exp(-s) from 0 to z, with a = (dimensions + 1)/2. Its
 * slope is the integrand. For small z it is the integrand times z/a (1 + z/(a + 1) (1 + z/(a + 2) (1 + ..))). */
AD_INLINE num halo_gamma(int dimensions, num z) {
    const lane one = l_set((REAL)1), e = l_exp(l_neg(z.v)), root = l_sqrt(z.v);
    const lane slope = dimensions == 1 ? e : l_mul(e, dimensions == 2 ? root : z.v),
               all = dimensions == 2
                         ? l_mul(l_set((REAL)0.886226925452758013649083741670572591L), l_erf(root))
                     : dimensions == 3 ? l_sub(one, e)
                                       : one;
    lane series = one;
    for (int i = 9; i > 0; i--)
        series = l_fma(l_mul(z.v, l_set((REAL)2 / (REAL)(dimensions + 1 + 2 * i))), series, one);
    series = l_mul(series, l_mul(slope, l_mul(z.v, l_set((REAL)2 / (REAL)(dimensions + 1)))));
    return n_chain(l_select(l_lt(z.v, l_set((REAL)0.125)), series, l_sub(all, slope)), slope, z);
}

/* Integral of t^(a - 1) exp(-t y) from 0 to `until`, a as above. */
AD_INLINE num halo_part(int dimensions, num y, num until) {
    const num whole = halo_gamma(dimensions, n_mul(until, y)),
              inverse = n_div(n_constant((REAL)1), y);
    if (dimensions == 1) return n_mul(whole, inverse);
    return n_mul(whole, n_mul(inverse, dimensions == 2 ? n_rsqrt(y) : inverse));
}

AD_INLINE num halo_form(const num tensor[6], vec3 v) { return v3_dot(v, v3_symmetric(tensor, v)); }
