/* Distance of the detector that is held: do the data ask for another one? */
#ifndef DB_FIT_VERDICT_HELD_DISTANCE_H
#define DB_FIT_VERDICT_HELD_DISTANCE_H

#include "fit/objective/stage_data.h"

#include <dualbragg/fit_run.h>

/* Distances of headers are off by this part (standard deviation; measured ones by up to 1.6 %): what is known where the data
 * tell nothing. */
#define DB_USUAL_DISTANCE_ERROR 0.01

/* The objective of the result's pixels (taken), with settings that refine more than those of `refined`: evaluated at the
 * result with depth NORMAL, priors included. To be destroyed, unless it fails. */
db_status db_held_objective(db_context *context, const db_fit_data *with_more,
                            const db_stage_data *taken, const db_objective *refined,
                            db_objective *objective);

/* Puts the distance among the refined parameters of all stages. */
db_status db_held_distance_add(db_context *context, db_fit_settings *settings);

/* If edges of the cell are refined and the distance is not, sets result->distance_step, distance_error and
 * distance_gain: the step for which the data ask, its error, and the gain in log likelihood of the spots; else
 * NAN. Then the errors of all refined quantities grow by what they change with the distance, as far as it may be off.
 * taken: the pixels of the result, weighted by it. */
db_status db_held_distance_measure(db_context *context, const db_fit_data *data,
                                   const db_stage_data *taken, const db_objective *refined,
                                   db_fit_result *result);

/* Widens the errors of a series' edges by a distance that is held and that the data cannot tell, since the Ewald sphere is
 * flat: there edges scale with it, and nothing else moves. */
void db_held_distance_widen_edges(db_fit_estimates *estimates);

/* The first edge that is refined beside a distance that is not; NULL: there is none. */
const db_fit_estimate *db_held_distance_edge(const db_fit_estimates *estimates);

/* Would the distance be refined if the data had earned it, because nobody has said that it is known? */
int db_held_distance_is_untested(const db_fit_settings *settings);

#endif
