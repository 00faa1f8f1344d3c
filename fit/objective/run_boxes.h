/* Blocks of an objective as boxes of the library, which renders, solves and sums them on the context's device. */
#ifndef DB_FIT_OBJECTIVE_RUN_BOXES_H
#define DB_FIT_OBJECTIVE_RUN_BOXES_H

#include "fit/objective/objective.h"

/* Runs db_boxes_evaluate for all blocks, with the objective's loss and rule, from and to its solutions. result:
 * work->sums for GRADIENT and NORMAL, work->linear_sums for LINEAR. Nothing without blocks. */
db_status db_objective_run_boxes(db_objective *objective, db_boxes_image image, int solve,
                                 db_boxes_sums sums);

/* Brings the rendered image into objective->shape. */
db_status db_objective_bring(db_objective *objective);

#endif
