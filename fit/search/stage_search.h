/* Parts of all searches of a stage: unknowns between bounds with priors and longest steps, the history of
 * evaluations, and kinds of ends. */
#ifndef DB_FIT_SEARCH_STAGE_SEARCH_H
#define DB_FIT_SEARCH_STAGE_SEARCH_H

#include "fit/config/quantity.h"
#include "fit/objective/objective.h"
#include "fit/search/levenberg_marquardt.h"

/* The history: every evaluation of all stages, and the listener. */
typedef struct db_fit_course {
    /* called after each evaluation, or only asked (entry NULL: by any thread); a result other than 0 cancels; may
     * be NULL */
    int (*progress)(void *user, const db_fit_history *entry);
    void *user;
    size_t width;            /* number of values of an evaluation: parameters of the settings */
    db_fit_history *history; /* owned */
    double *values;          /* values of all evaluations; owned */
    size_t count, room;
} db_fit_course;

/* Makes room for further evaluations, so that none allocates memory. */
db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations);

/* A new entry, a copy of this one except for its list of values, which the caller fills; NULL: no room. */
db_fit_history *db_fit_course_add(db_fit_course *course, const db_fit_history *now);
/* Shows the listener an entry; 1: it cancels the search. */
int db_fit_course_tell(const db_fit_course *course, const db_fit_history *entry);
void db_fit_course_clear(db_fit_course *course);

/* Unknowns of a search; each is a parameter of the settings. */
typedef struct db_unknowns {
    size_t count;
    const db_fit_settings *settings;
    const size_t *index; /* numbers of these among the settings' parameters; borrowed */
    double *lower;       /* the user's bounds, within the physical ones */
    double *upper;
    double *centre;    /* priors */
    double *sigma;     /* INFINITY: none */
    double *restraint; /* [count + 1][count + 1] quadratic form of the unknowns and 1, or NULL */
    double *scale;     /* typical change; at the start the parameter's own, or the table's */
    double *longest;   /* longest step; at the start ten typical changes */
    double *part;      /* of the value: longest step where this is longer */
    double *room;      /* room for the search; owned, with the lists */
} db_unknowns;

db_status db_unknowns_make(db_context *context, const db_fit_settings *settings,
                           const size_t *index, size_t count, db_unknowns *unknowns);

/* Adds the prior ((sum over unknowns of row x unknown + row[count]) / sigma)^2; sigma 0: none. */
db_status db_unknowns_restrain(db_context *context, const double *row, double sigma,
                               db_unknowns *unknowns);

/* Adds the priors at x to a loss, its gradient and its normal matrix (db_add_priors). */
void db_unknowns_add_priors(const db_unknowns *unknowns, const double *x, double *loss,
                            double *gradient, double *normal);

/* Adds half the second derivatives of the priors to a matrix [count][count]. */
void db_unknowns_add_curvature(const db_unknowns *unknowns, double *normal);

/* Variables as unknowns, with their bounds and priors. */
db_status db_unknowns_of_variables(db_context *context, const db_fit_settings *settings,
                                   const db_variables *variables, db_unknowns *unknowns);
void db_unknowns_clear(db_unknowns *unknowns);

/* Number of unknowns, from number `first` on, that are not held at one value. */
size_t db_unknowns_moving(const db_unknowns *unknowns, size_t first);

/* Distance from a bound within which a value is at it: less than any step, and than the bound's distance from 0. */
double db_unknown_near(const db_unknowns *unknowns, size_t i);

/* Is an unknown at a bound, with a gradient that pushes it outward? -1: at the lower, 1: at the
 * upper one; 0: no. */
int db_unknown_held(const db_unknowns *unknowns, size_t i, double value, double slope);

/* Longest move of spots: a quarter of the width of a shoebox. The quadratic model holds while calculated spots
 * overlap measured ones, and knows nothing of a spot that has left its box. Gives the distance of the farthest
 * block from the direct beam (pixels); 0: no block. */
db_status db_farthest_block(const db_objective *objective, double *pixels);

/* The longest step of a parameter, in its unit, with this move for spots within `farthest` pixels of the beam; at
 * most `most`. */
double db_longest_step(const db_objective *objective, const db_fit_parameter *parameter,
                       double farthest, double most);

typedef enum db_stage_end {
    DB_STAGE_CONVERGED, /* no step promises more than the tolerance */
    DB_STAGE_LIMIT,     /* evaluations used up */
    DB_STAGE_AT_BOUND,  /* a parameter would continue beyond its bound */
    DB_STAGE_ROUNDOFF,  /* progress stopped before convergence */
    DB_STAGE_DIVERGED,  /* the target became meaningless */
    DB_STAGE_CANCELLED, /* by the caller; the values are the best so far */
    DB_STAGE_REFUSED    /* not begun: spots are not at the nodes of the lattice */
} db_stage_end;

typedef struct db_stage_result {
    db_stage_end end;
    char reason[384];
    double promise; /* relative decrease of the target promised by a free step */
    double step;    /* its length in standard errors */
    double value[DB_FIT_MOST_PARAMETERS]; /* of the quantities of one image */
    int at_bound[DB_FIT_MOST_PARAMETERS]; /* -1, 0, 1 */
} db_stage_result;

#endif
