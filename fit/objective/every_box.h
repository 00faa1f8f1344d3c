/* The best intensity of every reflection that a model predicts, one shoebox after the other. */
#ifndef DB_FIT_OBJECTIVE_EVERY_BOX_H
#define DB_FIT_OBJECTIVE_EVERY_BOX_H

#include "fit/objective/stage_data.h"

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
