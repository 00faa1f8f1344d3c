/* An intensity that all blocks of an objective share. */
#ifndef DB_FIT_OBJECTIVE_SHARED_INTENSITIES_H
#define DB_FIT_OBJECTIVE_SHARED_INTENSITIES_H

#include "fit/objective/objective.h"

/* Moves the intensity of all blocks, and the background of each, to their best values. */
db_status db_objective_solve_common(db_objective *objective);

#endif
