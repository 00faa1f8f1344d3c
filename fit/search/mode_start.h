/* Where a mode of the blocks' lattices starts that is (nearly) 0: there its slope is 0, too. */
#ifndef DB_FIT_SEARCH_MODE_START_H
#define DB_FIT_SEARCH_MODE_START_H

#include "fit/objective/variables.h"
#include "fit/search/levenberg_marquardt.h"

/* Moves each mode that is refined, and as small at x as db_modes_leave_zero leaves it, to where the
 * loss falls fastest from 0. gradient, normal: room for the evaluation. */
db_status db_mode_starts(db_context *context, const db_variables *variables,
                         db_lm_evaluate evaluate, void *user, double *gradient, double *normal,
                         double *x);

#endif
