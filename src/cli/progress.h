/* Progress of long work: a bar on stderr for people, lines on stdout for programs. */
#ifndef DB_CLI_PROGRESS_H
#define DB_CLI_PROGRESS_H

#include "cli/settings.h"

/* Shows the context's progress: by a bar if stderr is a terminal, unless it is not wanted; without a terminal by
 * lines if wanted; in the reference's way always by lines. */
void db_progress_attach(db_context *context, const db_settings *settings);

/* Removes the bar, prints the remaining lines; safe without them. */
void db_progress_finish(db_context *context);

#endif
