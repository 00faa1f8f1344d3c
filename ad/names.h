/* Names that follow the number type. Each translation unit says what a number is:
 *   REAL   float, double or longdouble
 *   LANES  numbers processed together (SIMD); 1 is plain scalar code
 *   DIRS   slopes a dual number carries: 0, 1, 2, 3 or many (= AD_MANY)
 * and includes ad/lane.h (per REAL) and ad/num.h (per REAL and DIRS). The names lane, l_add, num,
 * n_mul, vec3 ... are macros that follow the current REAL and DIRS, so code written in them
 * compiles for all, and one unit may use several widths in turn. The kernels name the widths that
 * they use: w_add, f_add ... (kernel/instance_types.h). */
#ifndef AD_NAMES_H
#define AD_NAMES_H

#include "ad/device_language.h"

typedef long double longdouble;

#define AD_PASTE2_(a, b) a##_##b
#define AD_PASTE2(a, b) AD_PASTE2_(a, b)
#define AD_PASTE3_(a, b, c) a##_##b##_##c
#define AD_PASTE3(a, b, c) AD_PASTE3_(a, b, c)
#define AD_LANE(name) AD_PASTE2(name, REAL)
#define AD_NUM(name) AD_PASTE3(name, REAL, DIRS)

/* sizeof(REAL) that the preprocessor can read. */
#define AD_SIZE_float 4
#define AD_SIZE_double 8
#define AD_SIZE_longdouble 16
#define AD_SIZE AD_PASTE2(AD_SIZE, REAL)

#define AD_FN AD_PORTABLE_FN
#if defined(AD_DEVICE_LANGUAGE)
#define AD_INLINE AD_DEVICE_FN
#else
#define AD_INLINE static inline __attribute__((unused, always_inline))
#endif

/* Functions of vectors and matrices of dual numbers. With few slopes they are inlined in the loop; with many they
 * stay functions, which compiles seven times as fast. AD_MANY_INLINE inlines those, too: it makes the oracle,
 * which calls them for every pixel, twice as fast. */
#define AD_NUM_FN AD_PASTE_NUM_FN(DIRS)
#define AD_PASTE_NUM_FN_(dirs) AD_NUM_FN_##dirs
#define AD_PASTE_NUM_FN(dirs) AD_PASTE_NUM_FN_(dirs)
#define AD_NUM_FN_0 AD_INLINE
#define AD_NUM_FN_1 AD_INLINE
#define AD_NUM_FN_2 AD_INLINE
#define AD_NUM_FN_3 AD_INLINE
#if defined(AD_MANY_INLINE)
#define AD_NUM_FN_many AD_INLINE
#else
#define AD_NUM_FN_many static __attribute__((unused, noinline))
#endif

/* lane vocabulary (ad/lane.h, ad/elementary.h) */
#define lane AD_LANE(lane)
#define lane_mask AD_LANE(lane_mask)
#define l_set AD_LANE(l_set)
#define l_load AD_LANE(l_load)
#define l_store AD_LANE(l_store)
#define l_iota AD_LANE(l_iota)
#define l_add AD_LANE(l_add)
#define l_sub AD_LANE(l_sub)
#define l_mul AD_LANE(l_mul)
#define l_div AD_LANE(l_div)
#define l_neg AD_LANE(l_neg)
#define l_fma AD_LANE(l_fma)
#define l_fnma AD_LANE(l_fnma)
#define l_sqrt AD_LANE(l_sqrt)
#define l_rsqrt AD_LANE(l_rsqrt)
#define l_abs AD_LANE(l_abs)
#define l_rint AD_LANE(l_rint)
#define l_reduce AD_LANE(l_reduce)
#define l_lt AD_LANE(l_lt)
#define l_le AD_LANE(l_le)
#define l_eq AD_LANE(l_eq)
#define l_and AD_LANE(l_and)
#define l_any AD_LANE(l_any)
#define l_bitmask AD_LANE(l_bitmask)
#define l_keep AD_LANE(l_keep)
#define l_max AD_LANE(l_max)
#define l_select AD_LANE(l_select)
#define l_scale2 AD_LANE(l_scale2)
#define l_sinpic AD_LANE(l_sinpic)
#define l_sinpic_slope AD_LANE(l_sinpic_slope)
#define l_cospi AD_LANE(l_cospi)
#define l_sinpi AD_LANE(l_sinpi)
#define l_sinpi_slope AD_LANE(l_sinpi_slope)
#define l_exp AD_LANE(l_exp)
#define l_sphere AD_LANE(l_sphere)
#define l_sphere_slope AD_LANE(l_sphere_slope)
#define l_langevin_part AD_LANE(l_langevin_part)
#define l_langevin AD_LANE(l_langevin)
#define l_langevin_slope AD_LANE(l_langevin_slope)
#define l_erf_part AD_LANE(l_erf_part)
#define l_erfc_root AD_LANE(l_erfc_root)
#define l_erf AD_LANE(l_erf)
#define l_erf_slope AD_LANE(l_erf_slope)
#define l_erfc_tail AD_LANE(l_erfc_tail)

/* dual numbers (ad/num.h) */
#define num AD_NUM(num)
#define n_passive AD_NUM(n_passive)
#define n_constant AD_NUM(n_constant)
#define n_seed AD_NUM(n_seed)
#define n_add AD_NUM(n_add)
#define n_sub AD_NUM(n_sub)
#define n_neg AD_NUM(n_neg)
#define n_mul AD_NUM(n_mul)
#define n_fnma AD_NUM(n_fnma)
#define n_fma AD_NUM(n_fma)
#define n_affine AD_NUM(n_affine)
#define n_div AD_NUM(n_div)
#define n_quotient AD_NUM(n_quotient)
#define n_scale AD_NUM(n_scale)
#define n_shift AD_NUM(n_shift)
#define n_sqr AD_NUM(n_sqr)
#define n_chain AD_NUM(n_chain)
#define n_sqrt AD_NUM(n_sqrt)
#define n_rsqrt AD_NUM(n_rsqrt)
#define n_exp AD_NUM(n_exp)
#define n_sinpic AD_NUM(n_sinpic)
#define n_cospic AD_NUM(n_cospic)
#define n_sinpi AD_NUM(n_sinpi)
#define n_sphere AD_NUM(n_sphere)
#define n_langevin AD_NUM(n_langevin)
#define n_erf AD_NUM(n_erf)
#define n_erfc_tail AD_NUM(n_erfc_tail)
#define n_select AD_NUM(n_select)
#define n_sin AD_NUM(n_sin)
#define n_cos AD_NUM(n_cos)

/* vectors and matrices (ad/vec3.h, ad/mat3.h) */
#define vec3 AD_NUM(vec3)
#define v3_make AD_NUM(v3_make)
#define v3_passive AD_NUM(v3_passive)
#define v3_seed AD_NUM(v3_seed)
#define v3_add AD_NUM(v3_add)
#define v3_sub AD_NUM(v3_sub)
#define v3_neg AD_NUM(v3_neg)
#define v3_scale AD_NUM(v3_scale)
#define v3_dot AD_NUM(v3_dot)
#define v3_symmetric AD_NUM(v3_symmetric)
#define v3_form_back AD_NUM(v3_form_back)
#define v3_cross AD_NUM(v3_cross)
#define v3_square AD_NUM(v3_square)
#define v3_inverse_length AD_NUM(v3_inverse_length)
#define v3_unit AD_NUM(v3_unit)
#define v3_unit_back AD_NUM(v3_unit_back)
#define mat3 AD_NUM(mat3)
#define m3_rows AD_NUM(m3_rows)
#define m3_passive AD_NUM(m3_passive)
#define m3_identity AD_NUM(m3_identity)
#define m3_apply AD_NUM(m3_apply)
#define m3_apply_transposed AD_NUM(m3_apply_transposed)
#define m3_multiply AD_NUM(m3_multiply)
#define m3_transpose AD_NUM(m3_transpose)
#define m3_turned AD_NUM(m3_turned)
#define m3_rotation AD_NUM(m3_rotation)
#define m3_rotation_xyz AD_NUM(m3_rotation_xyz)
#define m3_rotation_vector AD_NUM(m3_rotation_vector)

/* EACH_SLOPE(k, statement): the statement for every slope k of the current DIRS, unrolled by the
 * preprocessor for the narrow widths of the inner loops (compilers leave loops over struct arrays
 * in memory there). */
#define EACH_SLOPE AD_PASTE_EACH(DIRS)
#define AD_PASTE_EACH_(dirs)                                                                       \
    AD_EACH_SLOPE_##dirs /* own paste: a macro cannot expand inside itself */
#define AD_PASTE_EACH(dirs) AD_PASTE_EACH_(dirs)
#define AD_SLOPE_(k, i, ...)                                                                       \
    {                                                                                              \
        enum { k = i };                                                                            \
        __VA_ARGS__                                                                                \
    }
#define AD_EACH_SLOPE_0(k, ...)
#define AD_EACH_SLOPE_1(k, ...) AD_SLOPE_(k, 0, __VA_ARGS__)
#define AD_EACH_SLOPE_2(k, ...) AD_SLOPE_(k, 0, __VA_ARGS__) AD_SLOPE_(k, 1, __VA_ARGS__)
#define AD_EACH_SLOPE_3(k, ...)                                                                    \
    AD_SLOPE_(k, 0, __VA_ARGS__) AD_SLOPE_(k, 1, __VA_ARGS__) AD_SLOPE_(k, 2, __VA_ARGS__)
#define AD_EACH_SLOPE_many(k, ...)                                                                 \
    for (int k = 0; k < AD_MANY; k++) {                                                            \
        __VA_ARGS__                                                                                \
    }

/* The member of num that holds the slopes; none with DIRS 0. */
#define AD_SLOPES AD_PASTE_SLOPES(DIRS)
#define AD_PASTE_SLOPES_(dirs) AD_SLOPES_##dirs
#define AD_PASTE_SLOPES(dirs) AD_PASTE_SLOPES_(dirs)
#define AD_SLOPES_0
#define AD_SLOPES_1 lane d[1];
#define AD_SLOPES_2 lane d[2];
#define AD_SLOPES_3 lane d[3];
#define AD_SLOPES_many lane d[AD_MANY];

#endif
