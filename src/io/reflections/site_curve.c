/* Curves of f' and f'' over the photon energy: three columns of a file, or a free atom's. */
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/site_curves.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/photon_energy.h"
#include "base/text_reader.h"
#include "io/reflections/gemmi_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ENERGY, F_PRIME, F_SECOND, COLUMNS, ERROR = COLUMNS + 1 };

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

static const char separators[] = DB_WHITE_SPACE ",;";

/* An error as the result of a refinement has it where nothing tells the value. */
static int is_unknown(db_word word) {
    static const char *const texts[] = { "inf", "nan", "-nan" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (word.length == strlen(texts[i]) && memcmp(word.start, texts[i], word.length) == 0)
            return 1;
    return 0;
}

/* Atoms absorb: f'' below 0 is that of a refined curve, within its error, which is inf or nan where nothing tells f''. */
static db_status check_absorption(db_context *context, const db_text *text, double f_second) {
    const double most = 5; /* errors */
    const char *cursor = text->line;
    double error;
    for (int i = 0; i < ERROR; i++) (void)db_next_word(&cursor, separators);
    const db_word word = db_next_word(&cursor, separators);
    if (db_word_number(word, &error) ? f_second + most * error >= 0 : is_unknown(word))
        return DB_OK;
    return db_fail(
        context, DB_ERROR_INPUT,
        "%s:%zu: expected f'' (column 3) of at least 0, or less by up to %g of its errors "
        "in column 5, found %g; column 2 is f', column 3 f''",
        text->path, text->line_number, most, f_second);
}

static db_status parse_line(db_context *context, const db_text *text, double column[COLUMNS]) {
    static const char *const names[COLUMNS] = { "the photon energy (eV)", "f'", "f''" };
    int found;
    DB_TRY(db_text_columns(context, text, separators, names, COLUMNS, column, &found));
    if (found < COLUMNS)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected three columns, photon energy (eV), f' and f'', found %d",
                       text->path, text->line_number, found);
    if (!(column[ENERGY] > 0))
        return db_fail(context, DB_ERROR_INPUT, "%s:%zu: expected an energy above 0 eV, found %g",
                       text->path, text->line_number, column[ENERGY]);
    return column[F_SECOND] < 0 ? check_absorption(context, text, column[F_SECOND]) : DB_OK;
}

static db_status read_lines(db_context *context, db_text *text, curve_lines *lines) {
    while (db_text_next_line(text)) {
        double column[COLUMNS];
        DB_TRY(parse_line(context, text, column));
        const double before = lines->count ? lines->point[lines->count - 1][ENERGY] : 0;
        if (!(column[ENERGY] > before))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected ascending energies, found %.10g after %.10g eV%s",
                           text->path, text->line_number, column[ENERGY], before,
                           before < DB_LEAST_X_RAY_EV ? "; these are no energies in eV" : "");
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

/* A curve between its points. */
static double value_at(const db_site_kind *kind, const double *value, double at) {
    size_t i = 0;
    while (i + 2 < kind->count && kind->energy[i + 1] < at) i++;
    const double low = kind->energy[i], part = (at - low) / (kind->energy[i + 1] - low);
    return value[i] + part * (value[i + 1] - value[i]);
}

/* Cuts f'' to a range of energies: the curve's points within it, and both ends. Returns the number of points. */
static size_t cut_out(const db_site_kind *kind, double from, double to, double *energy,
                      double *f_second) {
    size_t count = 0;
    energy[count] = from;
    f_second[count++] = value_at(kind, kind->f_second, from);
    for (size_t i = 0; i < kind->count; i++) {
        if (kind->energy[i] <= from || kind->energy[i] >= to) continue;
        energy[count] = kind->energy[i];
        f_second[count++] = kind->f_second[i];
    }
    energy[count] = to;
    f_second[count++] = value_at(kind, kind->f_second, to);
    return count;
}

static db_status check_points(db_context *context, const db_site_kind *kind, const double *points) {
    const double first = kind->energy[0], last = kind->energy[kind->count - 1];
    if (!(points[0] > 0 && points[1] > points[0] && points[2] >= 2 && points[2] <= 1e6))
        return db_fail(context, DB_ERROR_USAGE,
                       "energies of curves: expected first < last (eV) and 2 or more points, found "
                       "%g, %g, %g",
                       points[0], points[1], points[2]);
    if (points[0] >= first && points[1] <= last) return DB_OK;
    const double kev = db_factor_to_range(points[0], 1000 * first, 1000 * last),
                 angstrom = db_factor_to_range(DB_EV_ANGSTROM / points[0], first, last);
    return db_fail(context, DB_ERROR_INPUT,
                   "sites %s: points from %.7g to %.7g eV: expected a curve that reaches there, "
                   "found one from %.7g to %.7g eV%s",
                   kind->name, points[0], points[1], first, last,
                   points[1] / first < 0.003  ? "; the points look like keV"
                   : last / points[0] > 0.003 ? ""
                   : angstrom < kev           ? "; the curve looks like wavelengths in A"
                                              : "; the curve looks like keV");
}

db_status db_site_curve_onto(db_context *context, const double points[3], db_site_kind *kind) {
    db_site_kind fine = *kind;
    const db_status possible = check_points(context, &fine, points);
    if (possible != DB_OK) {
        free(fine.energy);
        clear_points(kind);
        return possible;
    }
    const size_t count = (size_t)points[2];
    double *const energy = malloc(2 * (fine.count + 2) * sizeof *energy), *const second =
                                                                              energy + fine.count +
                                                                              2;
    db_status status = energy ? make_points(context, count, kind)
                              : db_fail_memory(context, "a curve of f' and f''");
    const size_t cut = status == DB_OK ? cut_out(&fine, points[0], points[1], energy, second) : 0;
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        const double at = kind->energy[i] = db_site_curve_energy(points, (long)i);
        kind->f_prime[i] =
            value_at(&fine, fine.f_prime, at) - db_kramers_kronig(energy, second, cut, at);
        kind->f_second[i] = value_at(&fine, fine.f_second, at);
    }
    for (size_t i = 0; i < count && status == DB_OK; i++)
        kind->f_prime[i] += db_kramers_kronig(kind->energy, kind->f_second, count, kind->energy[i]);
    free(energy);
    free(fine.energy);
    if (status != DB_OK) clear_points(kind);
    return status;
}
