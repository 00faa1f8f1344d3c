/* Lists of reflections, and the box of amplitudes that one makes with its symmetry. */
#include "io/reflections/reflection_list.h"

#include "base/context_internal.h"
#include "base/growth.h"
#include "model/amplitude_box.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Boxes of more than 128 MiB must be filled by the list to at least this share: even one asymmetric
 * unit of the highest symmetry fills a hundredth, a mistyped index next to nothing. */
static const double small_box = 16777216, entries_per_line = 4096;

db_status db_reflection_list_add(db_context *context, db_reflection_list *list,
                                 const db_listed_reflection *item) {
    DB_GROW(context, list->items, list->capacity, list->count + 1, "the structure factor list");
    list->items[list->count++] = *item;
    return DB_OK;
}

void db_reflection_list_clear(db_reflection_list *list) {
    free(list->items);
    *list = (db_reflection_list){ 0 };
}

/* A walk through all reflections that the symmetry makes of a list. Friedel mates come first, so that listed
 * reflections overwrite them. */
typedef struct walk {
    const db_reflection_list *list;
    size_t item;
    int operator_index, sign;
    int index[3]; /* of the reflection reached */
    double value;
} walk;

static walk walk_from_start(const db_reflection_list *list) {
    return (walk){ .list = list, .sign = list->group.symmetry.count ? -1 : 1 };
}

static int walk_on(walk *w) {
    const db_symmetry *const symmetry = &w->list->group.symmetry;
    if (w->item == w->list->count) {
        if (w->sign > 0) return 0;
        w->sign = 1;
        w->item = 0;
    }
    const db_listed_reflection *const item = &w->list->items[w->item];
    w->value = item->value;
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

typedef struct box {
    int low[3], extent[3];
    size_t entries;
    double *amplitude;
} box;

/* The smallest box around the list. */
static db_status find_box(db_context *context, const char *path, const db_reflection_list *list,
                          box *b) {
    int high[3] = { 0 };
    size_t listed = 0;
    char source[DB_MESSAGE_SIZE / 2];
    for (walk w = walk_from_start(list); walk_on(&w); listed++)
        for (int axis = 0; axis < 3; axis++) {
            if (listed == 0 || w.index[axis] < b->low[axis]) b->low[axis] = w.index[axis];
            if (listed == 0 || w.index[axis] > high[axis]) high[axis] = w.index[axis];
        }
    for (int axis = 0; axis < 3; axis++) b->extent[axis] = high[axis] - b->low[axis] + 1;
    snprintf(source, sizeof source, "%s: indices h %d..%d, k %d..%d, l %d..%d", path, b->low[0],
             high[0], b->low[1], high[1], b->low[2], high[2]);
    const double size = (double)b->extent[0] * b->extent[1] * b->extent[2];
    if (size > small_box && size / entries_per_line > (double)listed)
        return db_fail(context, DB_ERROR_INPUT,
                       "%s make a box of %.0f entries, too large for a list of %zu (a mistyped "
                       "index?)",
                       source, size, listed);
    return db_amplitude_box_check(context, source, b->extent, db_physical_memory(), &b->entries);
}

/* Fills the box from the list; returns how many entries have a value. The others are NAN. */
static size_t fill_box(const db_reflection_list *list, box *b) {
    size_t listed = 0;
    for (size_t i = 0; i < b->entries; i++) b->amplitude[i] = NAN;
    for (walk w = walk_from_start(list); walk_on(&w);) {
        size_t at = 0;
        for (int axis = 0; axis < 3; axis++)
            at = at * (size_t)b->extent[axis] + (size_t)(w.index[axis] - b->low[axis]);
        listed += isnan(b->amplitude[at]) != 0;
        b->amplitude[at] = list->squared ? sqrt(fmax(0, w.value)) : w.value;
    }
    return listed;
}

/* Fills entries without a value: 0 for systematic absences, else default_F. */
static void fill_gaps(const db_space_group *group, double default_F, box *b) {
    int hkl[3];
    size_t entry = 0;
    for (hkl[0] = b->low[0]; hkl[0] < b->low[0] + b->extent[0]; hkl[0]++)
        for (hkl[1] = b->low[1]; hkl[1] < b->low[1] + b->extent[1]; hkl[1]++)
            for (hkl[2] = b->low[2]; hkl[2] < b->low[2] + b->extent[2]; hkl[2]++, entry++)
                if (isnan(b->amplitude[entry]))
                    b->amplitude[entry] =
                        default_F != 0 && !db_space_group_absent(group, hkl) ? default_F : 0;
}

db_status db_reflection_list_box(db_context *context, const char *path,
                                 const db_reflection_list *list, db_structure_factors *factors) {
    box b = { .entries = 0 };
    DB_TRY(find_box(context, path, list, &b));
    b.amplitude = malloc(b.entries * sizeof *b.amplitude);
    if (!b.amplitude) return db_fail_memory(context, "the structure factors");
    factors->listed = fill_box(list, &b);
    fill_gaps(&list->group, factors->default_F, &b);
    free(factors->amplitude);
    factors->amplitude = b.amplitude;
    memcpy(factors->min, b.low, sizeof b.low);
    memcpy(factors->extent, b.extent, sizeof b.extent);
    return DB_OK;
}
