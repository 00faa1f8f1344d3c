/* The best intensity of every reflection that a model predicts, one shoebox after the other. */
#ifndef DB_FIT_OBJECTIVE_EVERY_BOX_H
#define DB_FIT_OBJECTIVE_EVERY_BOX_H

#include "fit/objective/stage_data.h"

typedef struct db_every_box {
    db_stage_data taken; /* bare boxes */
    db_plan *plan;
    db_boxes *boxes;
    const float
        *shape; /* the model's image of unit intensities, as the boxes' arrays would be; the boxes'.
                           Where reflections are wanted; else NULL */
    double *intensity;             /* [taken.boxes.count] */
    size_t explained;              /* strong pixels */
    db_fit_reflection *reflection; /* of the boxes with light, if they are wanted; else NULL */
    size_t reflection_count;
} db_every_box;

/* Free intensities, chi2 with the weights of the data. choice: ALL or TOUCHED. All of it is done on the
 * context's device, which takes the data from the measured image. To be cleared, unless it fails. */
db_status db_every_box_fit(db_context *context, const db_experiment *experiment,
                           const db_fit_data *data, db_shoebox_choice choice, int with_reflections,
                           db_every_box *all);
void db_every_box_clear(db_every_box *all);

#endif
