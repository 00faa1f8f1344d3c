/* What each subcommand is for, with examples to start from. */
#ifndef DB_CLI_HELP_H
#define DB_CLI_HELP_H

#include <stdio.h>

/* The program's own help: subcommands and first steps. */
void db_help_overview(FILE *out);

/* Help of sim, grad or check, with all its flags. */
void db_help_command(FILE *out, const char *command);

#endif
