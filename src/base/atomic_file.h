/* Atomic writing of files: completely or not at all. */
#ifndef DB_BASE_ATOMIC_FILE_H
#define DB_BASE_ATOMIC_FILE_H

#include "base/temporary_file.h"

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_file_part {
    const void *bytes;
    size_t size;
} db_file_part;

/* Writes the parts one after the other into a temporary file beside the target and renames it. On failure the
 * temporary file is removed, and an existing file stays unchanged. Symbolic links stay, and their target is
 * written, even if it does not exist yet; devices, pipes and open files (/dev/stdout, /dev/fd/3) are written
 * directly. */
DB_API db_status db_write_atomically(db_context *context, const char *path,
                                     const db_file_part *parts, size_t part_count);

/* Returns the next part, valid until the next call; size 0: no more. A failure, with its message, ends the
 * writing. */
typedef db_status (*db_part_source)(void *user, db_file_part *part);

/* Writes a file atomically from parts that a function makes one by one. */
db_status db_write_atomically_from(db_context *context, const char *path, db_part_source next,
                                   void *user);

/* A file that another library writes by its name: under a temporary name until it is complete. */
typedef struct db_pending_file {
    char *target; /* owned */
    db_temporary *temporary;
} db_pending_file;

/* Creates the empty temporary file for a target that is new or a file; devices and pipes are refused. */
db_status db_pending_begin(db_context *context, const char *path, db_pending_file *pending);

/* Renames it to the target if status is DB_OK, else removes it. Returns status, or the failure. */
db_status db_pending_end(db_context *context, const char *path, db_pending_file *pending,
                         db_status status);

#endif
