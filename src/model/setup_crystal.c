/* Cell, orientation, size and mosaic domains of the crystal (model.md 2 and 4). */
#include "model/setup_parts.h"

#include <dualbragg/io.h>

#include "core/context_internal.h"
#include "model/ran1.h"

#include <string.h>

static const double DEGREES = 57.295779513082320877; /* per radian */
static const double TURN = 6.2831853071795864769;
static const long LARGEST_SEED = 2147483646; /* one more makes the generator stick */

static const char *const edge_names[3] = { "a", "b", "c" };

static db_status check_seed(db_context *context, const char *name, long seed) {
    if (seed >= 1 && seed <= LARGEST_SEED) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s seed: expected 1 to %ld, found %ld", name,
                   LARGEST_SEED, seed);
}

/* Rotation matrix of a uniformly (Haar) distributed unit quaternion; the first three draws of the
 * stream. */
static void random_rotation(long seed, double u[9]) {
    db_ran1 stream;
    db_ran1_seed(&stream, seed);
    const double g1 = (double)db_ran1_uniform(&stream), g2 = (double)db_ran1_uniform(&stream),
                 g3 = (double)db_ran1_uniform(&stream);
    const double x = sqrt(1 - g1) * sin(TURN * g2), y = sqrt(1 - g1) * cos(TURN * g2),
                 z = sqrt(g1) * sin(TURN * g3), w = sqrt(g1) * cos(TURN * g3);
    const double matrix[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y), //
        2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x), //
        2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y),
    };
    memcpy(u, matrix, sizeof matrix);
}

/* Angles (degree) with Rz Ry Rx = u (model.md 4.4). */
static void misset_angles(const double u[9], double angle[3]) {
    if (u[6] * u[6] < 1) {
        angle[0] = DEGREES * atan2(u[7], u[8]);
        angle[1] = DEGREES * atan2(-u[6], sqrt(u[7] * u[7] + u[8] * u[8]));
        angle[2] = DEGREES * atan2(u[3], u[0]);
    } else { /* y = 90 degree: only a combination of x and z is determined */
        angle[0] = 180;
        angle[1] = 90;
        angle[2] = DEGREES * atan2(u[1], -u[4]);
    }
}

static db_status misset(db_context *context, const db_setup *setup, db_crystal *crystal,
                        const db_setup_notes *notes) {
    memcpy(crystal->misset, setup->misset, sizeof crystal->misset);
    if (!setup->misset_random) return DB_OK;
    DB_TRY(check_seed(context, "misset", setup->misset_seed));
    double rotation[9];
    random_rotation(setup->misset_seed, rotation);
    misset_angles(rotation, crystal->misset);
    db_setup_note(notes, "random orientation misset angles: %f %f %f deg (seed %ld)",
                  crystal->misset[0], crystal->misset[1], crystal->misset[2], setup->misset_seed);
    return DB_OK;
}

/* The user's cell with open edges and angles filled in. */
static db_status complete_cell(db_context *context, const double given[6], double cell[6]) {
    if (!db_setup_given(given[0]))
        return db_fail(context, DB_ERROR_INPUT,
                       "unit cell: edge a is missing, though others are given");
    for (int i = 0; i < 6; i++)
        cell[i] = db_setup_given(given[i]) ? given[i] : i < 3 ? given[0] : 90;
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

static db_status cell_and_orientation(db_context *context, const db_setup *setup,
                                      db_crystal *crystal, const db_setup_notes *notes) {
    double cell[6];
    int has_cell = 0;
    for (int i = 0; i < 6; i++) has_cell |= db_setup_given(setup->cell[i]);
    if (has_cell) DB_TRY(complete_cell(context, setup->cell, cell));
    if (!setup->matrix_file) {
        if (!has_cell)
            return db_fail(context, DB_ERROR_INPUT,
                           "unit cell: expected cell edges and angles or an orientation matrix, "
                           "found neither");
        memcpy(crystal->cell, cell, sizeof cell);
        return DB_OK;
    }
    double matrix[9];
    DB_TRY(db_read_mosflm_matrix(context, setup->matrix_file, matrix));
    for (int i = 0; i < 9; i++) matrix[i] /= setup->wavelength;
    DB_TRY(db_crystal_set_matrix(context, crystal, matrix));
    if (has_cell) force_edges(cell, crystal, notes);
    return DB_OK;
}

/* Sample size along a, b, c (mm); the beam lights up no more than its own size of the last two. */
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
    crystal->cells[axis] = db_setup_intervals(size * 1e7, crystal->cell[axis]);
    return DB_OK;
}

static db_status crystal_size(db_context *context, const db_setup *setup, db_crystal *crystal,
                              const db_setup_notes *notes) {
    for (int i = 0; i < 3; i++) {
        if (!(setup->cells[i] >= 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "crystal size N%s: expected 0 cells or more, found %g", edge_names[i],
                           setup->cells[i]);
        crystal->cells[i] = setup->cells[i];
        if (setup->sample_size[i] != 0) DB_TRY(cells_from_size(context, setup, i, crystal, notes));
        if (crystal->cells[i] < 1) crystal->cells[i] = 1;
        if (setup->shape == DB_SHAPE_SQUARE && crystal->cells[i] != floor(crystal->cells[i]))
            return db_fail(context, DB_ERROR_INPUT,
                           "crystal size N%s: a parallelepiped (square_xtal) has a whole number of "
                           "cells, found %g; "
                           "round_xtal, gauss_xtal and tophat_spots take any size from 1",
                           edge_names[i], crystal->cells[i]);
    }
    return DB_OK;
}

static db_status mosaic(db_context *context, const db_setup *setup, db_crystal *crystal,
                        const db_setup_notes *notes) {
    if (setup->mosaic_domains < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic domains: expected 0 (automatic) or more, found %d",
                       setup->mosaic_domains);
    if (!(setup->mosaic_spread >= 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic spread: expected 0 degree or more, found %g", setup->mosaic_spread);
    DB_TRY(check_seed(context, "mosaic", setup->mosaic_seed));
    crystal->mosaic_spread = setup->mosaic_spread;
    crystal->mosaic_seed = setup->mosaic_seed;
    crystal->mosaic_domains = setup->mosaic_domains;
    if (setup->mosaic_spread == 0) {
        if (setup->mosaic_domains > 1)
            db_setup_note(notes, "mosaic domains: without a spread one does the work of %d",
                          setup->mosaic_domains);
        crystal->mosaic_domains = 1;
    } else if (setup->mosaic_domains == 0) {
        crystal->mosaic_domains = 10;
        db_setup_note(notes, "auto-selected 10 mosaic domains");
    }
    return DB_OK;
}

db_status db_setup_crystal(db_context *context, const db_setup *setup, db_experiment *experiment,
                           const db_setup_notes *notes) {
    db_crystal *const crystal = &experiment->crystal;
    DB_TRY(cell_and_orientation(context, setup, crystal, notes));
    DB_TRY(misset(context, setup, crystal, notes));
    crystal->shape = setup->shape;
    crystal->fudge = setup->fudge;
    DB_TRY(crystal_size(context, setup, crystal, notes));
    return mosaic(context, setup, crystal, notes);
}
