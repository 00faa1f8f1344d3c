/* The cases of dual_case_list.h in the vocabulary of ad/num.h. Include once per (REAL, DIRS), after
 * ad/num.h. */
#include "dual_case_list.h"

#define CASE_FN(name) static void AD_NUM(case_##name)(const num *x, num *y)
#define CASE_ROWS(x) m3_rows(CASE_VEC(x), CASE_VEC((x) + 3), CASE_VEC((x) + 6))
#define CASE_VEC(x) v3_make((x)[0], (x)[1], (x)[2])

static inline void AD_NUM(case_put)(num *y, vec3 v) {
    y[0] = v.x;
    y[1] = v.y;
    y[2] = v.z;
}
#define case_put AD_NUM(case_put)

CASE_FN(add) { *y = n_add(x[0], x[1]); }
CASE_FN(sub) { *y = n_sub(x[0], x[1]); }
CASE_FN(neg) { *y = n_neg(x[0]); }
CASE_FN(scale) { *y = n_scale(x[0], l_set((REAL)-1.75)); }
CASE_FN(shift) { *y = n_shift(x[0], l_set((REAL)0.625)); }
CASE_FN(mul) { *y = n_mul(x[0], x[1]); }
CASE_FN(fma) { *y = n_fma(x[0], x[1], l_set((REAL)0.625)); }
CASE_FN(fnma) { *y = n_fnma(x[0], x[1], l_set((REAL)0.625)); }
CASE_FN(affine) { *y = n_affine(x[0], l_set((REAL)-1.75), l_set((REAL)0.625)); }
CASE_FN(div) { *y = n_div(x[0], x[1]); }
CASE_FN(sqr) { *y = n_sqr(x[0]); }
CASE_FN(chain) {
    const lane square = l_mul(x[0].v, x[0].v);
    *y = n_chain(l_mul(square, x[0].v), l_mul(l_set((REAL)3), square), x[0]);
}
CASE_FN(sqrt) { *y = n_sqrt(x[0]); }
CASE_FN(rsqrt) { *y = n_rsqrt(x[0]); }
CASE_FN(exp) { *y = n_exp(x[0]); }
CASE_FN(sinpic) { *y = n_sinpic(x[0]); }
CASE_FN(cospic) { *y = n_cospic(x[0]); }
CASE_FN(sinpi) { *y = n_sinpi(x[0]); }
CASE_FN(sphere_squared) { *y = n_sqr(n_sphere(x[0])); }
CASE_FN(langevin) { *y = n_langevin(x[0]); }
CASE_FN(erf) { *y = n_erf(x[0]); }
CASE_FN(erfc_tail) { *y = n_erfc_tail(x[0]); }
CASE_FN(select) { *y = n_select(l_lt(x[2].v, l_set((REAL)0)), x[0], n_mul(x[1], x[2])); }
CASE_FN(v3_add) { case_put(y, v3_add(CASE_VEC(x), CASE_VEC(x + 3))); }
CASE_FN(v3_sub) { case_put(y, v3_sub(CASE_VEC(x), CASE_VEC(x + 3))); }
CASE_FN(v3_neg) { case_put(y, v3_neg(CASE_VEC(x))); }
CASE_FN(v3_scale) { case_put(y, v3_scale(CASE_VEC(x), x[3])); }
CASE_FN(v3_dot) { *y = v3_dot(CASE_VEC(x), CASE_VEC(x + 3)); }
CASE_FN(v3_cross) { case_put(y, v3_cross(CASE_VEC(x), CASE_VEC(x + 3))); }
CASE_FN(v3_square) { *y = v3_square(CASE_VEC(x)); }
CASE_FN(v3_unit) { case_put(y, v3_unit(CASE_VEC(x))); }
CASE_FN(v3_inverse_length) { *y = v3_inverse_length(CASE_VEC(x)); }
/* Rules in reverse mode: the value goes forwards, the slopes are those by a times the inputs'. */
static inline num AD_NUM(case_reverse)(lane value, const lane by_a[3], const num a[3]) {
    num y = n_passive(value);
    EACH_SLOPE(k, y.d[k] = l_add(l_mul(by_a[0], a[0].d[k]),
                                 l_add(l_mul(by_a[1], a[1].d[k]), l_mul(by_a[2], a[2].d[k])));)
    (void)by_a, (void)a;
    return y;
}
/* 2 d_x - d_y + 3 d_z + r/2 of d = a/|a|, r = 1/|a| */
CASE_FN(v3_unit_back) {
    const lane r = v3_inverse_length(CASE_VEC(x)).v,
               d[3] = { l_mul(x[0].v, r), l_mul(x[1].v, r), l_mul(x[2].v, r) },
               by_d[3] = { l_set((REAL)2), l_set((REAL)-1), l_set((REAL)3) };
    lane by_a[3], value = l_mul(l_set((REAL)0.5), r);
    for (int c = 0; c < 3; c++) value = l_fma(by_d[c], d[c], value);
    v3_unit_back(d, r, by_d, l_set((REAL)0.5), by_a);
    *y = AD_NUM(case_reverse)(value, by_a, x);
}
CASE_FN(v3_symmetric) { case_put(y, v3_symmetric(x + 3, CASE_VEC(x))); }
/* 1.5 a.W a */
CASE_FN(v3_form_back) {
    const num w[6] = { n_constant(1),          n_constant((REAL)-2),  n_constant((REAL)0.5),
                       n_constant((REAL)0.25), n_constant((REAL)1.5), n_constant((REAL)-0.75) };
    const vec3 a = v3_passive(x[0].v, x[1].v, x[2].v), turned = v3_symmetric(w, a);
    const lane wa[3] = { turned.x.v, turned.y.v, turned.z.v };
    lane by_a[3];
    v3_form_back(wa, l_set((REAL)1.5), by_a);
    *y = AD_NUM(case_reverse)(l_mul(l_set((REAL)1.5), v3_dot(a, turned).v), by_a, x);
}
CASE_FN(m3_apply) { case_put(y, m3_apply(CASE_ROWS(x), CASE_VEC(x + 9))); }
CASE_FN(m3_apply_transposed) { case_put(y, m3_apply_transposed(CASE_ROWS(x), CASE_VEC(x + 9))); }
static inline void AD_NUM(case_put_rows)(num *y, mat3 m) {
    for (int i = 0; i < 3; i++, y += 3) case_put(y, m.r[i]);
}
#define case_put_rows AD_NUM(case_put_rows)
CASE_FN(m3_transpose) { case_put_rows(y, m3_transpose(CASE_ROWS(x))); }
CASE_FN(m3_multiply) { case_put_rows(y, m3_multiply(CASE_ROWS(x), CASE_ROWS(x + 9))); }
CASE_FN(triple_product) { *y = v3_dot(CASE_VEC(x), v3_cross(CASE_VEC(x + 3), CASE_VEC(x + 6))); }
CASE_FN(gaussian_of_ratio) {
    const vec3 a = CASE_VEC(x), b = CASE_VEC(x + 3);
    *y = n_exp(n_neg(n_sqr(n_div(v3_dot(a, b), v3_square(a)))));
}
#if LANES == 1 && AD_SIZE != 4
CASE_FN(sin) { *y = n_sin(x[0]); }
CASE_FN(cos) { *y = n_cos(x[0]); }
CASE_FN(m3_rotation) { case_put_rows(y, m3_rotation(v3_unit(CASE_VEC(x)), x[3])); }
CASE_FN(m3_rotation_xyz) { case_put_rows(y, m3_rotation_xyz(x[0], x[1], x[2])); }
CASE_FN(m3_rotation_vector) { case_put_rows(y, m3_rotation_vector(CASE_VEC(x))); }
#endif

static void (*const AD_NUM(case_functions)[])(const num *x, num *y) = {
#define CASE(name, ...) AD_NUM(case_##name),
    DUAL_CASES(CASE)
#if LANES == 1 && AD_SIZE != 4
        DUAL_HOST_CASES(CASE)
#endif
#undef CASE
};

/* Case `which` at the inputs x[input * LANES + lane]. Slopes of the inputs: those given in seeds,
 * the same for all lanes, as seeds[direction * inputs + input]; or, where seeds is null, direction
 * k follows input first + k. y[(output * (1 + slopes) + column) * LANES + lane]: values in column
 * 0, then the slopes. */
static void AD_NUM(run_case)(int which, const REAL *x, int first, const REAL *seeds, REAL *y) {
    const int inputs = dual_case_list[which].inputs, outputs = dual_case_list[which].outputs;
    num arguments[MOST_INPUTS], results[MOST_OUTPUTS];
    for (int i = 0; i < inputs; i++, x += LANES) {
        arguments[i] = n_seed(l_load(x), i - first);
        if (seeds) {
            EACH_SLOPE(k, arguments[i].d[k] = l_set(seeds[k * inputs + i]);)
        }
    }
    AD_NUM(case_functions)[which](arguments, results);
    for (int o = 0; o < outputs && o < MOST_OUTPUTS; o++) {
        l_store(y, results[o].v);
        y += LANES;
        EACH_SLOPE(k, l_store(y, results[o].d[k]); y += LANES;)
    }
}

#undef case_put
#undef case_put_rows
#undef CASE_FN
#undef CASE_ROWS
#undef CASE_VEC
