/* dualbragg: selects the command, and answers questions about the program itself. */
#include "cli/complaint.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "cli/signals.h"
#include "cli/standard_streams.h"
#include "cli/waiting.h"
#include "base/nearest_name.h"

#ifdef DB_HAVE_CUDA
#include <dualbragg/cuda.h>
#endif
#include <dualbragg/expert/instruction_set.h>

#include <stdio.h>
#include <string.h>

enum { MOST_COMMANDS = 32 };

/* NULL if there is none of that name. */
static const db_command *command_named(const char *name) {
    for (const db_command *const *c = db_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

int db_command_absent(const db_command *command, int argc, char **argv) {
    char why[DB_SUMMARY_SIZE];
    (void)argc;
    (void)argv;
    db_command_summary(command, why);
    return db_status_exit_code(db_complain(command->name, DB_ERROR_UNSUPPORTED, "%s", why));
}

static int print_version(void) {
    db_context *context = NULL;
    const db_status status = db_context_create(&context);
    printf("dualbragg %s\ncomponents: %s\n", db_version(), db_features());
    if (!strstr(db_features(), "OpenMP"))
        printf("threads: one, since this build has no OpenMP (with clang it takes libomp)\n");
    if (status == DB_OK)
        printf("instruction set: %s\n", db_context_isa(context));
    else
        db_complain_context(NULL, status, context);
    db_context_destroy(&context);
    return db_status_exit_code(status);
}

static int wrong_command(const char *found) {
    const char *names[MOST_COMMANDS];
    char list[256] = "expected ";
    size_t count = 0;
    for (const db_command *const *c = db_commands; *c; c++) names[count++] = (*c)->name;
    names[count++] = "version";
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, "%s%s",
                 i + 1 == count ? " or "
                 : i            ? ", "
                                : "",
                 names[i]);
    }
    const db_status status =
        found[0] == '-'
            ? db_complain(NULL, DB_ERROR_USAGE, "no command named, found '%s'; %s", found, list)
            : db_complain(NULL, DB_ERROR_USAGE, "unknown command '%s'%s", found,
                          db_hint_at_names(found, names, count, list).text);
    return db_status_exit_code(status);
}

static int is_one_of(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run_command(int argc, char **argv) {
    const db_command *const command = command_named(argv[0]);
    if (strcmp(argv[0], "version") == 0) return print_version();
    if (!command) return wrong_command(argv[0]);
    if (argc > 1 && is_one_of(argv[1], "--version", "-version")) return print_version();
    if (argc == 2 && strcmp(argv[1], "-h") == 0) {
        db_print_short_help(stdout, command);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "help") == 0 && command->flags) {
        db_print_help(stdout, command);
        return 0;
    }
    const int code = command->run(command, argc, argv);
    if (argc == 1 && code != 0)
        db_remark(argv[0], "dualbragg help %s shows usage and examples", argv[0]);
    return code;
}

/* man [COMMAND] */
static int print_man(int argc, char **argv) {
    const db_command *const command = command_named(argc > 2 ? argv[2] : "help");
    if (!command) return wrong_command(argv[2]);
    db_print_man(stdout, command);
    return 0;
}

/* completion bash|zsh */
static int print_completion(int argc, char **argv) {
    const char *const shell = argc > 2 ? argv[2] : "";
    if (!is_one_of(shell, "bash", "zsh"))
        return db_status_exit_code(db_complain(
            "help", DB_ERROR_USAGE, "completion: expected bash or zsh, found '%s'", shell));
    (strcmp(shell, "bash") == 0 ? db_print_bash_completion : db_print_zsh_completion)(stdout);
    return 0;
}

/* help COMMAND SECTION */
static int print_section(const char *name, const char *section) {
    char sections[DB_GROUP_NAMES_SIZE];
    const db_command *const command = command_named(name);
    if (!command) return wrong_command(name);
    const db_flag_table *const table = command->flags;
    if (table && db_print_flag_group(stdout, table, section)) return 0;
    if (!table || !table->groups)
        return db_status_exit_code(db_complain("help", DB_ERROR_USAGE,
                                               "%s has no sections, found '%s'; dualbragg help %s "
                                               "shows all flags",
                                               name, section, name));
    db_flag_group_names(table, sections);
    return db_status_exit_code(db_complain("help", DB_ERROR_USAGE,
                                           "%s: expected one of the sections %s; found '%s'", name,
                                           sections, section));
}

/* help COMMAND is COMMAND --help. */
static int run_help(const db_command *command, int argc, char **argv) {
    char option[] = "--help";
    if (argc < 2 || is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
        db_print_help(stdout, command);
        return 0;
    }
    if (strcmp(argv[1], "--markdown") == 0) {
        db_print_flags_markdown(stdout, &db_sim_flags);
        return 0;
    }
    if (strcmp(argv[1], "man") == 0) return print_man(argc, argv);
    if (strcmp(argv[1], "completion") == 0) return print_completion(argc, argv);
    if (argc > 2) return print_section(argv[1], argv[2]);
    return run_command(2, (char *[]){ argv[1], option });
}

const db_command db_help_command = { "help", db_help_help, NULL, run_help };

static int run_given(int argc, char **argv) {
    if (argc < 2) {
        db_print_help(stderr, &db_help_command);
        return db_status_exit_code(DB_ERROR_USAGE);
    }
    if (is_one_of(argv[1], "--help", "-h")) return run_help(&db_help_command, 1, argv);
    if (is_one_of(argv[1], "--version", "-version")) return print_version();
    return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "fit") == 0)
        db_wait_asleep(argv); /* there are many small pieces of work */
    db_streams_open();
    db_signals_install();
    db_flags_complete();
#ifdef DB_HAVE_CUDA
    db_cuda_register();
#endif
    const int exit_status = db_streams_close(run_given(argc, argv));
    db_signals_finish();
    return exit_status;
}
