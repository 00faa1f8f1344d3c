/* The image in long double, computed with the kernels' physics headers: the reference for rounding errors. */
#ifndef DB_ENGINE_EXACT_IMAGE_H
#define DB_ENGINE_EXACT_IMAGE_H

#include "model/mosaic_directions.h"

#include <dualbragg/plan.h>

/* Renders regions of an experiment, slowly, with one thread per region. The model is evaluated in long double, too,
 * so that the rounding of interface values counts as an error of a double image. Experiment, mosaic directions and
 * amorphous amplitudes are exact input. directions: of the mosaic domains (a plan keeps the directions of its
 * creation); NULL: from the experiment's seed and spread. image: layout of db_plan_forward. Thread-safe.
 * DB_ERROR_INPUT, DB_ERROR_MEMORY. */
db_status db_exact_image(db_context *context, const db_experiment *experiment,
                         const db_mosaic_direction *directions, const db_region *regions,
                         size_t region_count, long double *image);

#endif
