/* Progress of a refinement of many shots: lines in the log, a bar on a terminal. */
#ifndef DB_FIT_CLI_SHOTS_PROGRESS_H
#define DB_FIT_CLI_SHOTS_PROGRESS_H

#include "fit/cli/fit_log.h"

#include <dualbragg/fit_shots.h>

typedef struct db_shots_progress {
    db_fit_log *log;
    const db_fit_settings *settings;
    int terminal; /* 1: there is a bar */
    int stage;    /* whose evaluations are being told */
    int shown;    /* 1: the bar is on the line */
} db_shots_progress;

void db_shots_progress_start(db_shots_progress *progress, db_fit_log *log,
                             const db_fit_settings *settings);
/* A db_fit_shots_options.progress; user: the db_shots_progress. */
void db_shots_progress_event(void *user, const db_fit_shots_event *event);
void db_shots_progress_finish(db_shots_progress *progress);

#endif
