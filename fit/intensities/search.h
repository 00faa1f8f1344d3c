/* The search for joint intensities: its parts, of which a checkpoint keeps the state. */
#ifndef DB_FIT_INTENSITIES_SEARCH_H
#define DB_FIT_INTENSITIES_SEARCH_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/records.h"
#include "fit/intensities/restraint.h"
#include "fit/intensities/system.h"

/* Progress of the stage. */
typedef struct db_intensity_course {
    int passes, rejected;
    int fits;     /* remaining fits of the error model to the records */
    int has_best; /* 1: shots have been refined in this stage, so there is a best point */
    double total; /* loss at the best point */
    double degrees, damping;
} db_intensity_course;

typedef struct db_intensity_search {
    db_shots *all;
    db_intensity_pass pass; /* pass to the trial */
    db_intensity_records records;
    db_joint_system system;
    db_intensity_restraint restraint;
    db_unknowns shared; /* shared quantities */
    int at_bound[DB_FIT_MOST_PARAMETERS];
    /* Points, [reflections + shared]: of the records, the next one, and of the linearizations */
    double *best, *trial, *rendered;
    double *step; /* from the best point to the trial */
    db_intensity_course course;
    db_joint_intensities *result; /* owned until the stage returns it */
} db_intensity_search;

/* Bytes of a point; points have equal sizes. */
static inline size_t db_intensity_point_bytes(const db_intensity_search *search) {
    return (search->system.reflections + search->system.shared) * sizeof(double);
}

/* Equations of all shots at the best point, with restraints and priors. Shared quantities that are pushed against
 * their bounds are held. */
db_status db_intensity_take_equations(db_intensity_search *search);

/* Scales shots by the records of the first pass, in which all intensities are 0; excludes shots that have nothing
 * in common with the others; merges the others to starting intensities, the trial. The result receives scaling,
 * indexing, kinds and agreement; without further passes also the merged intensities. */
db_status db_intensity_start(db_intensity_search *search);

/* Scatter between shots at the best point, by the sums of its equations. */

/* Fits the error model. */
db_status db_intensity_fit_errors(db_intensity_search *search);

/* Finds errors of the intensities and of shared quantities, and the intensities of two halves of the shots. */
db_status db_intensity_conclude(db_intensity_search *search, db_fit_estimates *estimates);

/* Checkpoint of a stage of joint intensities after each accepted pass: the shared state, and linearization and
 * record of each shot. An interrupted run continues from it to the same bits. */

/* All processes call these functions. */
db_status db_intensity_keep(db_intensity_search *search);

/* Restores the state of the stage from an interrupted run. */
db_status db_intensity_take_up(db_intensity_search *search);

#endif
