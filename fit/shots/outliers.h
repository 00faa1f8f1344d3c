/* Exclusion of shots that are far worse than the others, or that contradict shared quantities. */
#ifndef DB_FIT_SHOTS_OUTLIERS_H
#define DB_FIT_SHOTS_OUTLIERS_H

#include "base/context_internal.h"
#include "fit/shots/shots.h"
#include <stddef.h>

/* Excludes outliers by the targets of their best points, as options->outlier_sigma says, and reports them. After
 * db_records_collect; all processes call it. */
db_status db_shots_exclude_outliers(db_shots *all);

/* Excludes shots that ask for other shared quantities than the others do, less than half of those in use, and reports them:
 * the gain in the log likelihood of such a shot by values of its own is beyond chance. index, value: [shared] numbers of the
 * parameters, and their values at the minimum; held: flags of those at a bound. After a joint stage; all processes call it. */
db_status db_shots_exclude_contradicting(db_shots *all, const size_t *index, size_t shared,
                                         const double *value, const unsigned char *held,
                                         size_t *excluded);

/* Shots whose spots contradict the joint result. */
typedef struct db_wrong_shots {
    size_t count, first; /* wrong shots that stay in use; the first of them */
} db_wrong_shots;

/* Excludes wrong shots if they are few of the shots in use: after the last stage at most a twentieth, whose effect
 * the errors of shared quantities include; before it at most half, because the others are refined without them.
 * After db_records_collect; all processes call it. */
db_status db_shots_exclude_wrong(db_shots *all, int is_last, db_wrong_shots *wrong);

/* Does a shot contradict the quantities that it shares with the others? (docs/theory/refinement.md, Many shots) */

/* Shots with more shared quantities are not compared: their equations would not fit into memory. */
enum { DB_MOST_COMPARED = 32 };

/* Doubles of a shot's equations of so many shared quantities (db_schur_sums_size); 0: there are too many. */
size_t db_contradiction_size(size_t shared);

/* A shot against the others. */
typedef struct db_contradiction {
    size_t shot;     /* number among the shots */
    double margin;   /* gain in its log likelihood by values of its own, over what chance gives */
    size_t quantity; /* the shared one that contradicts most */
    double own,
        others; /* its steps from the present value, for which the shot and the others ask */
    double own_error, others_error;
} db_contradiction;

/* Compares the shot that gains most by values of its own with the minimum of the others. sums: [count][size], the equations of
 * each shot at the present values; used: [count] flags, of those to compare; misfit: [count] target per degree of freedom, 0:
 * unknown; held: [shared] flags of quantities that do not move. margin is 0 if there are too few shots to tell which
 * one is wrong. */
db_status db_contradiction_find(db_context *context, size_t count, size_t shared,
                                const double *sums, const unsigned char *used, const double *misfit,
                                const unsigned char *held, db_contradiction *found);

#endif
