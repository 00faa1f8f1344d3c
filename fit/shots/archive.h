/* Numbers in a file as they are in memory, for the same program to read again: one function names each of
 * them once, and writes or reads. */
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

/* DB_ERROR_FILE names the file, as in all of these. */
db_status db_archive_open(db_context *context, const char *path, int writes, db_archive *archive);

/* So many bytes to the file, or from it, at the next place. archive: a db_archive. */
db_status db_archive_move(void *archive, void *data, size_t bytes);

/* Goes over so many bytes that are not read. */
db_status db_archive_pass(db_archive *archive, size_t bytes);

/* Has everything been read? */
int db_archive_at_end(db_archive *archive);

/* Closes the file; what could not be written is noticed now at the latest. */
db_status db_archive_close(db_archive *archive);

#endif
