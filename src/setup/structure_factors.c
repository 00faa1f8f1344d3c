/* Structure factors of a set-up: from a list, a cache, or a model's coordinates. */
#include "setup/parts.h"
#include "setup/sites.h"

#include <dualbragg/expert/setup_fields.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/amplitude_files.h>
#include <dualbragg/expert/experiment_geometry.h>

#include "base/context_internal.h"
#include "model/halo_samples.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

/* Length of the scattering vector (1/A) from a source in a direction. shortest: of its wavelengths, over their mean */
static double length_from(const db_source_interface *source, double shortest, const double to[3]) {
    const double s0[3] = { source->s0.x.v, source->s0.y.v, source->s0.z.v };
    double q[3];
    for (int i = 0; i < 3; i++) q[i] = (source->kappa.v * to[i] - s0[i]) / shortest;
    return db_length(q);
}

/* Spots in closed form have light three standard deviations from a source's wavelength. */
static double shortest_of(const db_experiment *experiment) {
    const db_spread *const s = &experiment->spread;
    const double far = 3, nearest = 0.1;
    if (s->spots != DB_SPOTS_CLOSED) return 1;
    return fmax(nearest, 1 - far * sqrt(fmax(0, 1e-6 * s->bandwidth)));
}

db_status db_setup_longest(db_context *context, const db_experiment *experiment, double *longest) {
    const db_detector *const detector = &experiment->detector;
    const double shortest = shortest_of(experiment);
    db_source_interface *const source = calloc(experiment->beam.source_count, sizeof *source);
    double crystal[3];
    *longest = 0;
    if (!source) return db_fail_memory(context, "the sources");
    db_model_sources(experiment, source);
    db_experiment_crystal_position(experiment, crystal);
    for (size_t p = 0; p < detector->panel_count; p++)
        for (int corner = 0; corner < 4; corner++) {
            const double fast = corner & 1 ? detector->panels[p].fast_pixels : 0;
            const double slow = corner & 2 ? detector->panels[p].slow_pixels : 0;
            double at[3];
            if (db_experiment_pixel_position(experiment, p, fast, slow, at) != DB_OK) continue;
            for (int i = 0; i < 3; i++) at[i] -= crystal[i];
            if (!db_normalize(at)) continue;
            for (size_t j = 0; j < experiment->beam.source_count; j++)
                *longest = fmax(*longest, length_from(&source[j], shortest, at));
        }
    free(source);
    return DB_OK;
}

/* Spacing (A) to which a model's structure factors are calculated: given, that of dmin, or what
 * the corners of the panels see, a little below that for spots that reach in from outside. */
static db_status model_resolution(db_context *context, const db_setup *setup,
                                  const db_experiment *experiment, double *dmin) {
    const double margin = 0.97, finest = 0.5;
    double longest;
    *dmin = db_setup_given(setup->model_resolution) ? setup->model_resolution : experiment->dmin;
    if (*dmin > 0) return DB_OK;
    DB_TRY(db_setup_longest(context, experiment, &longest));
    *dmin = fmax(finest, margin / longest);
    return DB_OK;
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
    double dmin;
    DB_TRY(model_resolution(context, setup, experiment, &dmin));
    const db_structure_factor_options options = {
        .columns = setup->hkl_columns,
        .space_group = setup->hkl_space_group,
        .dmin = dmin,
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
    if (sites.count) DB_TRY(db_setup_site_curves(context, &sites, setup, experiment));
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
