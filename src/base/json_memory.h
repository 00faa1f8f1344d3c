/* jansson without memory. It does not always report a failure: its parser loses the characters of a text that it
 * cannot grow, and then calls the text wrong, or aborts. Built with jansson only. */
#ifndef DB_BASE_JSON_MEMORY_H
#define DB_BASE_JSON_MEMORY_H

#include <dualbragg/context.h>
#include <jansson.h>

/* Number of failed allocations in this thread: if it has grown, results of jansson since then are not valid. The
 * first call installs counting functions around jansson's allocation functions. */
DB_API size_t db_json_failures(void);

/* json_loadb that gives up at the first failed allocation: returns NULL, with more failures. */
DB_API json_t *db_json_load(const char *bytes, size_t size, json_error_t *error);

/* Writes a document atomically; NULL: it could not be made. DB_ERROR_MEMORY if memory was missing since `failures`
 * was taken, else DB_ERROR_INPUT if it could not be made. flags: of json_dumps. */
DB_API db_status db_json_write(db_context *context, const char *path, const json_t *document,
                               size_t flags, size_t failures);

#endif
