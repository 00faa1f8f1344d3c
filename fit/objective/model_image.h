/* All predicted reflections of a model at once. */
#ifndef DB_FIT_OBJECTIVE_MODEL_IMAGE_H
#define DB_FIT_OBJECTIVE_MODEL_IMAGE_H

#include "fit/objective/stage_data.h"

/* Fits the linear coefficients of every predicted reflection (free) or of the region (known);
 * counts the strong pixels that the model explains, and, if image is not NULL, renders the whole
 * image of the model (counts, fast_pixels x slow_pixels): Bragg part plus local background (free)
 * or plane (known). */
db_status db_model_image(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, size_t *explained, float *image);

/* Known amplitudes: the same from an objective of the region as it was last rendered; its
 * coefficients are found anew. */
db_status db_model_image_of_region(db_context *context, db_objective *objective,
                                   const db_fit_data *data, size_t *explained, float *image);

#endif
