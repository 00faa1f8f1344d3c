/* Numbers of the reflections of an asymmetric unit. */
#include "fit/merge/asymmetric_unit.h"

#include "base/context_internal.h"
#include "base/growth.h"

#include <dualbragg/expert/symmetry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_INDICES = 1e9; /* indices in the box of numbers */

typedef struct rooms {
    size_t hkl, mate, centric, epsilon, d;
} rooms;

static db_status find_group(db_context *context, const char *name, db_asu_list *list) {
    list->group = calloc(1, sizeof *list->group);
    if (!list->group) return db_fail_memory(context, "the asymmetric unit");
    if (*name) return db_space_group_of_cell(context, name, list->cell, list->group);
    strcpy(list->group->name, "P 1");
    list->group->number = list->group->symmetry.count = list->group->centring_count = 1;
    for (int i = 0; i < 9; i += 4) list->group->symmetry.rotation[0][i] = 1;
    return DB_OK;
}

static db_status make_box(db_context *context, db_asu_list *list) {
    double entries = 1;
    for (int i = 0; i < 3; i++) {
        /* d_min is at most 1 / |q|, so |h| = |q . a| is at most a / d_min */
        const double most = list->cell[i] / list->d_min;
        entries *= 2 * most + 1;
        if (!(list->d_min > 0) || !(most < INT16_MAX) || !(entries <= MOST_INDICES))
            return db_fail(context, DB_ERROR_INPUT,
                           "reflections to %g A of a cell of %g x %g x %g A: expected at most %g "
                           "of them",
                           list->d_min, list->cell[0], list->cell[1], list->cell[2], MOST_INDICES);
        list->most[i] = (int)most;
    }
    size_t size = 1;
    for (int i = 0; i < 3; i++) size *= 2 * (size_t)list->most[i] + 1;
    list->number = malloc(size * sizeof *list->number);
    if (!list->number) return db_fail_memory(context, "the asymmetric unit");
    for (size_t i = 0; i < size; i++) list->number[i] = DB_NO_REFLECTION;
    return DB_OK;
}

/* a*, b*, c* of the cell, in rows. */
static void reciprocal_of(const double cell[6], double row[9]) {
    db_crystal crystal = { .orientation = { 1, 0, 0, 0, 1, 0, 0, 0, 1 } };
    memcpy(crystal.cell, cell, sizeof crystal.cell);
    db_crystal_matrix(&crystal, row);
}

static double spacing(const double reciprocal[9], const int hkl[3]) {
    double sum = 0;
    for (size_t i = 0; i < 9; i += 3) {
        const double q =
            reciprocal[i] * hkl[0] + reciprocal[i + 1] * hkl[1] + reciprocal[i + 2] * hkl[2];
        sum += q * q;
    }
    return 1 / sqrt(sum);
}

static void put_number(db_asu_list *list, const int hkl[3], int sign, uint32_t number) {
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        const int index = sign * hkl[i] + list->most[i];
        if (index < 0 || index > 2 * list->most[i]) return;
        at = at * (2 * (size_t)list->most[i] + 1) + (size_t)index;
    }
    list->number[at] = number;
}

/* Gives all equivalents of a reflection its number. sign -1: the equivalents of its mate. */
static void put_equivalents(db_asu_list *list, const int hkl[3], int sign, uint32_t number) {
    const db_symmetry *const symmetry = &list->group->symmetry;
    put_number(list, hkl, sign, number);
    for (int o = 0; o < symmetry->count; o++) {
        int turned[3];
        db_symmetry_turn(symmetry, o, hkl, turned);
        put_number(list, turned, sign, number);
    }
}

/* Number of rotations that turn hkl into itself (sign 1) or its Friedel mate (-1). */
static int count_turns(const db_symmetry *symmetry, const int hkl[3], int sign) {
    int count = 0;
    for (int o = 0; o < symmetry->count; o++) {
        int turned[3];
        db_symmetry_turn(symmetry, o, hkl, turned);
        count +=
            turned[0] == sign * hkl[0] && turned[1] == sign * hkl[1] && turned[2] == sign * hkl[2];
    }
    return count;
}

static db_status append_reflection(db_context *context, db_asu_list *list, rooms *room,
                                   const int hkl[3], int sign, uint32_t mate, double d) {
    static const char what[] = "the asymmetric unit";
    const size_t n = list->count, wanted = n + 1;
    const db_symmetry *const symmetry = &list->group->symmetry;
    DB_GROW(context, list->hkl, room->hkl, wanted, what);
    DB_GROW(context, list->mate, room->mate, wanted, what);
    DB_GROW(context, list->centric, room->centric, wanted, what);
    DB_GROW(context, list->epsilon, room->epsilon, wanted, what);
    DB_GROW(context, list->d, room->d, wanted, what);
    for (int i = 0; i < 3; i++) list->hkl[n][i] = sign * hkl[i];
    list->mate[n] = mate;
    list->centric[n] = count_turns(symmetry, hkl, -1) > 0;
    list->epsilon[n] = (unsigned char)count_turns(symmetry, hkl, 1);
    list->d[n] = (float)d;
    list->count++;
    return DB_OK;
}

/* Takes a reflection without a number; it is the largest of its equivalents, because indices come in falling
 * order. */
static db_status take_reflection(db_context *context, db_asu_list *list, rooms *room,
                                 const int hkl[3], double d) {
    const uint32_t own = (uint32_t)list->count;
    const int is_pair = list->anomalous && !count_turns(&list->group->symmetry, hkl, -1);
    DB_TRY(append_reflection(context, list, room, hkl, 1, is_pair ? own + 1 : own, d));
    put_equivalents(list, hkl, 1, own);
    if (is_pair) DB_TRY(append_reflection(context, list, room, hkl, -1, own, d));
    put_equivalents(list, hkl, -1, is_pair ? own + 1 : own);
    return DB_OK;
}

static db_status take_all(db_context *context, db_asu_list *list) {
    const int *const m = list->most;
    double reciprocal[9];
    rooms room = { 0 };
    int hkl[3];
    reciprocal_of(list->cell, reciprocal);
    for (hkl[0] = m[0]; hkl[0] >= -m[0]; hkl[0]--)
        for (hkl[1] = m[1]; hkl[1] >= -m[1]; hkl[1]--)
            for (hkl[2] = m[2]; hkl[2] >= -m[2]; hkl[2]--) {
                const int is_zero = !hkl[0] && !hkl[1] && !hkl[2];
                if (is_zero || db_asu_number(list, hkl) != DB_NO_REFLECTION) continue;
                const double d = spacing(reciprocal, hkl);
                if (d < list->d_min || db_space_group_absent(list->group, hkl)) continue;
                DB_TRY(take_reflection(context, list, &room, hkl, d));
            }
    return DB_OK;
}

static void begin_list(const double cell[6], double d_min, int anomalous, db_asu_list *list) {
    memset(list, 0, sizeof *list);
    memcpy(list->cell, cell, sizeof list->cell);
    list->d_min = d_min;
    list->anomalous = anomalous;
}

static db_status number_all(db_context *context, db_status status, db_asu_list *list) {
    if (status == DB_OK) status = make_box(context, list);
    if (status == DB_OK) status = take_all(context, list);
    if (status != DB_OK) db_asu_list_clear(list);
    return status;
}

db_status db_asu_list_make(db_context *context, const double cell[6], const char *group,
                           double d_min, int anomalous, db_asu_list *list) {
    begin_list(cell, d_min, anomalous, list);
    return number_all(context, find_group(context, group, list), list);
}

db_status db_asu_list_make_in(db_context *context, const double cell[6],
                              const db_space_group *group, double d_min, int anomalous,
                              db_asu_list *list) {
    begin_list(cell, d_min, anomalous, list);
    list->group = malloc(sizeof *list->group);
    if (list->group) *list->group = *group;
    return number_all(context, list->group ? DB_OK : db_fail_memory(context, "the asymmetric unit"),
                      list);
}

double db_asu_coarsest(const db_asu_list *list) {
    double low = list->d_min;
    for (size_t r = 0; r < list->count; r++) low = fmax(low, (double)list->d[r]);
    return low;
}

void db_asu_list_clear(db_asu_list *list) {
    free(list->group);
    free(list->hkl);
    free(list->mate);
    free(list->centric);
    free(list->epsilon);
    free(list->d);
    free(list->number);
    memset(list, 0, sizeof *list);
}
