/* Records of shots at the best point, and which shots take part. */
#include "fit/intensities/work.h"

#include "base/context_internal.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>

db_status db_intensity_search_read(void *user, size_t shot, int thread,
                                   db_reduced_equations *record) {
    const db_intensity_search *const w = user;
    db_context *const context =
        w->all->workers.count > 1 ? w->all->workers.context[thread] : w->all->context;
    const db_status status =
        db_intensity_shot_read(w->all, context, &w->pass.order, shot, w->memory[thread], record);
    if (status != DB_OK && context != w->all->context) {
#pragma omp critical(db_intensity_message)
        db_record_message(w->all->context, "%s", db_context_message(context));
    }
    return status;
}

void db_intensity_search_group(db_intensity_search *w) {
    const uint64_t seed = (uint64_t)w->all->settings.joint.seed;
    for (size_t s = 0; s < w->all->count; s++) {
        const int takes_part = w->all->summary[s].used && db_shots_own(w->all, s);
        w->group[s] = (unsigned char)(!takes_part                ? 0
                                      : db_half_of_shot(seed, s) ? DB_HALF_B
                                                                 : DB_HALF_A);
    }
}

void db_intensity_prior_follow(db_intensity_search *w) {
    const db_unknowns *const u = &w->unknowns;
    for (size_t g = 0; g < u->count; g++) {
        const db_prior_pull prior = db_prior_at(w->shared[0][g], u->centre[g], u->sigma[g]);
        w->prior[g] = prior.curvature;
        w->prior_pull[g] = 0.5 * prior.slope;
    }
}

db_status db_intensity_search_sum(db_intensity_search *w) {
    DB_TRY(db_joint_system_sum(&w->system, DB_BOTH_HALVES));
    for (size_t g = 0; g < w->system.shared; g++) {
        const double slope = -2 * w->system.right[w->reflections + g];
        w->at_bound[g] = db_unknown_held(&w->unknowns, g, w->shared[0][g], slope);
    }
    for (size_t g = 0; g < w->system.shared; g++)
        if (w->at_bound[g]) db_joint_system_hold(&w->system, g);
    return DB_OK;
}

size_t db_intensity_local_place(const db_intensity_search *w, db_parameter parameter) {
    const db_schur_order *const order = &w->pass.order;
    size_t i = 0;
    while (i < order->local &&
           w->all->settings.parameters[order->index[order->shared + i]].parameter != parameter)
        i++;
    return i;
}

/* Adds the shots of a chunk. */
static void add_chunk(const db_intensity_search *w, size_t chunk, db_intensity_totals *t) {
    const db_shots *const all = w->all;
    const size_t scale = db_intensity_local_place(w, DB_SCALE);
    for (size_t s = chunk * all->chunk; s < (chunk + 1) * all->chunk && s < all->count; s++) {
        if (!w->group[s]) continue;
        t->loss += w->loss[s];
        t->base += w->base[s];
        t->degrees += all->summary[s].degrees;
        t->log_scale += log(all->state[s].best.local[scale]);
        t->shots++;
    }
}

db_status db_intensity_add_up(db_intensity_search *w, db_intensity_totals *totals) {
    db_shots *const all = w->all;
    db_tree_sum tree;
    db_status status = db_tree_sum_begin(all->context, db_shots_chunks(all),
                                         sizeof *totals / sizeof(double), &tree);
    for (size_t c = 0; c < db_shots_chunks(all) && status == DB_OK; c++) {
        if (db_shares_owner(all, c) != all->team.rank) continue;
        double *const sums = db_tree_sum_take(&tree);
        if (!sums) {
            status = db_fail_memory(all->context, "sums over shots");
            break;
        }
        add_chunk(w, c, (db_intensity_totals *)(void *)sums);
        db_tree_sum_put(&tree, c, sums);
    }
    status = db_workers_common_status(all, status);
    if (status == DB_OK) status = db_workers_total(all, &tree, (double *)(void *)totals);
    db_tree_sum_clear(&tree);
    return status;
}

db_status db_intensity_normalize_scales(db_intensity_search *w, double *factor) {
    db_shots *const all = w->all;
    const size_t place = db_intensity_local_place(w, DB_SCALE),
                 index = w->pass.order.index[w->pass.order.shared + place];
    db_intensity_totals totals;
    DB_TRY(db_intensity_add_up(w, &totals));
    *factor = exp(totals.log_scale / totals.shots);
    DB_TRY(db_team_broadcast(&all->team, all->context, factor, sizeof *factor));
    for (size_t s = 0; s < all->count; s++) {
        if (!w->group[s]) continue;
        all->state[s].best.local[place] /= *factor;
        db_shots_values(all, s).error[index] /= *factor;
    }
    return DB_OK;
}
