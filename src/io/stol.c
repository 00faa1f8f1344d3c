/* Amplitudes of amorphous matter: two columns, sin(theta)/lambda (or a multiple of it) and F of one
 * molecule (model.md section 19). */
#include <dualbragg/io.h>

#include "core/context_internal.h"
#include "io/text_reader.h"

#include <stdlib.h>

typedef struct curve {
    double *stol, *amplitude;
    size_t count, capacity;
} curve;

/* What the first column of a file is, in units of sin(theta)/lambda. */
static double column_unit(db_stol_abscissa abscissa) {
    static const double pi = 3.14159265358979323846;
    return abscissa == DB_4STOL ? 4 : abscissa == DB_Q ? 4 * pi : 1;
}

static db_status grow(db_context *context, curve *c) {
    if (c->count < c->capacity) return DB_OK;
    const size_t capacity = c->capacity ? 2 * c->capacity : 256;
    double *const stol = realloc(c->stol, capacity * sizeof *stol);
    if (stol) c->stol = stol;
    double *const amplitude = stol ? realloc(c->amplitude, capacity * sizeof *amplitude) : NULL;
    if (!amplitude) return db_fail_memory(context, "the amorphous amplitudes");
    c->amplitude = amplitude;
    c->capacity = capacity;
    return DB_OK;
}

static db_status parse_line(db_context *context, const db_text *text, double column[2]) {
    static const char *const names[2] = { "sin(theta)/lambda", "F" };
    const char *cursor = text->line;
    for (int i = 0; i < 2; i++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE ",;");
        if (word.length == 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected two columns, sin(theta)/lambda (or 4 or 4 pi times "
                           "that) and F, found %d",
                           text->path, text->line_number, i);
        if (!db_word_number(word, &column[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for %s, found '%.*s'", text->path,
                           text->line_number, names[i], DB_WORD_ARGUMENTS(word));
    }
    if (!(column[0] >= 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected sin(theta)/lambda >= 0, found %g",
                       text->path, text->line_number, column[0]);
    return DB_OK;
}

static db_status read_curve(db_context *context, db_text *text, double unit, curve *c) {
    double last = 0;
    while (db_text_next_line(text)) {
        double column[2];
        DB_TRY(parse_line(context, text, column));
        if (c->count && !(column[0] > last))
            return db_fail(
                context, DB_ERROR_INPUT,
                "%s:%zu: expected sin(theta)/lambda in ascending order, each value once, "
                "found %.9g after %.9g",
                text->path, text->line_number, column[0], last);
        last = column[0];
        DB_TRY(grow(context, c));
        c->stol[c->count] = column[0] / unit;
        c->amplitude[c->count++] = column[1];
    }
    if (c->count < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected at least two lines sin(theta)/lambda F, found %zu", text->path,
                       c->count);
    return DB_OK;
}

db_status db_read_stol(db_context *context, const char *path, db_stol_abscissa abscissa,
                       db_background *background) {
    if ((unsigned)abscissa > DB_Q)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected one of the kinds of first column, found number %d", path,
                       (int)abscissa);
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    curve c = { 0 };
    const db_status status = read_curve(context, &text, column_unit(abscissa), &c);
    db_text_close(&text);
    if (status != DB_OK) {
        free(c.stol);
        free(c.amplitude);
        return status;
    }
    free(background->stol);
    free(background->amplitude);
    background->stol = c.stol;
    background->amplitude = c.amplitude;
    background->count = c.count;
    return DB_OK;
}
