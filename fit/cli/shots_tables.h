/* What a refinement of many shots ends with, as text. */
#ifndef DB_FIT_CLI_SHOTS_TABLES_H
#define DB_FIT_CLI_SHOTS_TABLES_H

#include "fit/cli/printout.h"

#include <dualbragg/fit_shots.h>

void db_fit_say_shots(db_fit_log *log, const db_fit_shots_result *result);

#endif
