/* Distribution of chunks of shots over processes. */
#define _POSIX_C_SOURCE 199309L
#include "fit/shots/shares.h"

#include "base/context_internal.h"
#include "fit/shots/team.h"
#include "fit/shots/tree_sum.h"

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Added to the team's counter of taken runs when the run is cancelled. */
static const uint64_t CANCELLED = (uint64_t)1 << 40;

struct db_shares {
    int *owner; /* [chunks]; -1: none yet */
    size_t
        *family; /* [chunks] first chunk with the same images, or itself; NULL: all are separate */
    int settled;
    uint64_t base;     /* of the counter */
    uint64_t number;   /* of the run that begins at `begin` */
    size_t begin;      /* a chunk */
    size_t next, end;  /* of this process' run */
    int told, stopped; /* 1: cancellation of the run was reported; was noticed */
    double asked;      /* last query of the counter (s) */
};

static int takes_turns(const db_shots *all) { return all->team.size > 1 && all->team.claim; }

/* First chunk of a task of an array. */
static size_t first_chunk(const db_shots *all, int task, int tasks) {
    return (size_t)(task - 1) * db_shots_chunks(all) / (size_t)tasks;
}

/* First chunk of this run, of all shots or of a task. */
static size_t begin_of(const db_shots *all) {
    const db_fit_shots_options *const o = all->options;
    return o->array_tasks > 0 ? first_chunk(all, o->array_task, o->array_tasks) : 0;
}
static size_t end_of(const db_shots *all) {
    const db_fit_shots_options *const o = all->options;
    return o->array_tasks > 0 ? first_chunk(all, o->array_task + 1, o->array_tasks)
                              : db_shots_chunks(all);
}

/* Family of a chunk: first chunk with lattices of the same images. */
static size_t family_of(const db_shots *all, size_t chunk) {
    const size_t *const family = all->shares->family;
    while (family && family[chunk] != chunk) chunk = family[chunk];
    return chunk;
}

static db_status find_families(db_shots *all) {
    const size_t chunks = db_shots_chunks(all);
    size_t *const family = all->shares->family = malloc((chunks + 1) * sizeof *family);
    if (!family) return db_fail_memory(all->context, "who works on which shots");
    for (size_t c = 0; c < chunks; c++) family[c] = c;
    for (size_t i = 0; i < all->count; i++) {
        const size_t a = family_of(all, all->image[i] / all->chunk),
                     b = family_of(all, i / all->chunk);
        family[a > b ? a : b] = a < b ? a : b;
    }
    return DB_OK;
}

db_status db_shares_create(db_shots *all) {
    const size_t chunks = db_shots_chunks(all);
    db_shares *const s = all->shares = calloc(1, sizeof *s);
    if (s) s->owner = malloc((chunks + 1) * sizeof *s->owner);
    if (!s || !s->owner) return db_fail_memory(all->context, "who works on which shots");
    for (size_t c = 0; c < chunks; c++) s->owner[c] = -1;
    return all->image ? find_families(all) : DB_OK;
}

void db_shares_destroy(db_shots *all) {
    if (all->shares) {
        free(all->shares->owner);
        free(all->shares->family);
    }
    free(all->shares);
    all->shares = NULL;
}

int db_shots_own(const db_shots *all, size_t shot) {
    return all->shares->owner[shot / all->chunk] == all->team.rank;
}

int db_shares_owner(const void *all, size_t chunk) {
    return ((const db_shots *)all)->shares->owner[chunk];
}

int db_shares_is_of_task(const db_shots *all, size_t shot, int task, int tasks) {
    const size_t family = family_of(all, shot / all->chunk);
    return family >= first_chunk(all, task, tasks) && family < first_chunk(all, task + 1, tasks);
}

/* Gives equal shares of neighbouring families. */
static void share_equally(db_shots *all) {
    const size_t begin = begin_of(all), end = end_of(all), size = (size_t)all->team.size;
    int *const owner = all->shares->owner;
    size_t count = 0, at = 0;
    for (size_t c = begin; c < end; c++) count += family_of(all, c) == c;
    for (size_t c = begin; c < db_shots_chunks(all) && count; c++) {
        const size_t first = family_of(all, c);
        if (first != c)
            owner[c] = owner[first];
        else if (c < end)
            owner[c] = (int)(at++ * size / count);
    }
    all->shares->settled = 1;
}

db_status db_shares_begin(db_shots *all) {
    db_shares *const s = all->shares;
    /* lattices of an image stay together */
    if (!takes_turns(all) || all->image) share_equally(all);
    if (!takes_turns(all)) return DB_OK;
    s->begin = begin_of(all);
    if (all->team.rank == 0 && all->team.claim(all->team.user, 0, &s->base) != 0)
        s->base = CANCELLED;
    return db_team_broadcast(&all->team, all->context, &s->base, sizeof s->base);
}

/* Number of chunks in the run that begins with a chunk. */
static size_t run_length(const db_shots *all, size_t begin) {
    const size_t part = (end_of(all) - begin) / (4 * (size_t)all->team.size);
    return part ? part : 1;
}

/* Takes the next run; 0: none is left, or the team is broken. */
static int take_run(db_shots *all) {
    db_shares *const s = all->shares;
    const size_t end = end_of(all);
    uint64_t number;
    if (all->team.claim(all->team.user, 1, &number) != 0) return 0;
    for (; s->number < number - s->base && s->begin < end; s->number++)
        s->begin += run_length(all, s->begin);
    if (s->begin >= end) return 0;
    s->next = s->begin;
    s->end = s->begin + run_length(all, s->begin);
    for (size_t c = s->next; c < s->end; c++) s->owner[c] = all->team.rank;
    return 1;
}

long db_shares_next(db_shots *all, long after) {
    db_shares *const s = all->shares;
    if (s->settled) {
        for (size_t c = (size_t)(after + 1); c < db_shots_chunks(all); c++)
            if (s->owner[c] == all->team.rank) return (long)c;
        return -1;
    }
    if (s->next == s->end && !take_run(all)) return -1;
    return (long)s->next++;
}

/* Merges the owners that two processes know. */
static void merge_owners(int *own, const int *other, size_t count) {
    for (size_t c = 0; c < count; c++)
        if (other[c] >= 0) own[c] = other[c];
}

/* Collects owners up a binary tree to rank 0. */
static db_status collect_owners(db_shots *all, int *room) {
    const db_fit_team *const team = &all->team;
    const size_t chunks = db_shots_chunks(all), bytes = chunks * sizeof *room;
    int *const own = all->shares->owner;
    for (int step = 1; step < team->size; step *= 2) {
        if (team->rank % (2 * step))
            return db_team_send(team, all->context, team->rank - step, own, bytes);
        if (team->rank + step >= team->size) continue;
        DB_TRY(db_team_receive(team, all->context, team->rank + step, room, bytes));
        merge_owners(own, room, chunks);
    }
    return DB_OK;
}

db_status db_shares_agree(db_shots *all) {
    const size_t chunks = db_shots_chunks(all);
    if (all->shares->settled) return DB_OK;
    int *const room = malloc((chunks + 1) * sizeof *room);
    db_status status = db_need_memory(all->context, room, "who works on which shots");
    status = db_team_common_status(&all->team, all->context, status);
    if (!room) return status;
    if (status == DB_OK) status = collect_owners(all, room);
    free(room);
    if (status == DB_OK)
        status = db_team_broadcast(&all->team, all->context, all->shares->owner,
                                   chunks * sizeof *all->shares->owner);
    all->shares->settled = status == DB_OK;
    return status;
}

double db_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int db_shares_cancelled(const db_shots *all, int own) {
    const double patience = 0.25;
    db_shares *const s = all->shares;
    int stopped = own;
    uint64_t before;
    if (!takes_turns(all)) return own;
#pragma omp critical(db_shares)
    {
        if (own && !s->told) s->told = all->team.claim(all->team.user, CANCELLED, &before) == 0;
        if (!s->stopped && !own && db_seconds() - s->asked > patience) {
            s->asked = db_seconds();
            s->stopped =
                all->team.claim(all->team.user, 0, &before) == 0 && before - s->base >= CANCELLED;
        }
        stopped |= s->stopped;
    }
    return stopped;
}
