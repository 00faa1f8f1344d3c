#include "bench/programs.h"

#include "bench/child_process.h"
#include "base/context_internal.h"

#include <dualbragg/io.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char float_file[] = "image.f32", int_file[] = "image.img";

/* Makes a path independent of the working directory. A bare name stays: it is searched for in PATH.
 */
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
