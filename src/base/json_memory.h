/* What becomes of jansson when memory runs out. It does not always say so: its parser loses the
 * characters of a text that it cannot grow, and then takes the text for wrong or aborts. Built with
 * jansson only. */
#ifndef DB_BASE_JSON_MEMORY_H
#define DB_BASE_JSON_MEMORY_H

#include <dualbragg/context.h>
#include <jansson.h>

/* Allocations that have failed in this thread so far: if they are more than before, what jansson
 * made meanwhile is not to be trusted. The first call puts functions that count between jansson and
 * those that it allocates with. */
DB_API size_t db_json_failures(void);

/* json_loadb, which gives up at the first allocation that fails: NULL then, and more failures. */
DB_API json_t *db_json_load(const char *bytes, size_t size, json_error_t *error);

/* Writes a document, which is NULL if it could not be made, atomically; DB_ERROR_MEMORY if memory
 * has run out since failures were counted, else DB_ERROR_INPUT if it could not be made. flags: of
 * json_dumps. */
DB_API db_status db_json_write(db_context *context, const char *path, const json_t *document,
                               size_t flags, size_t failures);

#endif
