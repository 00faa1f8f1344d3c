/* Results of a joint refinement at its minimum. */
#ifndef DB_FIT_SHOTS_JOINT_CONCLUDE_H
#define DB_FIT_SHOTS_JOINT_CONCLUDE_H

#include "fit/shots/shot_fit.h"

/* Estimates errors of shared and local quantities and statistics of the shots. Their models stand
 * where the stage began, and their best points at its minimum. shared: values of the shared
 * quantities there. */
db_status db_joint_conclude(db_shots *all, int stage, const double *shared,
                            db_fit_shots_result *result);

/* The starting model of a shot as an objective of its pixels; what it gives when it has been
 * evaluated, or (after) the refined one, to the statistics of the shot. */
db_status db_shot_objective_at_start(const db_shots *all, db_context *context, size_t shot,
                                     const db_open_shot *open, db_objective *before);
void db_shot_measure(const db_objective *objective, const db_spooled *pixels, int after,
                     db_shot_summary *summary);
/* Without statistics of the starting model the result is still valid. */
void db_shot_start_is_impossible(db_shot_summary *summary);

#endif
