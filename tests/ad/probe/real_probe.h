/* The probes of one REAL. */
#include "ad/lane.h"
#define DIRS 3
#include "ad/num.h"

#define A l_load(p)
#define B l_load(p + LANES)
#define C l_load(p + 2 * LANES)
#define PROBE(name, expression)                                                                    \
    void AD_LANE(probe_##name)(REAL * p);                                                          \
    void AD_LANE(probe_##name)(REAL * p) { l_store(p, expression); }
PROBE(set, l_set(p[1]))
PROBE(iota, l_iota())
PROBE(add, l_add(A, B))
PROBE(sub, l_sub(A, B))
PROBE(mul, l_mul(A, B))
PROBE(div, l_div(A, B))
PROBE(neg, l_neg(A))
PROBE(fma, l_fma(A, B, C))
PROBE(fnma, l_fnma(A, B, C))
PROBE(sqrt, l_sqrt(A))
PROBE(rsqrt, l_rsqrt(A))
PROBE(abs, l_abs(A))
PROBE(rint, l_rint(A))
PROBE(reduce, l_reduce(A))
PROBE(scale2, l_scale2(A, B))
PROBE(select, l_select(l_and(l_lt(A, B), l_and(l_le(B, C), l_eq(A, A))), B, C))
PROBE(cospi, l_cospi(A))
#undef PROBE

#define RULE(name, expression)                                                                     \
    void AD_LANE(probe_rule_##name)(REAL * p);                                                     \
    void AD_LANE(probe_rule_##name)(REAL * p) {                                                    \
        num a = n_seed(A, 0), b = n_seed(B, 1);                                                    \
        a.d[2] = b.d[2] = C;                                                                       \
        const num y = expression;                                                                  \
        l_store(p, y.v);                                                                           \
        EACH_SLOPE(k, l_store(p + (k + 1) * LANES, y.d[k]);)                                       \
    }
RULE(mul, n_mul(a, b))
RULE(div, n_div(a, b))
RULE(sqr, n_sqr(n_add(a, b)))
RULE(sqrt, n_sqrt(n_add(a, b)))
RULE(rsqrt, n_rsqrt(n_add(a, b)))
RULE(exp, n_exp(n_sub(a, b)))
RULE(sinpic, n_sinpic(n_add(a, b)))
RULE(cospic, n_cospic(n_add(a, b)))
RULE(sphere, n_sphere(n_add(a, b)))
RULE(langevin, n_langevin(n_sub(a, b)))
RULE(erf, n_erf(n_sub(a, b)))
RULE(erfc_tail, n_erfc_tail(n_sub(a, b)))
RULE(select, n_select(l_lt(a.v, b.v), a, n_neg(b)))
RULE(unit, v3_dot(v3_unit(v3_make(a, b, a)), v3_cross(v3_make(b, a, b), v3_make(a, b, b))))
#undef RULE
#undef A
#undef B
#undef C
#undef DIRS
