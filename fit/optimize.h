/* One stage of a refinement: NLopt minimizes the target. */
#ifndef DB_FIT_OPTIMIZE_H
#define DB_FIT_OPTIMIZE_H

#include "fit/target.h"

/* Every evaluation of all stages, and whom to tell. */
typedef struct db_fit_course {
    db_fit_progress progress; /* may be NULL */
    void *user;
    db_fit_history *history; /* owned */
    size_t count, room;
} db_fit_course;

/* Room for so many more evaluations, so that none is allocated while they run. */
db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations);

typedef enum db_stage_end {
    DB_STAGE_CONVERGED, /* no step promises more than the tolerance */
    DB_STAGE_LIMIT,     /* evaluations used up */
    DB_STAGE_AT_BOUND,  /* a parameter would go on beyond its bound */
    DB_STAGE_ROUNDOFF,  /* progress stopped before convergence */
    DB_STAGE_DIVERGED   /* the target became meaningless */
} db_stage_end;

typedef struct db_stage_result {
    db_stage_end end;
    char reason[384];
    double promise; /* relative decrease of the target that a Gauss-Newton step promises */
    double value[DB_PARAMETER_COUNT]; /* of the target's parameters */
    int at_bound[DB_PARAMETER_COUNT]; /* -1, 0, 1 */
} db_stage_result;

/* Minimizes from the experiment's values. Optimizer coordinates are parameters in units of their
 * `scale`, or, where that is NAN, of the change that would raise the target (chi2 per degree of
 * freedom) by 1/2. Fails for a bad configuration or if cancelled; otherwise the result says how it
 * ended. */
db_status db_optimize_stage(db_target *target, const db_fit_stage *stage, int number,
                            db_fit_course *course, db_stage_result *result);

/* The algorithm of a name such as "LD_LBFGS"; DB_ERROR_USAGE if NLopt has none, or it uses no
 * gradient. */
db_status db_optimize_check_algorithm(db_context *context, const char *name, int *algorithm);

#endif
