/* Curves of f' and f'' over the photon energy: three columns of a file, or a free atom's. */
#include <dualbragg/expert/amplitude_files.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"
#include "io/reflections/gemmi_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENERGY, F_PRIME, F_SECOND, COLUMNS };

typedef struct curve_lines {
    double (*point)[COLUMNS];
    size_t count, room;
} curve_lines;

/* A block of three arrays. */
static db_status make_points(db_context *context, size_t count, db_site_kind *kind) {
    double *const block = malloc(3 * count * sizeof *block);
    if (!block) return db_fail_memory(context, "a curve of f' and f''");
    kind->count = count;
    kind->energy = block;
    kind->f_prime = block + count;
    kind->f_second = block + 2 * count;
    return DB_OK;
}

static void clear_points(db_site_kind *kind) {
    kind->count = 0;
    kind->energy = kind->f_prime = kind->f_second = NULL;
}

static db_status parse_line(db_context *context, const db_text *text, double column[COLUMNS]) {
    static const char *const names[COLUMNS] = { "the photon energy (eV)", "f'", "f''" };
    int found;
    DB_TRY(db_text_columns(context, text, DB_WHITE_SPACE ",;", names, COLUMNS, column, &found));
    if (found < COLUMNS)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected three columns, photon energy (eV), f' and f'', found %d",
                       text->path, text->line_number, found);
    if (!(column[ENERGY] > 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected an energy above 0 eV, found %g",
                       text->path, text->line_number, column[ENERGY]);
    return DB_OK;
}

static db_status read_lines(db_context *context, db_text *text, curve_lines *lines) {
    while (db_text_next_line(text)) {
        double column[COLUMNS];
        DB_TRY(parse_line(context, text, column));
        const double before = lines->count ? lines->point[lines->count - 1][ENERGY] : 0;
        if (!(column[ENERGY] > before))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected ascending energies, found %.10g after %.10g eV",
                           text->path, text->line_number, column[ENERGY], before);
        DB_GROW(context, lines->point, lines->room, lines->count + 1, "a curve of f' and f''");
        memcpy(lines->point[lines->count++], column, sizeof column);
    }
    if (lines->count < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected at least two lines of photon energy (eV), f' and f'', found "
                       "%zu",
                       text->path, lines->count);
    return DB_OK;
}

db_status db_read_site_curve(db_context *context, const char *path, db_site_kind *kind) {
    db_text text;
    curve_lines lines = { 0 };
    clear_points(kind);
    DB_TRY(db_text_open(context, path, &text));
    db_status status = read_lines(context, &text, &lines);
    db_text_close(&text);
    if (status == DB_OK) status = make_points(context, lines.count, kind);
    for (size_t i = 0; status == DB_OK && i < lines.count; i++) {
        kind->energy[i] = lines.point[i][ENERGY];
        kind->f_prime[i] = lines.point[i][F_PRIME];
        kind->f_second[i] = lines.point[i][F_SECOND];
    }
    free(lines.point);
    return status;
}

db_status db_make_site_curve(db_context *context, const char *element, double shift, double from,
                             double to, double step, db_site_kind *kind) {
    const double least = 1000, most = 70000; /* where the tables hold */
    clear_points(kind);
    if (!(step > 0 && to > from && isfinite(shift) && from - fabs(shift) >= least &&
          to + fabs(shift) <= most))
        return db_fail(context, DB_ERROR_INPUT,
                       "table of f' and f'' of %s: expected energies from %g to %g eV, found %g to "
                       "%g, shifted by %g",
                       element, least, most, from, to, shift);
    const double steps = ceil((to - from) / step);
    if (steps > 1e6)
        return db_fail(context, DB_ERROR_INPUT,
                       "table of f' and f'' of %s: expected at most 1e6 steps, found %g", element,
                       steps);
    DB_TRY(make_points(context, (size_t)steps + 1, kind));
    for (size_t i = 0; i < kind->count; i++)
        kind->energy[i] = from + (to - from) * (double)i / steps;
    const db_status status = db_gemmi_dispersion(context, element, shift, kind->count, kind->energy,
                                                 kind->f_prime, kind->f_second);
    if (status != DB_OK) {
        free(kind->energy);
        clear_points(kind);
    }
    return status;
}
