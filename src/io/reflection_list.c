#include "io/reflection_list.h"

#include "core/context_internal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const int64_t largest_box = (int64_t)1 << 31; /* entries: 16 GiB */

/* Boxes of more than 128 MiB must be filled by the list to at least this share: even one asymmetric
 * unit of the highest symmetry fills a hundredth, a mistyped index next to nothing. */
static const int64_t small_box = (int64_t)1 << 24;
static const int64_t entries_per_line = 4096;

db_status db_reflection_list_add(db_context *context, db_reflection_list *list, const int index[3],
                                 double amplitude) {
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 4096;
        db_listed_reflection *grown = realloc(list->items, capacity * sizeof *grown);
        if (!grown) return db_fail_memory(context, "the structure factor list");
        list->items = grown;
        list->capacity = capacity;
    }
    db_listed_reflection *const item = &list->items[list->count++];
    memcpy(item->index, index, sizeof item->index);
    item->amplitude = amplitude;
    return DB_OK;
}

void db_reflection_list_clear(db_reflection_list *list) {
    free(list->items);
    *list = (db_reflection_list){ 0 };
}

/* All equivalents of a list, times sign. */
static db_status add_equivalents(db_context *context, const db_symmetry *symmetry, int sign,
                                 const db_reflection_list *from, db_reflection_list *to) {
    for (size_t i = 0; i < from->count; i++)
        for (int k = 0; k < symmetry->count; k++) {
            int index[3];
            db_symmetry_turn(symmetry, k, from->items[i].index, index);
            for (int axis = 0; axis < 3; axis++) index[axis] *= sign;
            DB_TRY(db_reflection_list_add(context, to, index, from->items[i].amplitude));
        }
    return DB_OK;
}

db_status db_reflection_list_expand(db_context *context, const db_symmetry *symmetry,
                                    db_reflection_list *list) {
    db_reflection_list all = { 0 };
    /* the last of repeated entries wins: mates that are listed themselves come second */
    db_status status = add_equivalents(context, symmetry, -1, list, &all);
    if (status == DB_OK) status = add_equivalents(context, symmetry, 1, list, &all);
    db_reflection_list_clear(list);
    *list = all;
    return status;
}

/* The smallest box around the list, with amplitudes: default_F where nothing is listed. */
db_status db_reflection_list_box(db_context *context, const char *path,
                                 const db_reflection_list *list, db_structure_factors *factors) {
    int low[3], high[3], extent[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = high[axis] = list->items[0].index[axis];
        for (size_t i = 1; i < list->count; i++) {
            const int index = list->items[i].index[axis];
            if (index < low[axis]) low[axis] = index;
            if (index > high[axis]) high[axis] = index;
        }
        extent[axis] = high[axis] - low[axis] + 1;
    }
    /* At most 2e6 each, so that the product of three fits into 63 bits. */
    const int64_t entries = (int64_t)extent[0] * extent[1] * extent[2];
    if (entries > largest_box ||
        (entries > small_box && entries / entries_per_line > (int64_t)list->count))
        return db_fail(context, DB_ERROR_INPUT,
                       "%s: indices h %d..%d, k %d..%d, l %d..%d make a box of %lld entries, too "
                       "large for a list of %zu (a mistyped index?)",
                       path, low[0], high[0], low[1], high[1], low[2], high[2], (long long)entries,
                       list->count);
    double *amplitude = calloc((size_t)entries, sizeof *amplitude);
    if (!amplitude) return db_fail_memory(context, "the structure factors");
    if (factors->default_F != 0)
        for (int64_t i = 0; i < entries; i++) amplitude[i] = factors->default_F;
    for (size_t i = 0; i < list->count; i++) {
        const int *index = list->items[i].index;
        amplitude[((int64_t)(index[0] - low[0]) * extent[1] + (index[1] - low[1])) * extent[2] +
                  (index[2] - low[2])] = list->items[i].amplitude;
    }
    free(factors->amplitude);
    factors->amplitude = amplitude;
    factors->listed = list->count;
    for (int axis = 0; axis < 3; axis++) {
        factors->min[axis] = low[axis];
        factors->extent[axis] = extent[axis];
    }
    return DB_OK;
}
