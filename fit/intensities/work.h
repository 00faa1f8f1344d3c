/* What the parts of the stage of joint intensities work on: search, start, errors, messages, checkpoint. */
#ifndef DB_FIT_INTENSITIES_WORK_H
#define DB_FIT_INTENSITIES_WORK_H

#include "fit/intensities/restraint.h"
#include "fit/intensities/shells.h"
#include "fit/intensities/shot.h"
#include "fit/intensities/system.h"
#include "fit/intensities/joint_intensities.h"

enum { DB_HALF_A = 1, DB_HALF_B = 2, DB_BOTH_HALVES = 3 };

typedef struct db_intensity_search {
    db_shots *all;
    int stage;
    db_intensity_pass pass;
    int best; /* slot of the linearizations of the rendered point */
    size_t reflections;
    double *value[2]; /* [reflections] at the best point, that of the records; at the trial */
    double shared[2][DB_FIT_MOST_PARAMETERS]; /* at the same two points */
    double *rendered;                         /* [reflections] where the linearizations were made */
    double rendered_shared[DB_FIT_MOST_PARAMETERS];
    double *step; /* [reflections + shared] */
    double *loss; /* [shots of this process] of the trial; of the best point */
    double *base;
    db_intensity_restraint restraint;
    db_unknowns unknowns;                      /* shared quantities */
    int at_bound[DB_FIT_MOST_PARAMETERS];      /* of these: -1, 0, 1 */
    double prior[DB_FIT_MOST_PARAMETERS];      /* 1/sigma^2 of their priors; 0: none */
    double prior_pull[DB_FIT_MOST_PARAMETERS]; /* half of their slopes */
    double shots;                              /* that take part, of all processes */
    unsigned char
        *group;    /* [shots] DB_HALF_A, DB_HALF_B; 0: set aside, or another process has it */
    void **memory; /* of each thread, for a record */
    db_joint_system system;
    db_error_model errors;
    int has_best; /* 1: shots have been refined here, so that there is a best point */
    double total; /* the loss at it */
    double degrees;
    int passes, rejected;
    int fits; /* how often the error model still follows the records */
    double damping;
    db_joint_intensities *result; /* owned until it is handed over */
} db_intensity_search;

/* The record of a shot at the best point; thread: 0 outside of parallel work. */
db_status db_intensity_search_read(void *work, size_t shot, int thread,
                                   db_reduced_equations *record);

/* Which shots of this process take part. */
void db_intensity_search_group(db_intensity_search *work);

/* Weights and slopes of the priors of shared quantities become those of the best point. */
void db_intensity_prior_follow(db_intensity_search *work);

/* Equations of all shots at the best point, in which shared quantities that are pushed against their bounds stay. */
db_status db_intensity_search_sum(db_intensity_search *work);

/* The place of a parameter among a shot's own quantities; their number: it is none. */
size_t db_intensity_local_place(const db_intensity_search *work, db_parameter parameter);

/* Sums over all shots that take part; doubles alone. */
typedef struct db_intensity_totals {
    double loss, base; /* of the trial; of the best point */
    double degrees;
    double log_scale; /* logarithms of the scales at the best point */
    double shots;
} db_intensity_totals;
db_status db_intensity_add_up(db_intensity_search *work, db_intensity_totals *totals);

/* Divides the scales of the shots, and their errors, by the geometric mean of the scales, the factor. All
 * processes call it. */
db_status db_intensity_normalize_scales(db_intensity_search *work, double *factor);

/* From the records of the first pass, where all intensities are 0: scales shots, sets aside those
 * that have nothing in common with the others, and merges the others to a start. */
db_status db_intensity_start(db_intensity_search *work);

/* What each shot says by itself at the best point, or (first) in the first pass, where all intensities are
 * 0. Rank 0 gets that of all shots, the others nothing. */
db_status db_intensity_observe(db_intensity_search *work, int first, db_observations *observations);

/* The error model, by how far shots are from the others at the best point. */
db_status db_intensity_fit_errors(db_intensity_search *work);

/* Errors of the intensities and of shared quantities at the minimum, and the intensities of two
 * halves of the shots. */
db_status db_intensity_conclude(db_intensity_search *work, db_fit_shots_result *result);

#endif
