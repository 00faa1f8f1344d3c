/* What the rules should give, in long double, written without ad/: power series, closed forms and
 * the C library; slopes by formula here, and by finite differences for the cases of
 * dual_case_list.h. */
#ifndef TESTS_AD_REFERENCE_H
#define TESTS_AD_REFERENCE_H

#include "grid.h"

#define ELEMENTARY_RULES(X)                                                                        \
    X(sqr)                                                                                         \
    X(inverse) X(sqrt) X(rsqrt) X(exp) X(sinpic) X(cospi) X(sphere) X(langevin) X(erf) X(erfc_tail)
#define ELEMENTARY_HOST_RULES(X) X(sin) X(cos)

#define ELEMENTARY_NAME(name) ELEMENTARY_##name,
enum { ELEMENTARY_RULES(ELEMENTARY_NAME) ELEMENTARY_HOST_RULES(ELEMENTARY_NAME) ELEMENTARY_END };
#undef ELEMENTARY_NAME

/* A function of one argument. Errors are counted in ulp of max(|exact|, scale). */
typedef struct {
    const char *name;
    long double (*value)(long double x, int digits);
    long double (*slope)(long double x, int digits);
    long double (*value_scale)(long double x);
    long double (*slope_scale)(long double x);
    void (*arguments)(grid *g, int digits);
    /* allowed errors, value and slope: about twice the worst measured over all instances with gcc
     * 12 and clang 14; 0 and 0.51 where the result is exact or correctly rounded */
    double float_ulp[2], double_ulp[2], longdouble_ulp[2];
} elementary_rule;

extern const elementary_rule elementary_rules[];

/* The allowed errors for a type with `digits` bits of mantissa: value, slope. */
const double *elementary_allowed(const elementary_rule *rule, int digits);

/* Values of case `which` of dual_case_list.h; and slopes, jacobian[output * inputs + input], by
 * central differences extrapolated to step zero. */
void reference_case(int which, const long double *x, long double *y);
void reference_jacobian(int which, const long double *x, long double *jacobian);

#endif
