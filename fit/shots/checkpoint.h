/* The state of a refinement of many shots in files, so that a run that was interrupted can go on, to the
 * same result to the last digit, also with another number of processes. PREFIX.checkpoint says which
 * refinement it is, has of a joint stage every evaluation of its search, which is then repeated without the
 * shots, and names the parts: files of each process that have its shots (checkpoint_parts.h). */
#ifndef DB_FIT_SHOTS_CHECKPOINT_H
#define DB_FIT_SHOTS_CHECKPOINT_H

#include "fit/shots/shots.h"
#include "fit/config/quantity.h"

/* The evaluations since a search began. */
typedef struct db_joint_log {
    int stage;                           /* -1: none */
    int evaluations;                     /* of the stage, before this search */
    int started;                         /* 1: there is a best point from before */
    double degrees;                      /* of freedom, when it began */
    double from[DB_FIT_MOST_PARAMETERS]; /* the shared values that it began with */
    size_t history;                      /* entries of the history before it */
    size_t shared, sums_size, count, room;
    double *at;   /* [count][shared] */
    double *sums; /* [count][sums_size] */
} db_joint_log;

/* Numbers that describe a shot's best point: its local values, and how they depend on the shared
 * ones. */
size_t db_joint_point_size(const db_arrow_order *order);

/* Sums of an evaluation: those of the shared quantities, and what is counted beside them. */
enum { DB_JOINT_COUNTS = 3 };
static inline size_t db_joint_sums_size(const db_arrow_order *order) {
    return db_arrow_sums_size(order->shared) + DB_JOINT_COUNTS;
}

void db_joint_log_begin(db_joint_log *log, int stage, const db_arrow_order *order);
db_status db_joint_log_add(db_context *context, db_joint_log *log, const double *at,
                           const double *sums);
void db_joint_log_clear(db_joint_log *log);

db_status db_checkpoint_create(db_shots *all);
void db_checkpoint_destroy(db_shots *all);

/* Before shots do stages by themselves, which are then noted one by one. All processes call it. */
db_status db_checkpoint_begin(db_shots *all);

/* Writes the state of all shots anew. All processes call it. */
db_status db_checkpoint_keep(db_shots *all);

/* The same in a joint stage, whose best points are those of the states. */
db_status db_checkpoint_commit(db_shots *all, const db_joint_log *log);

/* The same in a stage of joint intensities: write makes the file of this process with its shots' records. */
typedef db_status (*db_checkpoint_writer)(void *user, const char *path);
db_status db_checkpoint_commit_records(db_shots *all, int stage, db_checkpoint_writer write,
                                       void *user);

/* Reads the state, if there is a file, or what the tasks of an array have left; *found says so.
 * DB_ERROR_INPUT for a file of another refinement, or one that is no checkpoint. Clear the log whatever the
 * status. */
db_status db_checkpoint_resume(db_shots *all, int *found, db_joint_log *log);

#endif
