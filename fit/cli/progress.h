/* Progress of a refinement: a line on the terminal that is overwritten, plain lines in log and pipes. Ctrl-C
 * cancels the work. */
#ifndef DB_FIT_CLI_PROGRESS_H
#define DB_FIT_CLI_PROGRESS_H

#include "cli/progress_bar.h"
#include "fit/cli/printout.h"

#include <dualbragg/fit_shots.h>

typedef struct db_fit_progress_state {
    db_context *context;
    db_fit_log *log;
    const db_fit_settings *settings; /* NULL: no stage has begun yet */
    db_progress_bar bar;
    const char *work; /* work before and after the stages; NULL: none */
    int may_end;      /* 1: Ctrl-C ends this work */
    int stage;        /* of the last entry; -1 before the first */
    int said;         /* the last entry is in the log */
    db_fit_history last;
    int many;         /* 1: of many shots, whose joint evaluations are all printed */
    const char *what; /* pass over shots of the bar, ... */
    size_t done;      /* and its shots so far */
    int is_read;      /* 1: the log says that the shots have been read */
} db_fit_progress_state;

void db_fit_progress_start(db_fit_progress_state *state, db_context *context, db_fit_log *log);

/* Work beside the stages begins: the context's progress is shown with this text. may_end: Ctrl-C
 * ends it. */
void db_fit_progress_work(db_fit_progress_state *state, const char *work, int may_end);

/* Stages of these settings follow, of one image or of many shots. */
void db_fit_progress_stages(db_fit_progress_state *state, const db_fit_settings *settings,
                            int many);

/* A db_fit_shots_options.progress; user: the state. */
void db_fit_progress_event(void *user, const db_fit_shots_event *event);

/* Puts the last evaluation into the log, clears the terminal's line, and forgets the context. Safe
 * if nothing was started. */
void db_fit_progress_finish(db_fit_progress_state *state);

/* Handles Ctrl-C from now on, unless the parent has SIGINT ignored: the first one asks the refinement to end with
 * the best model so far, the second one ends the program. */
void db_fit_interrupt_install(void);

#endif
