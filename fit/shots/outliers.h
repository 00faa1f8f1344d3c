/* Shots that are described far worse than the others. */
#ifndef DB_FIT_SHOTS_OUTLIERS_H
#define DB_FIT_SHOTS_OUTLIERS_H

#include "fit/shots/shots.h"

/* Excludes them, as options->outlier_sigma says, by the targets of their best points, and reports them.
 * After db_records_collect; all processes call it. */
db_status db_shots_exclude_outliers(db_shots *all);

#endif
