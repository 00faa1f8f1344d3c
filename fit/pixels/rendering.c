/* Experiments for the renderings of a refinement, and regions rendered once. */
#include "fit/pixels/rendering.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Own curves with borrowed geometric factors, in one block. */
static db_site_kinds *own_curves(const db_site_kinds *sites) {
    size_t points = 0;
    for (int k = 0; k < sites->count; k++) points += sites->kind[k].count;
    db_site_kinds *const copy = malloc(sizeof *copy + 3 * points * sizeof(double));
    double *block = (double *)(void *)(copy + 1);
    if (!copy) return NULL;
    *copy = *sites;
    for (int k = 0; k < sites->count; k++) {
        db_site_kind *const kind = &copy->kind[k];
        double **const list[] = { &kind->energy, &kind->f_prime, &kind->f_second };
        for (int i = 0; i < 3; i++, block += kind->count)
            *list[i] = memcpy(block, *list[i], kind->count * sizeof *block);
    }
    return copy;
}

db_status db_structure_factors_borrow(db_context *context, const db_structure_factors *lent,
                                      db_structure_factors *copy) {
    *copy = *lent;
    if (!lent->sites) return DB_OK;
    copy->sites = own_curves(lent->sites);
    return db_need_memory(context, copy->sites, "curves of f' and f''");
}

db_status db_experiment_borrow(db_context *context, const db_experiment *experiment,
                               db_experiment *copy) {
    db_experiment bare = *experiment;
    bare.structure_factors = (db_structure_factors){ .default_F = 0 };
    DB_TRY(db_experiment_copy(context, &bare, copy));
    const db_status status = db_structure_factors_borrow(context, &experiment->structure_factors,
                                                         &copy->structure_factors);
    if (status != DB_OK) db_experiment_give_back(copy);
    return status;
}

void db_experiment_give_back(db_experiment *copy) {
    copy->structure_factors.amplitude = NULL;
    db_experiment_clear(copy);
}

db_status db_experiment_unit_amplitudes(db_context *context, const db_experiment *experiment,
                                        db_experiment *copy) {
    db_experiment bare = *experiment; /* the amplitudes are not copied */
    bare.structure_factors = (db_structure_factors){ .default_F = 1 };
    DB_TRY(db_experiment_copy(context, &bare, copy));
    copy->beam.fluence = DB_DEFAULT_FLUENCE;
    copy->beam.scale = 1;
    return DB_OK;
}

void db_experiment_blur(const db_experiment *sharp, double blur, db_experiment *blurred) {
    for (int i = 0; i < 3; i++)
        blurred->crystal.Ncells[i] = fmax(1, sharp->crystal.Ncells[i] / blur);
}

db_status db_render_regions(db_context *context, const db_experiment *experiment,
                            const db_fit_settings *settings, const db_region *regions, size_t count,
                            const int (*reflections)[3], double tolerance, float *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.precision = settings->precision;
    options.regions = regions;
    options.region_count = count;
    options.tolerance = tolerance;
    options.reflections = reflections ? *reflections : NULL;
    DB_TRY(db_plan_create(context, experiment, &options, &plan));
    const db_status status = db_plan_forward(plan, image);
    db_plan_destroy(&plan);
    return status;
}
