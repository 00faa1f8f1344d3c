/* The state of a refinement of many shots in a file, so that a run that was interrupted can go on,
 * to the same result to the last digit. It holds what shots have done by themselves, and of a joint
 * stage every evaluation of its search, which is then repeated without the shots. */
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
    double *at;     /* [count][shared] */
    double *sums;   /* [count][sums_size] */
    int *lost;      /* [count] shots set aside */
    size_t point;   /* numbers of a shot's best point, see db_joint_point_size */
    double *points; /* [shots][point], as read; NULL otherwise */
} db_joint_log;

/* Numbers that describe a shot's best point: its local values, and how they depend on the shared
 * ones. */
size_t db_joint_point_size(const db_arrow_order *order);

void db_joint_log_begin(db_joint_log *log, int stage, const db_arrow_order *order);
db_status db_joint_log_add(db_context *context, db_joint_log *log, const double *at,
                           const double *sums, int lost);
void db_joint_log_clear(db_joint_log *log);

/* Writes which stages shots have done by themselves, and their values. All processes call it; rank
 * 0 writes, if the options name a file. */
db_status db_checkpoint_keep(db_shots *all);

/* The same in a joint stage, whose best points are those of the states. */
db_status db_checkpoint_keep_joint(db_shots *all, const db_joint_log *log);

/* Reads the state, if there is a file; *found says so. DB_ERROR_INPUT for a file of another
 * refinement, or one that is no checkpoint. Clear the log whatever the status. */
db_status db_checkpoint_resume(db_shots *all, int *found, db_joint_log *log);

#endif
