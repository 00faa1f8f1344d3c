/* What each primitive of ad/num.h gives at its special points. One row per point:
 *
 *   X(rule, point, value, slope, reason)
 *
 *   rule    the primitive (unit: first component of v3_unit((a, b, 0)); rint: l_rint, passive)
 *   point   AD_AT(a, da): the argument, and its slope along the one direction looked at;
 *           AD_AT2(a, da, b, db): two arguments
 *   value   what comes out
 *   slope   its slope along that direction
 *
 * NaN marks an undefined result, infinity an unbounded one. Nothing is clamped or repaired, and no
 * mode changes a row. tests/ad checks every row in every instance, and grids between the rows. */
#ifndef AD_RULES_H
#define AD_RULES_H

#include "ad/names.h"
#include <float.h>
#include <math.h>

#define AD_AT(a, da)                                                                               \
    { a, da, 0, 0 }
#define AD_AT2(a, da, b, db)                                                                       \
    { a, da, b, db }

/* Least argument whose exp is not 0: below it results are subnormal (long double keeps those). */
#define AD_EXP_LOWEST (AD_SIZE == 4 ? -87.0L : AD_SIZE == 8 ? -708.0L : -11400.0L)
#define AD_EPSILON (AD_SIZE == 4 ? FLT_EPSILON : AD_SIZE == 8 ? DBL_EPSILON : LDBL_EPSILON)
#define AD_SUBNORMAL (AD_SIZE == 4 ? FLT_TRUE_MIN : AD_SIZE == 8 ? DBL_TRUE_MIN : LDBL_TRUE_MIN)
/* Its square overflows, the square of its inverse underflows. */
#define AD_HUGE (AD_SIZE == 4 ? 1e30L : AD_SIZE == 8 ? 1e200L : 1e3000L)
#define AD_PI 3.141592653589793238462643383279502884L
#define AD_PI2 (AD_PI * AD_PI)
#define AD_PI3 (AD_PI * AD_PI * AD_PI)
/* First zero of the ball's amplitude: the least x > 0 with tan x = x, and u = (x/pi)^2. */
#define AD_BALL_X 4.493409457909064175307880927280322082L
#define AD_BALL_ZERO (AD_BALL_X * AD_BALL_X / AD_PI2)
/* Beyond u = 1 the ball's amplitude drops the sign of the half turns taken out of its argument
 * (long double, which takes out none, keeps it). */
#define AD_DROP (AD_SIZE == 16 ? 1 : -1)

/* coth 1 - 1 = 2/(e^2 - 1) */
#define AD_LANGEVIN_1 0.313035285499331303636161246930847833L

#define AD_ERF_1 0.842700792949714869341220635082609259L     /* erf 1 */
#define AD_ERFC_2 0.00467773498104726583793074363274707L     /* 1 - erf 2 */
#define AD_ERF_SLOPE 1.128379167095512573896158903121545172L /* erf' 0 = 2/sqrt(pi) */

/* clang-format off */
#define AD_RULE_LIST(X)                                                                            \
    X(sqr, AD_AT(0, 1), 0, 0, "flat at the bottom")                                                \
    X(sqr, AD_AT(-3, 1), 9, -6, "the slope keeps the argument's sign")                             \
    X(mul, AD_AT2(0, 1, 0, 1), 0, 0, "both factors vanish: flat")                                  \
    X(mul, AD_AT2(0, 1, 5, 0), 0, 5, "one factor vanishes, its slope does not")                    \
    X(mul, AD_AT2(INFINITY, 0, 0, 1), NAN, INFINITY, "infinity times zero has no value")           \
    X(div, AD_AT2(0, 1, 4, 0), 0, 0.25L, "zero divided")                                           \
    X(div, AD_AT2(1, 0, 0, 1), INFINITY, -INFINITY, "pole")                                        \
    X(div, AD_AT2(1, 1, 0, 0), INFINITY, NAN, "pole at rest: infinity times zero")                 \
    X(div, AD_AT2(0, 1, 0, 0), NAN, NAN, "0/0")                                                    \
    X(div, AD_AT2(1, 1, INFINITY, 0), 0, 0, "infinitely far")                                      \
    X(div, AD_AT2(AD_SUBNORMAL, 0, AD_SUBNORMAL, 0), INFINITY, NAN,                                \
      "a/b is a times 1/b, and 1/b overflows")                                                     \
    X(sqrt, AD_AT(0, 1), 0, INFINITY, "vertical tangent, not clamped")                             \
    X(sqrt, AD_AT(0, -1), 0, -INFINITY, "vertical tangent, leaving the domain")                    \
    X(sqrt, AD_AT(0, 0), 0, 0, "an argument at rest leaves its root at rest")                      \
    X(sqrt, AD_AT(-0.0L, 0), 0, 0, "as 0")                                                         \
    X(sqrt, AD_AT(-1, 1), NAN, NAN, "outside the domain")                                          \
    X(sqrt, AD_AT(-1, 0), NAN, 0, "outside the domain, at rest")                                   \
    X(sqrt, AD_AT(INFINITY, 1), INFINITY, 0, "the slope tends to zero")                            \
    X(rsqrt, AD_AT(0, 1), INFINITY, -INFINITY, "pole")                                             \
    X(rsqrt, AD_AT(0, 0), INFINITY, NAN, "pole at rest: infinity times zero")                      \
    X(rsqrt, AD_AT(INFINITY, 1), 0, 0, "infinitely far")                                           \
    X(rsqrt, AD_AT(-1, 1), NAN, NAN, "outside the domain")                                         \
    X(exp, AD_AT(0, 1), 1, 1, "its own slope")                                                     \
    X(exp, AD_AT(AD_EXP_LOWEST, 1), expl(AD_EXP_LOWEST), expl(AD_EXP_LOWEST), "last value kept")   \
    X(exp, AD_AT(AD_EXP_LOWEST * (1 + AD_EPSILON), 1), 0, 0, "zero and no slope, not a subnormal") \
    X(exp, AD_AT(-INFINITY, 1), 0, 0, "as any argument below the lowest")                          \
    X(exp, AD_AT(NAN, 1), NAN, NAN, "NaN in, NaN out")                                             \
    X(sinpic, AD_AT(0, 1), AD_PI, -AD_PI3 / 6, "a power series in t: an ordinary point")           \
    X(sinpic, AD_AT(0, 0), AD_PI, 0, "at rest")                                                    \
    X(sinpic, AD_AT(0.25L, 1), 2, -4, "end of the reduced range, halfway between two nodes")       \
    X(cospic, AD_AT(0, 1), 1, -AD_PI2 / 2, "a power series in t: an ordinary point")               \
    X(cospic, AD_AT(0, 0), 1, 0, "at rest")                                                        \
    X(cospic, AD_AT(0.25L, 1), 0, -AD_PI, "end of the reduced range: passes through zero")         \
    X(sphere, AD_AT(0, 1), 1, -AD_PI2 / 10, "a power series in u: an ordinary point")              \
    X(sphere, AD_AT(0, 0), 1, 0, "at rest")                                                        \
    X(sphere, AD_AT(1, 1), 3 / AD_PI2, -4.5L / AD_PI2, "the last of the series")                   \
    X(sphere, AD_AT(1 + AD_EPSILON, 1), AD_DROP * 3 / AD_PI2, AD_DROP * -4.5L / AD_PI2,            \
      "the first of the closed form: the sign of the half turn is dropped")                        \
    X(sphere, AD_AT(AD_BALL_ZERO, 1), 0, AD_DROP * 1.5L * cosl(AD_BALL_X) / AD_BALL_ZERO,          \
      "first dark ring: the amplitude passes through zero, its slope does not")                    \
    X(sphere, AD_AT(INFINITY, 1), NAN, NAN, "infinite argument: the phase is undefined")           \
    X(langevin, AD_AT(0, 1), 0, 1 / 3.0L, "odd and analytic: an ordinary point")                   \
    X(langevin, AD_AT(1, 1), AD_LANGEVIN_1, 1 - AD_LANGEVIN_1 * (AD_LANGEVIN_1 + 2),               \
      "the last of the series")                                                                    \
    X(langevin, AD_AT(INFINITY, 1), 1, 0, "the slope tends to zero")                               \
    X(langevin, AD_AT(-INFINITY, 1), -1, 0, "odd")                                                 \
    X(erf, AD_AT(0, 1), 0, AD_ERF_SLOPE, "odd and analytic: an ordinary point")                    \
    X(erf, AD_AT(AD_SUBNORMAL, 1), AD_ERF_SLOPE * AD_SUBNORMAL, AD_ERF_SLOPE, "linear about 0")    \
    X(erf, AD_AT(1, 1), AD_ERF_1, AD_ERF_SLOPE * expl(-1), "the last of the series")               \
    X(erf, AD_AT(1 + AD_EPSILON, 1), AD_ERF_1, AD_ERF_SLOPE * expl(-1), "the first beyond it")     \
    X(erf, AD_AT(AD_HUGE, 1), 1, 0, "its square overflows: 1 and no slope")                        \
    X(erf, AD_AT(-AD_HUGE, 1), -1, 0, "odd")                                                       \
    X(erf, AD_AT(INFINITY, 1), 1, 0, "the slope tends to zero")                                    \
    X(erf, AD_AT(-INFINITY, 1), -1, 0, "odd")                                                      \
    X(erf, AD_AT(NAN, 1), NAN, NAN, "NaN in, NaN out")                                             \
    X(erfc_tail, AD_AT(2, 1), AD_ERFC_2, -AD_ERF_SLOPE * expl(-4), "small and known to its own digits") \
    X(erfc_tail, AD_AT(AD_HUGE, 1), 0, 0, "its square overflows: 0 and no slope")                  \
    X(erfc_tail, AD_AT(INFINITY, 1), 0, 0, "infinitely far")                                       \
    X(erfc_tail, AD_AT(NAN, 1), NAN, NAN, "NaN in, NaN out")                                       \
    X(select, AD_AT2(2, 3, NAN, NAN), 2, 3, "the branch not taken does not leak")                  \
    X(select, AD_AT2(NAN, NAN, 2, 3), 2, 3, "nor the other way round")                             \
    X(unit, AD_AT2(0, 1, 0, 0), NAN, NAN, "the null vector has no direction")                      \
    X(unit, AD_AT2(3, 1, 0, 0), 1, 0, "moving along itself: no turn")                              \
    X(unit, AD_AT2(0, 1, 2, 0), 0, 0.5L, "moving across: turns by motion over length")             \
    X(unit, AD_AT2(AD_HUGE, 1, 0, 0), 0, 0, "its square overflows: inverse length 0")              \
    X(unit, AD_AT2(1 / AD_HUGE, 1, 0, 0), INFINITY, NAN, "its square underflows: infinite inverse")\
    X(rint, AD_AT(0.5L, 1), 0, 0, "halves to even; piecewise constant, so passive")                \
    X(rint, AD_AT(1.5L, 1), 2, 0, "halves to even")                                                \
    X(rint, AD_AT(2.5L, 1), 2, 0, "halves to even")                                                \
    X(rint, AD_AT(-0.5L, 1), 0, 0, "halves to even; zero's sign is not specified")                 \
    X(rint, AD_AT(-1.5L, 1), -2, 0, "halves to even")                                              \
    X(rint, AD_AT(-0.0L, 1), 0, 0, "zero's sign is not specified")
/* clang-format on */

#endif
