/* Numbers in a file as they are in memory, for the same program to read again: blocks, each with its size and
 * its digest, so that a file which was cut off or damaged is noticed. */
#ifndef DB_FIT_SHOTS_ARCHIVE_H
#define DB_FIT_SHOTS_ARCHIVE_H

#include <dualbragg/context.h>

#include <stddef.h>
#include <stdio.h>

typedef struct db_archive {
    db_context *context;
    const char *path;
    FILE *file; /* NULL: closed */
    int writes;
} db_archive;

/* Failures name the file: DB_ERROR_FILE, or DB_ERROR_INPUT where its content is not what is expected. path
 * is borrowed. */
db_status db_archive_open(db_context *context, const char *path, int writes, db_archive *archive);

/* The next block. */
db_status db_archive_put(db_archive *archive, const void *data, size_t bytes);

/* Reads the next block, which must have so many bytes. */
db_status db_archive_get(db_archive *archive, void *data, size_t bytes);

/* Leaves the next block out. */
db_status db_archive_skip(db_archive *archive);

/* Has everything been read? */
int db_archive_at_end(db_archive *archive);

/* Closes the file; what could not be written is noticed now at the latest. */
db_status db_archive_close(db_archive *archive);

#endif
