/* Results of a joint refinement at its minimum. */
#ifndef DB_FIT_SHOTS_JOINT_CONCLUDE_H
#define DB_FIT_SHOTS_JOINT_CONCLUDE_H

#include "fit/shots/links.h"
#include "fit/shots/shot_fit.h"

/* Estimates errors of shared and local quantities and statistics of the shots. Their models are at the start of
 * the stage, their best points at its minimum. */
db_status db_joint_conclude(db_shots *all, const db_joint_minimum *at, db_fit_shots_result *result);

#endif
