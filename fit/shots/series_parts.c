/* Lists of reflections that frames of a series show. */
#include "fit/shots/series_parts.h"

#include "base/context_internal.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/workers.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST_STRONG = 3 }; /* fewest strong pixels of a shown reflection */

static void clear_shown(db_shown *shown) {
    free(shown->hkl);
    *shown = (db_shown){ .count = 0 };
}

static db_status make_room(db_context *context, size_t most, db_shown *shown) {
    clear_shown(shown);
    shown->hkl = calloc(most + 1, sizeof *shown->hkl);
    return db_need_memory(context, shown->hkl, "the reflections of a frame");
}

static void list_reflection(const int hkl[3], db_shown *shown) {
    memcpy(shown->hkl[shown->count++], hkl, sizeof *shown->hkl);
}

db_status db_shown_note_again(db_context *context, const db_shoeboxes *boxes,
                              db_shot_state *state) {
    DB_TRY(make_room(context, boxes->count, &state->shown));
    for (size_t b = 0; b < boxes->count; b++) {
        int strong = 0;
        for (size_t i = b * boxes->pixels; i < (b + 1) * boxes->pixels; i++)
            strong += boxes->strong[i];
        if (strong >= FEWEST_STRONG) list_reflection(boxes->reflection[b].hkl, &state->shown);
    }
    return DB_OK;
}

db_status db_shown_note(db_context *context, const db_shoeboxes *boxes, db_shot_state *state) {
    DB_TRY(make_room(context, boxes->count, &state->boxes));
    for (size_t b = 0; b < boxes->count; b++)
        list_reflection(boxes->reflection[b].hkl, &state->boxes);
    return db_shown_note_again(context, boxes, state);
}

/* Completes lists [count] of this process' shots by the lists of other processes. */
static db_status gather_shown(db_shots *all, db_shown *shown) {
    size_t *const bytes = calloc(all->count + 1, sizeof *bytes);
    void **const list = calloc(all->count + 1, sizeof *list);
    db_status status = db_workers_need_memory(all, bytes && list, "the reflections of a series");
    for (size_t i = 0; i < all->count && status == DB_OK && bytes && list; i++) {
        if (!db_shots_own(all, i)) continue;
        bytes[i] = shown[i].count * sizeof *shown->hkl;
        list[i] = shown[i].hkl;
    }
    if (status == DB_OK) status = db_records_gather(all, bytes, list, 1);
    for (size_t i = 0; i < all->count && list && bytes; i++) {
        if (db_shots_own(all, i) || !list[i]) continue;
        shown[i] = (db_shown){ bytes[i] / sizeof *shown->hkl, list[i] };
    }
    free(bytes);
    free(list);
    return status;
}

db_status db_shown_lend(db_shots *all, int boxes, db_shown **list) {
    db_shown *const shown = *list = calloc(all->count + 1, sizeof *shown);
    db_status status = db_workers_need_memory(all, shown, "the reflections of a series");
    for (size_t i = 0; i < all->count && shown; i++)
        if (db_shots_own(all, i) && all->summary[i].used)
            shown[i] = boxes ? all->state[i].boxes : all->state[i].shown;
    return status == DB_OK ? gather_shown(all, shown) : status;
}

void db_shown_return(const db_shots *all, db_shown *list) {
    for (size_t i = 0; i < all->count && list; i++)
        if (!db_shots_own(all, i)) free(list[i].hkl);
    free(list);
}

db_status db_shown_pass_on(db_shots *all) {
    if (!db_series_shares(all)) return DB_OK;
    db_shown *const shown = calloc(all->count + 1, sizeof *shown);
    db_status status = db_workers_need_memory(all, shown, "the reflections of a series");
    for (size_t i = 0; i < all->count && status == DB_OK && shown; i++) {
        db_shot_state *const state = &all->state[i];
        clear_shown(&state->boxes);
        clear_shown(&state->shown_before);
        shown[i] = state->shown;
        state->shown = (db_shown){ .count = 0 };
    }
    if (status == DB_OK && shown) status = gather_shown(all, shown);
    for (size_t i = 0; i < all->count && shown; i++) all->state[i].shown_before = shown[i];
    free(shown);
    return status;
}

static int by_indices(const void *a, const void *b) { return db_compare_hkl(a, b); }

static size_t count_different(const db_shots *all, const db_shown *shown, int (*list)[3]) {
    size_t count = 0, different = 0;
    for (size_t i = 0; i < all->count; i++) {
        if (!shown[i].count) continue;
        memcpy(list[count], shown[i].hkl, shown[i].count * sizeof *list);
        count += shown[i].count;
    }
    qsort(list, count, sizeof *list, by_indices);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || db_compare_hkl(list[i - 1], list[i]) != 0;
    return different;
}

static db_status refuse_few(const db_shots *all, const db_shown *shown) {
    const size_t least = db_series_fewest(all);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++) count += shown[i].count;
    int(*const list)[3] = calloc(count + 1, sizeof *list);
    if (!list) return db_fail_memory(all->context, "the reflections of a series");
    const size_t different = count_different(all, shown, list);
    free(list);
    return different >= least
               ? DB_OK
               : db_fail(all->context, DB_ERROR_INPUT,
                         "blank series: all frames together show %zu predicted reflections with "
                         "strong pixels (%g sigma above the background), at least %zu are needed "
                         "(two thirds of data.min_strong_reflections)",
                         different, all->settings.strong_sigma, least);
}

db_status db_shown_refuse_blank(db_shots *all) {
    db_shown *shown;
    db_status status = db_shown_lend(all, 0, &shown);
    if (status == DB_OK) status = db_workers_common_status(all, refuse_few(all, shown));
    db_shown_return(all, shown);
    return status;
}

db_status db_series_parts_of(const db_shots *all, db_context *context, size_t shot,
                             db_fit_spots *parts) {
    const db_series_crystal *const own = &all->frames.crystal[db_shots_crystal(all, shot)];
    const size_t end = own->first + own->count, from = shot > own->first ? shot - 1 : shot,
                 to = shot + 2 < end ? shot + 2 : end;
    size_t most = 0, kept = 0;
    for (size_t i = from; i < to; i++) most += all->state[i].shown_before.count;
    *parts = (db_fit_spots){ .listing = DB_FIT_LISTED_BY_INDEX, .are_parts = 1 };
    parts->spot = calloc(most + 1, sizeof *parts->spot);
    if (!parts->spot) return db_fail_memory(context, "the reflections of a frame");
    for (size_t i = from; i < to; i++) {
        const db_shown *const shown = &all->state[i].shown_before;
        for (size_t k = 0; k < shown->count; k++)
            memcpy(parts->spot[parts->count++].hkl, shown->hkl[k], sizeof *shown->hkl);
    }
    if (parts->count) qsort(parts->spot, parts->count, sizeof *parts->spot, db_spots_by_hkl);
    for (size_t i = 0; i < parts->count; i++)
        if (!kept || db_compare_hkl(parts->spot[i].hkl, parts->spot[kept - 1].hkl) != 0)
            parts->spot[kept++] = parts->spot[i];
    parts->count = kept;
    return DB_OK;
}
