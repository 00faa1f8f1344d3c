/* Structure factors of a set-up: from a list, a cache, or a model's coordinates. */
#include "setup/parts.h"
#include "setup/sites.h"

#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/experiment_geometry.h>

#include "base/context_internal.h"
#include "model/halo_samples.h"

#include <math.h>

double db_setup_farthest(const db_experiment *experiment) {
    const db_detector *const detector = &experiment->detector;
    double farthest = 0, crystal[3];
    db_experiment_crystal_position(experiment, crystal);
    for (size_t p = 0; p < detector->panel_count; p++)
        for (int corner = 0; corner < 4; corner++) {
            const double fast = corner & 1 ? detector->panels[p].fast_pixels : 0;
            const double slow = corner & 2 ? detector->panels[p].slow_pixels : 0;
            double at[3], difference[3];
            if (db_experiment_pixel_position(experiment, p, fast, slow, at) != DB_OK) continue;
            for (int i = 0; i < 3; i++) at[i] -= crystal[i];
            for (int i = 0; i < 3; i++)
                difference[i] = at[i] / db_length(at) - experiment->beam.direction[i];
            farthest = fmax(farthest, db_length(difference));
        }
    return farthest;
}

/* Spacing (A) to which a model's structure factors are calculated: given, that of dmin, or what
 * the corners of the panels see, a little below that for spots that reach in from outside. */
static double model_resolution(const db_setup *setup, const db_experiment *experiment) {
    if (db_setup_given(setup->model_resolution)) return setup->model_resolution;
    if (experiment->dmin > 0) return experiment->dmin;
    const double margin = 0.97, finest = 0.5;
    return fmax(finest, margin * experiment->beam.wavelength / db_setup_farthest(experiment));
}

/* Reads the list, or what an earlier run kept of it; writes the cache from the list. */
static db_status read_structure_factors(db_context *context, const db_setup *setup,
                                        db_experiment *experiment, const db_setup_notes *notes) {
    db_structure_factors *const factors = &experiment->structure_factors;
    if (setup->sites &&
        (!setup->hkl_file || setup->compat || setup->interpolate == 1 || setup->cache_file))
        return db_fail(context, DB_ERROR_USAGE, "sites: structure factors by photon energy %s",
                       !setup->hkl_file ? "come from coordinates: expected a PDB or mmCIF file of "
                                          "structure factors, found none"
                       : setup->cache_file ? "have no binary form: expected no -dump"
                       : setup->compat     ? "are none of nanoBragg's: expected no -compat"
                                           : "are those of the nearest reflection: expected no "
                                             "interpolation");
    if (!setup->hkl_file)
        return setup->cache_file
                   ? db_read_structure_factor_cache(context, setup->cache_file, factors)
                   : DB_OK;
    db_setup_sites sites = { .count = 0 };
    if (setup->sites) DB_TRY(db_setup_read_sites(context, setup->sites, &sites));
    const db_structure_factor_options options = {
        .columns = setup->hkl_columns,
        .space_group = setup->hkl_space_group,
        .dmin = model_resolution(setup, experiment),
        .wavelength = setup->anomalous ? experiment->beam.wavelength : 0,
        .k_sol = setup->k_sol,
        .b_sol = setup->b_sol,
        .cell = experiment->crystal.cell,
        .beam = experiment->beam.wavelength,
        .choice = sites.choice,
        .choice_count = sites.count,
    };
    char chosen[256];
    DB_TRY(setup->compat ? db_read_hkl(context, setup->hkl_file, factors)
                         : db_read_structure_factors(context, setup->hkl_file, &options, factors,
                                                     chosen, sizeof chosen));
    if (!setup->compat && *chosen && !setup->hkl_columns)
        db_setup_note(notes, "%s: amplitudes from %s", setup->hkl_file, chosen);
    if (sites.count) DB_TRY(db_setup_site_curves(context, &sites, setup->site_points, experiment));
    return setup->cache_file ? db_write_structure_factor_cache(context, setup->cache_file, factors)
                             : DB_OK;
}

/* Tricubic interpolation is chosen for crystals this small (docs/theory/pixel.md, Structure
 * factor), unless they have a halo, which it does not go with. The reference looks at the numbers given by flags, before sample sizes replace them. */
static int interpolation_wanted(const db_setup *setup, const db_crystal *crystal) {
    if (setup->interpolate >= 0) return setup->interpolate;
    if (db_has_halo(crystal)) return 0;
    const double *cells = setup->compat ? setup->Ncells : crystal->Ncells;
    return cells[0] <= 2 || cells[1] <= 2 || cells[2] <= 2;
}

db_status db_setup_structure_factors(db_context *context, const db_setup *setup,
                                     db_experiment *experiment, const db_setup_notes *notes) {
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_K_SOL));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_B_SOL));
    DB_TRY(db_setup_field_check(context, setup, DB_FIELD_MODEL_RESOLUTION));
    db_structure_factors *const factors = &experiment->structure_factors;
    const int wanted = !setup->sites && interpolation_wanted(setup, &experiment->crystal);
    if (setup->interpolate < 0)
        db_setup_note(notes, wanted ? "auto-selected tricubic interpolation of structure factors"
                                    : "auto-selected no interpolation");
    DB_TRY_STAGE(context, "read files", read_structure_factors(context, setup, experiment, notes));
    factors->interpolate = wanted && factors->amplitude;
    return DB_OK;
}
