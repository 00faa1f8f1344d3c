/* The state of a stage of joint intensities in files. */
#include "fit/amplitudes/checkpoint.h"

#include "base/context_internal.h"
#include "fit/amplitudes/messages.h"
#include "fit/shots/archive.h"
#include "fit/shots/checkpoint.h"
#include "fit/shots/checkpoint_parts.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* How a file begins. */
typedef struct head {
    char what[24];
    char run[32]; /* of db_checkpoint */
    uint64_t reflections, shared, shots;
} head;

static head head_of(const db_amplitude_work *w) {
    const db_checkpoint *const c = w->all->checkpoint;
    head h = { .what = "dualbragg records 1",
               .reflections = w->reflections,
               .shared = w->pass.order.shared,
               .shots = w->all->count };
    _Static_assert(sizeof h.run >= sizeof c->run, "a digest has room");
    memcpy(h.run, c->run, sizeof c->run);
    return h;
}

/* What goes before sheet and record of a shot. */
typedef struct shot_head {
    uint64_t shot, pixels, shoeboxes;
    double degrees, chi2[2], correlation[2], centroid_rms[2]; /* as in its summary */
} shot_head;

/* Into memory, from it, from rank 0 to all, or nowhere, but counted. */
typedef db_status (*mover)(void *user, void *data, size_t bytes);

static db_status into_memory(void *user, void *data, size_t bytes) {
    char **const at = user;
    memcpy(*at, data, bytes);
    *at += bytes;
    return DB_OK;
}

static db_status from_memory(void *user, void *data, size_t bytes) {
    char **const at = user;
    memcpy(data, *at, bytes);
    *at += bytes;
    return DB_OK;
}

static db_status count_bytes(void *user, void *data, size_t bytes) {
    (void)data;
    *(size_t *)user += bytes;
    return DB_OK;
}

static db_status from_first(void *user, void *data, size_t bytes) {
    const db_shots *const all = user;
    return db_team_broadcast(&all->team, all->context, data, bytes);
}

/* What all processes know. */
static db_status move_common(mover move, void *user, db_amplitude_work *w) {
    const size_t vector = w->reflections * sizeof(double);
    DB_TRY(move(user, &w->passes, sizeof w->passes));
    DB_TRY(move(user, &w->rejected, sizeof w->rejected));
    DB_TRY(move(user, &w->fits, sizeof w->fits));
    DB_TRY(move(user, &w->damping, sizeof w->damping));
    DB_TRY(move(user, &w->total, sizeof w->total));
    DB_TRY(move(user, &w->degrees, sizeof w->degrees));
    DB_TRY(move(user, &w->errors, sizeof w->errors));
    DB_TRY(move(user, w->shared[0], w->pass.order.shared * sizeof(double)));
    DB_TRY(move(user, w->value[0], vector));
    if (!w->restraint.strength) return DB_OK;
    DB_TRY(move(user, &w->restraint.scale, sizeof w->restraint.scale));
    DB_TRY(move(user, w->restraint.centre, vector));
    return move(user, w->restraint.strength, vector);
}

static db_status move_indexing(mover move, void *user, db_indexing_result *r) {
    DB_TRY(move(user, &r->ways, sizeof r->ways));
    DB_TRY(move(user, &r->end, sizeof r->end));
    DB_TRY(move(user, &r->gain, sizeof r->gain));
    DB_TRY(move(user, &r->changed, sizeof r->changed));
    DB_TRY(move(user, &r->undecided, sizeof r->undecided));
    DB_TRY(move(user, r->way, r->shots * sizeof *r->way));
    return move(user, r->probability, r->shots * sizeof *r->probability);
}

/* What rank 0 knows. */
static db_status move_first(mover move, void *user, db_amplitude_work *w) {
    const db_scaling *const scaling = &w->result->scaling;
    DB_TRY(move_common(move, user, w));
    DB_TRY(move(user, scaling->shot, scaling->shots * sizeof *scaling->shot));
    DB_TRY(move(user, &w->result->kinds, sizeof w->result->kinds));
    DB_TRY(move(user, &w->result->agreement, sizeof w->result->agreement));
    return w->all->settings.joint.reindex ? move_indexing(move, user, &w->result->indexing) : DB_OK;
}

/* Room for that; *bytes: its size. */
static char *make_block(db_amplitude_work *w, size_t *bytes) {
    *bytes = 0;
    (void)move_first(count_bytes, bytes, w);
    char *const block = malloc(*bytes + 1);
    if (!block) (void)db_fail_memory(w->all->context, "the state of the joint intensities");
    return block;
}

static db_status write_first(db_amplitude_work *w, db_archive *a) {
    size_t bytes;
    char *const block = make_block(w, &bytes);
    char *at = block;
    if (!block) return DB_ERROR_MEMORY;
    (void)move_first(into_memory, &at, w);
    const db_status status = db_archive_put(a, block, bytes);
    free(block);
    return status;
}

static void copy(double *to, const double *from) { memcpy(to, from, 2 * sizeof *to); }

static size_t sheet_size(const db_amplitude_work *w, size_t shot) {
    const db_arrow_order *const order = &w->pass.order;
    return db_amplitude_sheet_size(w->all->state[shot].place.blocks, order->local, order->shared,
                                   w->pass.most);
}

static db_status write_shot(const db_amplitude_work *w, size_t shot, db_archive *a) {
    const db_shots *const all = w->all;
    const db_shot_summary *const summary = &all->summary[shot];
    db_amplitude_memory m = { .room = NULL };
    shot_head h = { .shot = shot,
                    .pixels = summary->pixels,
                    .shoeboxes = summary->shoeboxes,
                    .degrees = summary->degrees };
    copy(h.chi2, summary->chi2);
    copy(h.correlation, summary->correlation);
    copy(h.centroid_rms, summary->centroid_rms);
    db_status status = db_amplitude_memory_make(all->context, &w->pass, shot, &m);
    if (status == DB_OK)
        status = db_amplitude_memory_read(all->context, &w->pass, shot, w->best, &m);
    if (status == DB_OK) status = db_archive_put(a, &h, sizeof h);
    if (status == DB_OK) status = db_archive_put(a, m.bytes[0], sheet_size(w, shot));
    if (status == DB_OK)
        status = db_archive_put(a, m.bytes[1], db_amplitude_shot_size(all, &w->pass.order, shot));
    db_amplitude_memory_clear(&m);
    return status;
}

/* A db_checkpoint_writer: the file of this process. */
static db_status write_records(void *user, const char *path) {
    db_amplitude_work *const w = user;
    const head h = head_of(w);
    db_archive a;
    DB_TRY(db_archive_open(w->all->context, path, 1, &a));
    db_status status = db_archive_put(&a, &h, sizeof h);
    if (status == DB_OK && w->all->team.rank == 0) status = write_first(w, &a);
    for (size_t s = 0; s < w->all->count && status == DB_OK; s++)
        if (w->group[s]) status = write_shot(w, s, &a);
    const db_status closed = db_archive_close(&a);
    return status == DB_OK ? closed : status;
}

db_status db_amplitude_keep(db_amplitude_work *w) {
    return db_checkpoint_commit_records(w->all, w->stage, write_records, w);
}

int db_amplitude_was_kept(const db_amplitude_work *w) {
    return w->all->checkpoint && w->all->checkpoint->records == w->stage + 1;
}

/* The file of a part, behind its head. */
static db_status open_part(const db_amplitude_work *w, int part, char path[DB_PART_PATH_SIZE],
                           db_archive *a) {
    const head expected = head_of(w);
    head found;
    db_parts_records_path(w->all->checkpoint, part, path);
    DB_TRY(db_archive_open(w->all->context, path, 0, a));
    db_status status = db_archive_get(a, &found, sizeof found);
    if (status == DB_OK && memcmp(&found, &expected, sizeof found) != 0)
        status = db_fail(w->all->context, DB_ERROR_INPUT,
                         "%s: is of another refinement than the checkpoint that names it", path);
    if (status != DB_OK) (void)db_archive_close(a);
    return status;
}

/* Rank 0 reads what it knew. */
static db_status read_first(db_amplitude_work *w) {
    char path[DB_PART_PATH_SIZE];
    db_archive a;
    size_t bytes;
    char *const block = make_block(w, &bytes);
    char *at = block;
    if (!block) return DB_ERROR_MEMORY;
    db_status status = open_part(w, 0, path, &a);
    if (status == DB_OK) {
        status = db_archive_get(&a, block, bytes);
        (void)db_archive_close(&a);
    }
    if (status == DB_OK) (void)move_first(from_memory, &at, w);
    free(block);
    return status;
}

/* Puts sheet and record of a shot of this process where the shot has its pixels. */
static db_status take_numbers(const db_amplitude_work *w, size_t shot, db_archive *a) {
    db_context *const context = w->all->context;
    db_amplitude_memory m = { .room = NULL };
    db_status status = db_amplitude_memory_make(context, &w->pass, shot, &m);
    if (status == DB_OK) status = db_archive_get(a, m.bytes[0], sheet_size(w, shot));
    if (status == DB_OK)
        status =
            db_archive_get(a, m.bytes[1], db_amplitude_shot_size(w->all, &w->pass.order, shot));
    if (status == DB_OK) status = db_amplitude_memory_write(context, &w->pass, shot, 0, &m);
    db_amplitude_memory_clear(&m);
    return status;
}

static db_status take_shot(const db_amplitude_work *w, const shot_head *h, db_archive *a) {
    const size_t shot = (size_t)h->shot;
    db_shot_summary *const summary = &w->all->summary[shot];
    db_shot_state *const state = &w->all->state[shot];
    DB_TRY(take_numbers(w, shot, a));
    summary->pixels = (size_t)h->pixels;
    summary->shoeboxes = (size_t)h->shoeboxes;
    summary->degrees = h->degrees;
    copy(summary->chi2, h->chi2);
    copy(summary->correlation, h->correlation);
    copy(summary->centroid_rms, h->centroid_rms);
    if (state->point)
        memcpy(state->best.local, state->point, w->pass.order.local * sizeof *state->point);
    free(state->point);
    state->point = NULL;
    return DB_OK;
}

/* Leaves out a shot of another process. */
static db_status skip_shot(db_archive *a) {
    DB_TRY(db_archive_skip(a));
    return db_archive_skip(a);
}

static db_status read_shots(db_amplitude_work *w, db_archive *a) {
    while (!db_archive_at_end(a)) {
        shot_head h;
        DB_TRY(db_archive_get(a, &h, sizeof h));
        if (h.shot >= w->all->count)
            return db_fail(w->all->context, DB_ERROR_INPUT,
                           "%s: has a shot that is not in the list", a->path);
        DB_TRY(w->group[h.shot] ? take_shot(w, &h, a) : skip_shot(a));
    }
    return DB_OK;
}

/* The file of a part, if shots of this process are in it. */
static db_status read_part(db_amplitude_work *w, int part) {
    char path[DB_PART_PATH_SIZE];
    db_archive a;
    int wanted = 0;
    for (size_t s = 0; s < w->all->count && !wanted; s++)
        wanted = w->group[s] && db_checkpoint_part(w->all, s) == part;
    if (!wanted) return DB_OK;
    DB_TRY(open_part(w, part, path, &a));
    db_status status = part == 0 ? db_archive_skip(&a) : DB_OK;
    if (status == DB_OK) status = read_shots(w, &a);
    (void)db_archive_close(&a);
    return status;
}

static db_status read_records(db_amplitude_work *w) {
    const db_shots *const all = w->all;
    for (int part = 0; part < db_checkpoint_parts(all); part++) DB_TRY(read_part(w, part));
    for (size_t s = 0; s < all->count; s++)
        if (w->group[s] && all->state[s].record < 0)
            return db_fail(
                all->context, DB_ERROR_INPUT, "%s: has no record of shot %zu, %s, which is in use",
                all->options->checkpoint, s + 1, all->source->name(all->source->user, s));
    return DB_OK;
}

/* Room for what rank 0 reads. */
static db_status make_room(db_amplitude_work *w) {
    const db_shots *const all = w->all;
    if (all->team.rank > 0) return DB_OK;
    DB_TRY(db_scaling_make(all->context, all->count, &w->result->scaling));
    return db_indexing_result_make(all->context, all->count, &w->result->indexing);
}

db_status db_amplitude_take_up(db_amplitude_work *w) {
    db_shots *const all = w->all;
    db_status status = make_room(w);
    if (status == DB_OK && all->team.rank == 0) status = read_first(w);
    if (status == DB_OK) status = read_records(w);
    DB_TRY(db_workers_common_status(all, status));
    DB_TRY(move_common(from_first, all, w));
    DB_TRY(db_amplitude_share_indexing(w));
    w->best = 0;
    for (size_t h = 0; h < w->reflections && w->restraint.strength; h++)
        w->restraint.pull[h] = w->restraint.strength[h] * (w->value[0][h] - w->restraint.centre[h]);
    db_amplitude_prior_follow(w);
    memcpy(w->shared[1], w->shared[0], w->pass.order.shared * sizeof(double));
    memcpy(w->rendered, w->value[0], w->reflections * sizeof(double));
    memcpy(w->rendered_shared, w->shared[0], w->pass.order.shared * sizeof(double));
    return db_amplitude_system_sum(&w->system, DB_BOTH_HALVES);
}
