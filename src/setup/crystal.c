/* The crystal: unit cell and orientation (docs/theory/crystal.md, Unit cell), size and mosaic domains
 * (docs/theory/crystal.md, Crystal size). */
#include "setup/parts.h"

#include "base/context_internal.h"
#include "base/degree.h"
#include "base/vector.h"

#include <dualbragg/expert/mosflm_matrix.h>
#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/io.h>
#include <string.h>

static const char *const edge_names[3] = { "a", "b", "c" };

/* The user's cell with open edges and angles filled in. In the reference's arithmetic edges and angles
 * that are not positive are open, too. */
static db_status complete_cell(db_context *context, const db_setup *setup, double cell[6]) {
    const double *const given = setup->cell;
    if (!db_setup_given(given[0]))
        return db_fail(context, DB_ERROR_INPUT,
                       "unit cell: edge a is missing, though others are given");
    int angles = 0;
    for (int i = 3; i < 6; i++) angles += db_setup_given(given[i]);
    /* a list that lost its end, as 57 57 150 90 90 of a hexagonal cell */
    if (!setup->compat && db_setup_given(given[3]) && !db_setup_given(given[5]))
        return db_fail(context, DB_ERROR_INPUT,
                       "unit cell: expected three angles or none (then they are 90), found %d",
                       angles);
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

/* Gives a crystal from a matrix file the user's edge lengths. */
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
                notes, "cell angles: %g %g %g of the matrix file are used, not the given %g %g %g",
                crystal->cell[3], crystal->cell[4], crystal->cell[5], cell[3], cell[4], cell[5]);
            return;
        }
}

/* Volume (A^3) of the cell; NAN or 0 if no cell has such angles. */
static double cell_volume(const double cell[6]) {
    const double alpha = DB_DEGREE * cell[3], beta = DB_DEGREE * cell[4],
                 gamma = DB_DEGREE * cell[5], half = (alpha + beta + gamma) / 2;
    return 2 * cell[0] * cell[1] * cell[2] *
           sqrt(sin(half) * sin(half - alpha) * sin(half - beta) * sin(half - gamma));
}

/* The reference's lattice of a cell. Its component of c* along z is right only if two angles are 90
 * degree. It keeps the user's edges, but has wrong angles. */
static db_status reference_lattice(db_context *context, const double cell[6], db_crystal *crystal) {
    const double a = cell[0], b = cell[1], c = cell[2], volume = cell_volume(cell);
    const double ca = cos(DB_DEGREE * cell[3]), cb = cos(DB_DEGREE * cell[4]),
                 cg = cos(DB_DEGREE * cell[5]), sa = sin(DB_DEGREE * cell[3]),
                 sb = sin(DB_DEGREE * cell[4]), sg = sin(DB_DEGREE * cell[5]);
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

/* Lattice from a matrix file. wavelength: of the beam; it may be a spectrum's mean instead of the setup's. */
static db_status matrix_lattice(db_context *context, const db_setup *setup, double wavelength,
                                db_crystal *crystal) {
    double matrix[9];
    DB_TRY(db_read_mosflm_matrix(context, setup->matrix_file, matrix));
    for (int i = 0; i < 9; i++) matrix[i] /= wavelength;
    return db_crystal_set_matrix(context, crystal, matrix);
}

/* Cell and orientation without misset, from cell constants, a matrix file or both; the ratio of
 * reciprocal vectors goes to experiment->reference. */
static db_status take_cell(db_context *context, const db_setup *setup, db_experiment *experiment,
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
    /* the reference's reciprocal vectors have the user's volume, though its angles differ */
    if (setup->compat && has_cell)
        experiment->reference.reciprocal_scale = cell_volume(crystal->cell) / cell_volume(cell);
    return DB_OK;
}

/* The rotation nearest to a matrix that is almost one: Newton's iteration for the polar
 * decomposition, u := (u + inverse of u transposed)/2. N. J. Higham, SIAM J. Sci. Stat. Comput. 7
 * (1986) 1160. */
static void nearest_rotation(double u[9]) {
    for (int step = 0; step < 5; step++) {
        double c[9];
        const double determinant = db_cofactors(u, c);
        for (int i = 0; i < 9; i++) u[i] = (u[i] + c[i] / determinant) / 2;
    }
}

/* Orientation before misset, if given as a rotation matrix. */
static db_status take_orientation(db_context *context, const db_setup *setup, db_crystal *crystal) {
    static const double rounding = 1e-3; /* error of matrices written with few digits */
    double u[9], c[9];
    if (!db_setup_given(setup->orientation[0])) return DB_OK;
    if (setup->matrix_file)
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation: given twice, as a rotation matrix and by %s",
                       setup->matrix_file);
    memcpy(u, setup->orientation, sizeof u);
    const double determinant = db_cofactors(u, c), worst = db_distortion(u);
    if (!(worst <= rounding && determinant > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "orientation: expected a rotation matrix, found one off by %g with "
                       "determinant %g",
                       worst, determinant);
    nearest_rotation(u);
    memcpy(crystal->orientation, u, sizeof u);
    return DB_OK;
}

/* Cells along an axis from the sample's size (mm). Along b and c the size is limited to the beam's. */
static db_status cells_from_size(db_context *context, const db_setup *setup, int axis,
                                 db_crystal *crystal, const db_setup_notes *notes) {
    double size = setup->sample_size[axis];
    if (!(size > 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "sample size along %s: expected a positive number (mm), found %g",
                       edge_names[axis], size);
    if (axis > 0 && size > setup->beamsize) {
        db_setup_note(notes, "sample size along %s: clipped to the beam size, %g mm",
                      edge_names[axis], setup->beamsize);
        size = setup->beamsize;
    }
    crystal->Ncells[axis] = db_setup_intervals(size * 1e7, crystal->cell[axis]);
    return DB_OK;
}

static db_status crystal_size(db_context *context, const db_setup *setup, db_crystal *crystal,
                              const db_setup_notes *notes) {
    for (int i = 0; i < 3; i++) {
        if (isnan(setup->Ncells[i]) || (!setup->compat && setup->Ncells[i] < 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "crystal size N%s: expected 0 cells or more, found %g", edge_names[i],
                           setup->Ncells[i]);
        crystal->Ncells[i] = setup->Ncells[i];
        if (setup->sample_size[i] != 0) DB_TRY(cells_from_size(context, setup, i, crystal, notes));
        if (crystal->Ncells[i] < 1) crystal->Ncells[i] = 1;
        if (setup->shape == DB_SHAPE_SQUARE && setup->spread.spots == DB_SPOTS_SAMPLED &&
            crystal->Ncells[i] != floor(crystal->Ncells[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "crystal size N%s: a parallelepiped (square_xtal) has a whole number of "
                           "cells, found %g; "
                           "round_xtal, gauss_xtal and tophat_spots take any size from 1",
                           edge_names[i], crystal->Ncells[i]);
    }
    return DB_OK;
}

/* Takes the mosaic spread. *spread: 1 if there is one. */
static db_status mosaic_spread(db_context *context, const db_setup *setup, db_crystal *crystal,
                               int *spread) {
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_MOSAIC_SPREAD));
    crystal->mosaic_spread = setup->mosaic_spread;
    *spread = setup->mosaic_spread != 0;
    crystal->mosaic_anisotropic = !isnan(setup->mosaic_abc[0]);
    if (!crystal->mosaic_anisotropic) return DB_OK;
    if (setup->mosaic_spread != 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic spread: expected one for all axes or one about each, found both, %g "
                       "and %g %g %g degree",
                       setup->mosaic_spread, setup->mosaic_abc[0], setup->mosaic_abc[1],
                       setup->mosaic_abc[2]);
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_MOSAIC_ABC));
    for (int i = 0; i < 3; i++) {
        crystal->mosaic_abc[i] = setup->mosaic_abc[i];
        *spread |= setup->mosaic_abc[i] != 0;
    }
    return DB_OK;
}

static db_status mosaic(db_context *context, const db_setup *setup, db_crystal *crystal,
                        const db_setup_notes *notes) {
    int spread;
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_MOSAIC_DOMAINS));
    DB_TRY(mosaic_spread(context, setup, crystal, &spread));
    DB_TRY(db_setup_check_seed(context, "mosaic", setup->mosaic_seed));
    crystal->mosaic_seed = setup->mosaic_seed;
    crystal->mosaic_domains = setup->mosaic_domains;
    if (!spread) {
        if (setup->mosaic_domains > 1)
            db_setup_note(notes, "mosaic domains: 1 instead of %d, because the mosaic spread is 0",
                          setup->mosaic_domains);
        crystal->mosaic_domains = 1;
    } else if (setup->mosaic_domains == 0) {
        crystal->mosaic_domains = 10;
        db_setup_note(notes, "auto-selected 10 mosaic domains");
    }
    return DB_OK;
}

/* Takes one number for all axes, or three. *count: how many. */
static db_status halo_numbers(db_context *context, const char *name, const double given[3],
                              double taken[3], int *count) {
    *count = isnan(given[1]) && isnan(given[2]) ? 1 : 3;
    for (int i = 0; i < 3; i++) {
        if (*count == 3 && isnan(given[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "%s: expected one number for all axes, or one for each of three, found "
                           "two",
                           name);
        taken[i] = given[*count == 3 ? i : 0];
    }
    return DB_OK;
}

static db_status take_halo(db_context *context, const db_setup *setup, db_crystal *crystal) {
    const int sigma = !isnan(setup->diffuse_sigma[0]), gamma = !isnan(setup->diffuse_gamma[0]);
    int sigmas, gammas;
    if (!sigma && !gamma) return DB_OK;
    if (!sigma || !gamma)
        return db_fail(
            context, DB_ERROR_INPUT,
            "diffuse halo: expected both diffuse_sigma and diffuse_gamma, found %s alone",
            sigma ? "diffuse_sigma" : "diffuse_gamma");
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_DIFFUSE_SIGMA));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_DIFFUSE_GAMMA));
    DB_TRY(halo_numbers(context, "diffuse_sigma", setup->diffuse_sigma, crystal->diffuse_sigma,
                        &sigmas));
    DB_TRY(halo_numbers(context, "diffuse_gamma", setup->diffuse_gamma, crystal->diffuse_gamma,
                        &gammas));
    crystal->diffuse_anisotropic = sigmas + gammas > 2;
    for (int i = 1; i < 3 && !crystal->diffuse_anisotropic; i++)
        crystal->diffuse_sigma[i] = crystal->diffuse_gamma[i] = 0; /* not in use */
    return DB_OK;
}

db_status db_setup_crystal(db_context *context, const db_setup *setup, db_experiment *experiment,
                           const db_setup_notes *notes) {
    db_crystal *const crystal = &experiment->crystal;
    DB_TRY(take_cell(context, setup, experiment, notes));
    DB_TRY(take_orientation(context, setup, crystal));
    DB_TRY(db_setup_misset(context, setup, crystal, notes));
    crystal->shape = setup->shape;
    crystal->fudge = setup->fudge;
    crystal->b_factor = setup->b_factor;
    DB_TRY(take_halo(context, setup, crystal));
    DB_TRY(crystal_size(context, setup, crystal, notes));
    return mosaic(context, setup, crystal, notes);
}
