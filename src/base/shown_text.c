#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "base/shown_text.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Code point of a character with several bytes; 0: it is no UTF-8 (RFC 3629). */
static uint32_t decode_character(const unsigned char *c, size_t *bytes) {
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const size_t count = c[0] >= 0xf0 ? 4 : c[0] >= 0xe0 ? 3 : 2;
    uint32_t point = c[0] & (0xffu >> (count + 1));
    *bytes = 1;
    if (c[0] < 0xc2 || c[0] > 0xf4) return 0;
    for (size_t i = 1; i < count; i++) {
        if ((c[i] & 0xc0) != 0x80) return 0;
        point = point << 6 | (c[i] & 0x3f);
    }
    if (point < least[count] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
    *bytes = count;
    return point;
}

/* Is it a control of the second kind (C1), a line end, or a mark of direction? */
static int acts_on_terminals(uint32_t point) {
    return point < 0xa0 || point == 0x61c || (point >= 0x200e && point <= 0x200f) ||
           (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

size_t db_shown_character(const char *text, int *plain) {
    const unsigned char *const c = (const unsigned char *)text;
    size_t bytes = 1;
    if (c[0] < 0x80)
        *plain = c[0] >= 0x20 && c[0] < 0x7f;
    else
        *plain = !acts_on_terminals(decode_character(c, &bytes));
    return bytes;
}

/* Target of text: a buffer or a stream. */
typedef struct sink {
    char *out;
    size_t size, length;
    FILE *stream;
} sink;

static void put_bytes(sink *to, const char *bytes, size_t count) {
    if (to->stream) fwrite(bytes, 1, count, to->stream);
    for (size_t i = 0; i < count && to->length + i + 1 < to->size; i++)
        to->out[to->length + i] = bytes[i];
    to->length += count;
}

/* Shows the next character; returns its number of bytes in `text`. The rest of a character at the end of a limited
 * string is no UTF-8. */
static size_t show_character(const char *text, size_t limit, char shown[4 * 4 + 1]) {
    char own[5] = "";
    int plain;
    memcpy(own, text, strnlen(text, limit < 4 ? limit : 4));
    const size_t bytes = db_shown_character(own, &plain);
    if (plain) {
        memcpy(shown, own, bytes);
        shown[bytes] = 0;
    } else {
        for (size_t i = 0; i < bytes; i++)
            snprintf(shown + 4 * i, 5, "\\x%02x", (unsigned)(unsigned char)own[i]);
    }
    return bytes;
}

/* width < 0: left-aligned; limit: bytes to read. */
static void put_text(sink *to, const char *text, int width, size_t limit) {
    char shown[17];
    size_t length = 0;
    const size_t wanted = (size_t)abs(width);
    if (!text) text = "(null)";
    for (size_t i = 0; i < limit && text[i]; length += strlen(shown))
        i += show_character(text + i, limit - i, shown);
    for (size_t i = length; width > 0 && i < wanted; i++) put_bytes(to, " ", 1);
    for (size_t i = 0; i < limit && text[i];) {
        i += show_character(text + i, limit - i, shown);
        put_bytes(to, shown, strlen(shown));
    }
    for (size_t i = length; width < 0 && i < wanted; i++) put_bytes(to, " ", 1);
}

/* A conversion, "%-8.3lf": the part between % and its letter, with stars replaced by numbers. */
typedef struct conversion {
    char text[48];
    int width, precision; /* of strings; precision < 0: none */
    int longs;            /* 1: l, 2: ll or j, 3: z, 4: t */
} conversion;

enum { A_LONG = 1, A_LONG_LONG, A_SIZE, A_DIFFERENCE };

/* An argument list that functions share by pointer. */
typedef struct argument_list {
    va_list list;
} argument_list;

static int number_at(const char **format, argument_list *arguments) {
    int number = 0;
    if (**format == '*') {
        ++*format;
        return va_arg(arguments->list, int);
    }
    for (; **format >= '0' && **format <= '9'; ++*format) number = 10 * number + (**format - '0');
    return number;
}

static int length_at(const char **format) {
    static const struct {
        const char *text;
        int is;
    } lengths[] = { { "ll", A_LONG_LONG },
                    { "l", A_LONG },
                    { "j", A_LONG_LONG },
                    { "z", A_SIZE },
                    { "t", A_DIFFERENCE },
                    { "hh", 0 },
                    { "h", 0 } };
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const size_t length = strlen(lengths[i].text);
        if (strncmp(*format, lengths[i].text, length) != 0) continue;
        *format += length;
        return lengths[i].is;
    }
    return 0;
}

/* Reads a conversion; `format` is then at its letter. */
static conversion conversion_at(const char **format, argument_list *arguments) {
    conversion c = { .precision = -1 };
    char flags[8] = "", precision[16] = "";
    const size_t count = strspn(*format, "-+ #0'");
    snprintf(flags, sizeof flags, "%.*s", (int)count, *format);
    *format += count;
    c.width = number_at(format, arguments);
    if (**format == '.') {
        ++*format;
        c.precision = number_at(format, arguments);
        if (c.precision >= 0) snprintf(precision, sizeof precision, ".%d", c.precision);
    }
    const char *const length = *format;
    c.longs = length_at(format);
    if (c.width < 0 || strchr(flags, '-')) c.width = -abs(c.width);
    if (c.width)
        snprintf(c.text, sizeof c.text, "%%%s%d%s%.*s%c", flags, abs(c.width), precision,
                 (int)(*format - length), length, **format);
    else
        snprintf(c.text, sizeof c.text, "%%%s%s%.*s%c", flags, precision, (int)(*format - length),
                 length, **format);
    return c;
}

/* As snprintf, with the next argument in the type of the conversion. */
static int number_text(char *text, size_t size, const conversion *c, char letter,
                       argument_list *arguments) {
#define PRINT_IF(condition, type)                                                                  \
    if (condition) return snprintf(text, size, c->text, va_arg(arguments->list, type))
    PRINT_IF(strchr("aAeEfFgG", letter), double);
    PRINT_IF(letter == 'p', void *);
    PRINT_IF(c->longs == A_LONG, long);
    PRINT_IF(c->longs == A_LONG_LONG, long long);
    PRINT_IF(c->longs == A_SIZE, size_t);
    PRINT_IF(c->longs == A_DIFFERENCE, ptrdiff_t);
#undef PRINT_IF
    return snprintf(text, size, c->text, va_arg(arguments->list, int));
}

static void put_converted(sink *to, const conversion *c, char letter, argument_list *arguments) {
    char text[512] = ""; /* the largest double has 309 digits */
    number_text(text, sizeof text, c, letter, arguments);
    put_bytes(to, text, strlen(text));
}

static void put_conversion(sink *to, const char **format, argument_list *arguments) {
    const conversion c = conversion_at(format, arguments);
    const char letter = **format;
    if (letter == '%') {
        put_bytes(to, "%", 1);
    } else if (letter == 's') {
        put_text(to, va_arg(arguments->list, const char *), c.width,
                 c.precision < 0 ? SIZE_MAX : (size_t)c.precision);
    } else if (letter == 'c') {
        const char character[2] = { (char)va_arg(arguments->list, int), 0 };
        put_text(to, character, c.width, 1);
    } else if (letter) {
        put_converted(to, &c, letter, arguments);
    }
    if (letter) ++*format;
}

static void put_all(sink *to, const char *format, va_list arguments) {
    argument_list own;
    va_copy(own.list, arguments);
    while (*format) {
        const size_t plain = strcspn(format, "%");
        put_bytes(to, format, plain);
        format += plain;
        if (!*format) break;
        format++;
        put_conversion(to, &format, &own);
    }
    va_end(own.list);
    if (to->size) to->out[to->length < to->size ? to->length : to->size - 1] = 0;
}

size_t db_shown_vformat(char *out, size_t size, const char *format, va_list arguments) {
    sink to = { .out = out, .size = size };
    put_all(&to, format, arguments);
    return to.length;
}

size_t db_shown_format(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const size_t length = db_shown_vformat(out, size, format, arguments);
    va_end(arguments);
    return length;
}

void db_shown_vprint(FILE *stream, const char *format, va_list arguments) {
    sink to = { .stream = stream };
    put_all(&to, format, arguments);
}

void db_shown_print(FILE *stream, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    db_shown_vprint(stream, format, arguments);
    va_end(arguments);
}
