/* What the data say of a detector distance that is held. */
#ifndef DB_FIT_VERDICT_HELD_DISTANCE_H
#define DB_FIT_VERDICT_HELD_DISTANCE_H

#include "fit/objective/stage_data.h"

/* Where edges of the cell are refined and the distance is not, sets result->distance_step and
 * distance_error: by how much the data ask for another distance, were it refined, too. NAN where that
 * is not asked. taken: the pixels of the result, weighted by it. */
db_status db_held_distance_measure(db_context *context, const db_fit_data *data,
                                   const db_stage_data *taken, const db_objective *refined,
                                   db_fit_result *result);

#endif
