/* A joint stage, which refines shared quantities. */
#ifndef DB_FIT_SHOTS_JOINT_H
#define DB_FIT_SHOTS_JOINT_H

#include "fit/shots/checkpoint.h"
#include "fit/shots/links.h"
#include "fit/shots/shot_fit.h"
#include "fit/shots/shots.h"

/* Makes room for the local values of a shot in a joint stage. */
db_status db_joint_make_room(db_shots *all, db_context *context, size_t shot, int stage);

/* Minimizes over all shots, whose pixels are in the store. Afterwards the models are at the minimum; *end says how
 * the search ended. result: not NULL in the last stage; gets errors and statistics, as do the summaries of shots. Shots that
 * contradict the others are excluded; then *again becomes 1 in the last stage, which the others have to repeat, without a
 * result. */
db_status db_joint_run(db_shots *all, int stage, db_stage_result *end, db_fit_shots_result *result,
                       int *again);

/* Adds an evaluation to the history, whose list of values is filled in, and reports it. at: values of the shared
 * parameters `index`. */
void db_joint_record(db_shots *all, size_t shared, const size_t *index, const db_fit_history *now,
                     const double *at);

/* Models of shots after a joint stage. */

/* Moves all models to these values of the unknowns, and to the local quantities of their best points. */
db_status db_joint_models_store(db_shots *all, int stage, const double *unknown);

/* Estimates errors of shared and local quantities and statistics of the shots. Their models are at the start of
 * the stage, their best points at its minimum. */
db_status db_joint_conclude(db_shots *all, const db_joint_minimum *at, db_fit_shots_result *result);

#endif
