/* Refinement against the moments of observed spots: place, width, and the fact that a spot is seen. It is far
 * cheaper than against pixels, and a displaced spot attracts the model from any distance, so refinements of
 * spreads start here. The likelihood is in docs/theory/refinement.md, Moments of spots. */
#ifndef DB_FIT_SEARCH_MOMENTS_H
#define DB_FIT_SEARCH_MOMENTS_H

#include "fit/objective/variables.h"
#include "fit/pixels/shoeboxes.h"

#include <dualbragg/spots.h>

/* Degrees of freedom of Student's distribution of a spot's numbers: outliers count less. */
enum { DB_STUDENT_FREEDOM = 4 };
#define DB_STUDENT_POWER (0.5 * (DB_STUDENT_FREEDOM + 3)) /* of three coordinates */

typedef struct db_observed_moments {
    double place[2];      /* pixels */
    double covariance[3]; /* pixels^2: fast, slow, mixed; the first is 0 if it is unknown */
} db_observed_moments;

/* What makes pixels of the rows of a spot: its place, the factor of its covariance, and the root of its weight. */
typedef struct db_moment_slopes {
    double place[2], factor[3], root;
} db_moment_slopes;

typedef struct db_moments {
    db_context *context;
    size_t count, half; /* spots; the first `half` of them are a random half */
    size_t from, to;    /* spots in use; the others are held out */
    double blur;        /* added to predicted variances (pixels^2); 0: widths count */
    db_spot *spot;      /* spots of the model; owned, as the following */
    db_observed_moments *observed;
    double *
        rows; /* slopes of all spots: by a variable those of each spot, then by the next variable */
    unsigned char *
        jumped; /* flags: spots whose place has jumped, which are left out; such spots of an evaluation */
    db_moment_slopes *last; /* of the last evaluation, with its values; has_last: there was one */
    double *last_value;
    int has_last;
    int has_lost; /* the last evaluation has found more of them: the next one is of fewer spots */
    db_experiment experiment; /* at the last evaluated values; borrows its lists */
    const db_variables *variables;
    db_status status; /* of the last evaluation */
    double held_out;  /* loss of held-out spots */
    /* [regions][variables]: slopes of the loss of regions of spots (db_region_start), added by an evaluation; borrowed; NULL:
     * not wanted */
    double *of_region;
    int regions;
} db_moments;

/* Makes room for `count` spots, without any yet. Borrows the model's lists and the variables. */
db_status db_moments_allocate(db_context *context, const db_experiment *experiment, size_t count,
                              const db_variables *variables, double blur, db_moments *moments);

/* Takes the spots of shoeboxes; all are in use. */
db_status db_moments_make(db_context *context, const db_experiment *experiment,
                          const db_shoeboxes *boxes, const db_variables *variables, double blur,
                          db_moments *moments);
void db_moments_clear(db_moments *moments);

/* Takes spots that were left out since their places jump. */
void db_moments_take_all(db_moments *moments);

/* Loss: twice the negative logarithm of the likelihood, INFINITY for impossible values; with gradient and normal
 * matrix, without priors. Ignores motions of groups of panels. Spots whose places jump within a step of differences, or since
 * the evaluation before, are left out from the next evaluation on: no search goes across their steps of the loss. */
db_status db_moments_evaluate(db_moments *moments, const double *x, double *loss, double *gradient,
                              double *normal);

/* Loss with priors, and its slopes without priors by some of the variables, at the small cost of each variable. */
db_status db_moments_slopes(db_moments *moments, const double *x, const size_t *variable,
                            size_t count, double *loss, double *slope);

#endif
