/* Automatic choices for spots in closed form, from a list of the spots. */
#ifndef DB_CLI_CLOSED_SPOTS_H
#define DB_CLI_CLOSED_SPOTS_H

#include "cli/notices.h"
#include "cli/settings.h"

/* Chooses the tolerance and, for spots in closed form, the number of sub-pixels, if the user left them open; notes
 * the choices, and limits of the closed form. */
db_status db_closed_spots_prepare(db_context *context, db_settings *settings,
                                  db_experiment *experiment, db_notices *notices);

#endif
