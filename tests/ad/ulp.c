#include "support/unit_test.h"
#include "ulp.h"

#include <math.h>

long double ulp_error(long double got, long double want, long double scale, int digits) {
    const int most = digits == 24 ? 128 : digits == 53 ? 1024 : 16384;
    const long double largest = scalbnl(1 - scalbnl(0.5L, 1 - digits), most);
    if (fabsl(want) > largest) want = copysignl(INFINITY, want);
    if (got == want || (isnan(got) && isnan(want))) return 0;
    if (!isfinite(got) || !isfinite(want)) return INFINITY;
    const long double size = fmaxl(fabsl(want), scale);
    const int least = 3 - most - digits; /* exponent of the smallest subnormal number */
    int exponent = least;
    if (size > 0) frexpl(size, &exponent);
    exponent = exponent - digits > least ? exponent - digits : least;
    /* in two steps: 1/ulp itself may overflow */
    return scalbnl(scalbnl(fabsl(got - want), -(exponent / 2)), -(exponent - exponent / 2));
}

void ulp_note(ulp_worst *worst, long double error, long double at, long double got,
              long double want) {
    if (error > worst->worst || isnan(error)) {
        worst->worst = isnan(error) ? INFINITY : error;
        worst->at = at;
        worst->got = got;
        worst->want = want;
    }
}

void ulp_assert(const ulp_worst *worst, const char *instance, long double allowed) {
    print_message("  %-22s %-24s %8.3Lf ulp, allowed %g, at %.9Lg\n", instance, worst->name,
                  worst->worst, (double)allowed, worst->at);
    if (worst->worst > allowed)
        fail_msg("%s, %s: %.3Lf ulp, allowed %Lg, at %.20Lg: %.20Lg, expected %.20Lg", instance,
                 worst->name, worst->worst, allowed, worst->at, worst->got, worst->want);
}
