/* JSON documents that are composed: values, and what every output of a refinement says. */
#ifndef DB_FIT_REPORT_JSON_DOCUMENT_H
#define DB_FIT_REPORT_JSON_DOCUMENT_H

#include "fit/config/config_keys.h"
#include "base/json_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds to an object or array; a value that could not be made marks the document. */
typedef struct db_document {
    const db_fit_panel_groups *groups; /* of the configuration */
    json_t *root;
    int incomplete;
    size_t failures; /* of allocations, before the document was begun */
} db_document;

static inline void set(db_document *d, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) d->incomplete = 1;
}

static inline void add(db_document *d, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) d->incomplete = 1;
}

/* JSON knows no NaN and no infinity: null. */
static inline json_t *number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *numbers(db_document *d, const double *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) add(d, array, number(values[i]));
    return array;
}

/* A text that need not be UTF-8, such as a file name. */
json_t *db_document_text(const char *bytes);

/* Name of a quantity by its number. */
json_t *db_document_quantity(const db_document *d, int number_of_it);

/* The keys of a section that have a value, under their names in the configuration. */
json_t *db_document_section(db_document *d, const db_config_section *section, const void *base);

/* Program, version, command, files, date; what was asked for. */
json_t *db_document_provenance(db_document *d, const db_fit_config *config);
json_t *db_document_settings(db_document *d, const db_fit_config *config);

/* A document that is an empty object so far. */
db_document db_document_begin(const db_fit_panel_groups *groups);

/* Ends the document: writes it atomically if the status is DB_OK and it is complete, and lets go of
 * it. */
db_status db_document_end(db_context *context, db_document *d, db_status status, const char *path);

#endif
