/* The sources of a beam: lists of them, one per line, columns x y z weight wavelength
 * (docs/theory/beam.md, Source file), and spectra, one wavelength or energy with its weight per
 * line. */
#include <dualbragg/io.h>
#include <dualbragg/expert/beam_files.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"
#include "base/vector.h"
#include "base/photon_energy.h"

#include <math.h>
#include <stdlib.h>

enum { X, Y, Z, WEIGHT, WAVELENGTH, COLUMN_COUNT };

/* Defaults of missing columns: a source 10 m upstream of the sample. */
static void column_defaults(const db_beam *beam, double column[COLUMN_COUNT]) {
    for (int i = 0; i < 3; i++) column[i] = -10 * beam->direction[i];
    column[WEIGHT] = 1;
    column[WAVELENGTH] = beam->wavelength * 1e-10;
}

static db_status parse_source(db_context *context, const db_text *text, const db_beam *beam,
                              db_source *source) {
    static const char *const names[] = { "x", "y", "z", "the weight", "the wavelength (m)" };
    double column[COLUMN_COUNT];
    int found;
    column_defaults(beam, column);
    DB_TRY(
        db_text_columns(context, text, DB_WHITE_SPACE ",;:!", names, COLUMN_COUNT, column, &found));
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
    /* The file gives the direction towards the source, of any length: squares must not over- or underflow. */
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

/* Numbers from 100 on are energies (eV): no crystal diffracts 100 angstrom, or photons of 100
 * eV. */
static const double FIRST_ENERGY = 100;

static db_status parse_line(db_context *context, const db_text *text, double column[2]) {
    static const char *const names[2] = { "the wavelength (A) or energy (eV)", "the weight" };
    int found;
    DB_TRY(db_text_columns(context, text, DB_WHITE_SPACE ",;", names, 2, column, &found));
    if (found < 2)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected two columns, wavelength (A) or energy (eV), and "
                       "weight, found %d",
                       text->path, text->line_number, found);
    if (!(column[0] > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a wavelength or energy > 0, found %g", text->path,
                       text->line_number, column[0]);
    if (!(column[1] >= 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a weight >= 0, found %g; subtract a spectrometer's "
                       "background and set negative values to 0",
                       text->path, text->line_number, column[1]);
    return DB_OK;
}

static db_status append_source(db_context *context, db_spectrum *s, size_t *capacity,
                               double wavelength, double weight) {
    size_t room = *capacity;
    DB_GROW(context, s->wavelength, room, s->count + 1, "a spectrum");
    DB_GROW(context, s->weight, *capacity, s->count + 1, "a spectrum");
    s->wavelength[s->count] = wavelength;
    s->weight[s->count++] = weight;
    return DB_OK;
}

static db_status read_lines(db_context *context, db_text *text, db_spectrum *s) {
    size_t capacity = 0;
    int lines = 0, energies = 0;
    double total = 0;
    while (db_text_next_line(text)) {
        double column[2];
        DB_TRY(parse_line(context, text, column));
        const int energy = column[0] >= FIRST_ENERGY;
        if (lines++ == 0) energies = energy;
        if (energy != energies)
            return db_fail(
                context, DB_ERROR_INPUT, "%s:%zu: expected %s as in the lines before, found %g",
                text->path, text->line_number,
                energies ? "an energy (eV) of at least 100" : "a wavelength (A) below 100",
                column[0]);
        total += column[1];
        if (column[1] > 0)
            DB_TRY(append_source(context, s, &capacity,
                                 energy ? DB_EV_ANGSTROM / column[0] : column[0], column[1]));
    }
    if (!(total > 0 && isfinite(total)))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected weights with a finite sum > 0, found %g in %d lines",
                       text->path, total, lines);
    return DB_OK;
}

db_status db_read_spectrum(db_context *context, const char *path, db_spectrum *spectrum) {
    db_text text;
    *spectrum = (db_spectrum){ 0 };
    DB_TRY(db_text_open(context, path, &text));
    const db_status status = read_lines(context, &text, spectrum);
    db_text_close(&text);
    if (status != DB_OK) db_spectrum_clear(spectrum);
    return status;
}

void db_spectrum_clear(db_spectrum *spectrum) {
    free(spectrum->wavelength);
    free(spectrum->weight);
    *spectrum = (db_spectrum){ 0 };
}
