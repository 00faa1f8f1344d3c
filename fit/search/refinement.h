/* State of a refinement of one image: the present model, and the stages that improve it. */
#ifndef DB_FIT_SEARCH_REFINEMENT_H
#define DB_FIT_SEARCH_REFINEMENT_H

#include "fit/objective/stage_data.h"
#include "fit/pixels/fit_data.h"
#include "fit/pixels/observed_spots.h"
#include "fit/search/driver.h"

/* The same lattice with other indices: beside another beam centre (mm) its spots stay where they are. */
typedef struct db_other_indices {
    double own;  /* ln of the likelihood of spots and beam centre by the model's own indices */
    double gain; /* by how much these indices raise it, to first order */
    db_crystal crystal;
    double centre[2];
} db_other_indices;

/* Do the data confirm the lattice of the present model? verdict->usable; else its reason says why not. other: gets the
 * likeliest other indices, which are then not tested; or NULL. */
typedef db_status db_lattice_check(db_context *context, const db_experiment *model,
                                   const db_fit_data *data, db_fit_verdict *verdict,
                                   db_other_indices *other);

/* Flags spots that the lattice of a model has not made: those of ice and of other crystals. */
typedef db_status db_foreign_search(db_context *context, const db_experiment *model,
                                    const db_fit_data *data, const db_observed_spots *spots,
                                    unsigned char *is_foreign);

/* ln of the likelihood of the image's spots by a model, over that of spots at random places. */
typedef db_status db_spots_weighing(db_context *context, const db_experiment *model,
                                    const db_fit_data *data, double *margin);

typedef struct db_refinement {
    db_context *context;
    db_fit_data data;
    db_fit_settings *own; /* the settings of the data, without parameters that were not earned */
    db_fit_course course;
    db_fit_result *result;        /* its experiment is the present model */
    db_panel_placement placement; /* placement of panel groups in this model; owned */
    db_crystal given;             /* the crystal of the start */
    db_lattice_check *check; /* called before the first stage that data must earn; NULL: none */
    db_foreign_search
        *find_foreign;              /* called for the spots of a stage of moments; NULL: none are */
    db_spots_weighing *weigh_spots; /* for stages by pixels with a condition; NULL: all are kept */
    const db_predicted_spots *predicted; /* predictions of the start, borrowed; NULL: not known */
    int scaled; /* 1: the scale already fits the total intensity of the next stage's data */
} db_refinement;

/* Makes the result's model a copy of the start, with ties kept. The result is zeroed before. */
db_status db_refinement_begin(db_refinement *r, const db_experiment *start);

/* Begins a refinement of the data beside others, with a result of its own. To be cleared, also after a failure. */
db_status db_refinement_begin_apart(db_refinement *r, const db_experiment *start);
void db_refinement_clear_apart(db_refinement *r);

/* At the end: converts the model and the refined values to those that users know. */
void db_refinement_finish(db_refinement *r);

/* DB_ERROR_INPUT if the image has too few strong reflections where the model predicts some. */
db_status db_refinement_refuse_blank(const db_refinement *r);

/* DB_ERROR_INPUT: a stage whose model predicts no strong reflection. */
db_status db_refinement_fail_dark(db_context *context, const db_fit_stage *stage);

/* Data of a stage of the settings and its objective, prepared for evaluations of this depth at its variables'
 * start; the caller clears both. */
db_status db_refinement_open_stage(db_refinement *r, int number, db_objective_depth next,
                                   db_stage_data *taken, db_objective *objective);

/* Objective of a stage on given data; the caller clears it. */
db_status db_refinement_make_objective(db_refinement *r, int number, const db_stage_data *taken,
                                       db_objective *objective);

/* Stores the result of a stage as the model. */
db_status db_refinement_store(db_refinement *r, const db_variables *variables,
                              const db_stage_result *end);

/* A new entry for a stage with a condition; NULL: no memory. */
db_fit_trial *db_refinement_trial(db_refinement *r, int number);

/* Removes parameters that this stage would be the first to refine. */
void db_refinement_drop(db_refinement *r, int number);

/* Runs a stage against pixels: takes its data, refines, stores the model. */
db_status db_refinement_run_stage(db_refinement *r, int number, db_stage_result *end);

/* Resolution of a stage, by the spots of an image. */

/* Finest resolution (A) of the data of stage number `number`: its dmin, or the resolution that contains its share
 * of the spots found without a model, whichever is coarser. 0: none. */
db_status db_stage_limit(db_context *context, const db_experiment *model, const db_fit_data *data,
                         int number, double *dmin);

/* Minimizes from the variables' start with the stage's algorithm. The history gets values as users know them
 * (below). Fails for a bad configuration; otherwise the result says how the stage ended. */
db_status db_optimize_stage(db_objective *objective, const db_fit_stage *stage, int number,
                            const db_crystal *given, db_fit_course *course,
                            db_stage_result *result);

/* Values of the settings' parameters as users know them: angles relative to the given crystal's orientation. */
void db_report_values(const db_fit_settings *settings, const db_crystal *given,
                      const db_experiment *experiment, const db_panel_placement *placement,
                      double *value);

#endif
