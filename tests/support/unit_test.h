/* cmocka, with the headers that it asks for. */
#ifndef DB_TESTS_SUPPORT_UNIT_TEST_H
#define DB_TESTS_SUPPORT_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Of a local variable: cleared where its block ends. */
#define OWN(clear) __attribute__((cleanup(clear)))

#endif
