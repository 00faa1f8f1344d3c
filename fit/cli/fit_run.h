/* A run of dualbragg fit: one image, or a list of shots, by one or more processes. */
#ifndef DB_FIT_CLI_FIT_RUN_H
#define DB_FIT_CLI_FIT_RUN_H

#include "cli/notices.h"
#include "fit/cli/array_tasks.h"
#include "fit/cli/fit_options.h"
#include "fit/cli/progress.h"
#include "fit/cli/run_files.h"

enum { DB_RUN_PATH_SIZE = DB_TASK_PREFIX_SIZE + 32 };

typedef struct db_fit_run {
    db_context *context;
    const db_fit_options *options;
    db_fit_config given;         /* as read; for one image, completed by its model; owned */
    const db_fit_config *config; /* `given`, or the list's, completed at the end */
    db_fit_config completed;     /* configuration of a list; owned */
    db_fit_team team;
    db_fit_shot_list *list; /* NULL: one image, in the next three members */
    db_measured_image image;
    db_fit_spots spots;
    db_experiment start;
    db_fit_shots_result *result;
    db_notices notices; /* notices from before there was a log */
    db_fit_log log;
    int log_open;
    db_fit_progress_state progress;
    db_run_lock lock;
    db_array_task task;
    db_array_tasks merged;            /* checkpoints to continue from */
    char prefix[DB_TASK_PREFIX_SIZE]; /* of the files of this run */
    int made_folder;                  /* 1: this process has made the folder of models */
} db_fit_run_state;

/* Reports the context's message, once for all processes. */
db_status db_fit_run_complain(const db_fit_run_state *run, db_status status);

/* Refines, prints, writes, once the configuration is read; reports errors itself. */
db_status db_fit_run_all(db_fit_run_state *run);
void db_fit_run_clear(db_fit_run_state *run);

/* Gives each process the first failure of all. */
db_status db_fit_run_agree(const db_fit_run_state *run, db_status status);

/* Checks before hours of work: no output is an input, all outputs can be written, and no other run writes them. */
db_status db_fit_outputs_distinct(const db_fit_run_state *run);
db_status db_fit_outputs_check(db_fit_run_state *run);

/* After a failure: removes the folder of models that the check has made, unless it has content. */
void db_fit_outputs_abandon(const db_fit_run_state *run);

/* Writes all files except the log, and lists them. */
db_status db_fit_outputs_write(db_fit_run_state *run);

/* Files of the run by their endings. */
void db_fit_run_path(const db_fit_run_state *run, const char *ending, char path[DB_RUN_PATH_SIZE]);
extern const char db_fit_log_ending[], db_fit_checkpoint_ending[];

#endif
