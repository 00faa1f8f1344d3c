/* How far rounding may move derivatives, measured by moving them further.
 *
 * Whatever a derivative is made of is rounded: interface values to 2^-53 of themselves, and so is
 * what becomes of them on the way to a Miller index. A large crystal amplifies that: an error dh of
 * an index counts as N dh. And where large terms cancel, their rounding stays. So each interface
 * value and slope is changed by a much larger part of itself, up or down at random, and the oracle
 * is asked again: what its results change by, scaled down, is what rounding does to them. The
 * change is small enough for the results to follow in proportion. */
#ifndef DB_ENGINE_PLAN_ORACLE_H
#define DB_ENGINE_PLAN_ORACLE_H

#include "engine/plan_state.h"

typedef enum db_probed {
    DB_PROBE_INDICES, /* everything: arithmetic in double */
    DB_PROBE_FINE /* what mixed precision keeps in float: not what makes Miller indices, but what
                     becomes of their offsets from the node */
} db_probed;

/* The part of itself that everything is changed by. */
#define DB_PROBE_CHANGE 0x1p-30

/* The oracle's image and derivatives so changed; other numbers change differently. */
db_status db_plan_probe_rounding(db_plan *plan, db_probed probed, unsigned number, double *image,
                                 double *const *derivatives);

#endif
