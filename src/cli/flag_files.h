/* Files of a command line: its table of flags distinguishes inputs and outputs. target: struct of the flags. */
#ifndef DB_CLI_FLAG_FILES_H
#define DB_CLI_FLAG_FILES_H

#include "cli/arguments.h"
#include "cli/named_files.h"

/* Replaces "-" by standard input or output. */
void db_flag_files_settle(const db_flag_table *table, void *target);

void db_flag_files_list(const db_flag_table *table, const void *target, db_named_files *files);

/* Before any work: no output is an input or another output, and all can be written. files: other files of the
 * command line; they are cleared. */
db_status db_flag_files_check(const db_flag_table *table, const void *target,
                              db_named_files *files);

/* Makes standard input readable more than once, if a file comes from there. */
db_status db_flag_files_take_input(const db_flag_table *table, const void *target);

/* After the flags were read for the last time, before anything is printed: reserves standard output for an output
 * that is written there. */
db_status db_flag_files_take_output(const db_flag_table *table, void *target);

#endif
