/* Outputs: checked before the work starts, not after. */
#ifndef DB_CLI_OUTPUT_H
#define DB_CLI_OUTPUT_H

#include <dualbragg/status.h>

/* Reports and returns DB_ERROR_FILE unless a file with this name can be created or replaced. path may be NULL. */
db_status db_output_check(const char *command, const char *flag, const char *path);

/* As db_output_check, for a file that a terminal cannot show: DB_ERROR_USAGE if standard output is one. */
db_status db_output_check_image(const char *command, const char *flag, const char *path);

/* DIRECTORY/PREFIX_NAME.SUFFIX; the caller frees it. NULL without memory. */
char *db_output_path(const char *directory, const char *prefix, const char *name,
                     const char *suffix);

/* Can this build write pictures? */
int db_output_has_png(void);

#endif
