/* The binary section of CBF files: its header and its checksum. */
#include "base/context_internal.h"
#include "io/images/cbf.h"
#include "base/md5.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The lines between the boundary and the marker. */
typedef struct mime_header {
    db_context *context;
    const char *path;
    const char *start;
    const char *end;
} mime_header;

static const char *find_bytes(const char *start, const char *end, const char *pattern,
                              size_t length) {
    while ((size_t)(end - start) >= length) {
        const char *first = memchr(start, pattern[0], (size_t)(end - start) - length + 1);
        if (!first) return NULL;
        if (memcmp(first, pattern, length) == 0) return first;
        start = first + 1;
    }
    return NULL;
}

/* Copies the rest of a line from "name:" or "name=" on, at its start or behind a semicolon. */
static int mime_text(const mime_header *header, const char *name, char *value, size_t size) {
    const size_t name_length = strlen(name);
    value[0] = '\0';
    for (const char *line = header->start; line < header->end;) {
        const char *line_end = memchr(line, '\n', (size_t)(header->end - line));
        if (!line_end) line_end = header->end;
        const char *const semicolon = memchr(line, ';', (size_t)(line_end - line));
        while (line < line_end && (*line == ' ' || *line == '\t')) line++;
        if ((size_t)(line_end - line) > name_length && memcmp(line, name, name_length) == 0 &&
            (line[name_length] == ':' || line[name_length] == '=')) {
            size_t length = (size_t)(line_end - line) - name_length - 1;
            if (length > size - 1) length = size - 1;
            memcpy(value, line + name_length + 1, length);
            value[length] = '\0';
            return 1;
        }
        line = semicolon ? semicolon + 1 : line_end < header->end ? line_end + 1 : header->end;
    }
    return 0;
}

/* *value stays if it is not 0 and the header has no such line. */
static db_status mime_integer(const mime_header *header, const char *name, double largest,
                              long long *value) {
    char text[64];
    if (!mime_text(header, name, text, sizeof text) && *value) return DB_OK;
    const char *cursor = text;
    double number;
    if (!db_word_number(db_next_word(&cursor, DB_WHITE_SPACE "\r"), &number) || number < 1 ||
        number > largest || number != floor(number))
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected a whole number from 1 to %.0f as %s, found '%.40s'",
                       header->path, largest, name, text);
    *value = (long long)number;
    return DB_OK;
}

static db_status read_element_type(const mime_header *header, db_cbf_binary *binary) {
    static const int widths[] = { 8, 16, 32, 64 };
    char text[64];
    mime_text(header, "X-Binary-Element-Type", text, sizeof text);
    for (int is_signed = 0; is_signed < 2; is_signed++)
        for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
            char expected[40];
            snprintf(expected, sizeof expected, "\"%s %d-bit integer\"",
                     is_signed ? "signed" : "unsigned", widths[i]);
            if (strncmp(text + strspn(text, " \t"), expected, strlen(expected)) == 0) {
                binary->bits = widths[i];
                binary->is_signed = is_signed;
                return DB_OK;
            }
        }
    return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                   "%s: expected \"signed 32-bit integer\" or the like as X-Binary-Element-Type, "
                   "found '%.40s'",
                   header->path, text);
}

/* The packing's flags, which follow its name on the same line or the next. */
static int packed_flags(const mime_header *header, const char *conversions) {
    const char *const end = header->end;
    int flags = strstr(conversions, "x-CBF_PACKED_V2") ? DB_PACKED_VERSION_2 : 0;
    if (find_bytes(header->start, end, "uncorrelated_sections", 21))
        flags |= DB_PACKED_UNCORRELATED_SECTIONS;
    if (find_bytes(header->start, end, "\"flat\"", 6)) flags |= DB_PACKED_FLAT;
    return flags;
}

static db_status read_encoding(const mime_header *header, db_cbf_binary *binary) {
    char conversions[64], encoding[64];
    mime_text(header, "conversions", conversions, sizeof conversions);
    if (strstr(conversions, "x-CBF_BYTE_OFFSET")) {
        binary->compression = DB_CBF_BYTE_OFFSET;
    } else if (strstr(conversions, "x-CBF_PACKED")) {
        binary->compression = DB_CBF_PACKED;
        binary->packed_flags = packed_flags(header, conversions);
    } else {
        return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected pixels compressed as x-CBF_BYTE_OFFSET or x-CBF_PACKED, found "
                       "'%.40s'",
                       header->path, conversions);
    }
    mime_text(header, "Content-Transfer-Encoding", encoding, sizeof encoding);
    if (strncasecmp(encoding + strspn(encoding, " \t"), "binary", 6) != 0)
        return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected BINARY as Content-Transfer-Encoding, found '%.40s'",
                       header->path, encoding);
    return DB_OK;
}

/* Checked before memory is allocated: an element takes at least one byte; of packed ones 128 may
 * share a code. */
static db_status check_size(const mime_header *header, const db_cbf_binary *binary,
                            long long elements, long long size) {
    const int packed = binary->compression == DB_CBF_PACKED;
    const long long least = packed ? 32 + elements / 128 * 6 / 8 : elements;
    if (packed && binary->bits != 32)
        return db_fail(header->context, DB_ERROR_UNSUPPORTED,
                       "%s: expected packed elements of 32 bits, found %d", header->path,
                       binary->bits);
    if (size >= least) return DB_OK;
    return db_fail(header->context, DB_ERROR_INPUT,
                   "%s: expected at least %lld bytes for %lld pixels, found X-Binary-Size: %lld",
                   header->path, least, elements, size);
}

static db_status read_header(const mime_header *header, db_cbf_binary *binary, long long *size) {
    long long elements = 0;
    *size = 0;
    binary->id = binary->sections = 1;
    DB_TRY(read_encoding(header, binary));
    DB_TRY(read_element_type(header, binary));
    DB_TRY(mime_integer(header, "X-Binary-ID", 1e9, &binary->id));
    DB_TRY(mime_integer(header, "X-Binary-Size", 1e12, size));
    DB_TRY(mime_integer(header, "X-Binary-Number-of-Elements", INT32_MAX, &elements));
    DB_TRY(
        mime_integer(header, "X-Binary-Size-Fastest-Dimension", INT32_MAX, &binary->fast_pixels));
    DB_TRY(mime_integer(header, "X-Binary-Size-Second-Dimension", INT32_MAX, &binary->slow_pixels));
    DB_TRY(mime_integer(header, "X-Binary-Size-Third-Dimension", INT32_MAX, &binary->sections));
    const long long section = binary->fast_pixels * binary->slow_pixels;
    if (section > elements || section * binary->sections != elements)
        return db_fail(header->context, DB_ERROR_INPUT,
                       "%s: expected %lld x %lld x %lld pixels, found X-Binary-Number-of-Elements: "
                       "%lld",
                       header->path, binary->fast_pixels, binary->slow_pixels, binary->sections,
                       elements);
    return check_size(header, binary, elements, *size);
}

db_cbf_range db_cbf_range_of(const db_cbf_binary *binary) {
    const int bits = binary->bits - binary->is_signed;
    const int64_t highest = bits >= 63 ? INT64_MAX : (int64_t)(((uint64_t)1 << bits) - 1);
    return (db_cbf_range){
        .lowest = binary->is_signed ? -highest - 1 : 0,
        .highest = highest,
        .mark = binary->is_signed    ? INT64_MAX
                : binary->bits == 32 ? (int64_t)INT32_MAX + 1
                                     : highest,
        .clips = binary->is_signed && binary->bits < 32 ? (double)highest : INFINITY,
    };
}

/* "--CIF-BINARY-FORMAT-SECTION--" and a marker surround the header's lines. */
static const char boundary[] = "--CIF-BINARY-FORMAT-SECTION--";
static const char marker[] = "\x0c\x1a\x04\xd5";

db_status db_cbf_binary_check(db_context *context, const char *path, const db_cbf_binary *binary) {
    const mime_header header = { context, path, binary->section + sizeof boundary - 1,
                                 binary->bytes - (sizeof marker - 1) };
    char stated[64], found[DB_MD5_TEXT_SIZE];
    if (!mime_text(&header, "Content-MD5", stated, sizeof stated)) return DB_OK;
    const char *cursor = stated;
    const db_word word = db_next_word(&cursor, DB_WHITE_SPACE "\r");
    if (word.length == 0) return DB_OK; /* the writer left room for one */
    db_md5_base64(binary->bytes, binary->size, found);
    if (word.length == strlen(found) && memcmp(word.start, found, word.length) == 0) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "%s: damaged pixels: expected the checksum %.*s (Content-MD5), found %s", path,
                   DB_WORD_ARGUMENTS(word), found);
}

db_status db_cbf_binary_next(db_context *context, const char *path, const db_file_content *content,
                             const char *from, db_cbf_binary *binary) {
    *binary = (db_cbf_binary){ 0 };
    const char *end = content->bytes + content->size;
    const char *start = find_bytes(from, end, boundary, sizeof boundary - 1);
    while (start && end - start > (long)sizeof boundary && start[sizeof boundary - 1] == '-')
        start = find_bytes(start + 1, end, boundary, sizeof boundary - 1); /* the end of one */
    if (!start) return DB_OK;
    binary->section = start;
    start += sizeof boundary - 1;
    const char *data = find_bytes(start, end, marker, sizeof marker - 1);
    if (!data)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected the start of the pixels after the binary section's header, "
                       "found none (truncated?)",
                       path);
    const mime_header header = { context, path, start, data };
    long long size;
    DB_TRY(read_header(&header, binary, &size));
    binary->bytes = data + sizeof marker - 1;
    if (size > end - binary->bytes)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: truncated: expected %lld bytes of compressed pixels, found %lld", path,
                       size, (long long)(end - binary->bytes));
    binary->size = (size_t)size;
    return DB_OK;
}

/* "###CBF" starts every CBF file; text before the binary part is enough to tell a miniCBF. */
int db_is_cbf(const db_file_content *content) {
    return content->size >= 6 && memcmp(content->bytes, "###CBF", 6) == 0;
}
