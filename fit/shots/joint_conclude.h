/* Results of a joint refinement at its minimum. */
#ifndef DB_FIT_SHOTS_JOINT_CONCLUDE_H
#define DB_FIT_SHOTS_JOINT_CONCLUDE_H

#include "fit/shots/shot_fit.h"

/* Estimates errors of shared and local quantities and statistics of the shots. Their models stand
 * where the stage began, and their best points at its minimum. shared: values of the shared
 * quantities there. */
db_status db_joint_conclude(db_shots *all, int stage, const double *shared,
                            db_fit_shots_result *result);

/* Statistics of a shot's refined model, which the objective has, and of the starting one on the
 * same pixels. */
db_status db_shot_measure(db_shots *all, db_context *context, size_t shot,
                          const db_open_shot *open);

#endif
