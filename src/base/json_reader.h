/* Values of a JSON document, with messages that name the wrong value. Built with jansson only. */
#ifndef DB_BASE_JSON_READER_H
#define DB_BASE_JSON_READER_H

#include <dualbragg/context.h>
#include <jansson.h>

/* A value and its place in the document, such as "beam[0].direction". */
typedef struct db_json {
    db_context *context;
    const char *path; /* of the file, borrowed */
    char place[160];
    const json_t *value; /* borrowed from the document; NULL: absent */
} db_json;

/* Reads a document whose root is an object. To be given back by json_decref. */
DB_API db_status db_json_open(db_context *context, const char *path, json_t **document,
                              db_json *root);

/* A member of an object, an element of an array; absent (value NULL) if there is none, or it is null. */
DB_API db_json db_json_member(const db_json *object, const char *key);
DB_API db_json db_json_element(const db_json *array, size_t index);

/* Fails with "<file>: <place>: expected <what>, found ...". */
DB_API db_status db_json_fail(const db_json *at, const char *expected);

/* Finite numbers. A list must have exactly `count`. */
DB_API db_status db_json_number(const db_json *at, double *value);
DB_API db_status db_json_numbers(const db_json *at, double *values, size_t count);
DB_API db_status db_json_integers(const db_json *at, int *values, size_t count);

/* Numbers of a value that may be absent; *values are then unchanged. */
DB_API db_status db_json_optional_number(const db_json *object, const char *key, double *value);
DB_API db_status db_json_optional_numbers(const db_json *object, const char *key, double *values,
                                          size_t count);

/* A string, or NULL without one. Borrowed from the document. */
DB_API const char *db_json_text(const db_json *object, const char *key);

#endif
