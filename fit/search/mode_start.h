/* Where a mode of the blocks' lattices starts that is (nearly) 0: there its slope is 0, too. */
#ifndef DB_FIT_SEARCH_MODE_START_H
#define DB_FIT_SEARCH_MODE_START_H

#include "fit/search/moments.h"

/* Moves each mode that is refined, and as small at x as db_modes_leave_zero leaves it, to where the
 * loss falls fastest from 0. */
db_status db_mode_starts(db_moments *moments, double *x);

#endif
