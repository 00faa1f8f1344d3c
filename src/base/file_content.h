/* A whole file in memory. */
#ifndef DB_BASE_FILE_CONTENT_H
#define DB_BASE_FILE_CONTENT_H

#include <dualbragg/context.h>
#include <stddef.h>

typedef struct db_file_content {
    char *bytes; /* size bytes and a final zero that is not counted */
    size_t size;
} db_file_content;

/* Reads everything. The content is zeroed on failure. Files packed by gzip are unpacked; others that
 * are compressed are refused with a hint. */
DB_API db_status db_file_content_read(db_context *context, const char *path,
                                      db_file_content *content);
DB_API void db_file_content_clear(db_file_content *content);

/* Little-endian or big-endian machine? */
static inline int db_machine_is_big_endian(void) { return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__; }

#endif
