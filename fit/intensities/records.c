/* Records of shots at the best point, shots that take part, and their own measurements. */
#include "fit/intensities/records.h"

#include "base/context_internal.h"
#include "fit/intensities/messages.h"
#include "fit/shots/shares.h"
#include "fit/shots/workers.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdlib.h>

static int takes_part(const db_shots *all, size_t shot) {
    return all->summary[shot].used && db_shots_own(all, shot);
}

db_status db_intensity_records_make(db_shots *all, const db_schur_order *order,
                                    db_intensity_records *r) {
    size_t most = 0;
    *r = (db_intensity_records){ .all = all, .order = order };
    for (size_t s = 0; s < all->count; s++) {
        if (!takes_part(all, s)) continue;
        const size_t size = db_intensity_shot_size(all, order, s);
        most = size > most ? size : most;
        db_shot_state *const state = &all->state[s];
        state->record = state->linearization[0] = state->linearization[1] = -1;
    }
    r->group = calloc(all->count, 1);
    r->memory = calloc((size_t)all->workers.count, sizeof *r->memory);
    int missing = !r->group || !r->memory;
    for (int t = 0; t < all->workers.count && !missing; t++)
        missing = !(r->memory[t] = malloc(most + 16));
    if (missing) return db_fail_memory(all->context, "the records of the shots");
    db_intensity_records_group(r);
    return DB_OK;
}

void db_intensity_records_clear(db_intensity_records *r) {
    for (int t = 0; r->memory && t < r->all->workers.count; t++) free(r->memory[t]);
    free(r->memory);
    free(r->group);
}

void db_intensity_records_group(db_intensity_records *r) {
    const uint64_t seed = (uint64_t)r->all->settings.joint.seed;
    for (size_t s = 0; s < r->all->count; s++)
        r->group[s] = (unsigned char)(!takes_part(r->all, s)     ? 0
                                      : db_half_of_shot(seed, s) ? DB_HALF_B
                                                                 : DB_HALF_A);
}

db_status db_intensity_records_read(void *records, size_t shot, int thread,
                                    db_reduced_equations *record) {
    const db_intensity_records *const r = records;
    db_context *const own = r->all->context, *const context = r->all->workers.count > 1
                                                                  ? r->all->workers.context[thread]
                                                                  : own;
    const db_status status =
        db_intensity_shot_read(r->all, context, r->order, shot, r->memory[thread], record);
    if (status != DB_OK && context != own) {
#pragma omp critical(db_intensity_message)
        db_record_message(own, "%s", db_context_message(context));
    }
    return status;
}

/* Adds the boxes of a shot whose record was read. */
static void add_shot(const db_reduced_equations *r, const double *value, db_observations *o,
                     size_t *at) {
    for (size_t b = 0; b < r->count; b++) {
        const uint32_t h = r->reflection[b];
        const int16_t *const hkl = r->hkl[b];
        double intensity, variance;
        if (!db_intensity_box(r, b, value ? value[h] : 0, &intensity, &variance)) continue;
        o->list[(*at)++] = (db_observation){
            .reflection = h,
            .intensity = (float)intensity,
            .sigma = (float)sqrt(variance),
            .partiality = r->partiality[b],
            .light = r->light[b],
            .hkl = { hkl[0], hkl[1], hkl[2] },
        };
    }
}

/* Observes this process' shots. */
static db_status observe_own(db_intensity_records *r, const double *value, db_observations *o) {
    const db_shots *const all = r->all;
    size_t count = 0, at = 0;
    for (size_t s = 0; s < all->count; s++) count += r->group[s] ? all->state[s].place.blocks : 0;
    DB_TRY(db_observations_make(all->context, all->count, count, o));
    for (size_t s = 0; s < all->count; s++) {
        db_reduced_equations record;
        o->first[s] = at;
        if (!r->group[s]) continue;
        DB_TRY(db_intensity_records_read(r, s, 0, &record));
        add_shot(&record, value, o, &at);
    }
    o->first[all->count] = at;
    return DB_OK;
}

db_status db_intensity_observe(db_intensity_records *r, const double *value,
                               db_observations *observations) {
    const db_status status = db_workers_common_status(r->all, observe_own(r, value, observations));
    return status == DB_OK ? db_intensity_bring(r->all, observations) : status;
}

/* Sums over all shots that take part in a pass. */

size_t db_intensity_local_place(const db_intensity_pass *p, db_parameter parameter) {
    const db_schur_order *const order = &p->order;
    size_t i = 0;
    while (i < order->local &&
           p->all->settings.parameters[order->index[order->shared + i]].parameter != parameter)
        i++;
    return i;
}

/* Adds a shot to the totals (db_shot_work). */
static db_status add_totals(db_shots *all, db_context *context, size_t shot, void *user,
                            double *sum) {
    const db_intensity_pass *const p = user;
    db_intensity_totals *const t = (db_intensity_totals *)(void *)sum;
    (void)context;
    t->loss += p->loss[shot];
    t->base += p->base[shot];
    t->log_scale += log(all->state[shot].best.local[db_intensity_local_place(p, DB_SCALE)]);
    return DB_OK;
}

db_status db_intensity_add_up(db_intensity_pass *p, db_intensity_totals *totals) {
    return db_workers_sum(p->all, "joint intensities", p->stage, add_totals, p,
                          sizeof *totals / sizeof(double), (double *)(void *)totals);
}

db_status db_intensity_normalize_scales(db_intensity_pass *p, double *factor) {
    db_shots *const all = p->all;
    const size_t place = db_intensity_local_place(p, DB_SCALE),
                 index = p->order.index[p->order.shared + place];
    db_intensity_totals totals;
    DB_TRY(db_intensity_add_up(p, &totals));
    *factor = exp(totals.log_scale / (double)all->used);
    DB_TRY(db_team_broadcast(&all->team, all->context, factor, sizeof *factor));
    for (size_t s = 0; s < all->count; s++) {
        if (!all->summary[s].used || !db_shots_own(all, s)) continue;
        all->state[s].best.local[place] /= *factor;
        db_shots_values(all, s).error[index] /= *factor;
    }
    return DB_OK;
}
