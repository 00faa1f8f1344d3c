/* Minimization of a loss whose Gauss-Newton matrix comes with every evaluation: damped Gauss-Newton
 * steps within bounds (Levenberg 1944; Marquardt 1963). The damping follows how well the quadratic
 * model foretold the last step (Nielsen, IMM-REP-1999-05, Technical University of Denmark). */
#ifndef DB_FIT_SEARCH_LEVENBERG_MARQUARDT_H
#define DB_FIT_SEARCH_LEVENBERG_MARQUARDT_H

#include "fit/search/box_step.h"

/* Loss, gradient, and normal matrix (half the second derivatives, symmetric) at x. Another return
 * value than 0 ends the search. */
typedef int (*db_lm_evaluate)(void *user, const double *x, double *loss, double *gradient,
                              double *normal);

typedef struct db_lm_problem {
    size_t count;
    db_lm_evaluate evaluate;
    void *user;
    const double *lower, *upper; /* may be infinite; the start is within */
    const double *longest;       /* of a step, per unknown */
    double degrees;              /* of freedom: loss/degrees, if above 1, scales the errors */
    double tolerance;            /* converged: a free step promises no larger relative decrease, */
    double step;                 /* or is no longer than so many standard errors */
    int most_evaluations;
} db_lm_problem;

typedef enum db_lm_end {
    DB_LM_CONVERGED,
    DB_LM_LIMIT,       /* evaluations used up */
    DB_LM_NO_PROGRESS, /* no step, however short, lowers the loss */
    DB_LM_STOPPED      /* by the evaluation, or its values are not finite */
} db_lm_end;

typedef struct db_lm_result {
    db_lm_end end;
    int evaluations;
    double loss;
    double promise; /* decrease of the loss that a free step promises where it ended */
} db_lm_result;

/* From x, which is moved to the best point found. memory: db_lm_room(count) doubles. */
size_t db_lm_room(size_t count);
db_lm_result db_lm_minimize(const db_lm_problem *problem, double *x, double *memory);

/* What a step that is as good as free is damped by, so that combinations of unknowns that the data
 * do not determine to four digits of a single one's error promise nothing. */
extern const double db_lm_free_damping;

/* Length, in standard errors, of a step that promises this decrease. */
double db_lm_step_length(double promise, double loss, double degrees);

#endif
