/* Records of shots: fitted, weighed, written and read. */
#include "fit/shots/amplitude_shot.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/shots/joint_conclude.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a measurement far off: it keeps a little, so that it is not lost for good. */
static const double LEAST_TRUST = 1e-3;
static const double FAR = 9; /* squared deviation beyond which it falls */

size_t db_amplitude_shot_size(const db_shots *all, const db_arrow_order *order, size_t shot) {
    return db_amplitude_record_size(all->state[shot].place.blocks, order->local, order->shared);
}

db_status db_amplitude_shot_read(const db_shots *all, db_context *context,
                                 const db_arrow_order *order, size_t shot, int slot, void *memory,
                                 db_amplitude_record *record) {
    const size_t count = all->state[shot].place.blocks;
    *record = db_amplitude_record_in(count, order->local, order->shared, memory);
    return db_spool_get(context, &all->spool, all->state[shot].record[slot], memory,
                        db_amplitude_shot_size(all, order, shot));
}

/* What is worked on. */
typedef struct work {
    const db_amplitude_pass *pass;
    size_t shot;
    db_open_shot open;
    db_amplitude_record before, now;
    void *memory[2];
    float *trust;                         /* [boxes] */
    double *room;                         /* of a box, and of the matrix of all quantities */
    size_t place[DB_FIT_MOST_PARAMETERS]; /* of each variable: local quantities, then shared ones */
} work;

/* Brings what a box of the first pass says to the scale of all. */
static void to_scale(const work *w, uint32_t reflection, double *intensity, double *variance) {
    const db_amplitude_pass *const p = w->pass;
    if (!p->scaling) return;
    const db_shot_scale *const shot = &p->scaling->shot[w->shot];
    const double d = (double)p->list->d[reflection],
                 scale = shot->scale * exp(-shot->b / (2 * d * d));
    *intensity /= scale;
    *variance /= scale * scale;
}

/* Which intensity a reflection of the shot has; hkl: as the shot indexes it, then as all do. */
static uint32_t number_of(const work *w, int hkl[3]) {
    const db_indexing_result *const indexing = w->pass->indexing;
    const int way = indexing ? indexing->way[w->shot] : 0, own[3] = { hkl[0], hkl[1], hkl[2] };
    if (way && !db_indexing_apply(&indexing->ways.way[way], own, hkl)) return DB_NO_REFLECTION;
    return db_asu_number(w->pass->list, hkl);
}

/* The same of a box of the last record: that of the first pass has indices of the shot. */
static uint32_t number_before(const work *w, size_t b) {
    const int16_t *const own = w->before.hkl[b];
    int hkl[3] = { own[0], own[1], own[2] };
    return w->pass->scaling ? number_of(w, hkl) : w->before.reflection[b];
}

/* Weights of boxes by how far the last record's measurements were from the mean of the others, and
 * what they would have cost. */
static void weigh(work *w) {
    const db_amplitude_pass *const p = w->pass;
    const db_amplitude_record *const r = &w->before;
    double base = *r->loss;
    for (size_t b = 0; b < r->count; b++) {
        const uint32_t h = number_before(w, b);
        w->trust[b] = r->trust[b];
        if (h == DB_NO_REFLECTION) continue;
        const double mean = p->scaling ? p->intensity[h] : p->before[h];
        double intensity, variance;
        if (!db_amplitude_box(r, b, p->scaling ? 0 : mean, &intensity, &variance)) continue;
        to_scale(w, h, &intensity, &variance);
        const int range = db_partiality_range((double)r->partiality[b]);
        const double own = p->scaling ? 0 : fmin((double)r->curvature[b] / p->diagonal[h], 0.9),
                     off = intensity - mean,
                     expected = db_error_variance(p->errors, range, variance, fmax(0, mean));
        const double square = off * off / (expected * (1 - own));
        double trust = variance / expected;
        if (square > FAR) trust *= FAR * FAR / (square * square);
        w->trust[b] = (float)fmax(trust, LEAST_TRUST);
        base += ((double)w->trust[b] - (double)r->trust[b]) * (double)r->box_loss[b];
    }
    p->base[w->shot] = base;
}

static void set_intensities(work *w) {
    const db_amplitude_pass *const p = w->pass;
    db_objective *const o = &w->open.objective;
    for (size_t b = 0; b < o->blocks.count; b++) {
        int hkl[3];
        memcpy(hkl, w->open.pixels.boxes.reflection[b].hkl, sizeof hkl);
        const uint32_t h = number_of(w, hkl);
        for (int i = 0; i < 3; i++) w->now.hkl[b][i] = (int16_t)hkl[i];
        w->now.reflection[b] = h == DB_NO_REFLECTION ? 0 : h;
        o->solution[b].linear[0] = h == DB_NO_REFLECTION ? 0 : p->intensity[h];
        if (h == DB_NO_REFLECTION) w->trust[b] = 0;
    }
    o->trust = w->trust;
}

static db_status fit(work *w) {
    const db_amplitude_pass *const p = w->pass;
    db_shot_point *const trial = &p->all->state[w->shot].trial;
    const db_shot_point *const best = &p->all->state[w->shot].best;
    const size_t n = p->order.local;
    if (p->first) {
        db_fit_stage once = p->search;
        once.max_evaluations = 1;
        w->open.objective.loss_of.target = DB_LOSS_WEIGHTED;
        memcpy(trial->local, best->local, n * sizeof(double));
        return db_open_shot_fit(&w->open, &p->order, &once, p->shared, trial->local);
    }
    if (!p->scaling)
        db_amplitude_record_answer(&w->before, 0, p->step, p->step + p->list->count, w->room);
    for (size_t i = 0; i < n; i++) trial->local[i] = best->local[i] + (p->scaling ? 0 : w->room[i]);
    db_status status = db_open_shot_fit(&w->open, &p->order, &p->search, p->shared, trial->local);
    if (status != DB_ERROR_INPUT) return status;
    memcpy(trial->local, best->local, n * sizeof(double)); /* too far */
    return db_open_shot_fit(&w->open, &p->order, &p->search, p->shared, trial->local);
}

/* Half of the derivatives by all quantities, local ones first. */
static void eliminate(work *w) {
    const db_arrow_order *const order = &w->pass->order;
    const db_objective *const o = &w->open.objective;
    const size_t n = order->local, all = n + order->shared, variables = o->variables.count;
    double *const gradient = w->room;
    double *const normal = gradient + all;
    unsigned char held[DB_FIT_MOST_PARAMETERS];
    for (size_t i = 0; i < all; i++) { /* arrow: shared ones first */
        const size_t v = order->variable[i < n ? order->shared + i : i - n];
        w->place[v] = i;
        if (i < n) held[i] = w->open.held[v] != 0;
    }
    for (size_t v = 0; v < variables; v++) {
        gradient[w->place[v]] = 0.5 * o->gradient[v];
        for (size_t u = 0; u < variables; u++)
            normal[w->place[v] * all + w->place[u]] = o->normal[v * variables + u];
    }
    db_amplitude_record_eliminate(&(db_amplitude_quadratic){ gradient, normal, held }, &w->now);
}

static double light_of(const db_objective *o, size_t b) {
    const db_region *const r = &o->blocks.region[b];
    double sum = 0;
    for (int s = 0; s < r->slow_count; s++)
        for (int f = 0; f < r->fast_count; f++) {
            const size_t at = r->offset + (size_t)s * r->stride + (size_t)f;
            if (o->blocks.weight[at] > 0) sum += (double)o->shape[at];
        }
    return sum / o->settings->gain;
}

static void fill_record(work *w) {
    const db_arrow_order *const order = &w->pass->order;
    const db_objective *const o = &w->open.objective;
    const size_t all = order->local + order->shared;
    double *const mixed = w->room;
    eliminate(w);
    *w->now.loss = o->loss;
    for (size_t b = 0; b < o->blocks.count; b++) {
        size_t list[DB_BLOCK_MOST];
        const size_t m = db_objective_block_variables(o, b, list);
        const double *const slope = db_objective_block_gradient(o, b);
        const double *const row = db_objective_block_normal(o, b) + m * (m + DB_LINEAR);
        const double trust = (double)w->trust[b];
        memset(mixed, 0, all * sizeof *mixed);
        for (size_t k = 0; k < m; k++) mixed[w->place[list[k]]] = trust * row[k];
        db_amplitude_record_box(&w->now, b, mixed, mixed + all);
        w->now.trust[b] = w->trust[b];
        w->now.pull[b] = (float)(0.5 * trust * slope[m]);
        w->now.curvature[b] = (float)(trust * row[m]);
        w->now.box_loss[b] = (float)o->solution[b].loss;
        w->now.partiality[b] = (float)w->open.pixels.boxes.reflection[b].recorded;
        w->now.light[b] = (float)light_of(o, b);
    }
}

/* Errors of the shot's own quantities at the intensities that all shots have: from the inverse of
 * L L', with misfit. */
static void store_errors(work *w) {
    const db_amplitude_pass *const p = w->pass;
    const db_amplitude_record *const r = &w->now;
    const size_t n = r->local;
    const double misfit = fmax(1, p->all->summary[w->shot].target);
    for (size_t i = 0; i < n; i++) {
        double *const x = w->room, variance = 0;
        for (size_t j = 0; j < n; j++) {
            const double *const row = r->factor + j * n;
            x[j] = j == i;
            for (size_t k = i; k < j; k++) x[j] -= row[k] * x[k];
            x[j] = row[j] > 0 ? x[j] / row[j] : 0;
            variance += x[j] * x[j];
        }
        const size_t place = w->shot * p->all->parameters + p->order.index[p->order.shared + i];
        const int is_free = r->factor[i * n + i] > 0;
        p->all->error[place] = is_free ? sqrt(variance * misfit) : (double)NAN;
    }
}

static db_status make_room(work *w, db_context *context) {
    const db_amplitude_pass *const p = w->pass;
    const size_t size = db_amplitude_shot_size(p->all, &p->order, w->shot);
    const size_t boxes = p->all->state[w->shot].place.blocks,
                 all = p->order.local + p->order.shared;
    for (int i = 0; i < 2; i++) w->memory[i] = calloc(1, size);
    w->trust = malloc((boxes + 1) * sizeof *w->trust);
    w->room = calloc((all + 2) * (all + 2), sizeof *w->room);
    if (!w->memory[0] || !w->memory[1] || !w->trust || !w->room)
        return db_fail_memory(context, "what a shot says of the amplitudes");
    w->now = db_amplitude_record_in(boxes, p->order.local, p->order.shared, w->memory[1]);
    for (size_t b = 0; b < boxes; b++) w->trust[b] = 1;
    return DB_OK;
}

static db_status evaluate(work *w, db_context *context) {
    const db_amplitude_pass *const p = w->pass;
    db_shots *const all = p->all;
    db_shot_state *const state = &all->state[w->shot];
    DB_TRY(make_room(w, context));
    if (!p->first)
        DB_TRY(db_amplitude_shot_read(all, context, &p->order, w->shot, !p->slot, w->memory[0],
                                      &w->before));
    if (!p->first) weigh(w);
    set_intensities(w);
    DB_TRY(fit(w));
    fill_record(w);
    p->loss[w->shot] = *w->now.loss;
    all->summary[w->shot].target = w->open.objective.loss / w->open.objective.degrees;
    if (p->last || p->scaling)
        db_shot_measure(&w->open.objective, &w->open.pixels, p->last, &all->summary[w->shot]);
    if (p->last) store_errors(w);
    return db_spool_put_at(context, &all->spool, w->memory[1],
                           db_amplitude_shot_size(all, &p->order, w->shot),
                           &state->record[p->slot]);
}

db_status db_amplitude_shot_evaluate(db_shots *all, db_context *context, size_t shot, void *user,
                                     double *sum) {
    work *const w = calloc(1, sizeof *w);
    if (!w) return db_fail_memory(context, "the work on a shot");
    (void)sum;
    w->pass = user;
    w->shot = shot;
    db_status status =
        db_open_shot_create(all, context, shot, w->pass->stage, &w->pass->order, &w->open);
    if (status == DB_OK) {
        status = evaluate(w, context);
#pragma omp atomic update
        all->evaluations += (size_t)w->open.evaluations;
        db_open_shot_destroy(&w->open);
    }
    free(w->memory[0]);
    free(w->memory[1]);
    free(w->trust);
    free(w->room);
    free(w);
    return status == DB_OK || status == DB_ERROR_FILE
               ? status
               : db_shots_set_aside(all, context, shot, status, NULL);
}
