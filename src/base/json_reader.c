/* Values of JSON documents, with messages that name their place. */
#if defined(DB_HAVE_JANSSON)
#include "base/json_reader.h"

#include "base/context_internal.h"
#include "base/file_content.h"
#include "base/json_memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

db_status db_json_open(db_context *context, const char *path, json_t **document, db_json *root) {
    db_file_content content;
    json_error_t error;
    *document = NULL;
    DB_TRY(db_file_content_read(context, path, &content));
    const size_t failures = db_json_failures();
    *document = db_json_load(content.bytes, content.size, &error);
    db_file_content_clear(&content);
    if (db_json_failures() != failures) return db_fail_memory(context, path);
    if (!*document)
        return db_fail(context, DB_ERROR_INPUT, "%s:%d: expected JSON: %s", path, error.line,
                       error.text);
    *root = (db_json){ context, path, "", *document };
    if (json_is_object(*document)) return DB_OK;
    const db_status status = db_json_fail(root, "an object");
    json_decref(*document);
    *document = NULL;
    return status;
}

static db_json below(const db_json *from, const json_t *value) {
    db_json to = { from->context, from->path, "", json_is_null(value) ? NULL : value };
    return to;
}

db_json db_json_member(const db_json *object, const char *key) {
    db_json to = below(object, json_object_get(object->value, key));
    snprintf(to.place, sizeof to.place, "%.110s%s%.40s", object->place, *object->place ? "." : "",
             key);
    return to;
}

db_json db_json_element(const db_json *array, size_t index) {
    db_json to = below(array, json_array_get(array->value, index));
    snprintf(to.place, sizeof to.place, "%.130s[%zu]", array->place, index);
    return to;
}

db_status db_json_fail(const db_json *at, const char *expected) {
    char *text = at->value
                     ? json_dumps(at->value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII)
                     : NULL;
    const db_status status =
        db_fail(at->context, DB_ERROR_INPUT, "%s: %s%sexpected %s, found %.60s", at->path,
                at->place, *at->place ? ": " : "", expected,
                text        ? text
                : at->value ? "something else"
                            : "nothing");
    free(text);
    return status;
}

static int json_number_of(const json_t *value, double *number) {
    if (!json_is_number(value)) return 0;
    *number = json_number_value(value);
    return isfinite(*number);
}

db_status db_json_number(const db_json *at, double *value) {
    return json_number_of(at->value, value) ? DB_OK : db_json_fail(at, "a number");
}

db_status db_json_numbers(const db_json *at, double *values, size_t count) {
    int right = json_is_array(at->value) && json_array_size(at->value) == count;
    for (size_t i = 0; right && i < count; i++)
        right = json_number_of(json_array_get(at->value, i), &values[i]);
    char expected[40];
    snprintf(expected, sizeof expected, "a list of %zu numbers", count);
    return right ? DB_OK : db_json_fail(at, expected);
}

db_status db_json_integers(const db_json *at, int *values, size_t count) {
    int right = json_is_array(at->value) && json_array_size(at->value) == count;
    for (size_t i = 0; right && i < count; i++) {
        const json_t *const item = json_array_get(at->value, i);
        const json_int_t number = json_integer_value(item);
        right = json_is_integer(item) && number >= INT_MIN && number <= INT_MAX;
        if (right) values[i] = (int)number;
    }
    char expected[48];
    snprintf(expected, sizeof expected, "a list of %zu whole numbers", count);
    return right ? DB_OK : db_json_fail(at, expected);
}

db_status db_json_optional_number(const db_json *object, const char *key, double *value) {
    const db_json at = db_json_member(object, key);
    return at.value ? db_json_number(&at, value) : DB_OK;
}

db_status db_json_optional_numbers(const db_json *object, const char *key, double *values,
                                   size_t count) {
    const db_json at = db_json_member(object, key);
    return at.value ? db_json_numbers(&at, values, count) : DB_OK;
}

const char *db_json_text(const db_json *object, const char *key) {
    return json_string_value(json_object_get(object->value, key));
}
#else
typedef int db_without_jansson;
#endif
