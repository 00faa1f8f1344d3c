/* A joint stage: what shots share is refined. */
#ifndef DB_FIT_SHOTS_JOINT_H
#define DB_FIT_SHOTS_JOINT_H

#include "fit/shots/shots.h"

typedef struct db_joint_end {
    db_stage_end end;
    char reason[384];
} db_joint_end;

/* Room for the local values of a joint stage. */
db_status db_joint_make_room(db_shots *all, int stage);

/* Minimizes the sum over shots, whose pixels are in the spool. shared_from: values of the stage's
 * shared quantities to begin with; NULL: those of the model. Afterwards the model stands at the
 * minimum. result: not NULL for the last stage, whose errors and statistics are put there and in
 * what is known of the shots. */
db_status db_joint_run(db_shots *all, int stage, const double *shared_from, db_joint_end *end,
                       db_fit_shots_result *result);

#endif
