/* JSON documents: values, and tables of fields that describe objects and write them. */
#ifndef DB_FIT_REPORT_JSON_DOCUMENT_H
#define DB_FIT_REPORT_JSON_DOCUMENT_H

#include "fit/config/config_keys.h"
#include "base/json_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Adds a value to an object or array; a value that could not be made marks the document. */
typedef struct db_document {
    const db_fit_panel_groups *groups; /* groups of the configuration */
    const db_fit_config *config;       /* the configuration; NULL: unknown */
    const db_fit_config *refined;      /* the refined model as a configuration; NULL: none */
    const db_fit_estimates *estimates; /* shared estimates for the document; NULL: none */
    json_t *root;
    int incomplete;
    size_t failures; /* failed allocations before the document */
} db_document;

static inline void db_document_set(db_document *d, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) d->incomplete = 1;
}

static inline void db_document_add(db_document *d, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) d->incomplete = 1;
}

/* JSON knows no NaN and no infinity: null. */
static inline json_t *db_document_number(double value) {
    return isfinite(value) ? json_real(value) : json_null();
}

/* A letter, or null for 0. */
static inline json_t *db_document_letter(int letter) {
    const char text = (char)letter;
    return letter ? json_stringn(&text, 1) : json_null();
}

static inline json_t *db_document_numbers(db_document *d, const double *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) db_document_add(d, array, db_document_number(values[i]));
    return array;
}

/* A text that need not be UTF-8, such as a file name. */
json_t *db_document_text(const char *bytes);

/* Name of a quantity with this number. */
json_t *db_document_quantity(const db_document *d, db_fit_quantity quantity);

/* Keys of a section that have a value, by their names in the configuration. */
json_t *db_document_section(db_document *d, const db_config_section *section, const void *base);

/* Begins a document: an empty object. */
db_document db_document_begin(const db_fit_panel_groups *groups);

/* Ends the document: writes it atomically if the status is DB_OK and it is complete, and frees it. */
db_status db_document_end(db_context *context, db_document *d, db_status status, const char *path);

/* Prints the document so that it can be in a <script> of a page, for any texts in it, and frees it. */
db_status db_document_print(db_context *context, db_document *d, FILE *stream);

/* Kind of a field's value. */
typedef enum db_json_kind {
    DB_JSON_NUMBER,   /* double */
    DB_JSON_INTEGER,  /* int */
    DB_JSON_COUNT,    /* size_t */
    DB_JSON_YES_NO,   /* int */
    DB_JSON_TEXT,     /* const char * */
    DB_JSON_LETTERS,  /* char[] */
    DB_JSON_NUMBERS,  /* double[] */
    DB_JSON_INTEGERS, /* int[] */
    DB_JSON_OBJECT,   /* a struct, described by a table of its own */
    DB_JSON_LIST,     /* a pointer to such structs, and their number (size_t) */
    DB_JSON_TEXTS,    /* const char **, and their number */
    DB_JSON_LINES,    /* a pointer to char[], and their number */
    DB_JSON_SECTION,  /* section of the configuration with this number */
    DB_JSON_MADE      /* result of a function */
} db_json_kind;

/* A field of an object: a member of the struct, or a value made from it. */
typedef struct db_json_field {
    const char *name;
    const char *unit;
    const char *help;
    db_json_kind kind;
    /* offset of the member, size of it or of one of its structs, in bytes */
    size_t offset, size;
    size_t count;                    /* offset of a list's length; number of a section */
    int (*is_there)(const void *of); /* NULL: always */
    json_t *(*make)(db_document *d, const void *of);
    const char *type;                   /* type of a made value, for readers */
    const struct db_json_table *fields; /* fields of an object, or of a list's objects */
} db_json_field;

typedef struct db_json_table {
    const db_json_field *field;
    size_t count;
} db_json_table;

/* Rows of a table. OF is the described struct, defined before the table. VALUE: a member under its own name;
 * NAMED: under another name; FLAG: an int for yes or no; PART: a member that is a struct; SELF: some fields of the
 * struct, together; LIST: a member that points to structs; TEXTS, LINES: to texts; SECTION: of the configuration;
 * MADE: result of a function. _IF: only if is_there(struct) is true. */
#define VALUE(member, unit, help) NAMED(#member, member, unit, help)
#define VALUE_IF(is_there, member, unit, help) NAMED_IF(is_there, #member, member, unit, help)
#define NAMED(name, member, unit, help) NAMED_IF(NULL, name, member, unit, help)
#define NAMED_IF(is_there, name, member, unit, help)                                               \
    DB_JSON_ROW(is_there, DB_JSON_KIND_OF(((OF *)0)->member), name, member, unit, help)
#define FLAG(member, help) NAMED_FLAG(#member, member, help)
#define FLAG_IF(is_there, member, help)                                                            \
    DB_JSON_ROW(is_there, DB_JSON_YES_NO, #member, member, "", help)
#define NAMED_FLAG(name, member, help) DB_JSON_ROW(NULL, DB_JSON_YES_NO, name, member, "", help)
#define PART(member, table, help)                                                                  \
    { #member, "", help, DB_JSON_OBJECT, offsetof(OF, member), 1, 0, NULL, NULL, NULL, &(table) }
#define SELF(name, table, help)                                                                    \
    { name, "", help, DB_JSON_OBJECT, 0, 0, 0, NULL, NULL, NULL, &(table) }
#define LIST(name, member, count, table, help)                                                     \
    DB_JSON_LIST_ROW(DB_JSON_LIST, name, member, count, &(table), help)
#define TEXTS(member, count, help)                                                                 \
    DB_JSON_LIST_ROW(DB_JSON_TEXTS, #member, member, count, NULL, help)
#define LINES(member, count, help)                                                                 \
    DB_JSON_LIST_ROW(DB_JSON_LINES, #member, member, count, NULL, help)
#define SECTION(name, number, help)                                                                \
    { name, "", help, DB_JSON_SECTION, 0, 0, number, NULL, NULL, NULL, NULL }
#define MADE(name, function, type, fields, unit, help)                                             \
    MADE_IF(NULL, name, function, type, fields, unit, help)
#define MADE_IF(is_there, name, function, type, fields, unit, help)                                \
    { name, unit, help, DB_JSON_MADE, 0, 0, 0, is_there, function, type, fields }
#define DB_JSON_LIST_ROW(kind, name, member, count, table, help)                                   \
    {                                                                                              \
        name, "", help, kind, offsetof(OF, member), sizeof *((OF *)0)->member,                     \
            offsetof(OF, count), NULL, NULL, NULL, table                                           \
    }
#define DB_JSON_ROW(is_there, kind, name, member, unit, help)                                      \
    {                                                                                              \
        name, unit, help, kind, offsetof(OF, member), sizeof(((OF *)0)->member), 0, is_there,      \
            NULL, NULL, NULL                                                                       \
    }
#define TABLE(name, rows) const db_json_table name = { rows, sizeof(rows) / sizeof *(rows) }

/* clang-format off */
#define DB_JSON_KIND_OF(member)                                                                    \
    _Generic((member),                                                                             \
        double: DB_JSON_NUMBER, int: DB_JSON_INTEGER, size_t: DB_JSON_COUNT,                       \
        const char *: DB_JSON_TEXT, char *: DB_JSON_LETTERS,                                       \
        double *: DB_JSON_NUMBERS, int *: DB_JSON_INTEGERS)
/* clang-format on */

/* The fields of a struct as an object; of `count` structs as a list. */
json_t *db_json_object(db_document *d, const db_json_table *table, const void *of);
json_t *db_json_list(db_document *d, const db_json_table *table, const void *first, size_t count,
                     size_t stride);
/* Adds the fields of a struct to an object. */
void db_json_fill(db_document *d, json_t *object, const db_json_table *table, const void *of);

/* The table as rows of Markdown: value, type, unit, meaning. */
void db_json_print_fields(FILE *stream, const db_json_table *table);

#endif
