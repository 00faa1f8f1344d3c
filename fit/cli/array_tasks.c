/* Shots as tasks of a job array. */
#define _POSIX_C_SOURCE 200809L
#include "fit/cli/fit_run.h"

#include "base/path.h"
#include "cli/complaint.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_TASKS = 1000000 };
static const char ending[] = ".checkpoint";

/* Reads a number from 1 to MOST_TASKS; 0: none. */
static int read_number(const char **at) {
    int number = 0;
    const size_t digits = strspn(*at, "0123456789");
    for (size_t i = 0; i < digits && number <= MOST_TASKS; i++)
        number = 10 * number + (*at)[i] - '0';
    *at += digits;
    return number <= MOST_TASKS ? number : 0;
}

/* Reads two numbers with a text between and one behind, the first at most the second. */
static int read_pair(const char *at, const char *between, const char *behind, db_array_task *task) {
    task->task = read_number(&at);
    if (strncmp(at, between, strlen(between)) != 0) return 0;
    at += strlen(between);
    task->tasks = read_number(&at);
    return task->task > 0 && task->task <= task->tasks && strcmp(at, behind) == 0;
}

db_status db_array_task_read(const char *text, db_array_task *task) {
    *task = (db_array_task){ 0, 0 };
    if (!text || read_pair(text, "/", "", task)) return DB_OK;
    return db_complain("fit", DB_ERROR_USAGE,
                       "--array: expected K/N, task K of N, with K from 1 to N and N at most %d, "
                       "found '%s'",
                       MOST_TASKS, text);
}

void db_array_task_prefix(const char *prefix, db_array_task task, char path[DB_TASK_PREFIX_SIZE]) {
    if (task.tasks)
        snprintf(path, DB_TASK_PREFIX_SIZE, "%s.task-%d-of-%d", prefix, task.task, task.tasks);
    else
        snprintf(path, DB_TASK_PREFIX_SIZE, "%s", prefix);
}

/* Number of tasks by the files in a folder; 0: none; -1: two different numbers. */
static int count_tasks(DIR *folder, const char *name, int other[2]) {
    static const char task_of[] = ".task-";
    const size_t length = strlen(name);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *const file = entry->d_name;
        db_array_task one;
        if (strncmp(file, name, length) != 0 ||
            strncmp(file + length, task_of, sizeof task_of - 1) != 0 ||
            !read_pair(file + length + sizeof task_of - 1, "-of-", ending, &one))
            continue;
        if (count && one.tasks != count) {
            other[0] = count;
            other[1] = one.tasks;
            return -1;
        }
        count = one.tasks;
    }
    return count;
}

static db_status find_count(const char *prefix, size_t *count) {
    char folder[DB_FIT_PATH_SIZE];
    const int length = (int)db_folder_length(prefix);
    int other[2] = { 0, 0 };
    snprintf(folder, sizeof folder, "%.*s", length, prefix);
    DIR *const list = opendir(length ? folder : ".");
    if (!list)
        return db_complain("fit", DB_ERROR_FILE, "--merge: %s: cannot be read: %s", folder,
                           strerror(errno));
    const int found = count_tasks(list, prefix + length, other);
    closedir(list);
    if (found < 0)
        return db_complain("fit", DB_ERROR_INPUT,
                           "--merge: expected files of one array of tasks at %s, found tasks of "
                           "arrays of %d and of %d",
                           prefix, other[0], other[1]);
    if (found == 0)
        return db_complain(
            "fit", DB_ERROR_FILE,
            "--merge: expected %s.task-1-of-N%s and so on, which --array 1/N leaves; "
            "there are none",
            prefix, ending);
    *count = (size_t)found;
    return DB_OK;
}

enum { NAMED = 12, NAMES = 12 * NAMED }; /* missing tasks in a message */

static size_t find_missing(const db_array_tasks *tasks, char text[NAMES]) {
    size_t missing = 0, used = 0;
    for (size_t t = 0; t < tasks->count; t++) {
        if (access(tasks->path[t], R_OK) == 0) continue;
        if (missing++ < NAMED)
            used += (size_t)snprintf(text + used, NAMES - used, "%s%zu", used ? ", " : "", t + 1);
    }
    if (missing > NAMED) snprintf(text + used, NAMES - used, ", ...");
    return missing;
}

db_status db_array_tasks_find(const char *prefix, db_array_tasks *tasks) {
    char text[NAMES] = "";
    size_t count = 0;
    *tasks = (db_array_tasks){ NULL, 0 };
    const db_status status = find_count(prefix, &count);
    if (status != DB_OK) return status;
    tasks->path = calloc(count, sizeof *tasks->path);
    for (size_t t = 0; t < count && tasks->path; t++) {
        const size_t size = DB_TASK_PREFIX_SIZE + sizeof ending;
        char *const path = malloc(size);
        if (!path) break;
        db_array_task_prefix(prefix, (db_array_task){ (int)t + 1, (int)count }, path);
        strcat(path, ending);
        tasks->path[tasks->count++] = path;
    }
    if (!tasks->path || tasks->count < count)
        return db_complain("fit", DB_ERROR_MEMORY, "out of memory for the tasks of an array");
    const size_t missing = find_missing(tasks, text);
    if (missing == 0) return DB_OK;
    return db_complain(
        "fit", DB_ERROR_FILE,
        "--merge: %zu of %zu tasks have left no checkpoint: %s; expected --array K/%zu "
        "for each of them first",
        missing, count, text, count);
}

void db_array_tasks_clear(db_array_tasks *tasks) {
    for (size_t t = 0; t < tasks->count; t++) free(tasks->path[t]);
    free(tasks->path);
    *tasks = (db_array_tasks){ NULL, 0 };
}
