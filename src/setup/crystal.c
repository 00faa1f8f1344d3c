/* Size and mosaic domains of the crystal (docs/theory/crystal.md, Crystal size). */
#include "setup/setup_crystal_parts.h"

#include "base/context_internal.h"

static const long LARGEST_SEED = 2147483646; /* one more makes the generator stick */

static const char *const edge_names[3] = { "a", "b", "c" };

db_status db_setup_check_seed(db_context *context, const char *name, long seed) {
    if (seed >= 1 && seed <= LARGEST_SEED) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT, "%s seed: expected 1 to %ld, found %ld", name,
                   LARGEST_SEED, seed);
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

/* Returns whether there is any in *spread. */
static db_status mosaic_spread(db_context *context, const db_setup *setup, db_crystal *crystal,
                               int *spread) {
    if (!(setup->mosaic_spread >= 0))
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic spread: expected 0 degree or more, found %g", setup->mosaic_spread);
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
    for (int i = 0; i < 3; i++) {
        if (!(setup->mosaic_abc[i] >= 0))
            return db_fail(context, DB_ERROR_INPUT,
                           "anisotropic mosaic spread: expected 0 degree or more, found %g",
                           setup->mosaic_abc[i]);
        crystal->mosaic_abc[i] = setup->mosaic_abc[i];
        *spread |= setup->mosaic_abc[i] != 0;
    }
    return DB_OK;
}

static db_status mosaic(db_context *context, const db_setup *setup, db_crystal *crystal,
                        const db_setup_notes *notes) {
    int spread;
    if (setup->mosaic_domains < 0)
        return db_fail(context, DB_ERROR_INPUT,
                       "mosaic domains: expected 0 (automatic) or more, found %d",
                       setup->mosaic_domains);
    DB_TRY(mosaic_spread(context, setup, crystal, &spread));
    DB_TRY(db_setup_check_seed(context, "mosaic", setup->mosaic_seed));
    crystal->mosaic_seed = setup->mosaic_seed;
    crystal->mosaic_domains = setup->mosaic_domains;
    if (!spread) {
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
    DB_TRY(db_setup_cell(context, setup, experiment, notes));
    DB_TRY(db_setup_orientation(context, setup, crystal));
    DB_TRY(db_setup_misset(context, setup, crystal, notes));
    crystal->shape = setup->shape;
    crystal->fudge = setup->fudge;
    crystal->b_factor = setup->b_factor;
    DB_TRY(crystal_size(context, setup, crystal, notes));
    return mosaic(context, setup, crystal, notes);
}
