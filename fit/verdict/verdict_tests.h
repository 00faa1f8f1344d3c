/* The tests of a verdict, and how their results are recorded. */
#ifndef DB_FIT_VERDICT_VERDICT_TESTS_H
#define DB_FIT_VERDICT_VERDICT_TESTS_H

#include <dualbragg/fit.h>

/* Sets all tests to passed, as before the first test. */
void db_verdict_forget(db_fit_verdict *v);

/* Records the result of a test. The first test that fails gives the reason. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
void db_verdict_test(db_fit_verdict *v, db_fit_test_kind kind, double found, const char *format,
                     ...);

/* One sentence on whether the result may be used, with which log, page and PREFIX.json begin. */
enum { DB_USE_SIZE = 1400 };
void db_verdict_sentence(const db_fit_result *result, char text[DB_USE_SIZE]);

/* Heading before a result's reason; empty for a usable, converged result. */
const char *db_verdict_heading(db_status status, int usable);

/* May all shots in use be used? */
int db_verdict_of_all(const db_fit_shots_result *result);

#endif
