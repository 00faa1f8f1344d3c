/* What the data say of a detector distance that is held. */
#ifndef DB_FIT_VERDICT_HELD_DISTANCE_H
#define DB_FIT_VERDICT_HELD_DISTANCE_H

#include "fit/objective/stage_data.h"

/* Where edges of the cell are refined and the distance is not, sets result->distance_step, distance_error and
 * distance_gain: by how much the data ask for another distance, were it refined, too, and whether spots bear it out.
 * NAN where that is not asked. taken: the pixels of the result, weighted by it. */
db_status db_held_distance_measure(db_context *context, const db_fit_data *data,
                                   const db_stage_data *taken, const db_objective *refined,
                                   db_fit_result *result);

/* Do moments of spots ask for the distance, rather than pixels? Of free intensities, with panels where they are. */
int db_held_distance_has_moments(const db_fit_settings *settings);

/* Would it be refined if the data had earned it? Nobody has said that it is known. */
int db_held_distance_is_untested(const db_fit_settings *settings);

#endif
