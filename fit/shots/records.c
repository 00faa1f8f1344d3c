/* Messages between processes about shots. */
#include "fit/shots/records.h"

#include "base/context_internal.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 256 }; /* shots of a message */

static size_t numbers_bytes(const db_shots *all) { return db_shots_numbers(all) * sizeof(double); }

void db_record_move(db_shots *all, size_t shot, db_pieces *p) {
    db_pieces_move(p, &all->summary[shot], sizeof *all->summary);
    db_pieces_move(p, db_shots_value(all, shot), numbers_bytes(all));
}

void db_shown_move(db_shown *shown, db_pieces *p) {
    size_t count = shown->count;
    db_pieces_move(p, &count, sizeof count);
    if (p->reads) {
        free(shown->hkl);
        *shown = (db_shown){ .count = 0 };
        if (p->failed || count > (p->room - p->count) / sizeof *shown->hkl) count = 0;
        if (count) shown->hkl = malloc(count * sizeof *shown->hkl);
        if (shown->hkl) shown->count = count;
        p->failed |= shown->count != count;
    }
    db_pieces_move(p, shown->hkl, shown->count * sizeof *shown->hkl);
}

db_status db_records_count(db_shots *all) {
    struct {
        size_t used;
        double degrees;
    } sum = { 0, 0 };
    for (size_t i = 0; i < all->count && all->team.rank == 0; i++)
        if (all->summary[i].used) {
            sum.used++;
            sum.degrees += all->summary[i].degrees;
        }
    DB_TRY(db_team_broadcast(&all->team, all->context, &sum, sizeof sum));
    all->used = sum.used;
    all->degrees = sum.degrees;
    return DB_OK;
}

/* The next shots of a process, from `from` on, at most as many as a message holds; returns their number. */
static size_t next_shots(const db_shots *all, int owner, size_t *from, size_t shot[AT_ONCE]) {
    size_t count = 0;
    for (; *from < all->count && count < AT_ONCE; ++*from)
        if (db_shares_owner(all, *from / all->chunk) == owner) shot[count++] = *from;
    return count;
}

/* What is passed of each shot: an item of a list, or its record. */
typedef struct passed_items {
    char *list; /* [shots]; NULL: records */
    size_t size;
} passed_items;

static void move_item(db_shots *all, size_t shot, const passed_items *of, db_pieces *p) {
    if (of->list)
        db_pieces_move(p, of->list + shot * of->size, of->size);
    else
        db_record_move(all, shot, p);
}

/* Passes items of one process' shots to or from another process. All know the owners of shots, so no numbers are
 * sent. */
static db_status pass_items(db_shots *all, int other, int owner, int sends, const passed_items *of,
                            char *message) {
    size_t shot[AT_ONCE], from = 0;
    for (size_t count; (count = next_shots(all, owner, &from, shot)) > 0;) {
        db_pieces p = { .bytes = message, .room = count * of->size, .reads = !sends };
        if (!sends) DB_TRY(db_team_receive(&all->team, all->context, other, message, p.room));
        for (size_t k = 0; k < count; k++) move_item(all, shot[k], of, &p);
        if (sends) DB_TRY(db_team_send(&all->team, all->context, other, message, p.room));
    }
    return DB_OK;
}

static db_status make_items(db_shots *all, const size_t *bytes, void **item, int everywhere) {
    for (size_t s = 0; s < all->count; s++) {
        if (item[s] || !bytes[s] || (!everywhere && all->team.rank > 0)) continue;
        item[s] = malloc(bytes[s]);
        if (!item[s]) return db_fail_memory(all->context, "what is said of the shots");
    }
    return DB_OK;
}

db_status db_records_gather(db_shots *all, size_t *bytes, void **item, int everywhere) {
    if (all->team.size == 1) return DB_OK;
    DB_TRY(db_records_hear(all, bytes, sizeof *bytes));
    DB_TRY(db_team_broadcast(&all->team, all->context, bytes, all->count * sizeof *bytes));
    return db_records_gather_known(all, bytes, item, everywhere);
}

db_status db_records_gather_known(db_shots *all, const size_t *bytes, void **item, int everywhere) {
    const int rank = all->team.rank;
    if (all->team.size == 1) return DB_OK;
    DB_TRY(
        db_team_common_status(&all->team, all->context, make_items(all, bytes, item, everywhere)));
    for (size_t s = 0; s < all->count; s++) {
        const int owner = db_shares_owner(all, s / all->chunk);
        if (!bytes[s]) continue;
        if (rank > 0 && rank == owner)
            DB_TRY(db_team_send(&all->team, all->context, 0, item[s], bytes[s]));
        if (rank == 0 && owner > 0)
            DB_TRY(db_team_receive(&all->team, all->context, owner, item[s], bytes[s]));
        if (everywhere) DB_TRY(db_team_broadcast(&all->team, all->context, item[s], bytes[s]));
    }
    return DB_OK;
}

/* Passes items between rank 0 and the others; to_first: to rank 0. */
static db_status pass_all(db_shots *all, int to_first, void *list, size_t size) {
    const int rank = all->team.rank;
    const passed_items of = { list, size };
    if (all->team.size == 1) return DB_OK;
    char *const message = malloc(AT_ONCE * size);
    db_status status = db_need_memory(all->context, message, "what is said of the shots");
    status = db_team_common_status(&all->team, all->context, status);
    if (!message) return status;
    if (status == DB_OK && rank > 0) status = pass_items(all, 0, rank, to_first, &of, message);
    for (int r = 1; r < all->team.size && rank == 0 && status == DB_OK; r++)
        status = pass_items(all, r, r, !to_first, &of, message);
    free(message);
    return status;
}

db_status db_records_hear(db_shots *all, void *items, size_t size) {
    return pass_all(all, 1, items, size);
}

db_status db_records_tell(db_shots *all, void *items, size_t size) {
    return pass_all(all, 0, items, size);
}

static db_status pass_records(db_shots *all, int to_first) {
    return pass_all(all, to_first, NULL, sizeof *all->summary + numbers_bytes(all));
}

db_status db_records_collect(db_shots *all) {
    DB_TRY(pass_records(all, 1));
    return db_records_count(all);
}

db_status db_records_return(db_shots *all) { return pass_records(all, 0); }
