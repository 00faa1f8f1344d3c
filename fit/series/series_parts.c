/* Lists of what the frames of a series show. */
#include "fit/series/series_parts.h"

#include "base/context_internal.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_STRONG = 3 }; /* pixels that show a reflection */

void db_series_begin_pass(db_shots *all) {
    for (size_t i = 0; i < all->count; i++) {
        db_fit_spots *const seen = all->state[i].seen;
        db_fit_spots_clear(&seen[1]);
        seen[1] = seen[0];
        seen[0] = (db_fit_spots){ .count = 0 };
    }
}

static db_status make_list(db_context *context, size_t most, db_fit_spots *list) {
    *list = (db_fit_spots){ .listing = DB_FIT_LISTED_BY_INDEX };
    list->spot = calloc(most + 1, sizeof *list->spot);
    return list->spot ? DB_OK : db_fail_memory(context, "the reflections of a frame");
}

db_status db_series_note(db_context *context, const db_shoeboxes *boxes, db_fit_spots *seen) {
    db_fit_spots_clear(seen);
    DB_TRY(make_list(context, boxes->count, seen));
    for (size_t b = 0; b < boxes->count; b++) {
        int strong = 0;
        for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
            strong += boxes->strong[i];
        if (strong >= FEWEST_STRONG)
            memcpy(seen->spot[seen->count++].hkl, boxes->reflection[b].hkl, sizeof seen->spot->hkl);
    }
    return DB_OK;
}

static int by_hkl(const void *a, const void *b) {
    const db_fit_spot *const x = a;
    const db_fit_spot *const y = b;
    return db_compare_hkl(x->hkl, y->hkl);
}

db_status db_series_parts_of(const db_shots *all, db_context *context, size_t shot,
                             db_fit_spots *parts) {
    const size_t from = shot ? shot - 1 : 0, to = shot + 2 < all->count ? shot + 2 : all->count;
    size_t most = 0, kept = 0;
    for (size_t i = from; i < to; i++) most += all->state[i].seen[1].count;
    DB_TRY(make_list(context, most, parts));
    parts->are_parts = 1;
    for (size_t i = from; i < to; i++) {
        const db_fit_spots *const seen = &all->state[i].seen[1];
        if (seen->count)
            memcpy(parts->spot + parts->count, seen->spot, seen->count * sizeof *seen->spot);
        parts->count += seen->count;
    }
    if (parts->count) qsort(parts->spot, parts->count, sizeof *parts->spot, by_hkl);
    for (size_t i = 0; i < parts->count; i++)
        if (!kept || db_compare_hkl(parts->spot[i].hkl, parts->spot[kept - 1].hkl) != 0)
            parts->spot[kept++] = parts->spot[i];
    parts->count = kept;
    return DB_OK;
}
