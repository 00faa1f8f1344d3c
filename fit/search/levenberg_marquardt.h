/* Minimization of a loss whose evaluation also gives its Gauss-Newton matrix: damped Gauss-Newton steps within
 * bounds (Levenberg 1944; Marquardt 1963). The damping follows the success of the quadratic model in the last step
 * (Nielsen, IMM-REP-1999-05, Technical University of Denmark). See docs/theory/refinement.md, Steps. */
#ifndef DB_FIT_SEARCH_LEVENBERG_MARQUARDT_H
#define DB_FIT_SEARCH_LEVENBERG_MARQUARDT_H

#include <stddef.h>

/* Computes loss, gradient, and normal matrix (half the second derivatives, symmetric) at x. A
 * return value other than 0 ends the search. */
typedef int (*db_lm_evaluate)(void *user, const double *x, double *loss, double *gradient,
                              double *normal);

typedef struct db_lm_problem {
    size_t count;
    db_lm_evaluate evaluate;
    void *user;
    const double *lower; /* bounds, may be infinite; the start is within */
    const double *upper;
    const double *longest; /* longest step of each unknown, */
    const double *part;    /* or this part of its value, if that is longer; NULL: none */
    double degrees;        /* degrees of freedom: errors grow by loss/degrees above 1 */
    double tolerance;      /* converged: a free step promises a smaller relative decrease, */
    double step;           /* or is shorter than this (standard errors) */
    int most_evaluations;
} db_lm_problem;

typedef enum db_lm_end {
    DB_LM_CONVERGED,
    DB_LM_LIMIT,       /* evaluations used up */
    DB_LM_NO_PROGRESS, /* no step, however short, lowers the loss */
    DB_LM_STOPPED      /* the evaluation ended the search, or is not finite */
} db_lm_end;

typedef struct db_lm_result {
    db_lm_end end;
    int evaluations;
    double loss;
    double promise; /* decrease of the loss that a free step promises at the end */
} db_lm_result;

/* Minimizes from x, which becomes the best point found. memory: db_lm_room(count) doubles. */
size_t db_lm_room(size_t count);
db_lm_result db_lm_minimize(const db_lm_problem *problem, double *x, double *memory);

/* Decrease of the loss that a free (undamped) step from x within the bounds promises. memory: db_lm_room(count)
 * doubles. */
double db_lm_free_promise(size_t count, const double *x, const double *lower, const double *upper,
                          const double *gradient, const double *normal, double *memory);

/* Length, in standard errors, of a step that promises this decrease. */
double db_lm_step_length(double promise, double loss, double degrees);

/* Minimizes gradient p + p (normal + damping diag(scale)) p over lower <= p <= upper, where lower
 * <= 0 <= upper, by an active set: solve for the free unknowns, go as far as the first bound, hold
 * the unknown that it stops, free an unknown that gains by leaving its bound. normal:
 * [count][count], symmetric, half the second derivatives. Combinations that the model does not
 * determine do not move. Returns the decrease that the undamped model promises for the step.
 * memory: db_box_room(count) doubles. */
size_t db_box_room(size_t count);
double db_box_step(size_t count, const double *gradient, const double *normal, double damping,
                   const double *scale, const double *lower, const double *upper, double *step,
                   double *memory);

#endif
