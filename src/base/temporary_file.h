/* Temporary files beside the files that they will replace. Their names are kept while they exist, so that a
 * program that ends early can remove them (db_remove_unfinished_files). */
#ifndef DB_BASE_TEMPORARY_FILE_H
#define DB_BASE_TEMPORARY_FILE_H

#include <dualbragg/context.h>

typedef struct db_temporary {
    struct db_temporary *next; /* next file that a handler has removed */
    long owner;                /* process of the file: a child must not remove its parent's files */
    char path[];
} db_temporary;

/* Creates a new file in the folder of `beside`, which ends with a slash or with a file name, with
 * permissions `mode` less the umask, for reading and writing. The descriptor, or -1 and errno; then
 * *temporary is NULL. */
DB_API int db_temporary_create(const char *beside, unsigned mode, db_temporary **temporary);

/* Takes an existing file, such as a lock. NULL without memory. */
DB_API db_temporary *db_temporary_adopt(const char *path);

/* Removes the file, or keeps it because it has another name now; frees *temporary. */
DB_API void db_temporary_remove(db_temporary **temporary);
DB_API void db_temporary_keep(db_temporary **temporary);

#endif
