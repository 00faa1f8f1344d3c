/* How much whole regions of the detector pull an objective's variables. Blocks next to each other miss
 * the data in the same way where the model is wrong, for example of a bent crystal; a sum over
 * single blocks (db_objective.scatter) takes that for chance. */
#ifndef DB_FIT_OBJECTIVE_REGION_SCATTER_H
#define DB_FIT_OBJECTIVE_REGION_SCATTER_H

#include "fit/objective/objective.h"

enum { DB_REGIONS = 16 };

/* Sum over regions of the products of half their gradients, [count][count], after an evaluation of
 * depth NORMAL; the regions hold equal numbers of blocks. *made: 0 if there are too few blocks, or
 * intensities are shared by blocks of several regions; scatter is 0 then. */
db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made);

#endif
