/* The search for joint intensities: its parts, of which a checkpoint keeps the state. */
#ifndef DB_FIT_INTENSITIES_SEARCH_H
#define DB_FIT_INTENSITIES_SEARCH_H

#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/records.h"
#include "fit/intensities/restraint.h"
#include "fit/intensities/system.h"

/* How far it has come. */
typedef struct db_intensity_course {
    int passes, rejected;
    int fits;     /* how often the error model still follows the records */
    int has_best; /* 1: shots have been refined here, so that there is a best point */
    double total; /* the loss at it */
    double degrees, damping;
} db_intensity_course;

typedef struct db_intensity_search {
    db_shots *all;
    db_intensity_pass pass; /* to the trial */
    db_intensity_records records;
    db_joint_system system;
    db_intensity_restraint restraint;
    db_unknowns shared; /* what shots share */
    int at_bound[DB_FIT_MOST_PARAMETERS];
    /* Points, [reflections + shared]: of the records, the next one, and where the linearizations were made */
    double *best, *trial, *rendered;
    double *step; /* from the best one to the trial */
    db_intensity_course course;
    db_joint_intensities *result; /* owned until it is handed over */
} db_intensity_search;

/* Points have the same size; its bytes. */
static inline size_t db_intensity_point_bytes(const db_intensity_search *search) {
    return (search->system.reflections + search->system.shared) * sizeof(double);
}

/* Equations of all shots at the best point, with restraints and priors, in which shared quantities that are
 * pushed against their bounds stay. */
db_status db_intensity_take_equations(db_intensity_search *search);

/* The checkpoint of a stage of joint intensities after each pass that was accepted, from which an interrupted run goes on
 * to the same bits: what all shots share, and linearization and record of each shot. */

/* All processes call these. */
db_status db_intensity_keep(db_intensity_search *search);

/* Puts the stage where it was when an interrupted run left it. */
db_status db_intensity_take_up(db_intensity_search *search);

#endif
