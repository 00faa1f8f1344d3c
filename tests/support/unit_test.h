/* cmocka, with the headers that it asks for. */
#ifndef DB_TESTS_SUPPORT_UNIT_TEST_H
#define DB_TESTS_SUPPORT_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Cases whose names end in "slow" run alone, where the environment has SLOW_CASES; else all others do (tests/CMakeLists.txt
 * makes a test with the label slow of them). */
static inline void choose_cases(void) {
#ifndef DB_ON_GPU /* there all run */
    if (getenv("SLOW_CASES"))
        cmocka_set_test_filter("*slow");
    else
        cmocka_set_skip_filter("*slow");
#endif
}
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, set_up, tear_down)                                           \
    (choose_cases(), _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]),    \
                                             set_up, tear_down))

/* Of a local variable: cleared where its block ends. */
#define OWN(clear) __attribute__((cleanup(clear)))

#endif
