/* Shots that are described far worse than the others. */
#ifndef DB_FIT_SHOTS_OUTLIERS_H
#define DB_FIT_SHOTS_OUTLIERS_H

#include "fit/shots/shots.h"

/* Sets them aside, as options->outlier_sigma says, by the targets of their best points. */
db_status db_outlier_shots_set_aside(db_shots *all);

#endif
