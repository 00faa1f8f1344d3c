/* Records made from linearizations, and the files of both. */
#include "fit/intensities/shot.h"

#include "base/context_internal.h"
#include "fit/intensities/sizes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Weight of a measurement far off: a little, so that it can come back. */
static const double LEAST_TRUST = 1e-3;
static const double FAR = 9; /* squared deviation above which the weight decreases */

float db_intensity_weight(const db_error_model *errors, const db_measured_box *box, double mean) {
    const int range = db_partiality_range(box->partiality);
    const double off = box->intensity - mean,
                 expected = db_error_variance(errors, range, box->variance, fmax(0, mean));
    const double square = off * off / (expected * (1 - box->share));
    double trust = box->variance / expected;
    if (square > FAR) trust *= FAR * FAR / (square * square);
    return (float)fmax(trust, LEAST_TRUST);
}

size_t db_intensity_shot_size(const db_shots *all, const db_schur_order *order, size_t shot) {
    return db_reduced_size(all->state[shot].place.blocks, order->local, order->shared,
                           db_moving_quantities(&all->settings, order->index, order->shared));
}

db_status db_intensity_shot_read(const db_shots *all, db_context *context,
                                 const db_schur_order *order, size_t shot, void *memory,
                                 db_reduced_equations *record) {
    const size_t count = all->state[shot].place.blocks;
    const size_t meets = db_moving_quantities(&all->settings, order->index, order->shared);
    *record = db_reduced_in(count, order->local, order->shared, meets, memory);
    return db_store_get(context, &all->store, all->state[shot].record, memory,
                        db_intensity_shot_size(all, order, shot));
}

db_status db_linearized_shot_make(db_context *context, const db_intensity_pass *p, size_t shot,
                                  db_linearized_shot *m) {
    const db_schur_order *const order = &p->order;
    const size_t boxes = p->all->state[shot].place.blocks;
    m->size[0] = db_linearization_size(boxes, order->local, order->shared, p->most);
    m->size[1] = db_intensity_shot_size(p->all, order, shot);
    for (int k = 0; k < 2; k++) m->bytes[k] = calloc(1, m->size[k]);
    if (m->bytes[0])
        m->linearization =
            db_linearization_in(boxes, order->local, order->shared, p->most, m->bytes[0]);
    if (m->bytes[1])
        m->record = db_reduced_in(
            boxes, order->local, order->shared,
            db_moving_quantities(&p->all->settings, order->index, order->shared), m->bytes[1]);
    m->room =
        m->bytes[0] ? malloc(db_linearization_room(&m->linearization) * sizeof *m->room) : NULL;
    return db_need_memory(context, m->bytes[1] && m->room, "what a shot says of the intensities");
}

void db_linearized_shot_clear(db_linearized_shot *m) {
    free(m->bytes[0]);
    free(m->bytes[1]);
    free(m->room);
}

db_status db_linearized_shot_read(db_context *context, const db_intensity_pass *p, size_t shot,
                                  int slot, db_linearized_shot *m) {
    const db_store *const store = &p->all->store;
    const db_shot_state *const state = &p->all->state[shot];
    if (slot >= 0)
        DB_TRY(db_store_get(context, store, state->linearization[slot], m->bytes[0], m->size[0]));
    return db_store_get(context, store, state->record, m->bytes[1], m->size[1]);
}

db_status db_linearized_shot_write(db_context *context, const db_intensity_pass *p, size_t shot,
                                   int slot, const db_linearized_shot *m) {
    db_store *const store = &p->all->store;
    db_shot_state *const state = &p->all->state[shot];
    if (slot >= 0)
        DB_TRY(db_store_put(context, store, m->bytes[0], m->size[0], &state->linearization[slot]));
    return db_store_put(context, store, m->bytes[1], m->size[1], &state->record);
}

/* Weights of boxes by the deviation of their intensities from the mean of the others. Boxes were chosen by the stage's
 * first model: a reflection that the present one hardly shows has no weight, until a model shows it again. */
static void weigh(const db_intensity_pass *p, const db_linearization_point *here,
                  db_linearized_shot *m) {
    const db_linearization *const s = &m->linearization;
    for (size_t b = 0; b < s->count; b++) {
        const uint32_t h = s->reflection[b];
        if (!(s->partiality[b] > 0)) m->record.trust[b] = 0;
        if (!(s->curvature[b] > 0) || !(s->partiality[b] > 0)) continue;
        const db_measured_box box = { .intensity = db_linearization_own(s, b, here),
                                      .variance = 1 / (double)s->curvature[b],
                                      .partiality = (double)s->partiality[b],
                                      .share = fmin((double)m->record.curvature[b] / p->diagonal[h],
                                                    0.9) };
        m->record.trust[b] = db_intensity_weight(p->errors, &box, p->intensity[h]);
    }
}

static db_status reweight_shot(db_context *context, const db_intensity_pass *p, size_t shot,
                               db_linearized_shot *m) {
    const db_shot_state *const state = &p->all->state[shot];
    const size_t n = p->order.local;
    double *const local = state->trial.local, shared[DB_FIT_MOST_PARAMETERS];
    DB_TRY(db_linearized_shot_make(context, p, shot, m));
    DB_TRY(db_linearized_shot_read(context, p, shot, !p->slot, m));
    memcpy(local, m->linearization.at, n * sizeof *local);
    if (p->step) db_reduced_answer(&m->record, 0, p->step, p->step + p->list->count, m->room);
    for (size_t i = 0; i < n && p->step; i++)
        local[i] = fmin(fmax(state->best.local[i] + m->room[i], m->linearization.lower[i]),
                        m->linearization.upper[i]);
    db_sizes_unknown(&p->all->settings, &p->order, m->linearization.at + n, p->shared, shared);
    const db_linearization_point here = { p->intensity, local, shared };
    weigh(p, &here, m);
    db_linearization_reduce(&m->linearization, &here, m->room, &m->record);
    p->loss[shot] = *m->record.loss;
    return db_linearized_shot_write(context, p, shot, -1, m);
}

db_status db_intensity_shot_reweight(db_shots *all, db_context *context, size_t shot, void *user,
                                     double *sum) {
    db_linearized_shot memory = { .room = NULL };
    (void)all;
    (void)sum;
    const db_status status = reweight_shot(context, user, shot, &memory);
    db_linearized_shot_clear(&memory);
    return status;
}
