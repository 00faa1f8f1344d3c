#include "bench/child_process.h"

#include "bench/timing.h"
#include "base/context_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char variable[] = "OMP_NUM_THREADS=";

/* This process's environment with another number of threads; strings borrowed. NULL without memory.
 */
static char **environment_with(char *threads_setting) {
    size_t count = 0, kept = 0;
    while (environ[count]) count++;
    char **copy = malloc((count + 2) * sizeof *copy);
    if (!copy) return NULL;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], variable, sizeof variable - 1) != 0) copy[kept++] = environ[i];
    copy[kept++] = threads_setting;
    copy[kept] = NULL;
    return copy;
}

static db_status wait_for(db_context *context, const char *program, pid_t pid, double *peak_bytes) {
    int state;
    struct rusage usage;
    while (wait4(pid, &state, 0, &usage) < 0)
        if (errno != EINTR)
            return db_fail(context, DB_ERROR_FILE, "%s: cannot be waited for: %s", program,
                           strerror(errno));
    if (peak_bytes) *peak_bytes = 1024.0 * (double)usage.ru_maxrss;
    if (WIFSIGNALED(state))
        return db_fail(context, DB_ERROR_FILE, "%s: ended by signal %d", program, WTERMSIG(state));
    if (WEXITSTATUS(state) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s: expected exit status 0, found %d", program,
                       WEXITSTATUS(state));
    return DB_OK;
}

/* Not fork: copying the page tables of the images would take longer than some programs run. */
static int start(const char *program, char *const *argv, char **environment, const char *folder,
                 pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    error = posix_spawn_file_actions_addchdir_np(&actions, folder);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (!error) error = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (!error) error = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (!error) error = posix_spawnp(pid, program, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

db_status db_bench_run_program(db_context *context, const char *program, char *const *argv,
                               int threads, const char *folder, double *seconds,
                               double *peak_bytes) {
    char setting[sizeof variable + 12];
    snprintf(setting, sizeof setting, "%s%d", variable, threads);
    char **environment = environment_with(setting);
    if (!environment) return db_fail_memory(context, "the environment of a program");
    pid_t pid;
    const double begin = db_bench_seconds();
    const int error = start(program, argv, environment, folder, &pid);
    const db_status status =
        error ? db_fail(context, DB_ERROR_FILE, "%s: cannot be run: %s", program, strerror(error))
              : wait_for(context, program, pid, peak_bytes);
    *seconds = db_bench_seconds() - begin;
    free(environment);
    return status;
}
