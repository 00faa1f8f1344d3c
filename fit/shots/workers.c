/* Work on shots by threads and processes. */
#include "fit/shots/workers.h"

#include "base/threads.h"
#include "fit/config/worker_context.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdlib.h>

/* With many shots, each thread works on its own; with few, all threads work on one after the other. */
db_status db_workers_create(db_shots *all) {
    if (all->source->in_full) { /* each shot is reported */
        all->workers.context = calloc(1, sizeof *all->workers.context);
        if (!all->workers.context) return db_fail_memory(all->context, "the threads' contexts");
        all->workers.context[0] = all->context;
        all->workers.count = 1;
        return DB_OK;
    }
    const int threads = db_threads(all->context),
              many = all->count / (size_t)all->team.size >= 4 * (size_t)threads;
    all->workers.count = many ? threads : 1;
    return db_worker_contexts_create(all->context, all->workers.count, many ? 1 : threads,
                                     &all->workers.context);
}

void db_workers_destroy(db_shots *all) {
    if (all->source->in_full && all->workers.context) all->workers.context[0] = NULL;
    db_worker_contexts_destroy(&all->workers.context, all->workers.count);
}

db_status db_workers_common_status(db_shots *all, db_status status) {
    return db_team_common_status(&all->team, all->context, status);
}

int db_workers_cancelled(const db_shots *all) {
    const db_fit_shots_options *const options = all->options;
    if (all->ending) return 0;
    return db_shares_cancelled(all, options->cancelled && options->cancelled(options->user));
}

/* A pass over shots. */
typedef struct pass {
    const char *what;
    int stage;
    db_shot_work work;
    void *user;
    db_tree_sum *sum;
    long last;   /* its present chunk; -1: none */
    int ended;   /* 1: no further chunk */
    size_t done; /* shots done by this process */
    db_status failed;
} pass;

/* Reports progress, as if the other processes were as fast. */
static void report_pass(const db_shots *all, const pass *p, size_t done) {
    const size_t all_done = done * (size_t)all->team.size;
    const db_fit_shots_event event = { .kind = DB_SHOTS_WORKING,
                                       .stage = p->stage,
                                       .what = p->what,
                                       .done = all_done < all->count ? all_done : all->count,
                                       .count = all->count };
    if (!all->ending && db_thread_number() == 0) db_shots_report(all, &event);
}

/* Begins a shot from a checkpoint, or at its start. */
static db_status learn(db_shots *all, db_context *context, size_t shot) {
    db_shot_summary *const summary = &all->summary[shot];
    summary->used = 1;
    for (int k = 0; k < 2; k++)
        summary->fit[k] =
            (db_fit_statistics){ .chi2 = NAN, .correlation = NAN, .centroid_rms = NAN };
    for (size_t i = 0; i < all->parameters; i++) db_shots_values(all, shot).error[i] = NAN;
    return db_checkpoint_take(all, context, shot);
}

/* Begins the work of this process on a shot. */
static db_status begin_shot(db_shots *all, db_context *context, size_t shot) {
    all->state[shot].begun = 1;
    DB_TRY(learn(all, context, shot));
    all->state[shot].reported = !all->summary[shot].used;
    return DB_OK;
}

db_status db_workers_begin(db_shots *all) {
    DB_TRY(db_shares_begin(all));
    db_status status = DB_OK;
    for (size_t i = 0; i < all->count && status == DB_OK; i++)
        if (db_shots_own(all, i))
            status = begin_shot(all, all->context, i);
        else if (db_series_shares(all)) /* frames need neighbours in any process */
            status = learn(all, all->context, i);
    return db_workers_common_status(all, status);
}

static db_status work_on_chunk(db_shots *all, db_context *context, size_t chunk, pass *p,
                               double *vector) {
    for (size_t i = chunk * all->chunk; i < (chunk + 1) * all->chunk && i < all->count; i++) {
        size_t done;
        if (db_workers_cancelled(all))
            return db_fail(context, DB_ERROR_CANCELLED, "cancelled by the caller");
        if (!all->state[i].begun) DB_TRY(begin_shot(all, context, i));
        if (all->summary[i].used) DB_TRY(p->work(all, context, i, p->user, vector));
#pragma omp atomic capture
        done = ++p->done;
        report_pass(all, p, done);
    }
    return DB_OK;
}

static db_status work_and_sum(db_shots *all, db_context *context, size_t chunk, pass *p) {
    double *const vector = p->sum ? db_tree_sum_take(p->sum) : NULL;
    if (p->sum && !vector) return db_fail_memory(context, "sums over shots");
    const db_status status = work_on_chunk(all, context, chunk, p, vector);
    if (vector) db_tree_sum_put(p->sum, chunk, vector);
    return status;
}

/* The next chunk; -1: none, or something has failed. */
static long next_chunk(db_shots *all, pass *p) {
    long chunk = -1;
#pragma omp critical(db_shares)
    if (p->failed == DB_OK && !p->ended) {
        chunk = db_shares_next(all, p->last);
        p->ended = chunk < 0;
        p->last = chunk;
    }
    return chunk;
}

static void note_failure(db_shots *all, db_context *context, pass *p, db_status status) {
#pragma omp critical(db_shares)
    if (p->failed == DB_OK) {
        if (context != all->context)
            db_record_message(all->context, "%s", db_context_message(context));
        p->failed = status;
    }
}

static void take_chunks(db_shots *all, db_context *context, pass *p) {
    for (long chunk; (chunk = next_chunk(all, p)) >= 0;) {
        const db_status status = work_and_sum(all, context, (size_t)chunk, p);
        if (status != DB_OK) note_failure(all, context, p, status);
    }
}

/* Threads of a worker inside a parallel region, even one of a single thread, would be made anew for each of their loops. */
static db_status each_shot(db_shots *all, const char *what, int stage, db_shot_work work,
                           void *user, db_tree_sum *sum) {
    pass p = { what, stage, work, user, sum, -1, 0, 0, DB_OK };
    if (all->workers.count == 1) {
        take_chunks(all, all->workers.context[0], &p);
    } else {
#pragma omp parallel num_threads(all->workers.count)
        take_chunks(all, all->workers.context[db_thread_number()], &p);
    }
    db_shot_notices_tell(&all->notices, all->count);
    DB_TRY(db_workers_common_status(all, p.failed));
    return db_shares_agree(all);
}

db_status db_workers_each(db_shots *all, const char *what, int stage, db_shot_work work,
                          void *user) {
    return each_shot(all, what, stage, work, user, NULL);
}

db_status db_workers_sum(db_shots *all, const char *what, int stage, db_shot_work work, void *user,
                         size_t size, double *total) {
    db_tree_sum sum;
    db_status status = db_workers_common_status(
        all, db_tree_sum_begin(all->context, db_shots_chunks(all), size, &sum));
    if (status == DB_OK) status = each_shot(all, what, stage, work, user, &sum);
    if (status == DB_OK)
        status = db_tree_sum_total(&all->team, all->context, &sum, db_shares_owner, all, total);
    db_tree_sum_clear(&sum);
    return status;
}
