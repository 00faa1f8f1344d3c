/* Regions of neighbouring blocks, and the products of their gradients. */
#include "fit/objective/region_scatter.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_BLOCKS = 4 }; /* of a region */

typedef struct block_place {
    double q[3], key;
    size_t block;
} block_place;

static int ascending(const void *a, const void *b) {
    const block_place *const x = a;
    const block_place *const y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

static double extent(const block_place *list, size_t count, int axis) {
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        least = fmin(least, list[i].q[axis]);
        most = fmax(most, list[i].q[axis]);
    }
    return most - least;
}

/* Halves a list across its longest extent, and its halves again, until there are so many regions;
 * orders the list by them. */
static void cut(block_place *list, size_t count, int regions) {
    if (regions < 2) return;
    int longest = 0;
    for (int axis = 1; axis < 3; axis++)
        if (extent(list, count, axis) > extent(list, count, longest)) longest = axis;
    for (size_t i = 0; i < count; i++) list[i].key = list[i].q[longest];
    qsort(list, count, sizeof *list, ascending);
    cut(list, count / 2, regions / 2);
    cut(list + count / 2, count - count / 2, regions / 2);
}

/* Scattering vectors of the blocks' middles. */
static db_status locate(const db_objective *objective, block_place *list) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(objective->context, &objective->experiment, &geometry));
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_region *const r = &objective->blocks.region[b];
        const double middle[2] = { r->fast_start + 0.5 * r->fast_count,
                                   r->slow_start + 0.5 * r->slow_count };
        db_fit_geometry_scattering(&geometry, r->panel, middle, list[b].q);
        list[b].block = b;
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

/* Half the gradient of some blocks by the variables, then by a shared J. */
static void add_region(const db_objective *objective, const block_place *list, size_t count,
                       double *pull) {
    const size_t n = objective->variables.count;
    memset(pull, 0, (n + 1) * sizeof *pull);
    for (size_t i = 0; i < count; i++) {
        size_t own[DB_BLOCK_MOST + 1];
        const double *const gradient = db_objective_block_gradient(objective, list[i].block);
        const size_t variables = db_objective_block_variables(objective, list[i].block, own);
        own[variables] = n;
        for (size_t k = 0; k <= variables; k++) pull[own[k]] += 0.5 * gradient[k];
    }
    if (objective->rule != DB_INTENSITY_SHARED) return;
    for (size_t k = 0; k < n; k++) pull[k] -= db_objective_shared_part(objective, k) * pull[n];
}

static void scatter_regions(const db_objective *objective, const block_place *list, double *pull,
                            double *scatter) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    for (size_t r = 0; r < DB_REGIONS; r++) {
        const size_t first = blocks * r / DB_REGIONS, end = blocks * (r + 1) / DB_REGIONS;
        add_region(objective, list + first, end - first, pull);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++) scatter[k * n + l] += pull[k] * pull[l];
    }
}

db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    *made = blocks >= FEWEST_BLOCKS * DB_REGIONS && !db_objective_has_reflections(objective);
    memset(scatter, 0, n * n * sizeof *scatter);
    if (!*made) return DB_OK;
    block_place *const list = malloc(blocks * sizeof *list);
    double *const pull = malloc((n + 1) * sizeof *pull);
    db_status status = list && pull ? locate(objective, list)
                                    : db_fail_memory(objective->context, "the regions' scatter");
    if (status == DB_OK) {
        cut(list, blocks, DB_REGIONS);
        scatter_regions(objective, list, pull, scatter);
    }
    free(list);
    free(pull);
    return status;
}
