/* A run of dualbragg fit: one image, or a list of shots, by one or more processes. */
#ifndef DB_FIT_CLI_FIT_RUN_H
#define DB_FIT_CLI_FIT_RUN_H

#include "cli/arguments.h"
#include "cli/named_files.h"
#include "cli/notices.h"
#include "fit/cli/progress.h"
#include "fit/pixels/strong_pixels.h"

#include <dualbragg/fit.h>

/* The arguments of dualbragg fit. */

enum { DB_CELL_CONSTANTS = 6, DB_MODEL_TEXTS = 3 };

typedef struct db_fit_options {
    const char *config;  /* CONFIG.yaml; NULL: images are given instead */
    int is_image;        /* 1: the first word names an image */
    const char **images; /* owned, the strings are argv's */
    size_t image_count;
    const char **overrides; /* key=value; owned, the strings are argv's or these options' */
    size_t override_count;
    double cell[DB_CELL_CONSTANTS]; /* NAN: left out */
    int cell_given;
    const char *symmetry, *matrix, *expt; /* of images without a configuration, like cell */
    char cell_text[200];                  /* model.cell=... */
    char *texts[DB_MODEL_TEXTS];          /* the other three likewise; owned; NULL: not given */
    const char *image;                    /* NULL: not given */
    const char *output;
    const char *isa;
    const char *device;
    const char *precision;
    int threads;
    const char *array; /* K/N; NULL: none */
    int no_report, quiet, verbose, help, show_defaults, show_json, resume, merge, model_image;
} db_fit_options;

/* Reads the arguments; reports errors itself. Clear the options after a failure, too. */
db_status db_fit_options_read(db_fit_options *options, int argc, char **argv);
void db_fit_options_clear(db_fit_options *options);

extern const db_flag_table db_fit_flags;

/* Files of a run: those that it reads, and PREFIX.lock, which keeps two runs from writing to the same PREFIX. The
 * system releases the lock when its process ends in any way. */

typedef struct db_run_lock {
    char path[DB_FIT_PATH_SIZE + 32];
    int file;                  /* descriptor; 0: not taken */
    struct db_temporary *name; /* so that a signal that ends the program removes it */
} db_run_lock;

/* Takes the lock. Complains and returns DB_ERROR_FILE if another process has it. On a file system without locks it
 * prints a remark. */
db_status db_run_lock_take(db_run_lock *lock, const char *prefix);

/* Removes the file and releases the lock. Safe if it is not taken. */
void db_run_lock_release(db_run_lock *lock);

/* Shots as tasks of a job array: --array K/N, and --merge, which continues from the results of all tasks. */

/* Task `task` of `tasks`; both 0: no array. */
typedef struct db_array_task {
    int task, tasks;
} db_array_task;

/* Reads K/N; reports errors itself. NULL: no array. */
db_status db_array_task_read(const char *text, db_array_task *task);

/* Prefix of a task's files: PREFIX.task-K-of-N. */
enum { DB_TASK_PREFIX_SIZE = DB_FIT_PATH_SIZE + 48 };
void db_array_task_prefix(const char *prefix, db_array_task task, char path[DB_TASK_PREFIX_SIZE]);

/* Checkpoints of all tasks, in their order. */
typedef struct db_array_tasks {
    char **path;
    size_t count;
} db_array_tasks;

/* Finds the checkpoints of a prefix; complains if there are none, if some are missing, or if there are two arrays.
 * To be cleared in any case. */
db_status db_array_tasks_find(const char *prefix, db_array_tasks *tasks);
void db_array_tasks_clear(db_array_tasks *tasks);

enum { DB_RUN_PATH_SIZE = DB_TASK_PREFIX_SIZE + 32 };

typedef struct db_fit_run {
    db_context *context;
    const db_fit_options *options;
    db_fit_config given;         /* as read; for one image, completed by its model; owned */
    const db_fit_config *config; /* `given`, or the list's, completed at the end */
    db_fit_config completed;     /* configuration of a list; owned */
    db_fit_team team;
    db_fit_shot_list *list; /* NULL: one image, in the next four members */
    db_measured_image image;
    db_strong_memory strong; /* pixels that the search for the start has found */
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
