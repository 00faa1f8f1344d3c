/* State of a refinement of many shots in files, so that an interrupted run can continue to the same result to the
 * last digit, also with another number of processes. PREFIX.checkpoint identifies the refinement, contains the
 * history and the state of the interrupted stage, and names the parts: files of each process with its shots
 * (checkpoint_parts.h). */
#ifndef DB_FIT_SHOTS_CHECKPOINT_H
#define DB_FIT_SHOTS_CHECKPOINT_H

#include "fit/search/search.h"
#include "fit/shots/checkpoint_parts.h"

db_status db_checkpoint_create(db_shots *all);
void db_checkpoint_destroy(db_shots *all);

/* Begins before shots run their own stages, which are then noted one by one. All processes call it. */
db_status db_checkpoint_begin(db_shots *all);

/* Writes the state of all shots again, in a stage (NULL: between stages). All processes call it. */
db_status db_checkpoint_keep(db_shots *all, const db_stage_state *state);

/* Was the resumed run interrupted in this stage? */
int db_checkpoint_is_in(const db_shots *all, int stage);

/* Restores the state of the stage, once this process has all its shots. */
db_status db_checkpoint_take_up(db_shots *all, const db_stage_state *state);

/* Writes or reads the evaluations of a stage's search, as part of the stage's state. */
db_status db_checkpoint_move_log(db_shots *all, int stage, size_t unknowns, db_search_log *log,
                                 db_pieces *pieces);

/* Reads the state, if there is a file, or the states of an array's tasks; *found: whether there was any.
 * DB_ERROR_INPUT for a file of another refinement, or one that is no checkpoint. */
db_status db_checkpoint_resume(db_shots *all, int *found);

#endif
