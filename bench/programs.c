#include "bench/programs.h"
#include "bench/statistics.h"
#include "base/context_internal.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/instruction_set.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

db_status db_bench_scratch_create(db_context *context, char path[DB_BENCH_PATH_SIZE]) {
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = P_tmpdir;
    char *absolute = realpath(parent, NULL);
    int length = 0, error = absolute ? 0 : errno;
    *path = '\0';
    if (!error) length = snprintf(path, DB_BENCH_PATH_SIZE, "%s/dualbragg_bench.XXXXXX", absolute);
    free(absolute);
    if (length >= DB_BENCH_PATH_SIZE) error = ENAMETOOLONG;
    if (!error && !mkdtemp(path)) error = errno;
    if (!error) return DB_OK;
    *path = '\0';
    return db_fail(context, DB_ERROR_FILE, "%s: a folder for temporary files cannot be made: %s",
                   parent, strerror(error));
}

void db_bench_scratch_empty(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
}

void db_bench_scratch_remove(char *path) {
    if (!*path) return;
    db_bench_scratch_empty(path);
    rmdir(path);
    *path = '\0';
}

static const char variable[] = "OMP_NUM_THREADS=";

/* This process's environment with another number of threads; strings borrowed. NULL without
 * memory. */
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

static const char float_file[] = "image.f32", int_file[] = "image.img";

/* Makes a path independent of the working directory. A bare name stays: it is searched for in
 * PATH. */
static db_status resolve(db_context *context, const char *flag, const char *given,
                         char found[DB_BENCH_PATH_SIZE]) {
    char here[DB_BENCH_PATH_SIZE] = "";
    const int relative = given[0] != '/' && strchr(given, '/');
    if (relative && !getcwd(here, sizeof here))
        return db_fail(context, DB_ERROR_FILE, "%s %s: the working directory is unknown: %s", flag,
                       given, strerror(errno));
    if (snprintf(found, DB_BENCH_PATH_SIZE, "%s%s%s", here, relative ? "/" : "", given) >=
        DB_BENCH_PATH_SIZE)
        return db_fail(context, DB_ERROR_USAGE, "%s: the name is too long", flag);
    if (strchr(given, '/') && access(found, X_OK) != 0)
        return db_fail(context, DB_ERROR_FILE, "%s %s: expected a program that can be run: %s",
                       flag, given, strerror(errno));
    return DB_OK;
}

/* In the folder of this program (installed) or the one above it (build tree). */
static void find_ours(char found[DB_BENCH_PATH_SIZE]) {
    static const char *const places[] = { "dualbragg", "../dualbragg" };
    char self[DB_BENCH_PATH_SIZE];
    const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    *found = '\0';
    if (length < 1) return;
    self[length] = '\0';
    char *name = strrchr(self, '/') + 1;
    *name = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (snprintf(found, DB_BENCH_PATH_SIZE, "%s%s", self, places[i]) < DB_BENCH_PATH_SIZE &&
            access(found, X_OK) == 0)
            return;
    }
    *found = '\0';
}

db_status db_bench_programs_open(db_context *context, const db_bench_options *options,
                                 db_bench_programs *programs) {
    *programs = (db_bench_programs){ 0 };
    if (options->reference)
        DB_TRY(resolve(context, "--reference", options->reference, programs->reference));
    if (options->program)
        DB_TRY(resolve(context, "--program", options->program, programs->ours));
    else
        find_ours(programs->ours);
    return db_bench_scratch_create(context, programs->folder);
}

void db_bench_programs_close(db_bench_programs *programs) {
    db_bench_scratch_remove(programs->folder);
}

/* Both programs get the same flags and write the same two files. */
typedef struct {
    db_bench_flags flags;
    char *argv[96];
    int count;
} command_line;

static void add(command_line *line, const char *word) {
    line->argv[line->count++] =
        (char *)(size_t)word; /* programs get their words by pointers to non-const */
    line->argv[line->count] = NULL;
}

static void begin(command_line *line, const char *name, const char *command) {
    line->count = 0;
    add(line, name);
    if (command) add(line, command);
}

static void add_workload(command_line *line, const db_bench_workload *workload) {
    db_bench_workload_flags(workload, &line->flags);
    for (int i = 0; i < line->flags.count; i++) add(line, line->flags.word[i]);
    add(line, "-floatfile");
    add(line, float_file);
}

static void add_integer_image(command_line *line) {
    add(line, "-intfile");
    add(line, int_file);
}

static db_status run(db_context *context, const db_bench_programs *programs, const char *program,
                     command_line *line, int size, double *seconds, double *peak_bytes,
                     float *image) {
    char path[DB_BENCH_PATH_SIZE + sizeof float_file];
    db_status status =
        db_bench_run_program(context, program, line->argv, db_context_threads(context),
                             programs->folder, seconds, peak_bytes);
    if (status == DB_OK && image) {
        snprintf(path, sizeof path, "%s/%s", programs->folder, float_file);
        status = db_read_float_image(context, path, size, size, image);
        if (status != DB_OK) {
            char reason[512];
            snprintf(reason, sizeof reason, "%s", db_context_message(context));
            db_fail(context, status, "%s: expected a float image of it, found: %s", program,
                    reason);
        }
    }
    db_bench_scratch_empty(programs->folder); /* every run creates its files anew */
    return status;
}

db_status db_bench_run_reference(db_context *context, const db_bench_programs *programs,
                                 const db_bench_workload *workload, double *seconds, float *image) {
    command_line line;
    begin(&line, programs->reference, NULL);
    add_workload(&line, workload);
    add_integer_image(&line);
    return run(context, programs, programs->reference, &line, workload->size, seconds, NULL, image);
}

/* Words must outlive the line's use. */
static void add_ours(db_context *context, command_line *line, db_precision precision,
                     const char *threads) {
    add(line, "--precision");
    add(line, db_bench_precision_name(precision));
    add(line, "--isa");
    add(line, db_context_isa(context));
    add(line, "--threads");
    add(line, threads);
    add(line, "--quiet");
}

db_status db_bench_run_ours(db_context *context, const db_bench_programs *programs,
                            const db_bench_workload *workload, db_precision precision,
                            double *seconds, float *image) {
    command_line line;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", db_context_threads(context));
    begin(&line, programs->ours, "sim");
    add_workload(&line, workload);
    add_integer_image(&line);
    add_ours(context, &line, precision, threads);
    return run(context, programs, programs->ours, &line, workload->size, seconds, NULL, image);
}

db_status db_bench_run_ours_alone(db_context *context, const db_bench_programs *programs,
                                  const db_bench_workload *workload, double *seconds,
                                  double *peak_bytes) {
    command_line line;
    char threads[16];
    snprintf(threads, sizeof threads, "%d", db_context_threads(context));
    begin(&line, programs->ours, "sim");
    add_workload(&line, workload);
    add_ours(context, &line, DB_PRECISION_MIXED, threads);
    return run(context, programs, programs->ours, &line, workload->size, seconds, peak_bytes, NULL);
}

enum { MEMORY_SIZE = 4096, QUICK_MEMORY_SIZE = 1024, COLD_START_SIZE = 512 };

db_status db_bench_peak_memory(db_context *context, const db_bench_programs *programs, int quick,
                               double *bytes) {
    const db_bench_workload workload = { .size = quick ? QUICK_MEMORY_SIZE : MEMORY_SIZE,
                                         .load = &db_bench_loads[0] };
    double seconds, peak;
    DB_TRY(db_bench_run_ours_alone(context, programs, &workload, &seconds, &peak));
    *bytes = peak - db_bench_workload_pixels(&workload) * sizeof(float);
    return DB_OK;
}

db_status db_bench_visit_cold_start(db_context *context, const db_bench_programs *programs,
                                    db_bench_series *series) {
    const db_bench_workload workload = { .size = COLD_START_SIZE, .load = &db_bench_loads[0] };
    return db_bench_run_ours_alone(context, programs, &workload, &series->seconds[series->count++],
                                   NULL);
}
