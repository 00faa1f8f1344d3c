/* What the parts of the stage of joint intensities work on (stage.c, start.c, errors.c). */
#ifndef DB_FIT_AMPLITUDES_WORK_H
#define DB_FIT_AMPLITUDES_WORK_H

#include "fit/amplitudes/restraint.h"
#include "fit/amplitudes/shells.h"
#include "fit/amplitudes/shot.h"
#include "fit/amplitudes/system.h"
#include "fit/amplitudes/joint_amplitudes.h"

enum { DB_HALF_A = 1, DB_HALF_B = 2, DB_BOTH_HALVES = 3 };

typedef struct db_amplitude_work {
    db_shots *all;
    int stage;
    db_amplitude_pass pass;
    int best; /* slot of the sheets of the rendered point */
    size_t reflections;
    double *value[2]; /* [reflections] at the best point, that of the records; at the trial */
    double shared[2][DB_FIT_MOST_PARAMETERS]; /* at the same two points */
    double *rendered;                         /* [reflections] where the sheets were made */
    double rendered_shared[DB_FIT_MOST_PARAMETERS];
    double *step; /* [reflections + shared] */
    double *loss; /* [shots of this process] of the trial; of the best point */
    double *base;
    db_amplitude_restraint restraint;
    db_unknowns unknowns;                      /* shared quantities */
    double prior[DB_FIT_MOST_PARAMETERS];      /* 1/sigma^2 of their priors; 0: none */
    double prior_pull[DB_FIT_MOST_PARAMETERS]; /* half of their slopes */
    double shots;                              /* that take part, of all processes */
    unsigned char
        *group;    /* [shots] DB_HALF_A, DB_HALF_B; 0: set aside, or another process has it */
    void **memory; /* of each thread, for a record */
    db_amplitude_system system;
    db_error_model errors;
    double total; /* the loss at the best point */
    double degrees;
    int passes, rejected;
    int fits; /* how often the error model still follows the records */
    double damping;
    db_joint_amplitudes *result; /* owned until it is handed over */
} db_amplitude_work;

/* The record of a shot at the best point; thread: 0 outside of parallel work. */
db_status db_amplitude_work_read(void *work, size_t shot, int thread, db_amplitude_record *record);

/* Which shots of this process take part. */
void db_amplitude_work_group(db_amplitude_work *work);

/* Weights and slopes of the priors of shared quantities become those of the best point. */
void db_amplitude_prior_follow(db_amplitude_work *work);

/* The place of a parameter among a shot's own quantities; their number: it is none. */
size_t db_amplitude_local_place(const db_amplitude_work *work, db_parameter parameter);

/* Sums over all shots that take part; doubles alone. */
typedef struct db_amplitude_totals {
    double loss, base; /* of the trial; of the best point */
    double degrees;
    double log_scale; /* logarithms of the scales at the best point */
    double shots;
} db_amplitude_totals;
db_status db_amplitude_add_up(db_amplitude_work *work, db_amplitude_totals *totals);

/* Divides the scales of the shots, and their errors, by the geometric mean of the scales, the factor. All
 * processes call it. */
db_status db_amplitude_take_gauge(db_amplitude_work *work, double *factor);

/* From the records of the first pass, where all intensities are 0: scales shots, sets aside those
 * that have nothing in common with the others, and merges the others to a start. */
db_status db_amplitude_start(db_amplitude_work *work);

/* What each shot says by itself at the best point, or (first) in the first pass, where all intensities are
 * 0. Rank 0 gets that of all shots, the others nothing. */
db_status db_amplitude_observe(db_amplitude_work *work, int first, db_observations *observations);

/* The error model, by how far shots are from the others at the best point. */
db_status db_amplitude_fit_errors(db_amplitude_work *work);

/* Errors of the intensities and of shared quantities at the minimum, and the intensities of two
 * halves of the shots. */
db_status db_amplitude_conclude(db_amplitude_work *work, db_fit_shots_result *result);

#endif
