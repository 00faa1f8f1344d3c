/* All predicted reflections of a model at once. */
#ifndef DB_FIT_OBJECTIVE_MODEL_IMAGE_H
#define DB_FIT_OBJECTIVE_MODEL_IMAGE_H

#include "fit/objective/stage_data.h"
#include "fit/pixels/fit_data.h"
#include <dualbragg/fit.h>

/* A given intensity of a reflection. */
typedef struct db_given_intensity {
    int hkl[3];
    double intensity;
} db_given_intensity;

/* The whole image of a model, in counts, fast_pixels x slow_pixels. */
typedef struct db_model_images {
    float *whole; /* room for the image */
    /* room for its part without the crystal: the local background (free), or planes where tiles are (known) */
    float *background;
    /* free: given intensities of all reflections with light, in the order of h, k, l; NULL: each gets its best one */
    const db_given_intensity *given;
    size_t given_count;
    /* known: factor on all spots, beside the model's scale; free: 1 */
    double scale;
    db_fit_reflection *reflection; /* free: all predicted reflections; freed by the caller */
    size_t reflection_count;
    db_fit_mates mates; /* free: of these */
} db_model_images;

/* Fits the linear coefficients of every predicted reflection (free) or of the region (known); counts the strong
 * pixels that the model explains, and fills images, unless it is NULL. */
db_status db_model_image(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, size_t *explained, db_model_images *images);

/* Known amplitudes: as db_model_image, from an objective of the region as last rendered; its coefficients are
 * found again. */
db_status db_model_image_of_region(db_context *context, db_objective *objective,
                                   const db_fit_data *data, size_t *explained,
                                   db_model_images *images);

/* Estimates the error of partialities, and adds it to square_sigma of all reflections. symmetry: of the settings, a space
 * group, lattice or crystal system; "": Friedel mates alone. */
db_status db_mates_widen(db_context *context, const char *symmetry, const double cell[6],
                         db_fit_reflection *list, size_t count, db_fit_mates *mates);

/* Fills light[c], an image each, with the counts of a crystal's spots (0 beside them). The image's expected counts
 * are the sum over crystals, plus a background. Intensities minimize the weighted target together: each crystal's
 * are found from the image without the light of the others, repeatedly until they settle. */
db_status db_lattice_light(db_context *context, const db_experiment *crystals, size_t count,
                           const db_fit_data *data, float *const *light);

/* The best intensity of every reflection that a model predicts, one shoebox after the other. */

typedef struct db_every_box {
    db_stage_data taken; /* bare boxes */
    db_plan *plan;
    db_boxes *boxes;
    /* image of the model with unit intensities, laid out like the boxes' arrays, owned by boxes;
     * if reflections are wanted, else NULL */
    const float *shape;
    double *intensity;             /* [taken.boxes.count] */
    size_t explained;              /* strong pixels that the model explains */
    db_fit_reflection *reflection; /* of boxes with light, if they are wanted, else NULL */
    size_t reflection_count;
} db_every_box;

/* Fits free intensities, with chi2 and the weights of the data. choice: ALL or TOUCHED. The context's device does
 * all of it, and takes the data from the measured image. To be cleared, unless it fails. */
db_status db_every_box_fit(db_context *context, const db_experiment *experiment,
                           const db_fit_data *data, db_shoebox_choice choice, int with_reflections,
                           db_every_box *all);
void db_every_box_clear(db_every_box *all);

#endif
