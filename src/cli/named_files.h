/* The files that a run names, as inputs and outputs: no output may be an input, nor another output.
 * Other spellings and links are seen through; devices may be named as often as one likes. */
#ifndef DB_CLI_NAMED_FILES_H
#define DB_CLI_NAMED_FILES_H

#include <dualbragg/status.h>

#include <stddef.h>

typedef struct db_named_files {
    struct db_named_file *file;
    size_t count, capacity;
    int takes_output; /* one of them is standard output itself */
    int incomplete;   /* memory ran out */
} db_named_files;

typedef enum db_file_role { DB_ROLE_INPUT, DB_ROLE_OUTPUT } db_file_role;

/* flag: what named it, for messages. A path that is NULL or empty is none. */
void db_named_files_add(db_named_files *files, db_file_role role, const char *flag,
                        const char *path);

/* After all others: standard output, where it has been redirected to a file and is for what is
 * printed. */
void db_named_files_add_printed(db_named_files *files);

/* Reports two names of one file, of which one is an output, and returns DB_ERROR_USAGE. Clears the
 * list. */
db_status db_named_files_check(const char *command, db_named_files *files);

void db_named_files_clear(db_named_files *files);

#endif
