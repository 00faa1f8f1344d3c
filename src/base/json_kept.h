/* A JSON document that is read again and again, as by each of many shots: the last one is kept. Built
 * with jansson only. */
#ifndef DB_BASE_JSON_KEPT_H
#define DB_BASE_JSON_KEPT_H

#include "base/json_reader.h"

/* db_json_open of a document that may be others', too: not to be changed, and to be given back by
 * db_json_give_back, whatever thread. The file is read again once it has changed. */
DB_API db_status db_json_open_kept(db_context *context, const char *path, const json_t **document,
                                   db_json *root);
DB_API void db_json_give_back(const json_t *document); /* NULL: nothing */

#endif
