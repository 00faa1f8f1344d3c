/* The image in long double, by the same physics headers: the reference for rounding errors. */
#ifndef DB_ENGINE_EXACT_IMAGE_H
#define DB_ENGINE_EXACT_IMAGE_H

#include "model/mosaic_directions.h"

#include <dualbragg/plan.h>

/* Renders regions of an experiment; slow, one thread per region. The model is evaluated in long double, too, so
 * that the rounding of interface values counts as an error of a double image; only the experiment's numbers, the
 * mosaic directions and the amorphous amplitudes are taken as they are. directions: of the mosaic domains; NULL:
 * from the experiment's seed and spread (a plan keeps those of its creation). image: as for db_plan_forward.
 * Thread-safe. DB_ERROR_INPUT, DB_ERROR_MEMORY. */
db_status db_exact_image(db_context *context, const db_experiment *experiment,
                         const db_mosaic_direction *directions, const db_region *regions,
                         size_t region_count, long double *image);

#endif
