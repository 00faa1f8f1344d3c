/* Refinement against the moments of observed spots: where each is, how wide it is, and that it is
 * seen at all. Far cheaper than against pixels, and spots that the model puts beside where they
 * are pull at it from any distance, so that it is where a refinement of spreads starts. The
 * likelihood is in docs/theory/refinement.md, Moments of spots. */
#ifndef DB_FIT_SEARCH_MOMENTS_H
#define DB_FIT_SEARCH_MOMENTS_H

#include "fit/objective/variables.h"
#include "fit/pixels/shoeboxes.h"

#include <dualbragg/spots.h>

typedef struct db_observed_moments {
    double place[2];      /* pixels */
    double covariance[3]; /* pixels^2: fast, slow, of both; the first is 0 where it is not known */
} db_observed_moments;

typedef struct db_moments {
    db_context *context;
    size_t count, half; /* spots; the first `half` of them are one half, at random */
    size_t from, to;    /* those in use; the others are held out */
    double blur;        /* added to predicted variances (pixels^2); 0: widths count, too */
    db_spot *spot;      /* the model's; owned, as the following */
    db_observed_moments *observed;
    double *rows;             /* slopes of all spots */
    db_experiment experiment; /* at the last evaluated values; borrows its lists */
    const db_variables *variables;
    db_status status; /* of the last evaluation */
    double held_out;  /* loss of spots that are */
} db_moments;

/* Room for `count` spots; there are none yet. Borrows the model's lists and the variables. */
db_status db_moments_allocate(db_context *context, const db_experiment *experiment, size_t count,
                              const db_variables *variables, double blur, db_moments *moments);

/* Takes the spots of shoeboxes; all are in use. */
db_status db_moments_make(db_context *context, const db_experiment *experiment,
                          const db_shoeboxes *boxes, const db_variables *variables, double blur,
                          db_moments *moments);
void db_moments_clear(db_moments *moments);

/* Twice the negative logarithm of the likelihood, INFINITY of impossible values, with gradient and normal
 * matrix, without priors. Motions of groups of panels do not count. */
db_status db_moments_evaluate(db_moments *moments, const double *x, double *loss, double *gradient,
                              double *normal);

/* The same loss, priors included, and its slopes, without those of priors, by some of the variables: for the
 * little that each of these costs. */
db_status db_moments_slopes(db_moments *moments, const double *x, const size_t *variable,
                            size_t count, double *loss, double *slope);

#endif
