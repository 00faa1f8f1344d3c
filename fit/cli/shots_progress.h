/* Progress of a refinement of many shots: lines in the log, a bar on a terminal. */
#ifndef DB_FIT_CLI_SHOTS_PROGRESS_H
#define DB_FIT_CLI_SHOTS_PROGRESS_H

#include "cli/progress_bar.h"
#include "fit/cli/printout.h"

#include <dualbragg/fit_shots.h>

typedef struct db_shots_progress {
    db_fit_log *log;
    const db_fit_settings *settings;
    db_progress_bar bar;
    int stage;        /* whose evaluations are being told */
    const char *what; /* the pass that the bar is of, ... */
    size_t done;      /* and how far it was */
} db_shots_progress;

void db_shots_progress_start(db_shots_progress *progress, db_fit_log *log,
                             const db_fit_settings *settings);
/* A db_fit_shots_options.progress; user: the db_shots_progress. */
void db_shots_progress_event(void *user, const db_fit_shots_event *event);
void db_shots_progress_finish(db_shots_progress *progress);

#endif
