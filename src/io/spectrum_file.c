/* Spectra: one wavelength or photon energy and its weight per line. */
#include <dualbragg/io.h>

#include "base/context_internal.h"
#include "base/growth.h"
#include "base/text_reader.h"

#include <math.h>
#include <stdlib.h>

static const double ENERGY_WAVELENGTH = 12398.42; /* eV angstrom */

/* Nobody diffracts wavelengths of 100 angstrom, or photons of 100 eV, from a crystal. */
static const double FIRST_ENERGY = 100;

static db_status parse_line(db_context *context, const db_text *text, double column[2]) {
    static const char *const names[2] = { "the wavelength (A) or energy (eV)", "the weight" };
    const char *cursor = text->line;
    for (int i = 0; i < 2; i++) {
        const db_word word = db_next_word(&cursor, DB_WHITE_SPACE ",;");
        if (word.length == 0)
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected two columns, wavelength (A) or energy (eV), and "
                           "weight, found %d",
                           text->path, text->line_number, i);
        if (!db_word_number(word, &column[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s:%zu: expected a finite number for %s, found '%.*s'", text->path,
                           text->line_number, names[i], DB_WORD_ARGUMENTS(word));
    }
    if (!(column[0] > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a wavelength or energy > 0, found %g", text->path,
                       text->line_number, column[0]);
    if (!(column[1] >= 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s:%zu: expected a weight >= 0, found %g; a spectrometer's background is "
                       "to be subtracted and what falls below 0 set to 0",
                       text->path, text->line_number, column[1]);
    return DB_OK;
}

static db_status append(db_context *context, db_spectrum *s, size_t *capacity, double wavelength,
                        double weight) {
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
            DB_TRY(append(context, s, &capacity, energy ? ENERGY_WAVELENGTH / column[0] : column[0],
                          column[1]));
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
