/* Exclusion of shots that are far worse than the others, or that contradict shared quantities. */
#ifndef DB_FIT_SHOTS_OUTLIERS_H
#define DB_FIT_SHOTS_OUTLIERS_H

#include "fit/shots/shots.h"

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

#endif
