/* Progress of long work: a bar on stderr for people, lines on stdout for programs. */
#ifndef DB_CLI_PROGRESS_H
#define DB_CLI_PROGRESS_H

#include "cli/settings.h"

/* Lets the context tell about progress: by a bar where stderr is a terminal, unless it is
 * not wanted; without a terminal by lines if asked for, in the reference's way always by lines. */
void db_progress_attach(db_context *context, const db_settings *settings);

/* Removes what is left of the bar, prints the lines that are left; safe without them. */
void db_progress_finish(db_context *context);

#endif
