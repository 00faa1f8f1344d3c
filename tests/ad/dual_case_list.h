/* Functions of several numbers, one per operation of ad/num.h, ad/vec3.h and ad/mat3.h, whose
 * values and slopes are tested: X(name, inputs, outputs, from, to, value_ulp, slope_ulp). Inputs
 * are drawn from [from, to); the allowed errors are in ulp of the largest output or slope (at least
 * 1): about twice the worst measured over all instances with gcc 12 and clang 14; 0 and 0.51 where
 * the result is exact or correctly rounded. */
#ifndef TESTS_AD_DUAL_CASE_LIST_H
#define TESTS_AD_DUAL_CASE_LIST_H

#define DUAL_CASES(X)                                                                              \
    X(add, 2, 1, -2, 2, 0.51, 0.51)                                                                \
    X(sub, 2, 1, -2, 2, 0.51, 0.51)                                                                \
    X(neg, 1, 1, -2, 2, 0, 0)                                                                      \
    X(scale, 1, 1, -2, 2, 0.51, 0.51)                                                              \
    X(shift, 1, 1, -2, 2, 0.51, 0)                                                                 \
    X(mul, 2, 1, -2, 2, 0.51, 2.5)                                                                 \
    X(fma, 2, 1, -2, 2, 1.5, 2.5)                                                                  \
    X(fnma, 2, 1, -2, 2, 1.5, 2.5)                                                                 \
    X(affine, 1, 1, -2, 2, 2, 0.51)                                                                \
    X(div, 2, 1, 0.5, 2, 3, 5.5)                                                                   \
    X(sqr, 1, 1, -2, 2, 0.51, 0.51)                                                                \
    X(chain, 1, 1, -2, 2, 2.5, 3.5)                                                                \
    X(sqrt, 1, 1, 0.25, 4, 0.51, 2)                                                                \
    X(rsqrt, 1, 1, 0.25, 4, 3, 9)                                                                  \
    X(exp, 1, 1, -3, 3, 3, 3)                                                                      \
    X(sinpic, 1, 1, 0, 0.25, 3, 3)                                                                 \
    X(cospic, 1, 1, 0, 0.25, 3, 6)                                                                 \
    X(sinpi, 1, 1, -0.5, 0.5, 3, 5.5)                                                              \
    X(sphere_squared, 1, 1, 0.01, 6, 1.5, 4)                                                       \
    X(langevin, 1, 1, -4, 4, 3, 3)                                                                 \
    X(erf, 1, 1, -4, 4, 1.5, 3)                                                                    \
    X(erfc_tail, 1, 1, 1.4, 4, 1.5, 3)                                                             \
    X(select, 3, 1, -2, 2, 0.51, 2.5)                                                              \
    X(v3_add, 6, 3, -2, 2, 0.51, 0.51)                                                             \
    X(v3_sub, 6, 3, -2, 2, 0.51, 0.51)                                                             \
    X(v3_neg, 3, 3, -2, 2, 0, 0)                                                                   \
    X(v3_scale, 4, 3, -2, 2, 0.51, 2.5)                                                            \
    X(v3_dot, 6, 1, -2, 2, 6.5, 6)                                                                 \
    X(v3_cross, 6, 3, -2, 2, 4, 3.5)                                                               \
    X(v3_square, 3, 1, -2, 2, 3, 4.5)                                                              \
    X(v3_unit, 3, 3, 0.25, 2, 2.5, 7)                                                              \
    X(v3_inverse_length, 3, 1, 0.25, 2, 2.5, 9.5)                                                  \
    X(v3_unit_back, 3, 1, 0.25, 2, 6.5, 15.5)                                                      \
    X(v3_symmetric, 9, 3, -2, 2, 7.5, 5)                                                           \
    X(v3_form_back, 3, 1, -2, 2, 37, 11)                                                           \
    X(m3_apply, 12, 3, -2, 2, 6.5, 5.5)                                                            \
    X(m3_apply_transposed, 12, 3, -2, 2, 6, 4.5)                                                   \
    X(m3_transpose, 9, 9, -2, 2, 0, 0)                                                             \
    X(m3_multiply, 18, 9, -2, 2, 5, 5)                                                             \
    X(triple_product, 9, 1, -2, 2, 18.5, 11.5)                                                     \
    X(gaussian_of_ratio, 6, 1, 0.5, 2, 3.5, 5.5)

/* Host side only, where angles exist. */
#define DUAL_HOST_CASES(X)                                                                         \
    X(sin, 1, 1, -4, 4, 1.5, 1.5)                                                                  \
    X(cos, 1, 1, -4, 4, 1.5, 1.5)                                                                  \
    X(m3_rotation, 4, 9, 0.25, 2, 5, 13)                                                           \
    X(m3_rotation_xyz, 3, 9, -4, 4, 3, 5)                                                          \
    X(m3_rotation_vector, 3, 9, -1.8, 1.8, 5, 13)

enum { MOST_INPUTS = 18, MOST_OUTPUTS = 9 };

typedef struct {
    const char *name;
    int inputs, outputs;
    double from, to, value_ulp, slope_ulp;
} dual_case;

extern const dual_case dual_case_list[];

#endif
