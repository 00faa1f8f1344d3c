#include "io/smv_header.h"
#include "base/context_internal.h"
#include "base/text_reader.h"

#include <math.h>
#include <string.h>

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static void trim(const char **start, const char **end) {
    while (*start < *end && is_blank(**start)) ++*start;
    while (*start < *end && is_blank((*end)[-1])) --*end;
}

/* The trimmed value of the last line "key = value" between start and end. */
static int find_value(const char *start, const char *end, const char *key, const char **value,
                      const char **value_end) {
    const size_t key_length = strlen(key);
    int found = 0;
    for (const char *line = start; line < end;) {
        const char *line_end = memchr(line, '\n', (size_t)(end - line));
        if (!line_end) line_end = end;
        const char *equals = memchr(line, '=', (size_t)(line_end - line));
        if (equals) {
            const char *name = line, *name_end = equals;
            trim(&name, &name_end);
            if ((size_t)(name_end - name) == key_length && memcmp(name, key, key_length) == 0) {
                *value = equals + 1;
                const char *semicolon = memchr(*value, ';', (size_t)(line_end - *value));
                *value_end = semicolon ? semicolon : line_end;
                trim(value, value_end);
                found = *value < *value_end;
            }
        }
        line = line_end < end ? line_end + 1 : end;
    }
    return found;
}

/* The line that consists of the closing brace, as far as printable characters go; NULL if there is
 * none. */
static const char *find_closing_brace(const char *start, const char *end) {
    for (const char *line = start; line < end;) {
        const char *first = line;
        while (first < end && is_blank(*first)) first++;
        if (first < end && *first == '}') return first;
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline) break;
        line = newline + 1;
    }
    return NULL;
}

db_status db_smv_header_open(db_context *context, const char *path, const db_file_content *content,
                             db_smv_header *header) {
    enum { SEARCHED = 512 }; /* HEADER_BYTES is the first key */
    *header = (db_smv_header){ .context = context, .path = path, .start = content->bytes + 1 };
    header->end = content->bytes + (content->size < SEARCHED ? content->size : SEARCHED);
    double bytes = 0;
    DB_TRY(db_smv_header_number(header, "HEADER_BYTES", &bytes));
    if (!(bytes >= 16 && bytes <= 1e9 && bytes == (double)(size_t)bytes))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected a whole number of at least 16 as HEADER_BYTES, found %g", path,
                       bytes);
    header->bytes = (size_t)bytes;
    if (header->bytes > content->size)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: truncated: expected a header of %zu bytes, found a file of %zu", path,
                       header->bytes, content->size);
    header->end = find_closing_brace(header->start, content->bytes + header->bytes);
    if (!header->end)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: the header does not end with '}' within its HEADER_BYTES=%zu, so the "
                       "place of the pixels is not certain",
                       path, header->bytes);
    return DB_OK;
}

int db_smv_header_text(const db_smv_header *header, const char *key, char *value, size_t size) {
    const char *start, *end;
    value[0] = '\0';
    if (!find_value(header->start, header->end, key, &start, &end)) return 0;
    size_t length = (size_t)(end - start);
    if (length > size - 1) length = size - 1;
    memcpy(value, start, length);
    value[length] = '\0';
    return 1;
}

db_status db_smv_header_number(const db_smv_header *header, const char *key, double *value) {
    char text[128];
    if (!db_smv_header_text(header, key, text, sizeof text)) return DB_OK;
    const char *cursor = text;
    if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE ","), value))
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected a finite number as %s, found '%.40s'", header->path, key,
                       text);
    return DB_OK;
}

db_status db_smv_header_positive(const db_smv_header *header, const char *key, double *value) {
    double number = NAN;
    DB_TRY(db_smv_header_number(header, key, &number));
    if (isnan(number)) return DB_OK;
    if (!(number > 0))
        return db_fail(header->context, DB_ERROR_INPUT, "%s: expected a number > 0 as %s, found %g",
                       header->path, key, number);
    *value = number;
    return DB_OK;
}

db_status db_smv_header_pair(const db_smv_header *header, const char *first_key,
                             const char *second_key, double value[2], int *found) {
    char text[2];
    *found = db_smv_header_text(header, first_key, text, sizeof text) &&
             db_smv_header_text(header, second_key, text, sizeof text);
    if (!*found) return DB_OK;
    DB_TRY(db_smv_header_number(header, first_key, &value[0]));
    return db_smv_header_number(header, second_key, &value[1]);
}

db_status db_smv_header_last_numbers(const db_smv_header *header, const char *key, double *value,
                                     int count) {
    const size_t length = strlen(key);
    const char *last = NULL;
    for (const char *p = header->start; p + length <= header->end; p++)
        if (memcmp(p, key, length) == 0) last = p + length;
    if (!last) return DB_OK;
    const char *equals = memchr(last, '=', (size_t)(header->end - last));
    char text[128] = "";
    if (equals) {
        size_t size = (size_t)(header->end - equals - 1);
        if (size > sizeof text - 1) size = sizeof text - 1;
        memcpy(text, equals + 1, size);
        text[size] = '\0';
    }
    const char *cursor = text;
    for (int i = 0; i < count; i++)
        if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE ";,\r\n"), &value[i]))
            return db_fail(header->context, DB_ERROR_INPUT,
                           "%s: expected a finite number behind the last %s, found '%.*s'",
                           header->path, key, (int)strcspn(text, "\r\n"), text);
    return DB_OK;
}
