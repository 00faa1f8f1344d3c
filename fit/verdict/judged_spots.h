/* The spots of an image by which a model is judged. */
#ifndef DB_FIT_VERDICT_JUDGED_SPOTS_H
#define DB_FIT_VERDICT_JUDGED_SPOTS_H

#include "fit/pixels/observed_spots.h"
#include "fit/pixels/shoeboxes.h"

/* Those of an image in the resolution range, the strongest first. To be cleared, unless it fails. */
db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots);

#endif
