/* 3 x 3 matrices of dual numbers, held as rows. Included by ad/num.h. */
typedef struct {
    vec3 r[3];
} mat3;

AD_INLINE mat3 m3_rows(vec3 a, vec3 b, vec3 c) {
    mat3 m;
    m.r[0] = a;
    m.r[1] = b;
    m.r[2] = c;
    return m;
}
/* From nine plain numbers, row-major. */
AD_INLINE mat3 m3_passive(const REAL *m) {
    return m3_rows(v3_passive(l_set(m[0]), l_set(m[1]), l_set(m[2])),
                   v3_passive(l_set(m[3]), l_set(m[4]), l_set(m[5])),
                   v3_passive(l_set(m[6]), l_set(m[7]), l_set(m[8])));
}
AD_INLINE mat3 m3_identity(void) {
    const REAL one[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    return m3_passive(one);
}
AD_NUM_FN vec3 m3_apply(mat3 m, vec3 v) {
    return v3_make(v3_dot(m.r[0], v), v3_dot(m.r[1], v), v3_dot(m.r[2], v));
}
/* The transposed matrix times v: a sum of rows. */
AD_NUM_FN vec3 m3_apply_transposed(mat3 m, vec3 v) {
    return v3_add(v3_scale(m.r[0], v.x), v3_add(v3_scale(m.r[1], v.y), v3_scale(m.r[2], v.z)));
}
AD_INLINE mat3 m3_transpose(mat3 m) {
    return m3_rows(v3_make(m.r[0].x, m.r[1].x, m.r[2].x), v3_make(m.r[0].y, m.r[1].y, m.r[2].y),
                   v3_make(m.r[0].z, m.r[1].z, m.r[2].z));
}
AD_NUM_FN mat3 m3_multiply(mat3 a, mat3 b) {
    const mat3 t = m3_transpose(b);
    return m3_rows(m3_apply(t, a.r[0]), m3_apply(t, a.r[1]), m3_apply(t, a.r[2]));
}

/* Right-handed rotation about a unit axis by the angle whose cosine and sine are c and s:
 * Rodrigues' formula. */
AD_FN mat3 m3_turned(vec3 axis, num c, num s) {
    const num t = n_shift(n_neg(c), l_set((REAL)1));
    const num xy = n_mul(n_mul(axis.x, axis.y), t), xz = n_mul(n_mul(axis.x, axis.z), t),
              yz = n_mul(n_mul(axis.y, axis.z), t);
    const vec3 w = v3_scale(axis, s);
    return m3_rows(v3_make(n_add(n_mul(n_sqr(axis.x), t), c), n_sub(xy, w.z), n_add(xz, w.y)),
                   v3_make(n_add(xy, w.z), n_add(n_mul(n_sqr(axis.y), t), c), n_sub(yz, w.x)),
                   v3_make(n_sub(xz, w.y), n_add(yz, w.x), n_add(n_mul(n_sqr(axis.z), t), c)));
}

#if LANES == 1 && AD_SIZE != 4
/* Right-handed rotation about a unit axis by `angle` (radian). */
static inline __attribute__((unused)) mat3 m3_rotation(vec3 axis, num angle) {
    return m3_turned(axis, n_cos(angle), n_sin(angle));
}
/* Right-handed rotation about the direction of w, of length |w| <= pi (radian): a unit quaternion
 * of half the angle. Its parts are entire functions of |w|^2, so that w = 0, which has no axis, is
 * no special point. */
static inline __attribute__((unused)) mat3 m3_rotation_vector(vec3 w) {
    const REAL pi = (REAL)3.141592653589793238462643383279502884L;
    const num t = n_scale(v3_square(w), 1 / (4 * pi * pi));
    const num c = n_scale(n_cospic(t), 2); /* twice the cosine of half the angle */
    const vec3 u = v3_scale(w, n_scale(n_sinpic(t), 1 / (2 * pi)));
    const num xx = n_sqr(u.x), yy = n_sqr(u.y), zz = n_sqr(u.z);
    const num xy = n_scale(n_mul(u.x, u.y), 2), xz = n_scale(n_mul(u.x, u.z), 2),
              yz = n_scale(n_mul(u.y, u.z), 2);
    const vec3 cu = v3_scale(u, c);
    return m3_rows(v3_make(n_affine(n_add(yy, zz), -2, 1), n_sub(xy, cu.z), n_add(xz, cu.y)),
                   v3_make(n_add(xy, cu.z), n_affine(n_add(xx, zz), -2, 1), n_sub(yz, cu.x)),
                   v3_make(n_sub(xz, cu.y), n_add(yz, cu.x), n_affine(n_add(xx, yy), -2, 1)));
}
/* Rotation about laboratory x, then y, then z (radian): the product of the three, written out. */
static inline __attribute__((unused)) mat3 m3_rotation_xyz(num x, num y, num z) {
    const num cx = n_cos(x), sx = n_sin(x), cy = n_cos(y), sy = n_sin(y), cz = n_cos(z),
              sz = n_sin(z);
    const num cx_sy = n_mul(cx, sy), sx_sy = n_mul(sx, sy);
    return m3_rows(v3_make(n_mul(cy, cz), n_sub(n_mul(sx_sy, cz), n_mul(cx, sz)),
                           n_add(n_mul(cx_sy, cz), n_mul(sx, sz))),
                   v3_make(n_mul(cy, sz), n_add(n_mul(sx_sy, sz), n_mul(cx, cz)),
                           n_sub(n_mul(cx_sy, sz), n_mul(sx, cz))),
                   v3_make(n_neg(sy), n_mul(sx, cy), n_mul(cx, cy)));
}
#endif
