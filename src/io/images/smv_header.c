/* The header of SMV images: its keys, and how pixels are stored. */
#include "io/images/smv.h"

#include "base/context_internal.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

static void trim(const char **start, const char **end) {
    while (*start < *end && is_blank(**start)) ++*start;
    while (*start < *end && is_blank((*end)[-1])) --*end;
}

/* Where the line ends: some programs write the byte 0 in place of a line feed. */
static const char *find_line_end(const char *line, const char *end) {
    while (line < end && *line != '\n' && *line != '\0') line++;
    return line;
}

/* The trimmed value of the last line "key = value" between start and end. */
static int find_value(const char *start, const char *end, const char *key, const char **value,
                      const char **value_end) {
    const size_t key_length = strlen(key);
    int found = 0;
    for (const char *line = start; line < end;) {
        const char *line_end = find_line_end(line, end);
        const char *equals = memchr(line, '=', (size_t)(line_end - line));
        if (equals) {
            const char *name = line;
            const char *name_end = equals;
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

/* The line whose first printable character is the closing brace; NULL if there is none. */
static const char *find_closing_brace(const char *start, const char *end) {
    for (const char *line = start; line < end;) {
        const char *first = line;
        while (first < end && is_blank(*first)) first++;
        if (first < end && *first == '}') return first;
        line = find_line_end(line, end);
        if (line < end) line++;
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
    const char *start;
    const char *end;
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
    if (fabs(number) <= 0) {
        db_notice(header->context, "%s: %s is 0, which means that it is not known", header->path,
                  key);
        return DB_OK;
    }
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

static const size_t pixel_bytes[DB_SMV_TYPES] = { 2, 2, 4, 4, 4 };

double db_smv_type_largest(db_smv_type type) {
    static const double largest[DB_SMV_TYPES] = { UINT16_MAX, INT16_MAX, UINT32_MAX, INT32_MAX,
                                                  INFINITY };
    return largest[type];
}

static db_status read_pixel_type(const db_smv_header *header, db_smv_type *type) {
    static const struct {
        const char *name;
        db_smv_type type;
    } names[] = {
        { "unsigned_short", DB_SMV_UINT16 },
        { "unsigned short", DB_SMV_UINT16 },
        { "unsigned short int", DB_SMV_UINT16 },
        { "signed_short", DB_SMV_INT16 },
        { "signed short", DB_SMV_INT16 },
        { "short", DB_SMV_INT16 },
        { "short int", DB_SMV_INT16 },
        { "signed short int", DB_SMV_INT16 },
        { "unsigned_long", DB_SMV_UINT32 },
        { "unsigned long", DB_SMV_UINT32 },
        { "unsigned int", DB_SMV_UINT32 },
        { "unsigned long int", DB_SMV_UINT32 },
        { "signed_long", DB_SMV_INT32 },
        { "signed long", DB_SMV_INT32 },
        { "int", DB_SMV_INT32 },
        { "long", DB_SMV_INT32 },
        { "long int", DB_SMV_INT32 },
        { "signed long int", DB_SMV_INT32 },
        { "float", DB_SMV_FLOAT32 },
        { "float IEEE", DB_SMV_FLOAT32 },
    };
    char text[40];
    if (!db_smv_header_text(header, "TYPE", text, sizeof text))
        db_smv_header_text(header, "Data_type", text, sizeof text); /* d*TREK */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(text, names[i].name) == 0) {
            *type = names[i].type;
            return DB_OK;
        }
    return db_fail(header->context, DB_ERROR_INPUT,
                   "%s: expected unsigned_short, signed_short, unsigned_long, signed_long or float "
                   "as TYPE, found '%s'",
                   header->path, text);
}

static db_status read_byte_order(const db_smv_header *header, int *swapped) {
    char text[40];
    db_smv_header_text(header, "BYTE_ORDER", text, sizeof text);
    const int big = strcmp(text, "big_endian") == 0;
    if (!big && strcmp(text, "little_endian") != 0)
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected little_endian or big_endian as BYTE_ORDER, found '%s'",
                       header->path, text);
    *swapped = big != db_machine_is_big_endian();
    return DB_OK;
}

/* Two numbers of d*TREK's key, whose name starts with the detector's name. */
static db_status detector_dimensions(const db_smv_header *header, double size[2]) {
    char key[80] = "DETECTOR_DIMENSIONS", name[40], text[128];
    if (!db_smv_header_text(header, key, text, sizeof text)) {
        if (!db_smv_header_text(header, "DETECTOR_NAMES", name, sizeof name)) return DB_OK;
        name[strcspn(name, " ,")] = '\0';
        snprintf(key, sizeof key, "%sDETECTOR_DIMENSIONS", name);
        if (!db_smv_header_text(header, key, text, sizeof text)) return DB_OK;
    }
    const char *cursor = text;
    for (int i = 0; i < 2; i++)
        if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE ","), &size[i]))
            return db_fail(header->context, DB_ERROR_INPUT,
                           "%s: expected two numbers as %s, found '%.40s'", header->path, key,
                           text);
    return DB_OK;
}

db_status db_smv_shape(const db_smv_header *header, long long *fast_pixels,
                       long long *slow_pixels) {
    static const char *const keys[2] = { "SIZE1", "SIZE2" };
    long long *const sizes[2] = { fast_pixels, slow_pixels };
    double size[2] = { 0, 0 };
    DB_TRY(detector_dimensions(header, size));
    for (int i = 0; i < 2; i++) {
        DB_TRY(db_smv_header_number(header, keys[i], &size[i]));
        if (!(size[i] >= 1 && size[i] <= INT32_MAX && size[i] == rint(size[i])))
            return db_fail(header->context, DB_ERROR_INPUT,
                           "%s: expected a whole number from 1 to %d as %s, found %g", header->path,
                           INT32_MAX, keys[i], size[i]);
        *sizes[i] = (long long)size[i];
    }
    return DB_OK;
}

/* Refuses files that this reader would misread. */
static db_status check_layout(const db_smv_header *header) {
    double dimensions = 2;
    DB_TRY(db_smv_header_number(header, "DIM", &dimensions));
    if (dimensions != 2)
        return db_fail(header->context, DB_ERROR_UNSUPPORTED, "%s: expected DIM=2, found %g",
                       header->path, dimensions);
    static const char *const keys[] = { "COMPRESSION", "Compression" /* d*TREK */ };
    char text[40];
    for (int i = 0; i < 2; i++)
        if (db_smv_header_text(header, keys[i], text, sizeof text) && strcasecmp(text, "none") != 0)
            return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                           "%s: expected uncompressed pixels, found %s=%s", header->path, keys[i],
                           text);
    return DB_OK;
}

static uint16_t load_16(const char *p, int swapped) {
    uint16_t word;
    memcpy(&word, p, sizeof word);
    return swapped ? __builtin_bswap16(word) : word;
}

static uint32_t load_32(const char *p, int swapped) {
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return swapped ? __builtin_bswap32(word) : word;
}

double db_smv_pixel(const db_smv_layout *layout, size_t pixel) {
    const int swapped = layout->swapped;
    const char *const p = layout->bytes + pixel * pixel_bytes[layout->type];
    switch (layout->type) {
    case DB_SMV_UINT16: return load_16(p, swapped);
    case DB_SMV_INT16: return (int16_t)load_16(p, swapped);
    case DB_SMV_UINT32: return load_32(p, swapped);
    case DB_SMV_INT32: return (int32_t)load_32(p, swapped);
    default: {
        const uint32_t word = load_32(p, swapped);
        float number;
        memcpy(&number, &word, sizeof number);
        return number;
    }
    }
}

/* The file must hold the pixels and, behind them, at most padding. */
static db_status check_length(const db_smv_header *header, const db_file_content *content,
                              long long fast_pixels, long long slow_pixels,
                              size_t bytes_per_pixel) {
    const uint64_t expected = (uint64_t)fast_pixels * (uint64_t)slow_pixels * bytes_per_pixel;
    const uint64_t found = content->size - header->bytes;
    if (found < expected)
        return db_fail(
            header->context, DB_ERROR_INPUT,
            "%s: truncated: expected %llu bytes of pixels (%lld x %lld) after the header, "
            "found %llu",
            header->path, (unsigned long long)expected, fast_pixels, slow_pixels,
            (unsigned long long)found);
    const char *end = content->bytes + content->size;
    for (const char *p = content->bytes + header->bytes + expected; p < end; p++)
        if (*p != '\0' && *p != ' ')
            return db_fail(
                header->context, DB_ERROR_INPUT,
                "%s: expected %llu bytes of pixels (%lld x %lld) after the header, found "
                "%llu: the place of the pixels is not certain",
                header->path, (unsigned long long)expected, fast_pixels, slow_pixels,
                (unsigned long long)found);
    return DB_OK;
}

db_status db_smv_layout_read(const db_smv_header *header, const db_file_content *content,
                             db_smv_layout *layout) {
    *layout = (db_smv_layout){ .bytes = content->bytes + header->bytes };
    DB_TRY(check_layout(header));
    DB_TRY(db_smv_shape(header, &layout->fast_pixels, &layout->slow_pixels));
    DB_TRY(read_pixel_type(header, &layout->type));
    DB_TRY(read_byte_order(header, &layout->swapped));
    return check_length(header, content, layout->fast_pixels, layout->slow_pixels,
                        pixel_bytes[layout->type]);
}
