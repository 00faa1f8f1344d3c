/* A joint stage, which refines what shots share. */
#ifndef DB_FIT_SHOTS_JOINT_H
#define DB_FIT_SHOTS_JOINT_H

#include "fit/shots/checkpoint.h"
#include "fit/shots/shots.h"

/* Room for the local values of a shot in a joint stage. */
db_status db_joint_make_room(db_shots *all, db_context *context, size_t shot, int stage);

/* Minimizes the sum over shots, whose pixels are in the store. Afterwards the models stand at the
 * minimum; *end says how the search ended. result: not NULL for the last stage; gets its errors and
 * statistics, as do the summaries of shots. */
db_status db_joint_run(db_shots *all, int stage, db_stage_result *end, db_fit_shots_result *result);

/* Adds an evaluation to the history, whose list of values is filled in, and tells the caller. at: of the
 * parameters `index` that all shots share. */
void db_joint_record(db_shots *all, size_t shared, const size_t *index, const db_fit_history *now,
                     const double *at);

/* The models of shots after a joint stage. */

/* Moves all models to these values of the unknowns, and to the local quantities of their best points. */
db_status db_joint_models_store(db_shots *all, int stage, const double *unknown);

#endif
