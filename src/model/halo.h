/* The diffuse halo about the nodes. Include once per (REAL, DIRS) that needs it, after ad/num.h,
 * ad/vec3.h and ad/mat3.h. Source: docs/theory/halo.md.
 *
 * In Miller indices h it is
 *
 *   density h.U h sum over nodes n of F_n^2 (1/(1 + x^2)^2 + tail),   x^2 = (h - n).M (h - n),
 *
 * over the nodes around the nearest one (DB_HALO_REACH), of which each has a share of the tail of all
 * nodes beyond. Tensors: xx, yy, zz, xy, xz, yz. */
#include "model/halo_numbers.h"

#define halo_profile AD_NUM(halo_profile)
#define halo_form AD_NUM(halo_form)

/* The transform of exp(-r/gamma), in units of its peak: x = 2 pi gamma times the distance. */
AD_INLINE num halo_profile(num x_square) {
    const num one = n_constant((REAL)1);
    return n_sqr(n_div(one, n_add(x_square, one)));
}

AD_INLINE num halo_form(const num tensor[6], vec3 v) { return v3_dot(v, v3_symmetric(tensor, v)); }
