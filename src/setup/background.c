/* Amorphous matter in the beam: amplitudes and amount (docs/theory/pixel.md, Scattering without a lattice). */
#include "setup/parts.h"

#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>

static db_status check_positive(db_context *context, const char *what, double value,
                                const char *unit) {
    if (value > 0 && isfinite(value)) return DB_OK;
    return db_fail(context, DB_ERROR_INPUT,
                   "amorphous %s: expected a positive number (%s), found %g", what, unit, value);
}

/* Thickness, width and height (mm) of the matter in the beam. */
static db_status lit_size(db_context *context, const db_setup *setup, double size[3],
                          const db_setup_notes *notes) {
    static const char *const names[3] = { "thickness", "width", "height" };
    for (int i = 0; i < 3; i++) {
        DB_TRY(check_positive(context, names[i], setup->amorphous_size[i], "mm"));
        size[i] = setup->amorphous_size[i];
        if (i == 0 || size[i] <= setup->beamsize) continue;
        DB_TRY(check_positive(context, "matter needs a beam size", setup->beamsize, "mm"));
        db_setup_note(notes, "amorphous %s: %g mm clipped to the beam size, %g mm", names[i],
                      size[i], setup->beamsize);
        size[i] = setup->beamsize;
    }
    return DB_OK;
}

/* Density (g/cm^3) of a number of molecules. */
static double density_of(double molecules, const db_background *background) {
    const double volume = 1e-3 * background->thickness * background->area; /* cm^3 */
    return molecules * background->molecular_weight / (DB_AVOGADRO * volume);
}

/* The reference reads the file, which must be valid, but does not use it. */
static void leave_out(db_background *background, const db_setup_notes *notes) {
    db_setup_note(notes, "amorphous amplitudes: read and not used");
    free(background->stol);
    free(background->amplitude);
    background->stol = background->amplitude = NULL;
    background->count = 0;
}

/* Remarks on an image that extends beyond the amplitudes. */
static db_status remark_end(db_context *context, const db_setup *setup,
                            const db_experiment *experiment, const db_setup_notes *notes) {
    static const double unit[] = { [DB_STOL] = 1, [DB_4STOL] = 4, [DB_Q] = 12.566370614359172954 };
    static const char *const name[] = { [DB_STOL] = "sin(theta)/lambda",
                                        [DB_4STOL] = "4 sin(theta)/lambda",
                                        [DB_Q] = "4 pi sin(theta)/lambda" };
    const db_background *const b = &experiment->background;
    const int abscissa = setup->stol_abscissa;
    const double end = b->stol[b->count - 1];
    double longest;
    DB_TRY(db_setup_longest(context, experiment, &longest));
    const double seen = longest / 2;
    if (seen > end * (1 + 1e-9))
        db_setup_note(notes,
                      "%s: amorphous amplitudes end at %s = %.4g/A, but the image extends to "
                      "%.4g/A: beyond the end the last amplitude, %g, is used",
                      setup->stol_file, name[abscissa], unit[abscissa] * end, unit[abscissa] * seen,
                      b->amplitude[b->count - 1]);
    return DB_OK;
}

db_status db_setup_background(db_context *context, const db_setup *setup, db_experiment *experiment,
                              const db_setup_notes *notes) {
    if (!setup->stol_file) return DB_OK;
    db_background *const background = &experiment->background;
    double size[3];
    DB_TRY(lit_size(context, setup, size, notes));
    DB_TRY(check_positive(context, "density", setup->density, "g/cm^3"));
    DB_TRY(check_positive(context, "molecular weight", setup->molecular_weight, "g/mol"));
    background->thickness = size[0];
    background->area = size[1] * size[2];
    background->density = setup->density;
    background->molecular_weight = setup->molecular_weight;
    if (db_setup_given(setup->molecules)) {
        DB_TRY(check_positive(context, "matter", setup->molecules, "molecules"));
        background->density = density_of(setup->molecules, background);
    }
    size_t out_of_order;
    DB_TRY_STAGE(context, "read files",
                 db_read_stol(context, setup->stol_file, (db_stol_abscissa)setup->stol_abscissa,
                              background, &out_of_order));
    if (out_of_order)
        db_setup_note(notes, "%s: not in ascending order at %zu place%s; sorted", setup->stol_file,
                      out_of_order, out_of_order == 1 ? "" : "s");
    if (setup->compat)
        leave_out(background, notes);
    else
        return remark_end(context, setup, experiment, notes);
    return DB_OK;
}
