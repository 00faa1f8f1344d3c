/* Products of the gradients of regions of neighbouring blocks. */
#include "fit/objective/region_scatter.h"

#include "base/context_internal.h"
#include "fit/pixels/regions.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_BLOCKS = 4 }; /* of a region */

/* Scattering vectors of the blocks' middles. */
static db_status locate(const db_objective *objective, db_place *list) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(objective->context, &objective->experiment, &geometry));
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_region *const r = &objective->blocks.region[b];
        const double middle[2] = { r->fast_start + 0.5 * r->fast_count,
                                   r->slow_start + 0.5 * r->slow_count };
        db_fit_geometry_scattering(&geometry, r->panel, middle, list[b].q);
        list[b].number = b;
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

/* Half the gradient of some blocks by the variables, then by a shared J. */
static void add_region(const db_objective *objective, const db_place *list, size_t count,
                       double *pull) {
    const size_t n = objective->variables.count;
    memset(pull, 0, (n + 1) * sizeof *pull);
    for (size_t i = 0; i < count; i++) {
        size_t own[DB_BLOCK_MOST + 1];
        const double *const gradient = db_objective_block_gradient(objective, list[i].number);
        const size_t variables = db_objective_block_variables(objective, list[i].number, own);
        own[variables] = n;
        for (size_t k = 0; k <= variables; k++) pull[own[k]] += 0.5 * gradient[k];
    }
    if (objective->rule != DB_INTENSITY_SHARED) return;
    for (size_t k = 0; k < n; k++) pull[k] -= db_objective_shared_part(objective, k) * pull[n];
}

static void scatter_regions(const db_objective *objective, const db_place *list, double *pull,
                            double *scatter) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    for (int r = 0; r < DB_REGIONS; r++) {
        const size_t first = db_region_start(blocks, DB_REGIONS, r),
                     end = db_region_start(blocks, DB_REGIONS, r + 1);
        add_region(objective, list + first, end - first, pull);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++) scatter[k * n + l] += pull[k] * pull[l];
    }
}

db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    *made = blocks >= FEWEST_BLOCKS * DB_REGIONS;
    memset(scatter, 0, n * n * sizeof *scatter);
    if (!*made) return DB_OK;
    db_place *const list = malloc(blocks * sizeof *list);
    double *const pull = malloc((n + 1) * sizeof *pull);
    db_status status = list && pull ? locate(objective, list)
                                    : db_fail_memory(objective->context, "the regions' scatter");
    if (status == DB_OK) {
        db_regions_cut(list, blocks, DB_REGIONS);
        scatter_regions(objective, list, pull, scatter);
    }
    free(list);
    free(pull);
    return status;
}
