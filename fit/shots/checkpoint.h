/* The state of a refinement of many shots in a file, so that it can go on after it was cut off. */
#ifndef DB_FIT_SHOTS_CHECKPOINT_H
#define DB_FIT_SHOTS_CHECKPOINT_H

#include "fit/shots/shots.h"

/* Keeps which stages shots have done by themselves, and their values. All processes call it; rank 0
 * writes, if the options name a file. */
db_status db_checkpoint_keep(db_shots *all);

/* The same in a joint stage: values of the shared quantities, and the best local ones. */
db_status db_checkpoint_keep_joint(db_shots *all, int stage, const db_arrow_order *order,
                                   const double *shared);

/* What a checkpoint says of a joint stage on its way. */
typedef struct db_checkpoint_joint {
    int stage; /* -1: none was on its way */
    double shared[DB_FIT_MOST_PARAMETERS];
    double *local; /* [shots][local]; owned */
    size_t local_count;
} db_checkpoint_joint;

/* Takes up the state, if there is a file; *found says so. DB_ERROR_INPUT for a file of another
 * refinement, or one that is no checkpoint. */
db_status db_checkpoint_resume(db_shots *all, int *found, db_checkpoint_joint *joint);

/* The refinement has ended. */
void db_checkpoint_remove(const db_shots *all);

#endif
