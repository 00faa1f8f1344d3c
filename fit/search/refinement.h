/* The state of a refinement of one image: the model so far, and the stages that improve it. */
#ifndef DB_FIT_SEARCH_REFINEMENT_H
#define DB_FIT_SEARCH_REFINEMENT_H

#include "fit/search/optimize.h"
#include "fit/objective/stage_data.h"
#include "fit/pixels/fit_data.h"

/* Whether the data bear out the lattice of the model so far: verdict->usable, or its reason says why not. */
typedef db_status db_lattice_check(db_context *context, const db_experiment *model,
                                   const db_fit_data *data, db_fit_verdict *verdict);

typedef struct db_refinement {
    db_context *context;
    db_fit_data data;
    db_fit_settings *own; /* the settings of the data, changed where parameters are not earned */
    db_fit_course course;
    db_fit_result *result;          /* its experiment is the model so far */
    db_panel_placement placement;   /* of groups of panels in that model; owned */
    db_crystal given;               /* the crystal of the start */
    db_lattice_check *check;        /* before the first stage that data have to earn; NULL: none */
    const db_prediction *predicted; /* what the start predicts, borrowed; NULL: not known */
    int scaled; /* 1: the scale already fits the total intensity of the next stage's data */
} db_refinement;

/* The result's model becomes a copy of the start, with ties kept. The result is zeroed before. */
db_status db_refinement_begin(db_refinement *r, const db_experiment *start);

/* At the end: the model and the refined values become those that users know. */
void db_refinement_finish(db_refinement *r);

/* DB_ERROR_INPUT if the image has too few strong reflections where the model predicts some. */
db_status db_refinement_refuse_blank(const db_refinement *r);

/* DB_ERROR_INPUT: a stage whose model predicts no strong reflection. */
db_status db_refinement_fail_dark(db_context *context, const db_fit_stage *stage);

/* The data of a stage of the settings and the objective that refines it, ready to be evaluated, so
 * deep, at its variables' start; both are the caller's to clear. */
db_status db_refinement_open_stage(db_refinement *r, int number, db_objective_depth next,
                                   db_stage_data *taken, db_objective *objective);

/* The objective of a stage on data that have been taken; the caller's to clear. */
db_status db_refinement_make_objective(db_refinement *r, int number, const db_stage_data *taken,
                                       db_objective *objective);

/* Stores the end of a stage as the model. */
db_status db_refinement_store(db_refinement *r, const db_variables *variables,
                              const db_stage_result *end);

/* A new entry for a stage that is not certain to run; NULL: no memory. */
db_fit_trial *db_refinement_trial(db_refinement *r, int number);

/* Parameters that this stage would be the first to refine are not refined. */
void db_refinement_drop(db_refinement *r, int number);

/* Runs a stage against pixels: takes its data, refines, and stores the model. */
db_status db_refinement_run_stage(db_refinement *r, int number, db_stage_result *end);

/* How far a stage looks, by the spots that an image has. */

/* The finest resolution (A) of the data of stage number `number`: its dmin, or where its share of the spots found without a
 * model lies within, whichever is coarser. 0: none. */
db_status db_stage_limit(db_context *context, const db_experiment *model, const db_fit_data *data,
                         int number, double *dmin);

#endif
