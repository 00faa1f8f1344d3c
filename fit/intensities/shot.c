/* Renders shots: linearizations of their boxes. */
#include "fit/intensities/shot.h"

#include "base/context_internal.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/intensities/sizes.h"
#include "fit/linear/cholesky.h"
#include "fit/objective/evaluate.h"
#include "fit/result/covariance.h"
#include "fit/search/stage_search.h"
#include "fit/shots/part_light.h"
#include "fit/shots/series.h"
#include "fit/shots/workers.h"
#include "loss/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Work on a shot. */
typedef struct work {
    const db_intensity_pass *pass;
    size_t shot;
    db_open_shot *open;
    db_linearized_shot memory; /* the new linearization and record */
    db_linearized_shot old;    /* the present linearization */
} work;

/* Number of a reflection's intensity; hkl: in the shot's indexing, then in the common one. */
static uint32_t number_of(const work *w, int hkl[3]) {
    const db_indexing_result *const indexing = w->pass->indexing;
    const int way = indexing ? indexing->way[w->shot] : 0, own[3] = { hkl[0], hkl[1], hkl[2] };
    if (way && !db_indexing_apply(&indexing->ways.way[way], own, hkl)) return DB_NO_REFLECTION;
    return db_asu_number(w->pass->list, hkl);
}

/* Weights of the second pass, by the records of the first one, which have indices and the scale of the shot. */
static void weigh_first(work *w) {
    const db_intensity_pass *const p = w->pass;
    const db_shot_scale *const shot = &p->scaling->shot[w->shot];
    db_reduced_equations *const r = &w->memory.record;
    for (size_t b = 0; b < r->count; b++) {
        int hkl[3] = { r->hkl[b][0], r->hkl[b][1], r->hkl[b][2] };
        const uint32_t h = number_of(w, hkl);
        double intensity, variance;
        if (h == DB_NO_REFLECTION || !db_intensity_box(r, b, 0, &intensity, &variance)) continue;
        const double d = (double)p->list->d[h], scale = shot->scale * exp(-shot->b / (2 * d * d)),
                     mean = p->intensity[h];
        const db_measured_box box = { .intensity = intensity / scale,
                                      .variance = variance / (scale * scale),
                                      .partiality = (double)r->partiality[b] };
        r->trust[b] = db_intensity_weight(p->errors, &box, mean);
    }
}

/* Sets indices of the boxes' reflections, and their intensities; reflections outside the list have no weight. */
static void set_intensities(work *w) {
    const db_intensity_pass *const p = w->pass;
    db_objective *const o = &w->open->objective;
    for (size_t b = 0; b < o->blocks.count; b++) {
        int hkl[3];
        memcpy(hkl, w->open->pixels.boxes.reflection[b].hkl, sizeof hkl);
        const uint32_t h = number_of(w, hkl);
        for (int i = 0; i < 3; i++) w->memory.linearization.hkl[b][i] = (int16_t)hkl[i];
        w->memory.linearization.reflection[b] = h == DB_NO_REFLECTION ? 0 : h;
        o->solution[b].linear[0] = h == DB_NO_REFLECTION ? 0 : p->intensity[h];
        w->memory.linearization.partiality[b] = h != DB_NO_REFLECTION; /* of 1 until it is known */
        if (h == DB_NO_REFLECTION) w->memory.record.trust[b] = 0;
    }
    o->trust = w->memory.record.trust;
}

static double light_of(const db_objective *o, size_t b) {
    return db_box_shape(o, b) / o->settings->gain;
}

/* Values of a shot's variables at the best point of its own quantities. */
static void values_at_best(const work *w, double *value) {
    const db_intensity_pass *const p = w->pass;
    for (size_t i = 0; i < p->order.shared; i++)
        value[p->order.variable[i]] = p->shared[i] + w->open->shift[i];
    for (size_t i = 0; i < p->order.local; i++)
        value[p->order.variable[p->order.shared + i]] = p->all->state[w->shot].best.local[i];
}

/* The first pass: measures each box by itself, with intensity 0. */
static db_status measure_boxes(work *w) {
    const db_intensity_pass *const p = w->pass;
    db_objective *const o = &w->open->objective;
    db_reduced_equations *const r = &w->memory.record;
    double value[DB_FIT_MOST_PARAMETERS] = { 0 };
    values_at_best(w, value);
    o->loss_of.target = DB_LOSS_WEIGHTED;
    DB_TRY(db_objective_evaluate(o, value, DB_OBJECTIVE_LOSS));
    DB_TRY(db_open_shot_predict(o->context, w->open));
    w->open->evaluations++;
    *r->loss = o->loss;
    for (size_t b = 0; b < o->blocks.count; b++) {
        db_block_sums sums;
        db_block block = db_objective_block(o, b);
        db_block_sum(&block, o->solution[b].linear, &sums);
        (void)db_eliminate(DB_LINEAR, 1, sums.gradient, sums.normal, DB_LINEAR);
        r->pull[b] = (float)(0.5 * sums.gradient[0]);
        r->curvature[b] = (float)sums.normal[0];
        r->partiality[b] = (float)w->open->pixels.boxes.reflection[b].recorded;
        r->light[b] = (float)light_of(o, b);
        r->reflection[b] = w->memory.linearization.reflection[b];
        memcpy(r->hkl[b], w->memory.linearization.hkl[b], sizeof r->hkl[b]);
    }
    memcpy(p->all->state[w->shot].trial.local, p->all->state[w->shot].best.local,
           p->order.local * sizeof(double));
    return DB_OK;
}

static db_status fit_local(work *w) {
    const db_intensity_pass *const p = w->pass;
    db_shot_state *const state = &p->all->state[w->shot];
    double *const trial = state->trial.local;
    const size_t size = p->order.local * sizeof *trial;
    memcpy(trial, state->best.local, size);
    const db_status status = db_open_shot_fit(w->open, &p->order, &p->search, p->shared, trial);
    if (status != DB_ERROR_INPUT || p->scaling) return status;
    memcpy(trial, w->old.linearization.at, size); /* the step was too long */
    return db_open_shot_fit(w->open, &p->order, &p->search, p->shared, trial);
}

/* Sets bounds of the shot's own quantities, at most a step of a search away. */
static db_status set_bounds(work *w) {
    const db_schur_order *const order = &w->pass->order;
    const db_linearization *const s = &w->memory.linearization;
    db_unknowns u;
    DB_TRY(db_local_unknowns(w->open->objective.context, &w->open->settings, order,
                             &w->open->objective.variables, &u));
    for (size_t i = 0; i < order->local; i++) {
        const db_prior_pull prior = db_prior_at(s->at[i], u.centre[i], u.sigma[i]);
        s->lower[i] = fmax(u.lower[i], s->at[i] - u.longest[i]);
        s->upper[i] = fmin(u.upper[i], s->at[i] + u.longest[i]);
        s->near[i] = db_unknown_near(&u, i);
        s->prior_slope[i] = 0.5 * prior.slope;
        s->prior_curvature[i] = prior.curvature;
        *s->prior_loss += prior.loss;
    }
    db_unknowns_clear(&u);
    return DB_OK;
}

static db_status linearize_shot(work *w) {
    const db_intensity_pass *const p = w->pass;
    const db_schur_order *const order = &p->order;
    const db_linearization *const s = &w->memory.linearization;
    memcpy(s->at, p->all->state[w->shot].trial.local, order->local * sizeof *s->at);
    memcpy(s->at + order->local, p->shared, order->shared * sizeof *s->at);
    db_shot_linearize(w->open, order, s);
    db_sizes_linearize(&p->all->settings, order, p->shared, s);
    DB_TRY(db_open_shot_predict(w->open->objective.context, w->open));
    const int turns = w->open->objective.experiment.goniometer.phi_steps > 1;
    for (size_t b = 0; b < s->count; b++) {
        const db_spot *const r = &w->open->pixels.boxes.reflection[b];
        s->partiality[b] *= db_intensity_is_shown(r, turns) ? (float)r->recorded : 0;
        s->light[b] = (float)light_of(&w->open->objective, b);
    }
    return set_bounds(w);
}

/* Fills the record at the point of the linearization. */
static void fill_record(work *w) {
    const db_linearization *const s = &w->memory.linearization;
    const db_linearization_point here = { w->pass->intensity, s->at, s->at + s->local };
    db_linearization_reduce(s, &here, w->memory.room, &w->memory.record);
}

static db_status evaluate_shot(work *w, db_context *context) {
    const db_intensity_pass *const p = w->pass;
    db_shots *const all = p->all;
    db_shot_summary *const summary = &all->summary[w->shot];
    db_reduced_equations *const record = &w->memory.record;
    DB_TRY(db_linearized_shot_make(context, p, w->shot, &w->memory));
    for (size_t b = 0; b < record->count && p->first; b++) record->trust[b] = 1;
    if (!p->first) DB_TRY(db_linearized_shot_read(context, p, w->shot, -1, &w->memory));
    if (p->scaling) weigh_first(w);
    if (!p->first && !p->scaling) {
        DB_TRY(db_linearized_shot_make(context, p, w->shot, &w->old));
        DB_TRY(db_linearized_shot_read(context, p, w->shot, !p->slot, &w->old));
        p->base[w->shot] = db_linearization_loss(&w->old.linearization, record->trust);
    }
    set_intensities(w);
    DB_TRY(p->first ? measure_boxes(w) : fit_local(w));
    p->loss[w->shot] = w->open->objective.loss;
    summary->target = w->open->objective.loss / w->open->objective.degrees;
    if (p->first) return db_linearized_shot_write(context, p, w->shot, -1, &w->memory);
    for (int after = p->scaling == NULL; after < 2; after++) /* a cancelled run keeps these */
        db_shot_measure(&w->open->objective, &w->open->pixels, after, summary);
    DB_TRY(linearize_shot(w));
    fill_record(w);
    return db_linearized_shot_write(context, p, w->shot, p->slot, &w->memory);
}

/* Marks the quantities that take part in a combination that is not determined. */
static void mark_open(const db_reduced_equations *r, double *x, unsigned char *open) {
    const size_t n = r->local;
    memset(open, 0, n);
    for (size_t j = 0; j < n; j++) {
        if (!db_cholesky_combination(n, r->factor, j, x)) continue;
        for (size_t i = 0; i <= j; i++)
            if (fabs(x[i]) > DB_LEAST_COMPONENT) open[i] = 1;
    }
}

/* Errors of the shot's own quantities at the joint intensities, from the inverse of L L', with misfit. */
static void store_errors(const db_intensity_pass *p, size_t shot, const db_reduced_equations *r,
                         double *x) {
    const size_t n = r->local;
    unsigned char open[DB_FIT_MOST_PARAMETERS];
    const double misfit = fmax(1, p->all->summary[shot].target);
    mark_open(r, x, open);
    for (size_t i = 0; i < n; i++) {
        double variance = 0;
        memset(x, 0, n * sizeof *x);
        x[i] = 1;
        db_cholesky_forward(n, r->factor, x);
        for (size_t j = 0; j < n; j++) variance += x[j] * x[j];
        const size_t index = p->order.index[p->order.shared + i];
        const int is_free = r->factor[i * n + i] > 0;
        db_shots_values(p->all, shot).error[index] = open[i]   ? (double)INFINITY
                                                     : is_free ? sqrt(variance * misfit)
                                                               : (double)NAN;
    }
}

/* Takes pixels in boxes that have no weight at the minimum out of the degrees of freedom; chi2 of the start stays the same for
 * each of them. */
static void leave_out_degrees(db_shot_summary *summary) {
    const db_fit_statistics *const fit = &summary->fit[1];
    const double degrees = fit->chi2 / fit->chi2_reduced;
    if (!(degrees > 0) || !(summary->degrees > 0)) return;
    summary->fit[0].chi2 *= degrees / summary->degrees;
    summary->degrees = degrees;
}

/* At the minimum: errors of the shot's own quantities, its statistics, and the light of its boxes beside the
 * model's. */
static db_status conclude_task(work *w, db_context *context) {
    const db_intensity_pass *const p = w->pass;
    db_objective *const o = &w->open->objective;
    db_shot_summary *const summary = &p->all->summary[w->shot];
    double value[DB_FIT_MOST_PARAMETERS] = { 0 };
    DB_TRY(db_linearized_shot_make(context, p, w->shot, &w->memory));
    DB_TRY(db_linearized_shot_read(context, p, w->shot, -1, &w->memory));
    store_errors(p, w->shot, &w->memory.record, w->memory.room);
    set_intensities(w);
    values_at_best(w, value);
    DB_TRY(db_objective_evaluate(o, value, DB_OBJECTIVE_LOSS));
    db_shot_measure(o, &w->open->pixels, 1, summary);
    leave_out_degrees(summary);
    if (p->all->series) return db_series_note_light(p->all, context, w->shot, w->open);
    summary->light = (db_frame_light){ .spots = 0 };
    for (size_t b = 0; b < o->blocks.count; b++) {
        const db_part_light part = db_part_light_of(o, &w->open->pixels, b);
        db_frame_light_add(&part, &summary->light);
    }
    return DB_OK;
}

/* Does a task of a pass on an open shot. */
static db_status do_task(const db_intensity_pass *pass, db_context *context, size_t shot,
                         db_open_shot *open, db_status (*task)(work *, db_context *)) {
    work *const w = calloc(1, sizeof *w);
    if (!w) return db_fail_memory(context, "the work on a shot");
    w->pass = pass;
    w->shot = shot;
    w->open = open;
    const db_status status = task(w, context);
    db_linearized_shot_clear(&w->memory);
    db_linearized_shot_clear(&w->old);
    free(w);
    return status;
}

db_status db_intensity_shot_evaluate(void *user, db_context *context, size_t shot,
                                     db_open_shot *open, double *sum) {
    const db_intensity_pass *const pass = user;
    (void)sum;
    const db_status status = do_task(pass, context, shot, open, evaluate_shot);
    return status == DB_OK || status == DB_ERROR_FILE
               ? status
               : db_shots_exclude(pass->all, context, shot, status, NULL);
}

db_status db_intensity_shot_conclude(void *user, db_context *context, size_t shot,
                                     db_open_shot *open, double *sum) {
    (void)sum;
    return do_task(user, context, shot, open, conclude_task);
}
