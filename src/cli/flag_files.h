/* The files that a command line names, as the table of flags tells inputs from outputs. */
#ifndef DB_CLI_FLAG_FILES_H
#define DB_CLI_FLAG_FILES_H

#include "cli/named_files.h"
#include "cli/settings.h"

/* "-" becomes standard input or output. */
void db_flag_files_settle(db_settings *settings);

void db_flag_files_list(const db_settings *settings, db_named_files *files);

/* Before any work: no output is an input or another output, and all can be written. */
db_status db_flag_files_check(const db_settings *settings);

/* Standard input, if a file is to come from there, can be read more than once from now on. */
db_status db_flag_files_take_input(const db_settings *settings);

/* Once the flags are read for the last time and before anything is printed: an output that is
 * standard output has it for itself from now on. */
db_status db_flag_files_take_output(db_settings *settings);

#endif
