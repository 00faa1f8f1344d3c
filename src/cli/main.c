/* dualbragg: which subcommand, and the little that is asked of the program itself. */
#include "cli/command.h"
#include "cli/complaint.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "base/nearest_name.h"

#ifdef DB_HAVE_CUDA
#include <dualbragg/cuda.h>
#endif
#include <stdio.h>
#include <string.h>

#ifndef DB_HAVE_FIT
static int fit_is_missing(int argc, char **argv) {
    (void)argc;
    (void)argv;
    return db_status_exit_code(db_complain("fit", DB_ERROR_UNSUPPORTED,
                                           "this build has no refinement (it needs NLopt, GSL, "
                                           "libyaml and jansson when it is configured)"));
}
#define db_command_fit fit_is_missing
#endif

static int print_version(int argc, char **argv) {
    db_context *context = NULL;
    (void)argc;
    (void)argv;
    const db_status status = db_context_create(&context);
    printf("dualbragg %s\ncomponents: %s\n", db_version(), db_features());
    if (status == DB_OK)
        printf("instruction set: %s\n", db_context_isa(context));
    else
        db_complain_context(NULL, status, context);
    db_context_destroy(&context);
    return db_status_exit_code(status);
}

static int print_help(int argc, char **argv);

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} commands[] = {
    { "sim", db_command_sim }, { "grad", db_command_grad },       { "check", db_command_check },
    { "fit", db_command_fit }, { "amorphous", db_command_sim },   { "orient", db_command_orient },
    { "add", db_command_add }, { "compare", db_command_compare }, { "noise", db_command_noise },
    { "help", print_help },    { "version", print_version },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static int wrong_command(const char *found) {
    const char *names[COMMAND_COUNT];
    char list[256] = "expected ";
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const size_t length = strlen(list);
        names[i] = commands[i].name;
        snprintf(list + length, sizeof list - length, "%s%s",
                 i + 1 == COMMAND_COUNT ? " or "
                 : i                    ? ", "
                                        : "",
                 names[i]);
    }
    const db_status status =
        found[0] == '-'
            ? db_complain(NULL, DB_ERROR_USAGE, "no command named, found '%s'; %s", found, list)
            : db_complain(NULL, DB_ERROR_USAGE, "unknown command '%s'%s", found,
                          db_hint_at_names(found, names, COMMAND_COUNT, list).text);
    return db_status_exit_code(status);
}

static int is_one_of(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run_command(int argc, char **argv) {
    if (argc > 1 && is_one_of(argv[1], "--version", "-version")) return print_version(argc, argv);
    if (argc == 2 && strcmp(argv[1], "help") == 0)
        return print_help(2, (char *[]){ argv[1], argv[0] });
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(argv[0], commands[i].name) != 0) continue;
        const int code = commands[i].run(argc, argv);
        if (argc == 1 && code != 0)
            db_remark(argv[0], "dualbragg help %s shows what it takes, by example", argv[0]);
        return code;
    }
    return wrong_command(argv[0]);
}

/* help COMMAND is COMMAND --help. */
static int print_help(int argc, char **argv) {
    char option[] = "--help";
    if (argc < 2 || is_one_of(argv[1], "--help", "-h")) {
        db_help_overview(stdout);
        return 0;
    }
    if (strcmp(argv[1], "--markdown") == 0) {
        db_flags_print_markdown(stdout);
        return 0;
    }
    return run_command(2, (char *[]){ argv[1], option });
}

static int run(int argc, char **argv) {
    if (argc < 2) {
        db_help_overview(stderr);
        return db_status_exit_code(DB_ERROR_USAGE);
    }
    if (is_one_of(argv[1], "--help", "-h")) return print_help(1, argv);
    if (is_one_of(argv[1], "--version", "-version")) return print_version(1, argv);
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    db_streams_open();
    db_signals_install();
#ifdef DB_HAVE_CUDA
    db_cuda_register();
#endif
    const int exit_status = db_streams_close(run(argc, argv));
    db_signals_finish();
    return exit_status;
}
