/* Dual numbers: forward-mode automatic differentiation.
 *
 * A dual number is a value v with DIRS slopes d: its derivatives along DIRS directions, one for
 * each independent variable. Every operation computes the value and, by the rules of
 * differentiation, the slopes:
 *
 *   n_add    (v, v') + (w, w') = (v + w, v' + w')      sum
 *   n_mul    (v, v') (w, w') = (v w, v w' + w v')      product rule
 *   n_chain  f((v, v')) = (f(v), f'(v) v')             chain rule, for every other function
 *
 * An independent variable starts with slope 1 along its own direction (n_seed), a constant with
 * slope 0 (n_constant). The slopes are exact but for rounding; there is no step size to choose.
 *
 * Example: how does 1/R, the inverse distance of a pixel y = 10 mm off the beam, change with the
 * detector's distance D = 100 mm? With REAL double, LANES 1 and DIRS 1:
 *
 *   num D = n_seed(100, 0);                     (100, 1)
 *   num u = n_shift(n_sqr(D), 10 * 10);         (10100, 200)                2 D D'
 *   num r = n_rsqrt(u);                         (0.00995037, -9.85185e-5)   -u'/(2 u^(3/2))
 *
 * r.v is 1/R, and r.d[0] is d(1/R)/dD (1/mm^2). docs/theory/derivatives.md takes the example on to
 * the lattice factor. With DIRS 0 the same lines give the value alone.
 *
 * Include once per (REAL, DIRS), see ad/names.h. What each function gives at special points (zeros,
 * poles, ends of ranges) is listed in ad/rules.h and tested row by row. */
#include "ad/names.h"

typedef struct {
    lane v;
    AD_SLOPES
} num;

/* A passive quantity, one that depends on no independent variable: its slopes are 0. */
AD_INLINE num n_passive(lane v) {
    num r;
    r.v = v;
    EACH_SLOPE(k, r.d[k] = l_set((REAL)0);)
    return r;
}
AD_INLINE num n_constant(REAL v) { return n_passive(l_set(v)); }

/* The independent variable of a direction (passive with DIRS 0, so that the same code serves
 * both). */
AD_INLINE num n_seed(lane v, int direction) {
    num r = n_passive(v);
    (void)direction;
    EACH_SLOPE(k, if (k == direction) r.d[k] = l_set((REAL)1);)
    return r;
}

AD_INLINE num n_add(num a, num b) {
    a.v = l_add(a.v, b.v);
    EACH_SLOPE(k, a.d[k] = l_add(a.d[k], b.d[k]);)
    return a;
}
AD_INLINE num n_sub(num a, num b) {
    a.v = l_sub(a.v, b.v);
    EACH_SLOPE(k, a.d[k] = l_sub(a.d[k], b.d[k]);)
    return a;
}
AD_INLINE num n_neg(num a) {
    a.v = l_neg(a.v);
    EACH_SLOPE(k, a.d[k] = l_neg(a.d[k]);)
    return a;
}
/* a * s and a + s with passive s */
AD_INLINE num n_scale(num a, lane s) {
    a.v = l_mul(a.v, s);
    EACH_SLOPE(k, a.d[k] = l_mul(a.d[k], s);)
    return a;
}
AD_INLINE num n_shift(num a, lane s) {
    a.v = l_add(a.v, s);
    return a;
}
AD_INLINE num n_mul(num a, num b) {
    num r;
    r.v = l_mul(a.v, b.v);
    EACH_SLOPE(k, r.d[k] = l_fma(a.v, b.d[k], l_mul(b.v, a.d[k]));)
    return r;
}
/* a b + c and c - a b with passive c, rounded once. */
AD_INLINE num n_fma(num a, num b, lane c) {
    num r;
    r.v = l_fma(a.v, b.v, c);
    EACH_SLOPE(k, r.d[k] = l_fma(a.v, b.d[k], l_mul(b.v, a.d[k]));)
    return r;
}
AD_INLINE num n_fnma(num a, num b, lane c) {
    num r;
    r.v = l_fnma(a.v, b.v, c);
    EACH_SLOPE(k, r.d[k] = l_neg(l_fma(a.v, b.d[k], l_mul(b.v, a.d[k])));)
    return r;
}
/* a s + c with passive s and c, rounded once. */
AD_INLINE num n_affine(num a, lane s, lane c) {
    a.v = l_fma(a.v, s, c);
    EACH_SLOPE(k, a.d[k] = l_mul(a.d[k], s);)
    return a;
}
/* f(a), given f and f' at a: the chain rule, through which every elementary function goes. */
AD_INLINE num n_chain(lane value, lane slope, num a) {
    num r;
    r.v = value;
    (void)slope;
    (void)a;
    EACH_SLOPE(k, r.d[k] = l_mul(slope, a.d[k]);)
    return r;
}
AD_INLINE num n_sqr(num a) { return n_chain(l_mul(a.v, a.v), l_add(a.v, a.v), a); }
/* a/b, where 1/b is already known (several quotients can share one division) */
AD_INLINE num n_quotient(num a, num b, lane inverse) {
    num r;
    (void)b;
    r.v = l_mul(a.v, inverse);
    EACH_SLOPE(k, r.d[k] = l_mul(l_fnma(r.v, b.d[k], a.d[k]), inverse);)
    return r;
}
AD_INLINE num n_div(num a, num b) { return n_quotient(a, b, l_div(l_set((REAL)1), b.v)); }
/* sqrt has a vertical tangent at 0: an infinite slope, except along directions in which the slope
 * of the argument is 0. */
AD_INLINE num n_sqrt(num a) {
    num r;
    r.v = l_sqrt(a.v);
    const lane half = l_div(l_set((REAL)0.5), r.v), zero = l_set((REAL)0);
    (void)half;
    (void)zero;
    EACH_SLOPE(k, r.d[k] = l_select(l_eq(a.d[k], zero), zero, l_mul(half, a.d[k]));)
    return r;
}
AD_INLINE num n_rsqrt(num a) {
    const lane r = l_rsqrt(a.v);
    return n_chain(r, l_mul(l_mul(l_mul(r, l_set((REAL)-0.5)), r), r), a);
}
AD_INLINE num n_exp(num a) {
    const lane e = l_exp(a.v);
    return n_chain(e, e, a);
}
/* S(t) = sin(pi sqrt t)/sqrt t, 0 <= t <= 1/4: entire, no special point. */
AD_INLINE num n_sinpic(num t) { return n_chain(l_sinpic(t.v), l_sinpic_slope(t.v), t); }
/* C(t) = cos(pi sqrt t), 0 <= t <= 1/4: entire, too; C' = -pi/2 S. */
AD_INLINE num n_cospic(num t) {
    const lane slope = l_mul(l_set((REAL)-1.570796326794896619231321691639751442L), l_sinpic(t.v));
    return n_chain(l_cospi(t.v), slope, t);
}
/* sin(pi x), |x| <= 1/2. */
AD_INLINE num n_sinpi(num x) {
    const lane t = l_mul(x.v, x.v);
    return n_chain(l_sinpi(x.v, t), l_sinpi_slope(t), x);
}
/* The ball's amplitude j(u) (up to sign, see l_sphere), u >= 0. */
AD_INLINE num n_sphere(num u) { return n_chain(l_sphere(u.v), l_sphere_slope(u.v), u); }
/* L(y) = coth y - 1/y: analytic, no special point. */
AD_INLINE num n_langevin(num y) { return n_chain(l_langevin(y.v), l_langevin_slope(y.v), y); }
/* The error function erf(x), the integral of 2/sqrt(pi) exp(-t^2) from 0 to x: entire. */
AD_INLINE num n_erf(num x) { return n_chain(l_erf(x.v), l_erf_slope(x.v), x); }
/* erfc(x) = 1 - erf(x) for x >= 1.4, small or not. */
AD_INLINE num n_erfc_tail(num x) { return n_chain(l_erfc_tail(x.v), l_neg(l_erf_slope(x.v)), x); }
/* a where m is set, else b. Value and slopes of the branch not taken have no influence, even if
 * they are NaN. */
AD_INLINE num n_select(lane_mask m, num a, num b) {
    a.v = l_select(m, a.v, b.v);
    EACH_SLOPE(k, a.d[k] = l_select(m, a.d[k], b.d[k]);)
    return a;
}

#if LANES == 1 && AD_SIZE != 4
/* For the model and lists of spots: the pixel loop needs no angles. */
#if AD_SIZE == 8
AD_FN num n_sin(num a) { return n_chain(sin(a.v), cos(a.v), a); }
AD_FN num n_cos(num a) { return n_chain(cos(a.v), -sin(a.v), a); }
#else
AD_FN num n_sin(num a) { return n_chain(sinl(a.v), cosl(a.v), a); }
AD_FN num n_cos(num a) { return n_chain(cosl(a.v), -sinl(a.v), a); }
#endif
#endif

#include "ad/vec3.h"
#include "ad/mat3.h"
