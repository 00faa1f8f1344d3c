/* What a run with spots in closed form chooses by itself, from a list of its spots. */
#ifndef DB_CLI_CLOSED_SPOTS_H
#define DB_CLI_CLOSED_SPOTS_H

#include "cli/notices.h"
#include "cli/settings.h"

/* Settles the tolerance and, with spots in closed form, the number of sub-pixels where the user left
 * them open; notes what was chosen, and where the closed form is not good enough. */
db_status db_closed_spots_prepare(db_context *context, db_settings *settings,
                                  db_experiment *experiment, db_notices *notices);

#endif
