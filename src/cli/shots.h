/* dualbragg sim --shots and --random: many images in one file, with labels. */
#ifndef DB_CLI_SHOTS_H
#define DB_CLI_SHOTS_H

#include "cli/processes.h"
#include "cli/session.h"

int db_shots_wanted(const db_settings *settings);

/* Reports flags and outputs that cannot be used with many shots. */
db_status db_shots_check(const db_session *session);

/* Renders and writes all shots, together with the other processes. Reports failures itself. */
db_status db_shots_run(db_session *session, const db_processes *all);

#endif
