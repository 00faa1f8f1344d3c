/* The files that a refinement reads, from the table of keys. */
#ifndef DB_FIT_CLI_FIT_FILES_H
#define DB_FIT_CLI_FIT_FILES_H

#include "cli/named_files.h"

#include <dualbragg/fit.h>

/* The configuration and every file that it names; messages call them by their keys. */
void db_fit_files_add_inputs(const db_fit_config *config, db_named_files *files);

#endif
