/* One shot's local quantities, fitted at given values of the shared ones. */
#ifndef DB_FIT_SHOTS_SHOT_FIT_H
#define DB_FIT_SHOTS_SHOT_FIT_H

#include "fit/linear/linearization.h"
#include "fit/search/moments.h"
#include "fit/shots/shots.h"

/* A shot of a joint stage with its pixels in memory. */
typedef struct db_open_shot {
    db_stored pixels;
    db_shot_model model;      /* at the start of the stage */
    db_fit_settings settings; /* settings of this shot; owned */
    db_objective
        objective; /* with moments: their variables, loss, gradient, normal matrix and degrees */
    db_moments moments;
    int by_moments;         /* 1: compares moments, not pixels */
    int *held;              /* [variables] 1: at a bound */
    double *work;           /* room for elimination */
    double *linked, *value; /* [variables] of linked ones; of all in their order; owned */
    double *shift;          /* [linked] differences of the shot's values (db_shots_shift) */
    int evaluations;
} db_open_shot;

/* Work on an open shot, as db_shot_work. Its evaluations are added to all->evaluations. */
typedef db_status (*db_open_shot_work)(void *user, db_context *context, size_t shot,
                                       db_open_shot *open, double *sum);

/* As db_workers_sum, with each shot open at the start of a stage; total NULL: as db_workers_each. */
db_status db_open_shots_sum(db_shots *all, const char *what, int stage, const db_schur_order *order,
                            db_open_shot_work work, void *user, size_t size, double *total);

/* Local quantities as unknowns, with bounds and priors of the shot's variables, numbered as in the order. */
db_status db_local_unknowns(db_context *context, const db_fit_settings *settings,
                            const db_schur_order *order, const db_variables *variables,
                            db_unknowns *unknowns);

/* Fits from these local values, which become the best ones. The objective then has the loss, gradient and normal
 * matrix there, with priors of local quantities. DB_ERROR_INPUT if there is no finite loss. */
db_status db_open_shot_fit(db_open_shot *open, const db_schur_order *order,
                           const db_fit_stage *stage, const double *shared, double *local);

/* Predicts the reflections of an open shot's boxes again, by the model of the last evaluation: their places and parts. */
db_status db_open_shot_predict(db_context *context, db_open_shot *open);

/* Objective of an open shot's pixels with another model of it. */
db_status db_shot_objective_of(const db_shots *all, db_context *context, const db_open_shot *open,
                               const db_experiment *model, db_objective *objective);

/* Objective of a shot's pixels at its starting model; and statistics of an evaluated objective, stored for the
 * starting model or (after: 1) the refined one. */
db_status db_shot_objective_at_start(const db_shots *all, db_context *context, size_t shot,
                                     const db_open_shot *open, db_objective *before);
void db_shot_measure(const db_objective *objective, const db_stored *pixels, int after,
                     db_shot_summary *summary);

/* Moments of a shot's spots in the store, for a joint stage of moments. */

/* Writes them to the store. */
db_status db_shot_moments_write(db_shots *all, db_context *context, size_t shot,
                                const db_moments *moments);

/* Linearization of an open shot's boxes (fit/linear/linearization.h). */

/* Number of these quantities that may move one box: motions of panels count for one group only. */
size_t db_moving_quantities(const db_fit_settings *settings, const size_t *index, size_t count);

/* Intensities, losses, slopes and curvatures of the boxes, from the sums of the last evaluation. */
void db_shot_linearize(const db_open_shot *open, const db_schur_order *order,
                       const db_linearization *linearization);

#endif
