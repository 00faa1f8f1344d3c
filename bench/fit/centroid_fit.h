/* Least squares on the centroids of spots, with which refinement by pixels is compared. */
#ifndef DB_BENCH_FIT_CENTROID_FIT_H
#define DB_BENCH_FIT_CENTROID_FIT_H

#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"

/* Keeps the spots whose Miller indices under a model are all within a quarter of whole numbers, in
 * the resolution range; of several with the same indices the strongest. In the order of h, k, l. */
void db_centroids_index(const db_fit_geometry *geometry, double dmin, db_observed_spots *spots);

/* Refines those of the settings' parameters that move predictions, followers included, against the
 * spots of which use[] is not 0. Each spot has three residuals, as refinement of stills by
 * centroids usually does: observed minus predicted position along fast and slow, and the turn that
 * brings its node onto the Ewald sphere. Positions and turns are weighed by their own spread, and
 * spots more than four of these away are left out, both anew until nothing changes. The model's
 * crystal and beam centre change, nothing else of it. */
db_status db_centroid_fit(db_context *context, const db_fit_settings *settings,
                          const db_observed_spots *spots, const unsigned char *use,
                          db_experiment *model);

#endif
