/* The result of a refinement of many shots. */
#ifndef DB_FIT_SHOTS_SHOTS_RESULT_H
#define DB_FIT_SHOTS_SHOTS_RESULT_H

#include "fit/shots/shots.h"

db_status db_shots_result_create(const db_shots *all, db_fit_shots_result **result);

/* What is known of the shots and of what they share, at the end. Takes the history over. */
db_status db_shots_result_fill(db_shots *all, db_fit_shots_result *result);

#endif
