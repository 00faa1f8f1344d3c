/* The models of shots after a joint stage. */
#ifndef DB_FIT_SHOTS_JOINT_MODELS_H
#define DB_FIT_SHOTS_JOINT_MODELS_H

#include "fit/shots/shots.h"

/* Moves all models to these values of the unknowns, and to the local quantities of their best points. */
db_status db_joint_models_store(db_shots *all, int stage, const double *unknown);

#endif
