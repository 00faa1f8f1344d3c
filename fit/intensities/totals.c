/* Sums over all shots that take part in a pass. */
#include "fit/intensities/totals.h"

#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>

size_t db_intensity_local_place(const db_intensity_pass *p, db_parameter parameter) {
    const db_schur_order *const order = &p->order;
    size_t i = 0;
    while (i < order->local &&
           p->all->settings.parameters[order->index[order->shared + i]].parameter != parameter)
        i++;
    return i;
}

/* A db_shot_work. */
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
