/* A progress bar on stderr, for people only. */
#ifndef DB_CLI_PROGRESS_H
#define DB_CLI_PROGRESS_H

#include <dualbragg/context.h>

/* Lets the context show a bar during long work, if wanted and stderr is a terminal. */
void db_progress_attach(db_context *context, int wanted);

/* Removes what is left of the bar; safe without one. */
void db_progress_finish(db_context *context);

#endif
