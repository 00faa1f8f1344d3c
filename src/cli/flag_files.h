/* The files that a command line names: its table of flags tells inputs from outputs. target: what
 * the flags fill. */
#ifndef DB_CLI_FLAG_FILES_H
#define DB_CLI_FLAG_FILES_H

#include "cli/arguments.h"
#include "cli/named_files.h"

/* "-" becomes standard input or output. */
void db_flag_files_settle(const db_flag_table *table, void *target);

void db_flag_files_list(const db_flag_table *table, const void *target, db_named_files *files);

/* Before any work: no output is an input or another output, and all can be written. files: others
 * that the command line names; they are cleared. */
db_status db_flag_files_check(const db_flag_table *table, const void *target,
                              db_named_files *files);

/* Standard input, if a file is to come from there, can be read more than once from now on. */
db_status db_flag_files_take_input(const db_flag_table *table, const void *target);

/* Once the flags are read for the last time and before anything is printed: an output that is
 * standard output has it for itself from now on. */
db_status db_flag_files_take_output(const db_flag_table *table, void *target);

#endif
