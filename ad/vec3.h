/* Vectors of three dual numbers. Included by ad/num.h. */
typedef struct {
    num x, y, z;
} vec3;

AD_INLINE vec3 v3_make(num x, num y, num z) {
    vec3 r;
    r.x = x;
    r.y = y;
    r.z = z;
    return r;
}
AD_INLINE vec3 v3_passive(lane x, lane y, lane z) {
    return v3_make(n_passive(x), n_passive(y), n_passive(z));
}
/* Independent variables in directions first, first + 1, first + 2. */
AD_INLINE vec3 v3_seed(lane x, lane y, lane z, int first) {
    return v3_make(n_seed(x, first), n_seed(y, first + 1), n_seed(z, first + 2));
}
AD_NUM_FN vec3 v3_add(vec3 a, vec3 b) {
    return v3_make(n_add(a.x, b.x), n_add(a.y, b.y), n_add(a.z, b.z));
}
AD_NUM_FN vec3 v3_sub(vec3 a, vec3 b) {
    return v3_make(n_sub(a.x, b.x), n_sub(a.y, b.y), n_sub(a.z, b.z));
}
AD_NUM_FN vec3 v3_neg(vec3 a) { return v3_make(n_neg(a.x), n_neg(a.y), n_neg(a.z)); }
AD_NUM_FN vec3 v3_scale(vec3 a, num s) {
    return v3_make(n_mul(a.x, s), n_mul(a.y, s), n_mul(a.z, s));
}
AD_INLINE num v3_dot(vec3 a, vec3 b) {
    num r;
    r.v = l_fma(a.x.v, b.x.v, l_fma(a.y.v, b.y.v, l_mul(a.z.v, b.z.v)));
    EACH_SLOPE(k,
               r.d[k] = l_fma(a.x.v, b.x.d[k],
                              l_fma(a.y.v, b.y.d[k],
                                    l_fma(a.z.v, b.z.d[k],
                                          l_fma(b.x.v, a.x.d[k],
                                                l_fma(b.y.v, a.y.d[k], l_mul(b.z.v, a.z.d[k]))))));)
    return r;
}
/* W a of a symmetric matrix, given by its xx, yy, zz, xy, xz, yz. */
AD_NUM_FN vec3 v3_symmetric(const num w[6], vec3 a) {
    return v3_make(n_add(n_mul(w[0], a.x), n_add(n_mul(w[3], a.y), n_mul(w[4], a.z))),
                   n_add(n_mul(w[3], a.x), n_add(n_mul(w[1], a.y), n_mul(w[5], a.z))),
                   n_add(n_mul(w[4], a.x), n_add(n_mul(w[5], a.y), n_mul(w[2], a.z))));
}
/* The form a.W a in reverse mode (adjoint), wa = W a: da changes it by 2 W a.da. */
AD_NUM_FN void v3_form_back(const lane wa[3], lane by_form, lane by_a[3]) {
    const lane twice = l_add(by_form, by_form);
    for (int c = 0; c < 3; c++) by_a[c] = l_mul(wa[c], twice);
}
AD_NUM_FN vec3 v3_cross(vec3 a, vec3 b) {
    return v3_make(n_sub(n_mul(a.y, b.z), n_mul(a.z, b.y)), n_sub(n_mul(a.z, b.x), n_mul(a.x, b.z)),
                   n_sub(n_mul(a.x, b.y), n_mul(a.y, b.x)));
}
AD_NUM_FN num v3_square(vec3 a) { return n_add(n_sqr(a.x), n_add(n_sqr(a.y), n_sqr(a.z))); }
/* Both undefined (NaN) at the null vector, which has no direction. */
AD_NUM_FN num v3_inverse_length(vec3 a) { return n_rsqrt(v3_square(a)); }
AD_NUM_FN vec3 v3_unit(vec3 a) { return v3_scale(a, v3_inverse_length(a)); }
/* The unit vector d = a/|a| and r = 1/|a| in reverse mode (adjoint): from slopes of something by d
 * and r to those by a. da changes d by r (da - d (d.da)) and r by -r^2 (d.da). */
AD_NUM_FN void v3_unit_back(const lane d[3], lane r, const lane by_d[3], lane by_r, lane by_a[3]) {
    const lane along =
        l_fma(d[0], by_d[0], l_fma(d[1], by_d[1], l_fma(d[2], by_d[2], l_mul(r, by_r))));
    for (int c = 0; c < 3; c++) by_a[c] = l_mul(r, l_fnma(d[c], along, by_d[c]));
}
