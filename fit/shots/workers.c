/* Work on shots by threads and processes. */
#include "fit/shots/workers.h"

#include "base/threads.h"
#include "fit/config/worker_context.h"
#include "fit/shots/team.h"

#include <stdlib.h>
#include <string.h>

/* With many shots, each thread works on its own; with few, all threads work on one after the
 * other. */
db_status db_workers_create(db_shots *all) {
    const int threads = db_threads(all->context);
    size_t own = 0;
    for (size_t i = 0; i < all->count; i++) own += (size_t)db_shots_own(all, i);
    const int many = own >= 4 * (size_t)threads;
    all->worker_count = many ? threads : 1;
    return db_worker_contexts_create(all->context, all->worker_count, many ? 1 : threads,
                                     &all->worker);
}

void db_workers_destroy(db_shots *all) {
    db_worker_contexts_destroy(&all->worker, all->worker_count);
}

static db_status fail_team(db_context *context) {
    return db_fail(context, DB_ERROR_DEVICE, "the processes lost touch with each other");
}

db_status db_workers_common_status(db_shots *all, db_status status) {
    return db_team_common_status(&all->team, all->context, status);
}

db_status db_workers_broadcast(db_shots *all, void *data, size_t bytes) {
    return db_team_broadcast(&all->team, all->context, data, bytes);
}

int db_workers_cancelled(const db_shots *all) {
    const db_fit_shots_options *const options = all->options;
    return !all->ending && options->cancelled && options->cancelled(options->user);
}

/* A pass over shots. */
typedef struct pass {
    const char *what;
    int stage;
    size_t from, to;
    db_shot_work work;
    void *user;
    size_t done; /* by this process */
} pass;

/* Assumes that the other processes are as fast. */
static void report(const db_shots *all, const pass *p, size_t done) {
    const size_t most = p->to - p->from, all_done = done * (size_t)all->team.size;
    const db_fit_shots_event event = { .kind = DB_SHOTS_WORKING,
                                       .stage = p->stage,
                                       .what = p->what,
                                       .done = p->from + (all_done < most ? all_done : most),
                                       .count = all->count };
    if (!all->ending && db_thread_number() == 0) db_shots_report(all, &event);
}

static db_status work_on_chunk(db_shots *all, db_context *context, size_t chunk, pass *p) {
    for (size_t i = chunk * all->chunk; i < (chunk + 1) * all->chunk && i < p->to; i++) {
        size_t done;
        if (i < p->from) continue;
        if (db_workers_cancelled(all))
            return db_fail(context, DB_ERROR_CANCELLED, "cancelled by the caller");
        if (all->summary[i].used) DB_TRY(p->work(all, context, i, p->user));
#pragma omp atomic capture
        done = ++p->done;
        report(all, p, done);
    }
    return DB_OK;
}

db_status db_workers_each(db_shots *all, const char *what, int stage, size_t from, size_t to,
                          db_shot_work work, void *user) {
    pass p = { what, stage, from, to, work, user, 0 };
    const long first = (long)(from / all->chunk), last = (long)((to + all->chunk - 1) / all->chunk);
    db_status failed = DB_OK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(all->worker_count)
    for (long c = first; c < last; c++) {
        db_status before;
#pragma omp atomic read
        before = failed;
        if (before != DB_OK || !db_shots_own(all, (size_t)c * all->chunk)) continue;
        db_context *const context = all->worker[db_thread_number()];
        const db_status status = work_on_chunk(all, context, (size_t)c, &p);
        if (status == DB_OK) continue;
#pragma omp critical(db_workers_failed)
        if (failed == DB_OK) {
            db_record_message(all->context, "%s", db_context_message(context));
#pragma omp atomic write
            failed = status;
        }
    }
    return db_workers_common_status(all, failed);
}

/* Numbers of the elements that a process has written, in order. */
static size_t elements_of(const db_shots *all, int rank, int by_chunk, size_t *list) {
    const size_t count = by_chunk ? db_shots_chunks(all) : all->count;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t chunk = by_chunk ? i : i / all->chunk;
        if ((int)(chunk % (size_t)all->team.size) == rank) list[n++] = i;
    }
    return n;
}

db_status db_workers_gather(db_shots *all, void *records, size_t bytes, int by_chunk) {
    const db_fit_team *const team = &all->team;
    if (team->size == 1) return DB_OK;
    char *const record = records;
    size_t *const list = malloc(all->count * sizeof *list);
    size_t *const sizes = malloc((size_t)team->size * sizeof *sizes);
    char *const own = malloc(all->count * bytes + 1);
    char *const every = malloc(all->count * bytes + 1);
    db_status status = list && sizes && own && every
                           ? DB_OK
                           : db_fail_memory(all->context, "the records of the processes");
    status = db_workers_common_status(all, status);
    if (status == DB_OK && list && sizes && own && every) {
        for (int r = 0; r < team->size; r++) sizes[r] = bytes * elements_of(all, r, by_chunk, list);
        const size_t n = elements_of(all, team->rank, by_chunk, list);
        for (size_t i = 0; i < n; i++) memcpy(own + i * bytes, record + list[i] * bytes, bytes);
        if (team->gather(team->user, own, sizes, every) != 0) status = fail_team(all->context);
        const char *next = every;
        for (int r = 0; r < team->size && status == DB_OK; r++) {
            const size_t count = elements_of(all, r, by_chunk, list);
            for (size_t i = 0; i < count; i++, next += bytes)
                memcpy(record + list[i] * bytes, next, bytes);
        }
    }
    free(list);
    free(sizes);
    free(own);
    free(every);
    return status;
}

db_status db_workers_gather_shots(db_shots *all) {
    const size_t row = all->parameters;
    DB_TRY(db_workers_gather(all, all->summary, sizeof *all->summary, 0));
    DB_TRY(db_workers_gather(all, all->value, row * sizeof *all->value, 0));
    DB_TRY(db_workers_gather(all, all->begin, row * sizeof *all->begin, 0));
    DB_TRY(db_workers_gather(all, all->error, row * sizeof *all->error, 0));
    return db_workers_gather(all, all->at_bound, row * sizeof *all->at_bound, 0);
}
