/* Shots as tasks of a job array: --array K/N, and --merge, which continues from the results of all tasks. */
#ifndef DB_FIT_CLI_ARRAY_TASKS_H
#define DB_FIT_CLI_ARRAY_TASKS_H

#include <dualbragg/fit.h>

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

#endif
