/* The state of a refinement of many shots in files, so that a run that was interrupted can go on, to the
 * same result to the last digit, also with another number of processes. PREFIX.checkpoint says which
 * refinement it is, has of a joint stage every evaluation of its search, which is then repeated without the
 * shots, and names the parts: files of each process that have its shots (checkpoint_parts.h). */
#ifndef DB_FIT_SHOTS_CHECKPOINT_H
#define DB_FIT_SHOTS_CHECKPOINT_H

#include "fit/search/search.h"
#include "fit/shots/shots.h"

/* Numbers that describe a shot's best point: its local values, and how they depend on the shared
 * ones. */
size_t db_joint_point_size(const db_arrow_order *order);

db_status db_checkpoint_create(db_shots *all);
void db_checkpoint_destroy(db_shots *all);

/* Before shots do stages by themselves, which are then noted one by one. All processes call it. */
db_status db_checkpoint_begin(db_shots *all);

/* Writes the state of all shots anew. All processes call it. */
db_status db_checkpoint_keep(db_shots *all);

/* The same in a joint stage, whose best points are those of the states. */
db_status db_checkpoint_commit(db_shots *all, const db_search_log *log);

/* The same in a stage of joint intensities: write makes the file of this process with its shots' records. */
typedef db_status (*db_checkpoint_writer)(void *user, const char *path);
db_status db_checkpoint_commit_records(db_shots *all, int stage, db_checkpoint_writer write,
                                       void *user);

/* Reads the state, if there is a file, or what the tasks of an array have left; *found says so.
 * DB_ERROR_INPUT for a file of another refinement, or one that is no checkpoint. Clear the log whatever the
 * status. */
db_status db_checkpoint_resume(db_shots *all, int *found, db_search_log *log);

#endif
