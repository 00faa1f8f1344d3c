/* Amplitudes of amorphous matter: two columns, sin(theta)/lambda (or a multiple of it) and F of one
 * molecule (docs/theory/pixel.md, Scattering without a lattice). */
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <stdlib.h>

typedef struct point {
    double stol, amplitude;
    size_t line;
} point;

typedef struct curve {
    point *points;
    size_t count, capacity, out_of_order;
} curve;

/* The unit of a file's first column, as a multiple of sin(theta)/lambda. */
static double column_unit(db_stol_abscissa abscissa) {
    static const double pi = 3.14159265358979323846;
    return abscissa == DB_4STOL ? 4 : abscissa == DB_Q ? 4 * pi : 1;
}

static db_status append_point(db_context *context, curve *c, point next) {
    DB_GROW(context, c->points, c->capacity, c->count + 1, "the amorphous amplitudes");
    c->points[c->count++] = next;
    return DB_OK;
}

static db_status parse_line(db_context *context, const db_text *text, double column[2]) {
    static const char *const names[2] = { "sin(theta)/lambda", "F" };
    int found;
    DB_TRY(db_text_columns(context, text, DB_WHITE_SPACE ",;", names, 2, column, &found));
    if (found < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected two columns, sin(theta)/lambda (or 4 or 4 pi times "
                       "that) and F, found %d",
                       text->path, text->line_number, found);
    if (!(column[0] >= 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected sin(theta)/lambda >= 0, found %g",
                       text->path, text->line_number, column[0]);
    return DB_OK;
}

static db_status read_lines(db_context *context, db_text *text, double unit, curve *c) {
    while (db_text_next_line(text)) {
        double column[2];
        DB_TRY(parse_line(context, text, column));
        const point next = { column[0] / unit, column[1], text->line_number };
        if (c->count && next.stol < c->points[c->count - 1].stol) c->out_of_order++;
        DB_TRY(append_point(context, c, next));
    }
    if (c->count < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected at least two lines sin(theta)/lambda F, found %zu", text->path,
                       c->count);
    return DB_OK;
}

/* Equal places by line. */
static int by_stol(const void *a, const void *b) {
    const point *const x = a;
    const point *const y = b;
    if (x->stol != y->stol) return x->stol < y->stol ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static db_status sort(db_context *context, const char *path, curve *c) {
    qsort(c->points, c->count, sizeof *c->points, by_stol);
    for (size_t i = 1; i < c->count; i++)
        if (c->points[i].stol == c->points[i - 1].stol)
            return db_fail(
                context, DB_ERROR_INPUT,
                "%s:%zu: expected each sin(theta)/lambda once, found the one of line %zu again",
                path, c->points[i].line, c->points[i - 1].line);
    return DB_OK;
}

/* Replaces the curve there. */
static db_status hand_over(db_context *context, const curve *c, db_background *background) {
    double *const stol = malloc(c->count * sizeof *stol);
    double *const amplitude = malloc(c->count * sizeof *amplitude);
    if (!stol || !amplitude) {
        free(stol);
        free(amplitude);
        return db_fail_memory(context, "the amorphous amplitudes");
    }
    for (size_t i = 0; i < c->count; i++) {
        stol[i] = c->points[i].stol;
        amplitude[i] = c->points[i].amplitude;
    }
    free(background->stol);
    free(background->amplitude);
    background->stol = stol;
    background->amplitude = amplitude;
    background->count = c->count;
    return DB_OK;
}

db_status db_read_stol(db_context *context, const char *path, db_stol_abscissa abscissa,
                       db_background *background, size_t *out_of_order) {
    if ((unsigned)abscissa > DB_Q)
        return db_fail(context, DB_ERROR_USAGE,
                       "%s: expected one of the kinds of first column, found number %d", path,
                       (int)abscissa);
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    curve c = { 0 };
    db_status status = read_lines(context, &text, column_unit(abscissa), &c);
    if (status == DB_OK) status = sort(context, path, &c);
    if (status == DB_OK) status = hand_over(context, &c, background);
    if (status == DB_OK && out_of_order) *out_of_order = c.out_of_order;
    free(c.points);
    db_text_close(&text);
    return status;
}
