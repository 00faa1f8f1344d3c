/* Errors in units in the last place, and the worst of them per rule. */
#ifndef TESTS_AD_ULP_H
#define TESTS_AD_ULP_H

typedef struct {
    const char *name; /* rule and what of it: "exp slope" */
    long double worst, at, got, want;
} ulp_worst;

/* |got - want| in units in the last place of max(|want|, scale), for a type with `digits` bits of
 * mantissa (24, 53 or 64). Results too large for the type count as infinite. 0 where both are NaN
 * or equal; infinite where only one is NaN or infinite. */
long double ulp_error(long double got, long double want, long double scale, int digits);

/* Keeps the largest error, with where it was. */
void ulp_note(ulp_worst *worst, long double error, long double at, long double got,
              long double want);

/* Prints the worst error and fails the test where it exceeds `allowed`. */
void ulp_assert(const ulp_worst *worst, const char *instance, long double allowed);

#endif
