/* Checks of db_spread. */
#ifndef DB_MODEL_SPREAD_CHECK_H
#define DB_MODEL_SPREAD_CHECK_H

#include <dualbragg/experiment.h>

/* The longest rotation of spots in closed form, in half turns. */
enum { DB_MOST_HALF_TURNS = 7 };

/* The strains xx, yy, zz, yz, zx, xy that ties leave by themselves, as bits. */
unsigned db_free_strains(db_strain_ties ties);

/* Checks the spread of spots in closed form: ranges, and combinations that are excluded. Variances may be slightly
 * negative, so that finite differences may step over 0. */
db_status db_spread_check(db_context *context, const db_experiment *experiment);

#endif
