/* Effect of rounding on derivatives, measured with larger changes of the oracle's input.
 *
 * Interface values are rounded to 2^-53 of themselves, and so are all numbers between them and a Miller
 * index. A large crystal amplifies this: an error dh of an index counts as N dh. Where large terms cancel,
 * their rounding errors stay. So each interface value and slope is changed by a much larger part of
 * itself, up or down at random, and the oracle computes image and derivatives again. Their changes, scaled
 * down, are the effect of rounding: the changes of the input are small enough for a linear effect. */
#ifndef DB_ENGINE_PLAN_ORACLE_H
#define DB_ENGINE_PLAN_ORACLE_H

#include "engine/plan_state.h"

typedef enum db_probed {
    DB_PROBE_INDICES, /* all interface values: for arithmetic in double */
    DB_PROBE_FINE /* values that mixed precision keeps in float: all but those that Miller indices are
                     computed from */
} db_probed;

/* Relative change of each value. */
#define DB_PROBE_CHANGE 0x1p-30

/* Image and derivatives of the oracle with changed input. number: seed of the random signs. */
db_status db_plan_probe_rounding(db_plan *plan, db_probed probed, unsigned number, double *image,
                                 double *const *derivatives);

#endif
