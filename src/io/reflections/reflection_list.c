/* Lists of reflections, and the box of amplitudes that one makes with its symmetry. */
#include "io/reflections/reflection_list.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "model/amplitude_box.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Boxes of more than 128 MiB must be filled by the list to at least this share: even one asymmetric
 * unit of the highest symmetry fills a hundredth, a mistyped index next to nothing. */
static const double small_box = 16777216, entries_per_line = 4096;

db_status db_reflection_list_add(db_context *context, db_reflection_list *list, const int index[3],
                                 double amplitude) {
    DB_GROW(context, list->items, list->capacity, list->count + 1, "the structure factor list");
    db_listed_reflection *const item = &list->items[list->count++];
    memcpy(item->index, index, sizeof item->index);
    item->amplitude = amplitude;
    return DB_OK;
}

void db_reflection_list_clear(db_reflection_list *list) {
    free(list->items);
    *list = (db_reflection_list){ 0 };
}

/* Walks through a list and what its symmetry makes of it. Friedel mates come first, so that those
 * that are listed themselves win. */
typedef struct walk {
    const db_reflection_list *list;
    size_t item;
    int operator_index, sign;
    int index[3]; /* of the reflection reached */
    double amplitude;
} walk;

static walk walk_from_start(const db_reflection_list *list) {
    return (walk){ .list = list, .sign = list->symmetry.count ? -1 : 1 };
}

static int walk_on(walk *w) {
    const db_symmetry *const symmetry = &w->list->symmetry;
    if (w->item == w->list->count) {
        if (w->sign > 0) return 0;
        w->sign = 1;
        w->item = 0;
    }
    const db_listed_reflection *const item = &w->list->items[w->item];
    w->amplitude = item->amplitude;
    if (symmetry->count)
        db_symmetry_turn(symmetry, w->operator_index, item->index, w->index);
    else
        memcpy(w->index, item->index, sizeof w->index);
    for (int axis = 0; axis < 3; axis++) w->index[axis] *= w->sign;
    if (++w->operator_index >= symmetry->count) {
        w->operator_index = 0;
        w->item++;
    }
    return 1;
}

/* The smallest box around the list; *listed: number of reflections. */
static void find_limits(const db_reflection_list *list, int low[3], int high[3], size_t *listed) {
    *listed = 0;
    for (walk w = walk_from_start(list); walk_on(&w);) {
        for (int axis = 0; axis < 3; axis++) {
            if (*listed == 0 || w.index[axis] < low[axis]) low[axis] = w.index[axis];
            if (*listed == 0 || w.index[axis] > high[axis]) high[axis] = w.index[axis];
        }
        ++*listed;
    }
}

db_status db_reflection_list_box(db_context *context, const char *path,
                                 const db_reflection_list *list, db_structure_factors *factors) {
    int low[3] = { 0 }, high[3] = { 0 }, extent[3];
    size_t listed, entries;
    char source[DB_MESSAGE_SIZE / 2];
    find_limits(list, low, high, &listed);
    for (int axis = 0; axis < 3; axis++) extent[axis] = high[axis] - low[axis] + 1;
    snprintf(source, sizeof source, "%s: indices h %d..%d, k %d..%d, l %d..%d", path, low[0],
             high[0], low[1], high[1], low[2], high[2]);
    const double box = (double)extent[0] * extent[1] * extent[2];
    if (box > small_box && box / entries_per_line > (double)listed)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s make a box of %.0f entries, too large for a list of %zu (a mistyped "
                       "index?)",
                       source, box, listed);
    DB_TRY(db_amplitude_box_check(context, source, extent, db_physical_memory(), &entries));
    double *amplitude = calloc(entries, sizeof *amplitude);
    if (!amplitude) return db_fail_memory(context, "the structure factors");
    if (factors->default_F != 0)
        for (size_t i = 0; i < entries; i++) amplitude[i] = factors->default_F;
    for (walk w = walk_from_start(list); walk_on(&w);) {
        size_t at = 0;
        for (int axis = 0; axis < 3; axis++)
            at = at * (size_t)extent[axis] + (size_t)(w.index[axis] - low[axis]);
        amplitude[at] = w.amplitude;
    }
    free(factors->amplitude);
    factors->amplitude = amplitude;
    factors->listed = listed;
    memcpy(factors->min, low, sizeof low);
    memcpy(factors->extent, extent, sizeof extent);
    return DB_OK;
}
