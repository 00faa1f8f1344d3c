/* Files of a run, inputs and outputs: no output may be an input or another output. Other spellings and links are
 * recognized; devices may be named repeatedly. */
#ifndef DB_CLI_NAMED_FILES_H
#define DB_CLI_NAMED_FILES_H

#include <dualbragg/status.h>

#include <stddef.h>

typedef struct db_named_files {
    struct db_named_file *file;
    size_t count, capacity;
    int takes_output; /* 1: one of them is standard output itself */
    int incomplete;   /* 1: memory ran out */
} db_named_files;

typedef enum db_file_role { DB_ROLE_INPUT, DB_ROLE_OUTPUT } db_file_role;

/* flag: which names it, for messages. A path that is NULL or empty is ignored. */
void db_named_files_add(db_named_files *files, db_file_role role, const char *flag,
                        const char *path);

/* After all others: adds standard output, if it is redirected to a file and receives printed text. */
void db_named_files_add_printed(db_named_files *files);

/* Reports two names of one file, if one is an output, and returns DB_ERROR_USAGE. Clears the list. */
db_status db_named_files_check(const char *command, db_named_files *files);

void db_named_files_clear(db_named_files *files);

#endif
