/* Commands of the program. Each is in a file command_NAME.c, which defines db_NAME_command; the build lists them
 * (cmake/Program.cmake). */
#ifndef DB_CLI_COMMAND_H
#define DB_CLI_COMMAND_H

#include "cli/arguments.h"

typedef struct db_command db_command;
struct db_command {
    const char *name;
    const char *help; /* the file help/NAME.txt, see cli/help.h */
    const db_flag_table *flags;
    /* Gets its own arguments, argv[0] being its name, and returns the exit status. */
    int (*run)(const db_command *command, int argc, char **argv);
};

/* In the order of the help; NULL at the end. */
extern const db_command *const db_commands[];
extern const db_command db_help_command;

/* Runs a command that this build lacks: its help says why. */
int db_command_absent(const db_command *command, int argc, char **argv);

#endif
