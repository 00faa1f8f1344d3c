/* Shots that are described far worse than the others, or that what is shared contradicts. */
#ifndef DB_FIT_SHOTS_OUTLIERS_H
#define DB_FIT_SHOTS_OUTLIERS_H

#include "fit/shots/shots.h"

/* Excludes them, as options->outlier_sigma says, by the targets of their best points, and reports them.
 * After db_records_collect; all processes call it. */
db_status db_shots_exclude_outliers(db_shots *all);

/* Spots that bear out a right model by themselves: their margins (DB_MARGIN_PER_SPOT) reach what is significant. */
enum { DB_ENOUGH_JUDGED = 128 };

/* Shots whose spots contradict the result of all shots together. */
typedef struct db_wrong_shots {
    size_t count, first; /* that stay in use; the first of them */
} db_wrong_shots;

/* Excludes wrong shots if they are few of the shots in use: after the last stage at most a twentieth, whose effect the
 * errors of shared quantities cover; before it at most half, as the others are refined without them. After
 * db_records_collect; all processes call it. */
db_status db_shots_exclude_wrong(db_shots *all, int is_last, db_wrong_shots *wrong);

#endif
