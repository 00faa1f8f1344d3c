/* The error of photons of narrow spots in closed form (docs/theory/spots.md, Limits). */
#ifndef DB_ENGINE_SPOT_OVERSAMPLE_H
#define DB_ENGINE_SPOT_OVERSAMPLE_H

#include <dualbragg/spots.h>

/* The relative error of a spot's photons that nine of ten spots do not exceed with this number of
 * sub-pixels. */
db_status db_spots_error_of_sums(db_context *context, const db_predicted_spots *spots,
                                 int oversample, double *error);

#endif
