/* Writes tables of fields as JSON with jansson, and describes them for docs/reference/json.md. */
#define _POSIX_C_SOURCE 200809L
#include "fit/report/json_document.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/config/quantity.h"

#include <dualbragg/expert/fit_quantities.h>

json_t *db_document_text(const char *bytes) {
    json_t *const plain = json_string(bytes);
    if (plain) return plain;
    char *const copy = strdup(bytes);
    if (!copy) return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c > 0x7e) *c = '?';
    json_t *const replaced = json_string(copy);
    free(copy);
    return replaced;
}

json_t *db_document_quantity(const db_document *d, db_fit_quantity quantity) {
    char name[DB_FIT_NAME_SIZE];
    return json_string(db_fit_quantity_name(d->groups, quantity, name));
}

static json_t *lattices(int count) {
    return count > 1 ? json_pack("{s:i}", "lattices", count) : json_string(count ? "yes" : "no");
}

static json_t *key_element(db_document *d, const db_config_key *key, const void *field, int index) {
    switch (key->is->kind) {
    case DB_FIELD_NUMBER:
        return db_document_number(((const double *)field)[index] / key->is->factor);
    case DB_FIELD_INTEGER: return json_integer(db_config_integer(field, index));
    case DB_FIELD_SEED: return json_integer(((const long *)field)[index]);
    case DB_FIELD_CHOICE: return json_string(key->is->choices[db_config_integer(field, index)]);
    case DB_KEY_FILE:
    case DB_KEY_SITES:
    case DB_KEY_NAME: return db_document_text(field);
    case DB_KEY_ALGORITHM: return json_string(db_stage_algorithm(field));
    case DB_KEY_LATTICES: return lattices(db_config_integer(field, index));
    case DB_KEY_PARAMETER: return db_document_quantity(d, *(const db_fit_quantity *)field);
    case DB_KEY_PARAMETER_SET: break;
    }
    json_t *const names = json_array();
    int any = 0;
    for (int q = 0; q < DB_FIT_MOST_QUANTITIES; q++) {
        if (!((const unsigned char *)field)[q]) continue;
        if (q < DB_FIT_FIRST_CURVE)
            db_document_add(d, names, db_document_quantity(d, (db_fit_quantity){ q }));
        any |= q >= DB_FIT_FIRST_CURVE;
    }
    if (any) db_document_add(d, names, json_string(db_curves_name)); /* all points together */
    return names;
}

json_t *db_document_section(db_document *d, const db_config_section *section, const void *base) {
    json_t *const object = json_object();
    for (size_t k = 0; k < section->count; k++) {
        const db_config_key *const key = &section->keys[k];
        const void *const field = db_config_field(key, base);
        if (db_config_key_is_open(key, base)) continue;
        json_t *value = key->is->count > 1 ? json_array() : key_element(d, key, field, 0);
        if (key->is->count > 1)
            for (int i = 0; i < db_config_key_values(key, base); i++)
                db_document_add(d, value, key_element(d, key, field, i));
        db_document_set(d, object, key->is->name, value);
    }
    return object;
}

db_document db_document_begin(const db_fit_panel_groups *groups) {
    db_document d = { .groups = groups, .failures = db_json_failures() };
    d.root = json_object();
    return d;
}

static void let_go(db_document *d) {
    json_decref(d->root);
    d->root = NULL;
}

db_status db_document_end(db_context *context, db_document *d, db_status status, const char *path) {
    if (status == DB_OK)
        status = db_json_write(context, path, d->incomplete ? NULL : d->root,
                               JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(17),
                               d->failures);
    let_go(d);
    return status;
}

/* In JSON '<' occurs only in texts, where a page might take it for the end of its script. */
static int print_escaped(const char *bytes, size_t count, void *stream) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == '<')
            fputs("\\u003c", stream);
        else
            fputc(bytes[i], stream);
    return ferror((FILE *)stream) ? -1 : 0;
}

db_status db_document_print(db_context *context, db_document *d, FILE *stream) {
    const int printed = !d->incomplete && json_dump_callback(d->root, print_escaped, stream,
                                                             JSON_COMPACT | JSON_PRESERVE_ORDER |
                                                                 JSON_REAL_PRECISION(12)) == 0;
    let_go(d);
    return db_need_memory(context, printed && db_json_failures() == d->failures, "the report");
}

static json_t *integers(db_document *d, const int *values, size_t count) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++) db_document_add(d, array, json_integer(values[i]));
    return array;
}

/* A list of the field's kind. */
static json_t *list_of(db_document *d, const db_json_field *field, const void *of) {
    const size_t count = *(const size_t *)((const char *)of + field->count);
    const char *first; /* of structs, pointers or lines */
    memcpy(&first, (const char *)of + field->offset, sizeof first);
    if (field->kind == DB_JSON_LIST)
        return db_json_list(d, field->fields, first, count, field->size);
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++, first += field->size) {
        const char *text = first;
        if (field->kind == DB_JSON_TEXTS) memcpy(&text, first, sizeof text);
        db_document_add(d, array, db_document_text(text));
    }
    return array;
}

static json_t *value_of(db_document *d, const db_json_field *field, const void *of) {
    const void *const member = (const char *)of + field->offset;
    switch (field->kind) {
    case DB_JSON_NUMBER: return db_document_number(*(const double *)member);
    case DB_JSON_INTEGER: return json_integer(*(const int *)member);
    case DB_JSON_COUNT: return json_integer((json_int_t) * (const size_t *)member);
    case DB_JSON_YES_NO: return json_boolean(*(const int *)member);
    case DB_JSON_TEXT: return db_document_text(*(const char *const *)member);
    case DB_JSON_LETTERS: return db_document_text(member);
    case DB_JSON_NUMBERS: return db_document_numbers(d, member, field->size / sizeof(double));
    case DB_JSON_INTEGERS: return integers(d, member, field->size / sizeof(int));
    case DB_JSON_OBJECT: return db_json_object(d, field->fields, member);
    case DB_JSON_LIST:
    case DB_JSON_TEXTS:
    case DB_JSON_LINES: return list_of(d, field, of);
    case DB_JSON_SECTION:
        return db_document_section(d, &db_config_sections[field->count], d->config);
    case DB_JSON_MADE: break;
    }
    return field->make(d, of);
}

void db_json_fill(db_document *d, json_t *object, const db_json_table *table, const void *of) {
    for (size_t i = 0; i < table->count; i++) {
        const db_json_field *const field = &table->field[i];
        if (!field->is_there || field->is_there(of))
            db_document_set(d, object, field->name, value_of(d, field, of));
    }
}

json_t *db_json_object(db_document *d, const db_json_table *table, const void *of) {
    json_t *const object = json_object();
    db_json_fill(d, object, table, of);
    return object;
}

json_t *db_json_list(db_document *d, const db_json_table *table, const void *first, size_t count,
                     size_t stride) {
    json_t *const array = json_array();
    for (size_t i = 0; i < count; i++)
        db_document_add(d, array, db_json_object(d, table, (const char *)first + i * stride));
    return array;
}

static void print_type(FILE *stream, const db_json_field *field) {
    switch (field->kind) {
    case DB_JSON_NUMBER: fputs("number", stream); break;
    case DB_JSON_INTEGER:
    case DB_JSON_COUNT: fputs("integer", stream); break;
    case DB_JSON_YES_NO: fputs("yes/no", stream); break;
    case DB_JSON_TEXT:
    case DB_JSON_LETTERS: fputs("text", stream); break;
    case DB_JSON_NUMBERS:
        fprintf(stream, "list of %zu numbers", field->size / sizeof(double));
        break;
    case DB_JSON_INTEGERS:
        fprintf(stream, "list of %zu integers", field->size / sizeof(int));
        break;
    case DB_JSON_OBJECT: fputs("object", stream); break;
    case DB_JSON_LIST: fputs("list", stream); break;
    case DB_JSON_TEXTS:
    case DB_JSON_LINES: fputs("list of texts", stream); break;
    case DB_JSON_SECTION: fputs("object of the configuration", stream); break;
    case DB_JSON_MADE: fputs(field->type, stream); break;
    }
}

/* Prints rows of a table; `path` names the tables around it. */
static void print_rows(FILE *stream, const db_json_table *table, const char *path) {
    for (size_t i = 0; i < table->count; i++) {
        const db_json_field *const field = &table->field[i];
        char whole[256];
        snprintf(whole, sizeof whole, "%s%s", path, field->name);
        fprintf(stream, "| `%s` | ", whole);
        print_type(stream, field);
        fprintf(stream, " | %s | %s |\n", field->unit, field->help);
        if (!field->fields) continue;
        const int is_list =
            field->kind == DB_JSON_LIST || (field->type && strncmp(field->type, "list", 4) == 0);
        const size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, is_list ? "[]." : ".");
        print_rows(stream, field->fields, whole);
    }
}

void db_json_print_fields(FILE *stream, const db_json_table *table) {
    fputs("| value | type | unit | meaning |\n|---|---|---|---|\n", stream);
    print_rows(stream, table, "");
}
