/* The state of a refinement of many shots in files, so that a run that was interrupted can go on, to the
 * same result to the last digit, also with another number of processes. PREFIX.checkpoint says which
 * refinement it is, has the history and what the stage knows that was interrupted, and names the parts: files
 * of each process that have its shots (checkpoint_parts.h). */
#ifndef DB_FIT_SHOTS_CHECKPOINT_H
#define DB_FIT_SHOTS_CHECKPOINT_H

#include "fit/search/search.h"
#include "fit/shots/checkpoint_parts.h"

db_status db_checkpoint_create(db_shots *all);
void db_checkpoint_destroy(db_shots *all);

/* Before shots do stages by themselves, which are then noted one by one. All processes call it. */
db_status db_checkpoint_begin(db_shots *all);

/* Writes the state of all shots anew, in a stage (NULL: between stages). All processes call it. */
db_status db_checkpoint_keep(db_shots *all, const db_stage_state *state);

/* Was the run that is resumed interrupted in this stage? */
int db_checkpoint_is_in(const db_shots *all, int stage);

/* Reads back the state of the stage, once all shots of this process are there. */
db_status db_checkpoint_take_up(db_shots *all, const db_stage_state *state);

/* Writes or reads the evaluations of a stage's search, as a part of the stage's state. */
db_status db_checkpoint_move_log(db_shots *all, int stage, size_t unknowns, db_search_log *log,
                                 db_pieces *pieces);

/* Reads the state, if there is a file, or what the tasks of an array have left; *found says so.
 * DB_ERROR_INPUT for a file of another refinement, or one that is no checkpoint. */
db_status db_checkpoint_resume(db_shots *all, int *found);

#endif
