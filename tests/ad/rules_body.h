/* All tests of one instance of ad/. A test program defines INSTANCE (its name), INSTANCE_ISA (the
 * instruction set its file is compiled for) and, if need be, INSTANCE_SCALAR (one lane) or
 * INSTANCE_MIXED (floats that fill a vector, and doubles beside them), and includes this file.
 * INSTANCE_LONGDOUBLE makes the doubles long. */
#include "support/unit_test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dual_case_list.h"
#include "grid.h"
#include "longdouble.h"
#include "reference.h"
#include "rules_program.h"
#include "ulp.h"
#include "ad/rules.h"

#define AD_MANY 18
#if defined(INSTANCE_SCALAR)
#define LANES 1
#else
#include "ad/vec_isa.h"
#if defined(INSTANCE_MIXED)
#define LANES (AD_VEC_BYTES / 4)
#else
#define LANES (AD_VEC_BYTES / 8)
#endif
#endif

#define REAL_TEXT_(real) #real
#define REAL_TEXT(real) REAL_TEXT_(real)
#define REAL_INSTANCE INSTANCE " " REAL_TEXT(REAL)
/* of the current REAL: bits of mantissa, bytes that hold its value, least and largest number */
#define DIGITS (AD_SIZE == 4 ? 24 : AD_SIZE == 8 ? 53 : 64)
#define AD_BYTES (AD_SIZE == 16 ? 10 : AD_SIZE)
#define AD_LEAST ((REAL)AD_SUBNORMAL)
#define AD_MOST ((REAL)(AD_SIZE == 4 ? FLT_MAX : AD_SIZE == 8 ? DBL_MAX : LDBL_MAX))

/* What the cases of dual_case_list.h are compared with: formulas that use nothing of ad/, and for
 * the slopes the same rules in long double. Those in turn are compared with finite differences of
 * the formulas, good to 1e-15. */
static void yardstick_case(int which, const long double *x, long double *value,
                           long double *jacobian) {
#if defined(INSTANCE_LONGDOUBLE)
    reference_jacobian(which, x, jacobian);
#else
    longdouble_case(which, x, value, jacobian);
#endif
    reference_case(which, x, value);
}
#define LONGDOUBLE_ULP 20
#define DIFFERENCE_ULP (2e-15L / LDBL_EPSILON)

#if defined(INSTANCE_LONGDOUBLE)
#define REAL longdouble
#else
#define REAL double
#endif
#include "real_body.h"
#undef REAL
#if defined(INSTANCE_MIXED)
#define REAL float
#include "real_body.h"
#undef REAL
#endif

#if defined(INSTANCE_MIXED) && !defined(INSTANCE_SCALAR)
/* Doubles to the floats of the same lanes, rounded to nearest. */
static void test_narrow(void **state) {
    (void)state;
    double wide[LANES];
    float got[LANES];
    for (int turn = 0; turn < 1000; turn++) {
        for (int i = 0; i < LANES; i++) wide[i] = (double)grid_random(-100, 100) + i;
        const lane_double x = l_load_double(wide);
        l_store_float(got, vec_narrow(x.lo, x.hi));
        for (int i = 0; i < LANES; i++) assert_true(got[i] == (float)wide[i]);
    }
}
#endif

int rules_run(void) {
    const struct CMUnitTest tests[] = {
#if defined(INSTANCE_LONGDOUBLE)
        REAL_TESTS(longdouble),
#else
        REAL_TESTS(double),
#endif
#if defined(INSTANCE_MIXED)
        REAL_TESTS(float),
#if !defined(INSTANCE_SCALAR)
        cmocka_unit_test(test_narrow),
#endif
#endif
    };
    return cmocka_run_group_tests_name(INSTANCE, tests, NULL, NULL);
}

const char *const rules_instruction_set = INSTANCE_ISA;
