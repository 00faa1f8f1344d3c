/* Results of a joint refinement at its minimum. */
#ifndef DB_FIT_SHOTS_JOINT_CONCLUDE_H
#define DB_FIT_SHOTS_JOINT_CONCLUDE_H

#include "fit/shots/shots.h"

/* Estimates errors of shared and local quantities and statistics of the shots. Their models stand
 * where the stage began, and their best points at its minimum. shared: values of the shared
 * quantities there. */
db_status db_joint_conclude(db_shots *all, int stage, const double *shared,
                            db_fit_shots_result *result);

#endif
