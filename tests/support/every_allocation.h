/* Trials in which every allocation fails in turn. */
#ifndef DB_TEST_EVERY_ALLOCATION_H
#define DB_TEST_EVERY_ALLOCATION_H

#include <dualbragg/context.h>

/* What is tried. It calls allocations_end once the library has returned. *right: 1 if the result is
 * what it is with enough memory, and nothing is left over. */
typedef db_status trial(db_context *context, int *right);
void allocations_end(void);

/* Asserts that every failure is reported as lack of memory, that success means a right result, and
 * that there are at least this number of allocations. Skipped where they cannot fail. */
void at_every_allocation(db_context *context, trial *attempt, long least);

#endif
