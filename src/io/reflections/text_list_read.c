/* Lists of reflections as text: lines of h k l F, or SHELX's fixed columns with intensities (HKLF 4). */
#include "base/context_internal.h"
#include "io/reflections/reflection_list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double largest_index = 1e6;

/* The kind of lines. */
typedef struct text_kind {
    int shelx;            /* 1: in SHELX's columns, up to an end mark */
    const char *doubtful; /* why it is unclear whether values are amplitudes; NULL: it is clear */
} text_kind;

/* ---- lines with white space between numbers */

static db_status parse_line(db_context *context, const db_text *text, db_listed_reflection *item,
                            const char **rest) {
    static const char *const names[] = { "h", "k", "l", "F" };
    const char *cursor = text->line;
    for (int column = 0; column < 4; column++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
        if (word.length == 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected four columns h k l F, found %d", text->path,
                           text->line_number, column);
        double value;
        const int is_number = db_word_number(word, &value);
        if (column < 3 && !(is_number && value == rint(value) && fabs(value) <= largest_index))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a whole number of at most %.0f for %s, found '%.*s'",
                           text->path, text->line_number, largest_index, names[column],
                           DB_WORD_ARGUMENTS(word));
        if (!is_number)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for F, found '%.*s'", text->path,
                           text->line_number, DB_WORD_ARGUMENTS(word));
        if (column < 3)
            item->index[column] = (int)value;
        else
            item->value = value;
    }
    item->sigma = NAN; /* columns after F may be anything */
    *rest = cursor;
    return DB_OK;
}

static int has_number(const char *rest) {
    double value;
    return db_word_number(db_next_word(&rest, DB_WHITE_SPACE), &value);
}

static int is_zero(const db_listed_reflection *item) {
    return item->index[0] == 0 && item->index[1] == 0 && item->index[2] == 0 && item->value == 0;
}

static db_status parse_lines(db_context *context, db_text *text, db_reflection_list *list,
                             text_kind *kind) {
    db_listed_reflection item = { .sigma = NAN };
    int further = 0, ended = 0;
    while (db_text_next_line(text)) {
        const char *rest;
        DB_TRY(parse_line(context, text, &item, &rest));
        further = has_number(rest);
        ended = further && is_zero(&item);
        if (further && item.value < 0)
            *kind = (text_kind){ 0, "negative values and a fifth column" };
        DB_TRY(db_reflection_list_add(context, list, &item));
    }
    if (list->count == 0)
        return db_fail(context, DB_ERROR_INPUT, "%s: expected lines h k l F, found none",
                       text->path);
    if (ended && list->count > 1) *kind = (text_kind){ 0, "an end mark 0 0 0 as SHELX has it" };
    return DB_OK;
}

db_status db_read_hkl(db_context *context, const char *path, db_structure_factors *factors) {
    db_text text;
    text_kind kind;
    DB_TRY(db_text_open(context, path, &text));
    db_reflection_list list = { 0 };
    db_status status = parse_lines(context, &text, &list, &kind);
    if (status == DB_OK) status = db_reflection_list_box(context, path, &list, factors);
    db_reflection_list_clear(&list);
    db_text_close(&text);
    return status;
}

/* ---- SHELX: three indices of 4 characters, value and sigma of 8, a batch number of 4 */

enum { INDEX = 4, NUMBER = 8, LEAST_LINE = 3 * INDEX + 2 * NUMBER, BATCH = 4 };

static int field(const char *line, size_t start, size_t width, int whole, double *value) {
    char text[NUMBER + 1];
    memcpy(text, line + start, width);
    text[width] = '\0';
    const char *cursor = text;
    const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
    const int has_point = memchr(text, '.', width) != NULL;
    return db_word_number(word, value) && has_point != whole &&
           db_next_word(&cursor, DB_WHITE_SPACE).length == 0;
}

static int parse_fixed(const char *line, db_listed_reflection *item) {
    size_t length = strlen(line);
    while (length && strchr(" \t\r", line[length - 1])) length--;
    if (length < LEAST_LINE || length > LEAST_LINE + BATCH) return 0;
    for (size_t i = 0; i < 3; i++) {
        double index;
        if (!field(line, INDEX * i, INDEX, 1, &index) || fabs(index) > largest_index ||
            index != rint(index))
            return 0;
        item->index[i] = (int)index;
    }
    return field(line, 3 * INDEX, NUMBER, 0, &item->value) &&
           field(line, 3 * INDEX + NUMBER, NUMBER, 0, &item->sigma);
}

int db_is_shelx_list(const char *text) {
    char line[LEAST_LINE + BATCH + 2]; /* longer ones are none */
    db_listed_reflection item;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\r\n"), text);
    return parse_fixed(line, &item);
}

/* *lines: the number of lines in SHELX's columns; 0 unless all lines are. *ended: an end mark was found; text
 * after it is comment. */
static db_status find_layout(const db_amplitude_reading *r, size_t *lines, int *ended) {
    db_listed_reflection item;
    db_text text;
    int fits = 1;
    DB_TRY(db_text_open(r->context, r->path, &text));
    *ended = 0;
    for (*lines = 0; fits && !*ended && db_text_next_line(&text); ++*lines) {
        fits = parse_fixed(text.line, &item);
        *ended = fits && is_zero(&item);
    }
    if (!fits || *lines <= (size_t)*ended) *lines = 0;
    db_text_close(&text);
    return DB_OK;
}

static db_status take_fixed(db_amplitude_reading *r, db_text *text, size_t lines) {
    db_listed_reflection item = { .sigma = NAN };
    for (size_t i = 0; i < lines && db_text_next_line(text); i++) {
        parse_fixed(text->line, &item);
        if (!(item.sigma > 0)) item.sigma = NAN;
        if (!is_zero(&item)) DB_TRY(db_reflection_list_add(r->context, &r->list, &item));
    }
    return DB_OK;
}

/* ---- either */

static db_status ask_columns(const db_amplitude_reading *r, const char *sign) {
    return db_fail(r->context, DB_ERROR_INPUT,
                   "%s: amplitudes or intensities? The list has %s; choose by -hkl_columns I (F "
                   "squared) or -hkl_columns F (intensity.hkl_columns of a configuration)",
                   r->path, sign);
}

static db_status read_lines(db_amplitude_reading *r, db_text *text) {
    text_kind kind = { 0 };
    int ended;
    size_t lines;
    DB_TRY(find_layout(r, &lines, &ended));
    if (lines) {
        kind = (text_kind){ ended, ended ? NULL : "the columns of SHELX and no end mark" };
        DB_TRY(take_fixed(r, text, lines));
    } else {
        DB_TRY(parse_lines(r->context, text, &r->list, &kind));
    }
    const char *const told = r->options->columns;
    if (!told && kind.doubtful) return ask_columns(r, kind.doubtful);
    r->list.squared = told ? strcmp(told, "I") == 0 : kind.shelx;
    if (kind.shelx || told)
        snprintf(r->chosen, r->chosen_size, "%s%s", kind.shelx ? "a list of SHELX, " : "",
                 r->list.squared ? "intensities" : "amplitudes");
    return DB_OK;
}

db_status db_text_list_read(db_amplitude_reading *r) {
    const char *const told = r->options->columns;
    db_text text;
    if (told && strcmp(told, "F") != 0 && strcmp(told, "I") != 0)
        return db_fail(r->context, DB_ERROR_USAGE,
                       "%s: columns %s: expected F or I (intensities) for lines of text, or an MTZ "
                       "or mmCIF file",
                       r->path, told);
    DB_TRY(db_text_open(r->context, r->path, &text));
    const db_status status = read_lines(r, &text);
    db_text_close(&text);
    return status;
}
