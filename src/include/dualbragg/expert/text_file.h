/** @file
 * Text files that are written whole or not at all. */
#ifndef DUALBRAGG_EXPERT_TEXT_FILE_H
#define DUALBRAGG_EXPERT_TEXT_FILE_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes a text file as a whole (atomically).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param text `length` bytes
 * @param length their number
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_text(db_context *context, const char *path, const char *text,
                               size_t length);

#ifdef __cplusplus
}
#endif
#endif
