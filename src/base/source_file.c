/* Source files: one source per line, columns x y z weight wavelength (docs/theory/beam.md, Source
 * file). */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"
#include "base/vector.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z, WEIGHT, WAVELENGTH, COLUMN_COUNT };

/* What missing columns stand for: a source 10 m upstream of the sample. */
static void column_defaults(const db_beam *beam, double column[COLUMN_COUNT]) {
    for (int i = 0; i < 3; i++) column[i] = -10 * beam->direction[i];
    column[WEIGHT] = 1;
    column[WAVELENGTH] = beam->wavelength * 1e-10;
}

static db_status parse_columns(db_context *context, const db_text *text,
                               double column[COLUMN_COUNT]) {
    static const char *const names[] = { "x", "y", "z", "the weight", "the wavelength (m)" };
    const char *cursor = text->line;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE ",;:!");
        if (word.length == 0) return DB_OK;
        if (!db_word_number(word, &column[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for %s, found '%.*s'", text->path,
                           text->line_number, names[i], DB_WORD_ARGUMENTS(word));
    }
    return DB_OK;
}

static db_status parse_source(db_context *context, const db_text *text, const db_beam *beam,
                              db_source *source) {
    double column[COLUMN_COUNT];
    column_defaults(beam, column);
    DB_TRY(parse_columns(context, text, column));
    const double largest = fmax(fmax(fabs(column[X]), fabs(column[Y])), fabs(column[Z]));
    if (!(largest > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a source away from the sample, found %g %g %g", text->path,
                       text->line_number, column[X], column[Y], column[Z]);
    if (!(column[WEIGHT] >= 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected a weight >= 0, found %g",
                       text->path, text->line_number, column[WEIGHT]);
    if (!(column[WAVELENGTH] > 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected a wavelength > 0 m, found %g",
                       text->path, text->line_number, column[WAVELENGTH]);
    /* A wavelength in angstrom by mistake would be of the order of 1. */
    if (column[WAVELENGTH] > 1e-6)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a wavelength in metre (1 A = 1e-10), found %g", text->path,
                       text->line_number, column[WAVELENGTH]);
    *source = (db_source){ .weight = column[WEIGHT],
                           .wavelength_ratio = column[WAVELENGTH] / (beam->wavelength * 1e-10) };
    /* The file says where the photons come from. Any length will do, so squares must not over- or
     * underflow. */
    for (int i = 0; i < 3; i++) source->direction[i] = -(column[i] / largest);
    db_normalize(source->direction);
    return DB_OK;
}

typedef struct source_list {
    db_source *items;
    size_t count, capacity;
} source_list;

static db_status read_list(db_context *context, db_text *text, const db_beam *beam,
                           source_list *list) {
    double weights = 0;
    while (db_text_next_line(text)) {
        db_source source;
        DB_TRY(parse_source(context, text, beam, &source));
        DB_GROW(context, list->items, list->capacity, list->count + 1, "the source list");
        list->items[list->count++] = source;
        weights += source.weight;
    }
    if (list->count == 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected lines x y z weight wavelength, found none", text->path);
    if (!(weights > 0 && isfinite(weights)))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected weights with a finite sum > 0, found %g", text->path, weights);
    return DB_OK;
}

db_status db_read_sources(db_context *context, const char *path, db_beam *beam) {
    if (!(beam->wavelength > 0 && isfinite(beam->wavelength)))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: sources need the wavelength of the beam (> 0 A), found %g", path,
                       beam->wavelength);
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    source_list list = { 0 };
    const db_status status = read_list(context, &text, beam, &list);
    db_text_close(&text);
    if (status != DB_OK) {
        free(list.items);
        return status;
    }
    free(beam->sources);
    beam->sources = list.items;
    beam->source_count = list.count;
    return DB_OK;
}
