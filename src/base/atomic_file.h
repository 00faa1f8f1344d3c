/* The one way files are written: whole or not at all. */
#ifndef DB_BASE_ATOMIC_FILE_H
#define DB_BASE_ATOMIC_FILE_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_file_part {
    const void *bytes;
    size_t size;
} db_file_part;

/* Writes the parts one after the other into a temporary file beside the target and renames it. On
 * failure the temporary file is removed and a file that existed before stays as it was. Symbolic
 * links stay and their target is written, which need not be there yet; devices, pipes and what is
 * open already (/dev/stdout, /dev/fd/3) are written directly. */
db_status db_write_atomically(db_context *context, const char *path, const db_file_part *parts,
                              size_t part_count);

/* Hands over the next part, valid until the next call; size 0: there is none. A failure, with its
 * message, ends the writing. */
typedef db_status (*db_part_source)(void *user, db_file_part *part);

/* The same with parts that come into being one by one. */
db_status db_write_atomically_from(db_context *context, const char *path, db_part_source next,
                                   void *user);

#endif
