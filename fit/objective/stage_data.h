/* Pixels of a stage: shoeboxes, or for known structure factors tiles of one region. */
#ifndef DB_FIT_OBJECTIVE_STAGE_DATA_H
#define DB_FIT_OBJECTIVE_STAGE_DATA_H

#include "fit/pixels/image_tiles.h"
#include "fit/pixels/shoeboxes.h"
#include "fit/objective/objective.h"

typedef struct db_stage_data {
    db_shoeboxes boxes;   /* empty for tiles */
    db_fit_blocks tiles;  /* empty for shoeboxes */
    db_fit_blocks blocks; /* the boxes or the tiles; borrowed */
    double blur;          /* of the spots */
    double model_error;   /* relative error of the spots' shape */
} db_stage_data;

/* Does the fit use all pixels of a region, and no shoeboxes? */
static inline int db_fit_takes_tiles(const db_fit_settings *settings) {
    return settings->intensity == DB_FIT_KNOWN && settings->pixels == DB_FIT_PIXELS_ALL;
}

/* Takes the data to the resolution dmin (0: of the settings), placed by the experiment. blur: of the spots; a
 * blurred model has a larger error. */
db_status db_stage_data_take(db_context *context, const db_experiment *experiment,
                             const db_fit_data *data, double dmin, double blur,
                             db_shoebox_choice choice, db_stage_data *taken);
/* Bare boxes of a sharp model, measured in the image (db_boxes_create_in); free intensities. */
db_status db_stage_data_take_bare(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, db_shoebox_choice choice,
                                  db_stage_data *taken);
void db_stage_data_clear(db_stage_data *taken);

/* For spots in closed form: chooses sub-pixels of the blocks, if the settings leave them open, so that the error
 * of a pixel stays below a tenth of the model error, and that of a spot's photons is small; and the tolerance of their
 * pixels for free intensities. */
db_status db_stage_data_choose_rendering(db_context *context, const db_experiment *experiment,
                                         const db_fit_data *data, db_stage_data *taken);

/* Objective of these data, which must outlive it. Their blur replaces the options' blur. */
db_status db_stage_data_objective(db_context *context, const db_experiment *experiment,
                                  const db_fit_data *data, const db_stage_data *taken,
                                  const db_objective_options *options, db_objective *objective);

/* Limit of intensities above the mean at their resolution (db_intensity_prior_set). */
double db_stage_data_limit(const db_stage_data *taken, const db_fit_settings *settings);

/* Completes data that depend on the model, at values of the refined quantities: the ridge on free intensities;
 * weights of known ones by the model's counts instead of the measured ones. They then stay constant. next: depth
 * of the next evaluation at these values. */
db_status db_stage_data_adapt(db_stage_data *taken, const db_fit_data *data,
                              db_objective *objective, const double *values,
                              db_objective_depth next);

/* As db_stage_data_adapt; then finds the linear coefficients at these values. */
db_status db_stage_data_solve(db_stage_data *taken, const db_fit_data *data,
                              db_objective *objective, const double *values);

#endif
