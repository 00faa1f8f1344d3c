/* The tests of a verdict, and how they are noted. */
#ifndef DB_FIT_VERDICT_VERDICT_TESTS_H
#define DB_FIT_VERDICT_VERDICT_TESTS_H

#include <dualbragg/fit.h>

/* All are passed, none was asked. */
void db_verdict_forget(db_fit_verdict *v);

/* Notes what a test found. The first that fails gives the reason. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void db_verdict_test(db_fit_verdict *v, db_fit_test_kind kind, double found, const char *format,
                     ...);

/* What is said in front of a result's reason: nothing where it is one. */
const char *db_verdict_heading(const db_fit_result *result);

#endif
