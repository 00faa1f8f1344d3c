/* All predicted reflections of a model at once. */
#ifndef DB_FIT_OBJECTIVE_MODEL_IMAGE_H
#define DB_FIT_OBJECTIVE_MODEL_IMAGE_H

#include "fit/objective/stage_data.h"

/* An intensity that is known to many images. */
typedef struct db_given_intensity {
    int hkl[3];
    double intensity;
} db_given_intensity;

/* The whole image of a model, in counts, fast_pixels x slow_pixels. */
typedef struct db_model_images {
    float *whole; /* room for it */
    float
        *background; /* room for the part that is not the crystal's: the local background (free), or
                          planes where there are some (known) */
    const db_given_intensity
        *given; /* free: of all reflections with light, in the order of h, k, l; NULL:
                                        each has its best one */
    size_t given_count;
    double scale;                  /* known: that of all spots, beside the model's own; free: 1 */
    db_fit_reflection *reflection; /* free: of each predicted reflection; freed by the caller */
    size_t reflection_count;
} db_model_images;

/* Fits the linear coefficients of every predicted reflection (free) or of the region (known);
 * counts the strong pixels that the model explains, and fills images; NULL: they are not wanted. */
db_status db_model_image(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, size_t *explained, db_model_images *images);

/* Known amplitudes: the same from an objective of the region as it was last rendered; its
 * coefficients are found anew. */
db_status db_model_image_of_region(db_context *context, db_objective *objective,
                                   const db_fit_data *data, size_t *explained,
                                   db_model_images *images);

#endif
