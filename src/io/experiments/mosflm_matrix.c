/* MOSFLM orientation matrix files. */
#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/text_file.h>

#include "base/context_internal.h"
#include "base/atomic_file.h"
#include "base/c_locale.h"
#include "base/text_reader.h"
#include "base/vector.h"
#include "io/format_readers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static db_status read_nine(db_context *context, db_text *text, double matrix[9]) {
    int count = 0;
    while (count < 9 && db_text_next_line(text)) {
        const char *cursor = text->line;
        for (;;) {
            const db_word word = db_next_word(&cursor, DB_WHITE_SPACE);
            if (word.length == 0 || count == 9) break; /* the rest is cell, misset, symmetry */
            if (!db_word_number(word, &matrix[count]))
                return db_fail(
                    context, DB_ERROR_INPUT,
                    "%s:%zu: expected a finite number as element %d of the matrix, found "
                    "'%.*s'",
                    text->path, text->line_number, count + 1, DB_WORD_ARGUMENTS(word));
            count++;
        }
    }
    if (count < 9)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: expected the nine numbers of an orientation matrix, found %d",
                       text->path, count);
    return DB_OK;
}

db_status db_mosflm_matrix_read(db_context *context, const char *path, double matrix[9]) {
    db_text text;
    DB_TRY(db_text_open(context, path, &text));
    const db_status status = read_nine(context, &text, matrix);
    db_text_close(&text);
    return status;
}

/* U of A* = U B, row by row, where B holds a* along x and b* in the xy plane. 0 if A* is no
 * right-handed basis. */
static int orientation_matrix(const double a_star[9], double u[9]) {
    double x[3] = { a_star[0], a_star[3], a_star[6] }, y[3], z[3];
    const double b[3] = { a_star[1], a_star[4], a_star[7] };
    const double c[3] = { a_star[2], a_star[5], a_star[8] };
    db_cross(x, b, z);
    if (!(db_dot(z, c) > 0) || !db_normalize(x) || !db_normalize(z)) return 0;
    db_cross(z, x, y);
    for (int i = 0; i < 3; i++) {
        u[3 * i] = x[i];
        u[3 * i + 1] = y[i];
        u[3 * i + 2] = z[i];
    }
    return 1;
}

static int format_matrix(char *text, size_t size, const double a[9], const double u[9],
                         const double cell[6]) {
    static const char no_misset[] = "       0.000       0.000       0.000\n";
    const db_c_locale locale = db_c_locale_enter();
    const int length =
        snprintf(text, size,
                 " %11.8f %11.8f %11.8f\n %11.8f %11.8f %11.8f\n %11.8f %11.8f %11.8f\n%s"
                 "%12.7f%12.7f%12.7f\n%12.7f%12.7f%12.7f\n%12.7f%12.7f%12.7f\n"
                 " %11.4f %11.4f %11.4f %11.4f %11.4f %11.4f\n%s",
                 a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], no_misset, u[0], u[1], u[2],
                 u[3], u[4], u[5], u[6], u[7], u[8], cell[0], cell[1], cell[2], cell[3], cell[4],
                 cell[5], no_misset);
    db_c_locale_leave(locale);
    return length;
}

/* what: begins the message of a failure. */
static db_status matrix_text(db_context *context, const char *what, const db_experiment *experiment,
                             char *text, size_t size) {
    double a_star[9], u[9];
    db_crystal_matrix(&experiment->crystal, a_star);
    const double wavelength = experiment->beam.wavelength;
    if (!(wavelength > 0 && isfinite(wavelength)) || !orientation_matrix(a_star, u))
        return db_fail(
            context, DB_ERROR_INPUT,
            "%s: cannot write the matrix: expected a wavelength and a cell with positive "
            "volume, found %g A and cell %g %g %g %g %g %g",
            what, wavelength, experiment->crystal.cell[0], experiment->crystal.cell[1],
            experiment->crystal.cell[2], experiment->crystal.cell[3], experiment->crystal.cell[4],
            experiment->crystal.cell[5]);
    for (int i = 0; i < 9; i++) {
        a_star[i] *= wavelength;
        if (fabs(a_star[i]) < 5e-9) a_star[i] = 0; /* not -0.00000000 */
        if (fabs(u[i]) < 5e-8) u[i] = 0;
    }
    const int length = format_matrix(text, size, a_star, u, experiment->crystal.cell);
    if (length < 0 || (size_t)length >= size)
        return db_fail(context, DB_ERROR_INPUT, "%s: the matrix does not fit into %zu bytes", what,
                       size);
    return DB_OK;
}

db_status db_format_mosflm_matrix(db_context *context, const db_experiment *experiment, char *text,
                                  size_t size) {
    return matrix_text(context, "orientation matrix", experiment, text, size);
}

db_status db_write_mosflm_matrix(db_context *context, const char *path,
                                 const db_experiment *experiment) {
    char text[DB_MATRIX_TEXT_SIZE];
    DB_TRY(matrix_text(context, path ? path : "", experiment, text, sizeof text));
    return db_write_text(context, path, text, strlen(text));
}
