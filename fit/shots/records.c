/* What processes tell each other of shots. */
#include "fit/shots/records.h"

#include "base/context_internal.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 256 }; /* records of a message */

/* Copies a piece of a record to the message, or from it; returns its end there. */
static char *move(char *message, void *piece, size_t bytes, int packs) {
    memcpy(packs ? message : piece, packs ? piece : message, bytes);
    return message + bytes;
}

/* What is known of a shot; packs: into the message. */
static char *move_record(db_shots *all, size_t shot, char *message, int packs) {
    const size_t n = all->parameters, row = n * sizeof(double);
    message = move(message, &all->summary[shot], sizeof *all->summary, packs);
    message = move(message, db_shots_value(all, shot), row, packs);
    message = move(message, all->begin + shot * n, row, packs);
    message = move(message, all->error + shot * n, row, packs);
    return move(message, all->at_bound + shot * n, n * sizeof(int), packs);
}

static size_t record_size(const db_shots *all) {
    return sizeof(size_t) + sizeof *all->summary +
           all->parameters * (3 * sizeof(double) + sizeof(int));
}

/* The next shots of this process, from `from` on; returns how many, and where they end. */
static size_t pack(db_shots *all, size_t *from, char *message) {
    size_t count = 0;
    for (; *from < all->count && count < AT_ONCE; ++*from) {
        if (!db_shots_own(all, *from)) continue;
        message = move(message, from, sizeof *from, 1);
        message = move_record(all, *from, message, 1);
        count++;
    }
    return count;
}

static void unpack(db_shots *all, size_t count, char *message) {
    for (size_t k = 0; k < count; k++) {
        size_t shot;
        message = move(message, &shot, sizeof shot, 0);
        message = move_record(all, shot, message, 0);
    }
}

/* Messages are a count and so many records; the last count is 0. */
static db_status send_all(db_shots *all, char *message) {
    const size_t size = record_size(all);
    for (size_t from = 0;;) {
        const size_t count = pack(all, &from, message);
        DB_TRY(db_team_send(&all->team, all->context, 0, &count, sizeof count));
        if (count == 0) return DB_OK;
        DB_TRY(db_team_send(&all->team, all->context, 0, message, count * size));
    }
}

static db_status receive_all(db_shots *all, int rank, char *message) {
    const size_t size = record_size(all);
    for (;;) {
        size_t count;
        DB_TRY(db_team_receive(&all->team, all->context, rank, &count, sizeof count));
        if (count == 0) return DB_OK;
        DB_TRY(db_team_receive(&all->team, all->context, rank, message, count * size));
        unpack(all, count, message);
    }
}

static db_status collect(db_shots *all) {
    char *const message = malloc(AT_ONCE * record_size(all));
    db_status status = message ? DB_OK : db_fail_memory(all->context, "the records of the shots");
    status = db_team_common_status(&all->team, all->context, status);
    if (!message) return status;
    if (status == DB_OK && all->team.rank > 0) status = send_all(all, message);
    for (int r = 1; r < all->team.size && all->team.rank == 0 && status == DB_OK; r++)
        status = receive_all(all, r, message);
    free(message);
    return status;
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

db_status db_records_meet(db_shots *all) {
    if (all->team.size > 1) DB_TRY(collect(all));
    return db_records_count(all);
}
