/* The course of a refinement: a line on the terminal that is overwritten, plain lines in log and
 * pipes. */
#ifndef DB_FIT_CLI_FIT_PROGRESS_H
#define DB_FIT_CLI_FIT_PROGRESS_H

#include "fit/cli/fit_log.h"

#include <dualbragg/fit.h>

typedef struct db_fit_progress_state {
    db_fit_log *log;
    const db_fit_settings *settings;
    int terminal; /* stderr is one, and something may be shown */
    int shown;    /* a line stands there */
    int stage;    /* of the last entry; -1 before the first */
    int said;     /* the last entry is in the log */
    db_fit_history last;
} db_fit_progress_state;

void db_fit_progress_start(db_fit_progress_state *state, db_fit_log *log,
                           const db_fit_settings *settings);

/* A db_fit_progress; user: the state. */
int db_fit_progress_entry(void *user, const db_fit_history *entry);

/* Clears the terminal's line; puts the last evaluation into the log. */
void db_fit_progress_finish(db_fit_progress_state *state);

#endif
