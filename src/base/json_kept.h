/* A JSON document that many shots read: the last one is kept. Built with jansson only. */
#ifndef DB_BASE_JSON_KEPT_H
#define DB_BASE_JSON_KEPT_H

#include "base/json_reader.h"

/* db_json_open for a shared document, which nobody changes, and which db_json_give_back returns, in any thread.
 * The file is read again after a change. */
DB_API db_status db_json_open_kept(db_context *context, const char *path, const json_t **document,
                                   db_json *root);
DB_API void db_json_give_back(const json_t *document); /* NULL: nothing */

#endif
