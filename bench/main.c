/* dualbragg_bench: how long images and derivative images take. */
#include "bench/report.h"
#include "bench/measure.h"
#include "base/context_internal.h"
#include "base/path.h"

#ifdef DB_HAVE_CUDA
#include <dualbragg/cuda.h>
#endif
#include <dualbragg/io.h>
#include <dualbragg/version.h>
#include <dualbragg/expert/text_file.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static db_status write_report(db_context *context, const char *prefix, const char *suffix,
                              const char *text) {
    const size_t size = strlen(prefix) + strlen(suffix) + 1;
    char *path = malloc(size);
    if (!path) return db_fail_memory(context, "the name of a report");
    snprintf(path, size, "%s%s", prefix, suffix);
    const db_status status = db_write_text(context, path, text, strlen(text));
    free(path);
    return status;
}

static db_status report(db_context *context, const db_bench_results *results) {
    const char *prefix = results->options.output;
    char *markdown = NULL;
    char *json = NULL;
    db_status status = db_bench_report_markdown(context, results, &markdown);
    if (status == DB_OK) status = db_bench_report_json(context, results, &json);
    if (status == DB_OK) fputs(markdown, stdout);
    if (status == DB_OK && prefix) status = write_report(context, prefix, ".md", markdown);
    if (status == DB_OK && prefix) status = write_report(context, prefix, ".json", json);
    free(markdown);
    free(json);
    if (status == DB_OK && fflush(stdout) != 0)
        status =
            db_fail(context, DB_ERROR_FILE, "the tables cannot be written to the standard output");
    return status;
}

/* Fails before the work, not after, if reports cannot be written to the folder. */
static db_status try_output(db_context *context, const char *prefix) {
    if (!prefix) return DB_OK;
    char *folder = db_path_beside(prefix, ".");
    if (!folder) return db_fail_memory(context, "the name of a folder");
    const int error = access(folder, W_OK | X_OK) == 0 ? 0 : errno;
    free(folder);
    if (!error) return DB_OK;
    return db_fail(context, DB_ERROR_FILE, "--output %s: reports cannot be written there: %s",
                   prefix, strerror(error));
}

static void print_version(void) {
    db_bench_machine machine;
    db_bench_describe_machine(&machine);
    printf("dualbragg_bench %s\ncompiler: %s, %s\n", db_version(), machine.compiler,
           machine.compiler_flags);
}

static db_status run(db_context *context, int argc, char **argv) {
    db_bench_options options;
    static db_bench_results results; /* too large for the stack */
    DB_TRY(db_bench_read_options(context, argc, argv, &options));
    if (options.help) {
        db_bench_print_help();
        return DB_OK;
    }
    if (options.version) {
        print_version();
        return DB_OK;
    }
    if (options.once) return db_bench_single_call(context, &options);
    DB_TRY(try_output(context, options.output));
    db_status status = db_bench_measure(context, &options, &results);
    if (status == DB_OK) status = report(context, &results);
    db_bench_results_clear(&results);
    return status;
}

int main(int argc, char **argv) {
    db_context *context = NULL;
#ifdef DB_HAVE_CUDA
    db_cuda_register();
#endif
    db_status status = db_context_create(&context);
    if (status == DB_OK) status = run(context, argc, argv);
    const char *const message = context ? db_context_message(context) : db_status_text(status);
    if (status != DB_OK && *message) fprintf(stderr, "dualbragg_bench: %s\n", message);
    db_context_destroy(&context);
    return db_status_exit_code(status);
}
