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
AD_INLINE vec3 v3_add(vec3 a, vec3 b) {
    return v3_make(n_add(a.x, b.x), n_add(a.y, b.y), n_add(a.z, b.z));
}
AD_INLINE vec3 v3_sub(vec3 a, vec3 b) {
    return v3_make(n_sub(a.x, b.x), n_sub(a.y, b.y), n_sub(a.z, b.z));
}
AD_INLINE vec3 v3_neg(vec3 a) { return v3_make(n_neg(a.x), n_neg(a.y), n_neg(a.z)); }
AD_INLINE vec3 v3_scale(vec3 a, num s) {
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
AD_INLINE vec3 v3_cross(vec3 a, vec3 b) {
    return v3_make(n_sub(n_mul(a.y, b.z), n_mul(a.z, b.y)), n_sub(n_mul(a.z, b.x), n_mul(a.x, b.z)),
                   n_sub(n_mul(a.x, b.y), n_mul(a.y, b.x)));
}
AD_INLINE num v3_square(vec3 a) { return n_add(n_sqr(a.x), n_add(n_sqr(a.y), n_sqr(a.z))); }
/* Undefined (NaN) at the null vector, which has no direction. */
AD_INLINE vec3 v3_unit(vec3 a) { return v3_scale(a, n_rsqrt(v3_square(a))); }
