/* The functions of ELEMENTARY_RULES in the vocabulary of ad/num.h. Include once per REAL, with DIRS
 * = 2. */
#include "reference.h"

#define APPLY_FN(name) static num AD_NUM(apply_##name)(num a)
APPLY_FN(sqr) { return n_sqr(a); }
APPLY_FN(inverse) { return n_div(n_constant(1), a); }
APPLY_FN(sqrt) { return n_sqrt(a); }
APPLY_FN(rsqrt) { return n_rsqrt(a); }
APPLY_FN(exp) { return n_exp(a); }
APPLY_FN(sinpic) { return n_sinpic(a); }
APPLY_FN(cospi) { return n_cospic(a); }
APPLY_FN(sphere) { return n_sphere(a); }
APPLY_FN(langevin) { return n_langevin(a); }
APPLY_FN(erf) { return n_erf(a); }
APPLY_FN(erfc_tail) { return n_erfc_tail(a); }
#if LANES == 1 && AD_SIZE != 4
APPLY_FN(sin) { return n_sin(a); }
APPLY_FN(cos) { return n_cos(a); }
#endif
#undef APPLY_FN

static num (*const AD_NUM(apply_functions)[])(num a) = {
#define APPLY(name) AD_NUM(apply_##name),
    ELEMENTARY_RULES(APPLY)
#if LANES == 1 && AD_SIZE != 4
        ELEMENTARY_HOST_RULES(APPLY)
#endif
#undef APPLY
};
