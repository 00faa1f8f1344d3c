#include "support/unit_test.h"
#include "every_allocation.h"

#include "failing_allocation.h"

#include <string.h>

static long reached;

void allocations_end(void) { reached = stop_failing_allocations(NULL); }

void at_every_allocation(db_context *context, trial *attempt, long least) {
    int right = 0;
    if (!can_fail_allocations()) skip();
    if (attempt(context, &right) != DB_OK || !right) fail_msg("%s", db_context_message(context));
    fail_allocation(-1);
    assert_int_equal(attempt(context, &right), DB_OK);
    const long positions = reached;
    print_message("%ld allocations\n", positions);
    assert_true(positions >= least);
    for (long position = 0; position < positions; position++) {
        fail_allocation(position);
        const db_status status = attempt(context, &right);
        const int told = status == DB_ERROR_MEMORY ||
                         (status == DB_ERROR_FILE &&
                          strstr(db_context_message(context), "Cannot allocate memory"));
        if (!right || (status != DB_OK && !told))
            fail_msg("allocation %ld: status %d, %s: %s", position, (int)status,
                     right ? "right" : "wrong", db_context_message(context));
    }
}
