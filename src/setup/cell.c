/* Unit cell and orientation (docs/theory/crystal.md, Unit cell). */
#include "setup/setup_crystal_parts.h"

#include <dualbragg/io.h>

#include "base/context_internal.h"

#include <string.h>

static const double DEGREE = 0.017453292519943295769; /* radian */

static const char *const edge_names[3] = { "a", "b", "c" };

/* The user's cell with open edges and angles filled in. To the reference, those that are not
 * positive are open, too. */
static db_status complete_cell(db_context *context, const db_setup *setup, double cell[6]) {
    const double *const given = setup->cell;
    if (!db_setup_given(given[0]))
        return db_fail(context, DB_ERROR_INPUT,
                       "unit cell: edge a is missing, though others are given");
    for (int i = 0; i < 6; i++)
        cell[i] = db_setup_given(given[i]) && !(setup->compat && given[i] <= 0) ? given[i]
                  : i < 3                                                       ? given[0]
                                                                                : 90;
    for (int i = 0; i < 3; i++)
        if (!(cell[i] > 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "unit cell: expected a positive edge %s (angstrom), found %g",
                           edge_names[i], cell[i]);
    return DB_OK;
}

/* The file's directions with the user's edge lengths. */
static void force_edges(const double cell[6], db_crystal *crystal, const db_setup_notes *notes) {
    for (int i = 0; i < 3; i++) {
        if (fabs(crystal->cell[i] - cell[i]) > 0.01 * cell[i])
            db_setup_note(notes,
                          "cell edge %s: %g angstrom as given, instead of the matrix file's %g",
                          edge_names[i], cell[i], crystal->cell[i]);
        crystal->cell[i] = cell[i];
    }
    for (int i = 3; i < 6; i++)
        if (fabs(crystal->cell[i] - cell[i]) > 0.1) {
            db_setup_note(
                notes,
                "cell angles: those of the matrix file (%g %g %g), not those given (%g %g %g)",
                crystal->cell[3], crystal->cell[4], crystal->cell[5], cell[3], cell[4], cell[5]);
            return;
        }
}

/* Volume (A^3) of the cell; not a positive number if no cell has such angles. */
static double cell_volume(const double cell[6]) {
    const double alpha = DEGREE * cell[3], beta = DEGREE * cell[4], gamma = DEGREE * cell[5],
                 half = (alpha + beta + gamma) / 2;
    return 2 * cell[0] * cell[1] * cell[2] *
           sqrt(sin(half) * sin(half - alpha) * sin(half - beta) * sin(half - gamma));
}

/* The lattice that the reference makes of a cell: the component of c* along z is right only if two
 * angles are 90 degree. The edges are forced back to the user's, the angles come out wrong. */
static db_status reference_lattice(db_context *context, const double cell[6], db_crystal *crystal) {
    const double a = cell[0], b = cell[1], c = cell[2], volume = cell_volume(cell);
    const double ca = cos(DEGREE * cell[3]), cb = cos(DEGREE * cell[4]), cg = cos(DEGREE * cell[5]),
                 sa = sin(DEGREE * cell[3]), sb = sin(DEGREE * cell[4]), sg = sin(DEGREE * cell[5]);
    const double a_star = b * c * sa / volume, b_star = c * a * sb / volume,
                 c_star = a * b * sg / volume;
    const double cos_alpha_star = (cb * cg - ca) / (sb * sg),
                 cos_beta_star = (cg * ca - cb) / (sg * sa),
                 cos_gamma_star = (ca * cb - cg) / (sa * sb),
                 sin_gamma_star = fmin(c / (volume * a_star * b_star), 1);
    const double columns[9] = {
        a_star,
        b_star * cos_gamma_star,
        c_star * cos_beta_star, //
        0,
        b_star * sin_gamma_star,
        c_star * (cos_alpha_star - cos_beta_star * cos_gamma_star) / sin_gamma_star, //
        0,
        0,
        c_star * volume / (a * b * c * sin_gamma_star),
    };
    DB_TRY(db_crystal_set_matrix(context, crystal, columns));
    memcpy(crystal->cell, cell, 3 * sizeof *cell);
    return DB_OK;
}

/* wavelength: of the beam, not of the setup, which a spectrum's mean replaces. */
static db_status matrix_lattice(db_context *context, const db_setup *setup, double wavelength,
                                db_crystal *crystal) {
    double matrix[9];
    DB_TRY(db_read_mosflm_matrix(context, setup->matrix_file, matrix));
    for (int i = 0; i < 9; i++) matrix[i] /= wavelength;
    return db_crystal_set_matrix(context, crystal, matrix);
}

db_status db_setup_cell(db_context *context, const db_setup *setup, db_experiment *experiment,
                        const db_setup_notes *notes) {
    db_crystal *const crystal = &experiment->crystal;
    double cell[6] = { 0 };
    int has_cell = 0;
    for (int i = 0; i < 6; i++) has_cell |= db_setup_given(setup->cell[i]);
    if (has_cell) DB_TRY(complete_cell(context, setup, cell));
    const int listed = setup->expt_file && crystal->cell[0] > 0; /* by the experiment list */
    if (!has_cell && !setup->matrix_file && !listed)
        return db_fail(context, DB_ERROR_INPUT,
                       "unit cell: expected cell edges and angles or an orientation matrix, "
                       "found neither%s%s",
                       setup->expt_file ? "; there is no crystal in " : "",
                       setup->expt_file ? setup->expt_file : "");
    if (setup->matrix_file) {
        DB_TRY(matrix_lattice(context, setup, experiment->beam.wavelength, crystal));
        if (has_cell) force_edges(cell, crystal, notes);
    } else if (setup->compat && has_cell && cell_volume(cell) > 0) {
        DB_TRY(reference_lattice(context, cell, crystal));
    } else if (has_cell) {
        memcpy(crystal->cell, cell, sizeof cell);
    }
    /* the reference's reciprocal vectors go with the user's volume, whatever the angles became */
    if (setup->compat && has_cell)
        experiment->reference.reciprocal_scale = cell_volume(crystal->cell) / cell_volume(cell);
    return DB_OK;
}
