/* The equations of the search for joint intensities. */
#include "fit/intensities/search.h"

#include "base/context_internal.h"
#include "fit/shots/checkpoint.h"

#include <stdlib.h>
#include <string.h>

db_status db_intensity_take_equations(db_intensity_search *w) {
    db_joint_system *const s = &w->system;
    const double *const value = w->best + s->reflections;
    double *const right = s->right + s->reflections, slope[DB_FIT_MOST_PARAMETERS] = { 0 },
                  loss = 0;
    DB_TRY(db_joint_system_sum(s, DB_BOTH_HALVES));
    db_intensity_restraint_add(&w->restraint, s->reflections, s->diagonal, s->right);
    db_unknowns_add_priors(&w->shared, value, &loss, slope, s->normal);
    for (size_t g = 0; g < s->shared; g++) {
        right[g] -= 0.5 * slope[g];
        w->at_bound[g] = db_unknown_held(&w->shared, g, value[g], -2 * right[g]);
    }
    for (size_t g = 0; g < s->shared; g++)
        if (w->at_bound[g]) db_joint_system_hold(s, g);
    return DB_OK;
}

/* Moves the state of a stage of joint intensities from or to a file. */

static void move_restraint(db_intensity_restraint *r, size_t reflections, db_pieces *p) {
    if (!r->strength) return;
    db_pieces_move(p, &r->scale, sizeof r->scale);
    db_pieces_move(p, r->centre, reflections * sizeof *r->centre);
    db_pieces_move(p, r->strength, reflections * sizeof *r->strength);
}

static void move_indexing(db_indexing_result *r, db_pieces *p) {
    db_pieces_move(p, &r->end, sizeof r->end);
    db_pieces_move(p, &r->gain, sizeof r->gain);
    db_pieces_move(p, &r->changed, sizeof r->changed);
    db_pieces_move(p, &r->undecided, sizeof r->undecided);
    db_pieces_move(p, r->way, r->shots * sizeof *r->way);
    db_pieces_move(p, r->probability, r->shots * sizeof *r->probability);
    for (size_t s = 0; s < r->shots; s++) p->failed |= r->way[s] < 0 || r->way[s] >= r->ways.count;
}

/* Makes room for results of the start, which only rank 0 had. */
static db_status make_room(db_intensity_search *w) {
    const db_shots *const all = w->all;
    DB_TRY(db_scaling_make(all->context, all->count, &w->result->scaling));
    return all->settings.joint.reindex ? db_indexing_result_make(all->context, w->pass.list,
                                                                 all->count, &w->result->indexing)
                                       : DB_OK;
}

static db_status move_common(void *user, db_pieces *p) {
    db_intensity_search *const w = user;
    db_joint_intensities *const r = w->result;
    const size_t n = w->system.reflections;
    if (p->reads) DB_TRY(make_room(w));
    db_pieces_move(p, &w->course, sizeof w->course);
    db_pieces_move(p, &r->scaling.errors, sizeof r->scaling.errors);
    db_pieces_move(p, w->best + n, w->system.shared * sizeof *w->best);
    db_pieces_move(p, w->best, n * sizeof *w->best);
    move_restraint(&w->restraint, n, p);
    db_pieces_move(p, r->scaling.shot, r->scaling.shots * sizeof *r->scaling.shot);
    db_pieces_move(p, &r->kinds, sizeof r->kinds);
    db_pieces_move(p, &r->agreement, sizeof r->agreement);
    if (w->all->settings.joint.reindex) move_indexing(&r->indexing, p);
    p->failed |= w->course.passes < 2 || !w->course.has_best || r->kinds.count < 0 ||
                 r->kinds.count > DB_MOST_KINDS;
    return DB_OK;
}

/* Moves local values, linearization and record of a shot. */
static db_status move_shot(void *user, size_t shot, db_pieces *p) {
    const db_intensity_search *const w = user;
    db_shots *const all = w->all;
    db_linearized_shot m = { .room = NULL };
    db_status status = db_linearized_shot_make(all->context, &w->pass, shot, &m);
    if (status == DB_OK && !p->reads)
        status = db_linearized_shot_read(all->context, &w->pass, shot, !w->pass.slot, &m);
    if (status == DB_OK) {
        db_pieces_move(p, all->state[shot].best.local, w->pass.order.local * sizeof(double));
        for (int k = 0; k < 2; k++) db_pieces_move(p, m.bytes[k], m.size[k]);
        p->failed |=
            !db_linearization_is_sound(&m.linearization, w->system.reflections, m.record.meets) ||
            !db_reduced_is_sound(&m.record, w->system.reflections);
        if (p->reads && !p->failed)
            status = db_linearized_shot_write(all->context, &w->pass, shot, 0, &m);
    }
    db_linearized_shot_clear(&m);
    return status;
}

static db_stage_state state_of(db_intensity_search *w) {
    return (db_stage_state){ "stage:intensity", w->pass.stage, w->all->course.count,
                             move_common,       move_shot,     w };
}

db_status db_intensity_keep(db_intensity_search *w) {
    const db_stage_state state = state_of(w);
    return db_checkpoint_keep(w->all, &state);
}

db_status db_intensity_take_up(db_intensity_search *w) {
    const db_stage_state state = state_of(w);
    w->pass.slot = 1;
    DB_TRY(db_checkpoint_take_up(w->all, &state));
    if (w->all->settings.joint.reindex) w->pass.indexing = &w->result->indexing;
    for (size_t h = 0; h < w->system.reflections && w->restraint.strength; h++)
        w->restraint.pull[h] = w->restraint.strength[h] * (w->best[h] - w->restraint.centre[h]);
    memcpy(w->trial, w->best, db_intensity_point_bytes(w));
    memcpy(w->rendered, w->best, db_intensity_point_bytes(w));
    return db_intensity_take_equations(w);
}
