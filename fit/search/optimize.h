/* One stage of a refinement: the loss of a shot, and of priors, is minimized. */
#ifndef DB_FIT_SEARCH_OPTIMIZE_H
#define DB_FIT_SEARCH_OPTIMIZE_H

#include "fit/objective/objective.h"

/* Every evaluation of all stages, and whom to tell. */
typedef struct db_fit_course {
    db_fit_progress progress; /* may be NULL */
    void *user;
    size_t width;            /* values of each: parameters of the settings */
    db_fit_history *history; /* owned */
    double *values;          /* of all of them; owned */
    size_t count, room;
} db_fit_course;

/* Room for so many more evaluations, so that none is allocated while they run. */
db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations);

typedef enum db_stage_end {
    DB_STAGE_CONVERGED, /* no step promises more than the tolerance */
    DB_STAGE_LIMIT,     /* evaluations used up */
    DB_STAGE_AT_BOUND,  /* a parameter would go on beyond its bound */
    DB_STAGE_ROUNDOFF,  /* progress stopped before convergence */
    DB_STAGE_DIVERGED,  /* the target became meaningless */
    DB_STAGE_CANCELLED  /* by the caller; the values are the best so far */
} db_stage_end;

typedef struct db_stage_result {
    db_stage_end end;
    char reason[384];
    double promise; /* relative decrease of the target that a free Gauss-Newton step promises */
    double step;    /* its length in standard errors */
    double value[DB_FIT_MOST_PARAMETERS]; /* of the shot's variables */
    int at_bound[DB_FIT_MOST_PARAMETERS]; /* -1, 0, 1 */
} db_stage_result;

/* Minimizes from the variables' start with the stage's algorithm. `reported` turns what is refined
 * into what is told: misset angles of the whole turn (see fit/config/misset.h). Fails for a bad
 * configuration; otherwise the result says how it ended. */
db_status db_optimize_stage(db_objective *shot, const db_fit_stage *stage, int number,
                            const double orientation[9], db_fit_course *course,
                            db_stage_result *result);

#endif
