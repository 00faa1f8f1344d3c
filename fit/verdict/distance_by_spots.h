/* The distance that places and widths of spots ask for. */
#ifndef DB_FIT_VERDICT_DISTANCE_BY_SPOTS_H
#define DB_FIT_VERDICT_DISTANCE_BY_SPOTS_H

#include "fit/objective/stage_data.h"

/* Fits a refined model to the moments of spots with the geometry that was refined and the tilts of the detector: models[0] with
 * the distance as it is, models[1] with a free one, whose error is that of regions of spots. Clear the models, unless it
 * fails. */
db_status db_distance_by_spots(db_context *context, const db_fit_data *data,
                               const db_experiment *refined, db_experiment models[2],
                               double *error);

#endif
