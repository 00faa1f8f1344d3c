/* Equivalent orientations: blocks as each of them has them, compared by pixels. */
#include "fit/search/equivalents.h"

#include "base/context_internal.h"
#include "base/vector.h"
#include "fit/config/orientation.h"
#include "fit/merge/metric_operators.h"
#include "fit/objective/evaluate.h"

#include <dualbragg/expert/symmetry.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = DB_MOST_INDEXINGS }; /* no lattice has more rotations */

/* Sizes that differ by less make no other spots. */
static const double ALIKE = 0.01;

/* A block, in the axes of the present indices, as it is in an equivalent orientation, and the change of indices to that. */
typedef struct laid_block {
    double Ncells[3], correlation[3]; /* of b and c, c and a, a and b */
    double indices[9];
} laid_block;

/* Covariances of the node of a block, in indices (docs/theory/spots.md, Size of a block), but for a factor. */
static void node_of(const db_experiment *e, double node[9]) {
    const double *const n = e->crystal.Ncells, *const c = e->spread.size_correlation;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) node[3 * i + k] = (i == k ? 1 : c[3 - i - k]) / (n[i] * n[k]);
}

/* The block with these covariances; 0: it is none. */
static int block_of(const double node[9], laid_block *block) {
    for (int i = 0; i < 3; i++) {
        if (!(node[4 * i] > 0)) return 0;
        block->Ncells[i] = 1 / sqrt(node[4 * i]);
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        block->correlation[i] = node[3 * j + k] * block->Ncells[j] * block->Ncells[k];
        if (!(fabs(block->correlation[i]) < 1)) return 0;
    }
    return 1;
}

static int are_alike(const laid_block *a, const laid_block *b) {
    double most = 0;
    for (int i = 0; i < 3; i++)
        most = fmax(most, fmax(fabs(a->Ncells[i] / b->Ncells[i] - 1),
                               fabs(a->correlation[i] - b->correlation[i])));
    return most < ALIKE;
}

/* Adds the block of an orientation in which indices are others, unless it is one of the list. */
static void add_block(const double node[9], const double indices[9], laid_block *list,
                      size_t *count) {
    double back[9], half[9], turned[9];
    laid_block block;
    if (!db_invert(indices, back)) return;
    db_multiply(back, node, half);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            turned[3 * i + k] = 0;
            for (int j = 0; j < 3; j++) turned[3 * i + k] += half[3 * i + j] * back[3 * k + j];
        }
    if (!block_of(turned, &block)) return;
    memcpy(block.indices, indices, sizeof block.indices);
    for (size_t i = 0; i < *count; i++)
        if (are_alike(&list[i], &block)) return;
    if (*count < MOST) list[(*count)++] = block;
}

/* Changes of indices by the rotations of the space group or, without one, by those of the lattice, if it does not matter how
 * intensities are indexed. */
static void list_rotations(const db_refinement *r, db_space_group *group, db_indexings *lattice) {
    const double *const cell = r->result->experiment.crystal.cell;
    const db_fit_settings *const settings = r->data.settings;
    const char *const name = settings->amplitude_group;
    static const int same[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    lattice->count = 0;
    /* a name that is no group is left to functions that need one */
    if (*name && db_space_group_of_cell(r->context, name, cell, group) == DB_OK) return;
    *group = (db_space_group){ .number = 1, .symmetry = { .count = 1 } };
    memcpy(group->symmetry.rotation[0], same, sizeof same);
    if (settings->intensity == DB_FIT_FREE) db_indexings_find(cell, group, 1e-6, lattice);
}

/* Blocks as equivalent orientations have them; the first is the present one. */
static db_status list_blocks(const db_refinement *r, laid_block list[MOST], size_t *count) {
    static const double same[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
    db_space_group *const group = calloc(1, sizeof *group);
    db_indexings *const lattice = malloc(sizeof *lattice);
    double node[9], indices[9];
    *count = 0;
    node_of(&r->result->experiment, node);
    add_block(node, same, list, count);
    const db_status status =
        db_need_memory(r->context, group && lattice, "equivalent orientations");
    if (status == DB_OK) list_rotations(r, group, lattice);
    for (int k = 0; status == DB_OK && k < group->symmetry.count; k++) {
        /* a rotation of coordinates, whose rows are columns of the one of indices */
        for (int i = 0; i < 9; i++) indices[i] = group->symmetry.rotation[k][3 * (i % 3) + i / 3];
        add_block(node, indices, list, count);
    }
    for (int k = 0; status == DB_OK && k < lattice->count; k++) {
        for (int i = 0; i < 9; i++)
            indices[i] = (double)lattice->way[k].matrix[i] / DB_INDEXING_PARTS;
        add_block(node, indices, list, count);
    }
    free(group);
    free(lattice);
    return status;
}

/* The loss of a stage's pixels with another block. */
static db_status loss_with(db_refinement *r, int stage, const db_stage_data *taken,
                           const laid_block *block, double *loss) {
    db_experiment *const e = &r->result->experiment;
    db_objective objective;
    memcpy(e->crystal.Ncells, block->Ncells, sizeof block->Ncells);
    memcpy(e->spread.size_correlation, block->correlation, sizeof block->correlation);
    DB_TRY(db_refinement_make_objective(r, stage, taken, &objective));
    const db_status status =
        db_objective_evaluate(&objective, objective.variables.start, DB_OBJECTIVE_LOSS);
    *loss = objective.loss;
    db_objective_destroy(&objective);
    return status;
}

static db_status find_least(db_refinement *r, int stage, const db_stage_data *taken,
                            const laid_block *list, size_t count, size_t *best) {
    db_experiment *const e = &r->result->experiment;
    double Ncells[3], correlation[3], least = INFINITY;
    db_status status = DB_OK;
    memcpy(Ncells, e->crystal.Ncells, sizeof Ncells);
    memcpy(correlation, e->spread.size_correlation, sizeof correlation);
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        double loss = INFINITY;
        status = loss_with(r, stage, taken, &list[i], &loss);
        if (!(loss < least)) continue;
        least = loss;
        *best = i;
    }
    memcpy(e->crystal.Ncells, Ncells, sizeof Ncells);
    memcpy(e->spread.size_correlation, correlation, sizeof correlation);
    return status;
}

db_status db_equivalent_turn(db_context *context, const double indices[9], db_crystal *crystal) {
    db_crystal turned = *crystal;
    double back[9], from[9], to[9], rotation[9];
    db_orientation_of(crystal, rotation);
    db_orientation_set(rotation, &turned);
    (void)db_invert(indices, back);
    db_crystal_matrix(&turned, from);
    db_multiply(from, back, to);
    DB_TRY(db_crystal_set_matrix(context, &turned, to));
    db_orientation_set(turned.orientation, crystal);
    return DB_OK;
}

/* The likeliest of several blocks by the pixels of a stage. */
static db_status compare_blocks(db_refinement *r, int stage, const laid_block *list, size_t count,
                                size_t *best) {
    db_stage_data taken;
    db_objective objective;
    DB_TRY(db_refinement_open_stage(r, stage, DB_OBJECTIVE_LOSS, &taken, &objective));
    db_objective_destroy(&objective);
    const db_status status = find_least(r, stage, &taken, list, count, best);
    db_stage_data_clear(&taken);
    return status;
}

db_status db_equivalents_find(db_refinement *r, int stage, double indices[9], int *is_other) {
    laid_block *const list = calloc(MOST, sizeof *list);
    size_t count = 0, best = 0;
    *is_other = 0;
    if (!list) return db_fail_memory(r->context, "equivalent orientations");
    db_status status = DB_OK;
    if (r->result->experiment.spread.spots == DB_SPOTS_CLOSED)
        status = list_blocks(r, list, &count);
    if (status == DB_OK && count > 1) status = compare_blocks(r, stage, list, count, &best);
    *is_other = best > 0;
    memcpy(indices, list[best].indices, sizeof list->indices);
    free(list);
    return status;
}
