/* Lines, words and numbers of text files. */
#include "base/text_reader.h"
#include "base/context_internal.h"
#include "base/c_locale.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

db_status db_text_open(db_context *context, const char *path, db_text *text) {
    *text = (db_text){ .path = path };
    DB_TRY(db_file_content_read(context, path, &text->content));
    char *bytes = text->content.bytes;
    const char *zero = memchr(bytes, '\0', text->content.size);
    if (zero) {
        const db_status status =
            db_fail(context, DB_ERROR_INPUT,
                    "%s: expected a text file, found a binary one (byte %zu is zero)", path,
                    (size_t)(zero - bytes));
        db_text_close(text);
        return status;
    }
    text->next = bytes;
    if (strncmp(bytes, "\xef\xbb\xbf", 3) == 0) text->next += 3; /* byte order mark of UTF-8 */
    return DB_OK;
}

void db_text_close(db_text *text) {
    db_file_content_clear(&text->content);
    *text = (db_text){ 0 };
}

/* Start of a line's comment; NULL: it has none. */
static char *comment_in(const db_text *text) {
    char quote = '\0';
    if (!text->signs_in_words) return strchr(text->line, '#');
    for (char *at = text->line; *at; at++) {
        if (quote) {
            if (*at == quote) quote = '\0';
        } else if (strchr("'\"", *at)) {
            quote = *at;
        } else if (*at == '#' && (at == text->line || strchr(DB_WHITE_SPACE, at[-1]))) {
            return at;
        }
    }
    return NULL;
}

int db_text_next_line(db_text *text) {
    while (*text->next) {
        char *end = text->next + strcspn(text->next, "\r\n");
        char *following = end;
        if (*following == '\r') following++;
        if (*following == '\n') following++;
        *end = '\0';
        text->line = text->next;
        char *const comment = comment_in(text);
        if (comment) *comment = '\0';
        text->next = following;
        text->line_number++;
        if (text->line[strspn(text->line, DB_WHITE_SPACE)]) return 1;
    }
    return 0;
}

db_word db_next_word(const char **cursor, const char *separators) {
    const char *start = *cursor + strspn(*cursor, separators);
    const size_t length = strcspn(start, separators);
    *cursor = start + length;
    return (db_word){ start, length };
}

/* Digits of a decimal number as integer and power of ten. */
typedef struct decimal {
    uint64_t digits;
    int significant; /* number of digits held in `digits`, without leading zeros */
    int exponent;
} decimal;

static void take_digits(const char **p, const char *end, int after_point, int *any,
                        decimal *number) {
    for (; *p < end && **p >= '0' && **p <= '9'; ++*p) {
        *any = 1;
        if (number->significant < 19) {
            number->digits = 10 * number->digits + (uint64_t)(**p - '0');
            if (number->digits) number->significant++;
            if (after_point) number->exponent--;
        } else {
            number->significant = 20; /* too many: not exact any more */
        }
    }
}

/* 1 if [p, end) is a decimal number without a sign. */
static int scan_decimal(const char *p, const char *end, decimal *number) {
    *number = (decimal){ 0 };
    int any = 0;
    take_digits(&p, end, 0, &any, number);
    if (p < end && *p == '.') {
        p++;
        take_digits(&p, end, 1, &any, number);
    }
    if (!any) return 0;
    if (p == end) return 1;
    if (*p != 'e' && *p != 'E') return 0;
    p++;
    int negative = 0, exponent = 0;
    if (p < end && (*p == '+' || *p == '-')) negative = *p++ == '-';
    if (p == end) return 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return 0;
        if (exponent < 100000) exponent = 10 * exponent + (*p - '0');
    }
    number->exponent += negative ? -exponent : exponent;
    return 1;
}

int db_word_number(db_word word, double *value) {
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    char copy[512]; /* longer words are no sensible numbers */
    if (word.length == 0 || word.length >= sizeof copy) return 0;
    const char *start = word.start;
    const char *end = word.start + word.length;
    const int negative = *start == '-';
    if (*start == '-' || *start == '+') start++;
    decimal number;
    if (!scan_decimal(start, end, &number)) return 0;
    double magnitude;
    /* Integers below 2^53 and powers of ten up to 22 are exact, so one operation rounds once. */
    if (number.significant <= 19 && number.digits < (uint64_t)1 << 53 &&
        abs(number.exponent) <= 22) {
        const double digits = (double)number.digits;
        magnitude = number.exponent < 0 ? digits / powers[-number.exponent]
                                        : digits * powers[number.exponent];
    } else {
        memcpy(copy, start, (size_t)(end - start));
        copy[end - start] = '\0';
        const db_c_locale locale = db_c_locale_enter();
        magnitude = strtod(copy, NULL);
        db_c_locale_leave(locale);
    }
    *value = negative ? -magnitude : magnitude;
    return isfinite(magnitude);
}

db_status db_text_columns(db_context *context, const db_text *text, const char *separators,
                          const char *const *names, int count, double *column, int *found) {
    const char *cursor = text->line;
    for (*found = 0; *found < count; ++*found) {
        const db_word word = db_next_word(&cursor, separators);
        if (word.length == 0) return DB_OK;
        if (!db_word_number(word, &column[*found]))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for %s, found '%.*s'", text->path,
                           text->line_number, names[*found], DB_WORD_ARGUMENTS(word));
    }
    return DB_OK;
}

/* End of a word: white space outside brackets and quotes. NULL: a bracket or quote is not closed. */
static const char *end_of_word(const char *at) {
    int depth = 0;
    char quote = '\0';
    for (; *at; at++) {
        if (quote) {
            if (*at == quote) quote = '\0';
        } else if (*at == '\'' || *at == '"') {
            quote = *at;
        } else if (strchr("[{", *at)) {
            depth++;
        } else if (strchr("]}", *at)) {
            depth--;
        } else if (depth <= 0 && strchr(DB_WHITE_SPACE, *at)) {
            break;
        }
    }
    return quote || depth > 0 ? NULL : at;
}

db_status db_text_words(db_context *context, const db_text *text, char **words) {
    char *out = *words = malloc(strlen(text->line) + 2);
    if (!out) return db_fail_memory(context, text->path);
    for (const char *at = text->line; *(at += strspn(at, DB_WHITE_SPACE));) {
        const char *const end = end_of_word(at);
        if (!end) {
            free(*words);
            *words = NULL;
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: a bracket or quote stays open in '%.60s'", text->path,
                           text->line_number, at);
        }
        memcpy(out, at, (size_t)(end - at));
        out += end - at;
        *out++ = '\0';
        at = end;
    }
    *out = '\0';
    return DB_OK;
}

int db_unquote(char *word) {
    const size_t length = strlen(word);
    if (length < 2 || !strchr("'\"", *word) || word[length - 1] != *word) return 0;
    memmove(word, word + 1, length - 2);
    word[length - 2] = '\0';
    return 1;
}
