/* Files packed by gzip. */
#ifndef DB_BASE_GZIP_H
#define DB_BASE_GZIP_H

#include <dualbragg/context.h>
#include <stddef.h>
#include <string.h>

static inline int db_is_gzip(const char *bytes, size_t size) {
    return size > 2 && memcmp(bytes, "\x1f\x8b\x08", 3) == 0;
}

/* Replaces the bytes of a file packed by gzip (from malloc) by its content and a final zero that is not counted.
 * After a failure they are unchanged: DB_ERROR_INPUT for a damaged file and for more than 1 GiB;
 * DB_ERROR_UNSUPPORTED in a build without zlib. */
db_status db_gzip_unpack(db_context *context, const char *path, char **bytes, size_t *size);

/* First bytes of the content, as many as there is room for; 0 if it is damaged, or in a build without zlib. */
size_t db_gzip_start(const char *bytes, size_t size, char *start, size_t room);

#endif
