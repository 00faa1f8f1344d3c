/* One shot's local quantities, fitted at given values of the shared ones. */
#ifndef DB_FIT_SHOTS_SHOT_FIT_H
#define DB_FIT_SHOTS_SHOT_FIT_H

#include "fit/shots/shots.h"

/* A shot of a joint stage with its pixels in memory. */
typedef struct db_open_shot {
    db_spooled pixels;
    db_shot_model model;      /* at the start of the stage; the misset is folded if the stage
                                 turns */
    db_fit_settings settings; /* as they are for this shot; owned */
    db_objective objective;
    int *held;    /* [variables] 1: at a bound */
    double *work; /* for elimination */
    int evaluations;
} db_open_shot;

db_status db_open_shot_create(db_shots *all, db_context *context, size_t shot, int stage,
                              const db_arrow_order *order, db_open_shot *open);
void db_open_shot_destroy(db_open_shot *open);

/* Fits from these local values, which become the best ones. The objective then has the loss,
 * gradient and normal matrix there, with priors of local quantities. DB_ERROR_INPUT if there is no
 * finite loss. */
db_status db_open_shot_fit(db_open_shot *open, const db_arrow_order *order,
                           const db_fit_stage *stage, const double *shared, double *local);

#endif
