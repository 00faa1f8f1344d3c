/* Images of crystals of one kind vote on its cell. */
#include <dualbragg/expert/fit_cell.h>

#include "base/context_internal.h"
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double same_edge = 0.03, same_angle = 3; /* part, degree */

/* Reduced cells of one lattice may have angles of either side of 90 degree, and edges in another order. */
static int are_alike(const db_fit_found_cell *one, const db_fit_found_cell *other) {
    double a[6], b[6];
    for (int i = 0; i < 6; i++) {
        a[i] = i < 3 ? one->reduced[i] : fmin(one->reduced[i], 180 - one->reduced[i]);
        b[i] = i < 3 ? other->reduced[i] : fmin(other->reduced[i], 180 - other->reduced[i]);
    }
    for (int i = 0; i < 6; i += 3) {
        db_sort_numbers(a + i, 3);
        db_sort_numbers(b + i, 3);
    }
    for (int i = 0; i < 6; i++)
        if (fabs(a[i] - b[i]) > (i < 3 ? same_edge * a[i] : same_angle)) return 0;
    return 1;
}

static const db_fit_bravais *lattice_of(const db_fit_found_cell *cell, const char *symbol) {
    for (int i = 0; i < cell->count; i++)
        if (strcmp(cell->lattice[i].symbol, symbol) == 0) return &cell->lattice[i];
    return NULL;
}

/* The one that most others are like; of several, the one that chance explains least. */
static size_t most_liked(const db_fit_found_cell *cells, size_t count, size_t *votes) {
    size_t best = 0;
    *votes = 0;
    for (size_t i = 0; i < count; i++) {
        size_t own = 0;
        for (size_t j = 0; j < count; j++) own += (size_t)are_alike(&cells[i], &cells[j]);
        if (own < *votes ||
            (own == *votes && cells[i].found.log_probability >= cells[best].found.log_probability))
            continue;
        *votes = own;
        best = i;
    }
    return best;
}

/* Of a constant of the lattices of this kind on the images that agree; values: room for all. */
static double constant(const db_fit_found_cell *cells, size_t count, const db_fit_found_cell *like,
                       const char *symbol, int which, double *values) {
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_bravais *const b = lattice_of(&cells[i], symbol);
        if (b && are_alike(like, &cells[i])) values[known++] = b->cell[which];
    }
    return db_median(values, known);
}

/* On how many of the images that agree a lattice of this kind fits. */
static size_t fitting(const db_fit_found_cell *cells, size_t count, const db_fit_found_cell *like,
                      const char *symbol) {
    size_t number = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_bravais *const b = lattice_of(&cells[i], symbol);
        number += b && b->fits && are_alike(like, &cells[i]);
    }
    return number;
}

/* The highest lattice that fits on most of them, unless one was asked for. */
static int choose_fitting(const db_fit_found_cell *cells, size_t count,
                          const db_fit_found_cell *like, size_t votes) {
    int i = like->chosen;
    if (like->named) return i;
    for (i = 0; i < like->count - 1; i++)
        if (2 * fitting(cells, count, like, like->lattice[i].symbol) > votes) break;
    return i;
}

db_status db_fit_vote_on_cell(db_context *context, const db_fit_found_cell *cells, size_t count,
                              size_t images, db_fit_found_cell *voted) {
    double *const values = malloc((count + 1) * sizeof *values);
    if (!values) return db_fail_memory(context, "the cells that images vote on");
    size_t votes;
    const db_fit_found_cell *const like = &cells[most_liked(cells, count, &votes)];
    *voted = *like;
    voted->chosen = choose_fitting(cells, count, like, votes);
    voted->images = images;
    voted->agreeing = votes;
    for (int l = 0; l < voted->count; l++)
        for (int i = 0; i < 6; i++)
            voted->lattice[l].cell[i] =
                constant(cells, count, like, voted->lattice[l].symbol, i, values);
    free(values);
    return DB_OK;
}
