/* The search for joint intensities. */
#include "fit/intensities/joint_intensities.h"

#include "fit/intensities/messages.h"
#include "fit/intensities/search.h"
#include "fit/intensities/sizes.h"

#include "base/context_internal.h"
#include "fit/config/orientation.h"
#include "fit/shots/checkpoint.h"
#include "fit/shots/joint.h"
#include "fit/shots/outliers.h"
#include "fit/shots/records.h"
#include "fit/shots/series.h"
#include "fit/shots/shares.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations of a shot's own quantities in a pass; the equations make the rest of the steps. */
enum { EVALUATIONS = 5, MOST_REJECTED = 5 };
enum { FITS = 3 }; /* fits of the error model while weights first settle */
/* change of the loss for each shot since it was rendered, small enough to end */
static const double GAIN = 1;
static const double ENOUGH = 1e-4; /* relative residual of the equations */
/* of a step: the equations are kept in single precision, and where they leave less of a curvature, they tell nothing */
static const double LEAST_DAMPING = 1e-5;

static size_t reflections_of(const db_intensity_search *w) { return w->system.reflections; }
static size_t shared_of(const db_intensity_search *w) { return w->system.shared; }

static void set_point(const db_intensity_search *w, double *to, const double *from) {
    memcpy(to, from, db_intensity_point_bytes(w));
}

static db_status allocate_search(db_intensity_search *w) {
    const size_t unknowns = w->all->asu.reflections.count + w->pass.order.shared;
    w->best = calloc(4 * unknowns + 1, sizeof *w->best);
    w->pass.loss = calloc(2 * w->all->count, sizeof *w->pass.loss);
    w->result = calloc(1, sizeof *w->result);
    if (!w->best || !w->pass.loss || !w->result)
        return db_fail_memory(w->all->context, "the joint intensities");
    w->trial = w->best + unknowns;
    w->rendered = w->trial + unknowns;
    w->step = w->rendered + unknowns;
    w->pass.base = w->pass.loss + w->all->count;
    return db_intensity_restraint_make(w->all->context, &w->all->settings.joint,
                                       w->all->asu.reflections.count, w->all->asu.reference,
                                       &w->restraint);
}

/* Prepares a pass to the trial. */
static void prepare_pass(db_intensity_search *w, int stage) {
    db_shots *const all = w->all;
    db_intensity_pass *const p = &w->pass;
    p->all = all;
    p->stage = stage;
    p->order = db_schur_order_make(&all->settings, stage, all->shared);
    p->most =
        db_moving_quantities(&all->settings, p->order.index, p->order.shared + p->order.local);
    p->list = &all->asu.reflections;
    p->slot = 1;
    p->search = all->settings.stages[stage];
    p->search.max_evaluations = EVALUATIONS;
    p->search.tolerance = 1e-3;
    p->search.step = 3;
}

static db_status prepare_system(db_intensity_search *w) {
    db_shots *const all = w->all;
    w->system = (db_joint_system){ .context = all->context,
                                   .reflections = all->asu.reflections.count,
                                   .shared = w->pass.order.shared,
                                   .shots = all->count,
                                   .threads = all->workers.count,
                                   .chunk = all->chunk,
                                   .team = all->team,
                                   .owner = db_shares_owner,
                                   .owner_of = all,
                                   .read = db_intensity_records_read,
                                   .user = &w->records,
                                   .group = w->records.group };
    return db_joint_system_make(&w->system);
}

static db_status prepare_search(db_intensity_search *w, int stage) {
    db_shots *const all = w->all;
    const db_schur_order *const order = &w->pass.order;
    prepare_pass(w, stage);
    DB_TRY(allocate_search(w));
    DB_TRY(db_intensity_records_make(all, order, &w->records));
    DB_TRY(prepare_system(w));
    DB_TRY(db_unknowns_make(all->context, &all->settings, order->index, order->shared, &w->shared));
    for (size_t i = 0; i < order->shared; i++)
        w->best[reflections_of(w) + i] = all->common.value[order->index[i]];
    set_point(w, w->trial, w->best);
    w->pass.intensity = w->trial;
    w->pass.shared = w->trial + reflections_of(w);
    w->pass.errors = &w->result->scaling.errors;
    w->pass.diagonal = w->system.diagonal;
    return db_fit_course_reserve(all->context, &all->course,
                                 2 * (size_t)all->settings.joint.passes + 16);
}

static void clear_search(db_intensity_search *w) {
    db_joint_system_clear(&w->system);
    db_unknowns_clear(&w->shared);
    db_intensity_records_clear(&w->records);
    db_intensity_restraint_clear(&w->restraint);
    free(w->best);
    free(w->pass.loss);
    db_joint_intensities_destroy(&w->result);
    free(w);
}

/* A pass over all shots at the trial point. */
static db_status run_pass(db_intensity_search *w, const char *what) {
    db_shots *const all = w->all;
    w->course.passes++;
    DB_TRY(db_open_shots_sum(all, what, w->pass.stage, &w->pass.order, db_intensity_shot_evaluate,
                             &w->pass, 0, NULL));
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    DB_TRY(db_shots_check_count(all));
    db_intensity_records_group(&w->records);
    return DB_OK;
}

/* Loss of restraints on intensities, and of priors of shared quantities, which count once. */
static double restraint_loss(const db_intensity_search *w, const double *point) {
    double sum = db_intensity_restraint_loss(&w->restraint, point, reflections_of(w));
    db_unknowns_add_priors(&w->shared, point + reflections_of(w), &sum, NULL, NULL);
    return sum;
}

/* Losses at the trial and at the linearizations, with the weights of the trial. factor: of the trial's intensities. */
static db_status compare_losses(db_intensity_search *w, double factor,
                                db_intensity_totals *totals) {
    DB_TRY(db_intensity_add_up(&w->pass, totals));
    totals->base += restraint_loss(w, w->rendered);
    db_intensity_restraint_scale(&w->restraint, reflections_of(w), factor);
    totals->loss += restraint_loss(w, w->trial);
    return DB_OK;
}

/* Makes the trial the best point, and its sums the equations. */
static db_status accept_trial(db_intensity_search *w, const db_intensity_totals *totals) {
    db_shots *const all = w->all;
    const size_t n = reflections_of(w), local = w->pass.order.local * sizeof(double);
    const double *const diagonal = w->system.diagonal;
    set_point(w, w->best, w->trial);
    for (size_t s = 0; s < all->count; s++)
        if (w->records.group[s]) memcpy(all->state[s].best.local, all->state[s].trial.local, local);
    db_intensity_restraint_follow(w->pass.list, w->best, diagonal, &w->restraint);
    DB_TRY(db_intensity_share_restraint(all, &w->restraint, n));
    w->course.has_best = 1;
    DB_TRY(db_intensity_take_equations(w));
    w->course.total =
        totals->loss - db_intensity_restraint_drop(&w->restraint, w->best, diagonal, n);
    w->course.degrees = all->degrees - (double)shared_of(w);
    for (size_t h = 0; h < n; h++) w->course.degrees -= diagonal[h] > 0;
    return DB_OK;
}

/* Replaces the previous linearizations by the last pass' ones. */
static db_status keep_linearizations(db_intensity_search *w, const db_intensity_totals *totals) {
    w->pass.slot = !w->pass.slot;
    set_point(w, w->rendered, w->trial);
    return accept_trial(w, totals);
}

static void record_pass(db_intensity_search *w, double loss, double length) {
    const db_fit_history now = { .stage = w->pass.stage,
                                 .evaluation = w->course.passes,
                                 .target = loss / w->course.degrees,
                                 .gradient_norm = length };
    db_joint_record(w->all, shared_of(w), w->pass.order.index, &now, w->pass.shared);
}

/* Root mean square of changes of intensities from a point, in standard errors. */
static double length_of(const db_intensity_search *w, const double *to, const double *from) {
    double square = 0, count = 0;
    for (size_t h = 0; h < reflections_of(w); h++) {
        const double curvature = w->system.diagonal[h], x = from ? to[h] - from[h] : to[h];
        if (!(curvature > 0)) continue;
        square += x * x * curvature;
        count++;
    }
    return count > 0 ? sqrt(square / count) : 0;
}

/* Makes the next trial; promise: decrease of the loss. */
static db_status make_step(db_intensity_search *w, double *promise) {
    const db_joint_system *const s = &w->system;
    const db_fit_settings *const settings = &w->all->settings;
    const db_schur_order *const order = &w->pass.order;
    const size_t n = s->reflections, m = s->shared;
    const double *const last = w->rendered + n, *const now = w->best + n;
    double *const to = w->trial + n, before[DB_FIT_MOST_PARAMETERS];
    int iterations;
    DB_TRY(db_joint_system_solve(&w->system, DB_BOTH_HALVES, fmax(w->course.damping, LEAST_DAMPING),
                                 ENOUGH, m > 0, s->right, w->step, &iterations));
    db_sizes_step(settings, order, last, now, w->step + n, to);
    for (size_t g = 0; g < m; g++)
        to[g] = fmin(fmax(to[g], w->shared.lower[g]), w->shared.upper[g]);
    db_sizes_unknown(settings, order, last, now, before);
    db_sizes_unknown(settings, order, last, to, w->step + n);
    for (size_t g = 0; g < m; g++) w->step[n + g] -= before[g];
    *promise = 0;
    for (size_t h = 0; h < n; h++) w->trial[h] = w->best[h] + w->step[h];
    for (size_t i = 0; i < n + m; i++) *promise += w->step[i] * s->right[i];
    return DB_OK;
}

static void explain_end(const db_intensity_search *w, int converged, double length, double promise,
                        db_stage_result *end) {
    memset(end, 0, sizeof *end);
    memcpy(end->value, w->best + reflections_of(w), shared_of(w) * sizeof *end->value);
    end->step = length;
    end->promise = promise / fabs(w->course.total);
    end->end = converged ? DB_STAGE_CONVERGED : DB_STAGE_LIMIT;
    snprintf(end->reason, sizeof end->reason,
             converged
                 ? "converged: the last change of the intensities was %.2g standard errors "
                   "(root mean square), after %d passes over the shots"
                 : "stage intensities: intensities still change by %.2g standard errors (root "
                   "mean square) after %d passes over the shots",
             length, w->course.passes);
}

/* Makes all records at the trial; step: from the present records; NULL: from the linearizations. */
static db_status make_records(db_intensity_search *w, const double *step) {
    db_intensity_totals now;
    w->pass.step = step;
    DB_TRY(db_workers_each(w->all, "weights", w->pass.stage, db_intensity_shot_reweight, &w->pass));
    DB_TRY(compare_losses(w, 1, &now));
    DB_TRY(accept_trial(w, &now));
    if (w->course.fits < 1) return DB_OK;
    w->course.fits--;
    return db_intensity_fit_errors(w);
}

/* Steps until intensities and weights settle, by the linearizations. A damped step is a single one. gain: decrease
 * of the loss that the steps promise. */
static db_status converge_weights(db_intensity_search *w, double *promise, double *gain) {
    const double enough = 0.2 * w->all->settings.stages[w->pass.stage].step;
    enum { MOST = 20 };
    double length = INFINITY;
    *gain = 0;
    for (int k = 0; k < MOST && length > enough && (k == 0 || !(w->course.damping > 0)); k++) {
        DB_TRY(make_step(w, promise));
        length = length_of(w, w->step, NULL);
        DB_TRY(make_records(w, w->step));
        *gain += *promise;
    }
    return DB_OK;
}

/* Makes the best point the trial of a pass, with intensities that make the same light with its sizes of blocks: they are
 * multiplied by the factor that is returned. */
static double place_trial(db_intensity_search *w) {
    const size_t n = reflections_of(w);
    const double factor =
        db_sizes_factor(&w->all->settings, &w->pass.order, w->rendered + n, w->best + n);
    set_point(w, w->trial, w->best);
    for (size_t h = 0; h < n; h++) w->trial[h] *= factor;
    return factor;
}

/* Renders shots at the point where their linearizations settle, until it does not change. */
static db_status search_intensities(db_intensity_search *w, db_stage_result *end) {
    const db_shots *const all = w->all;
    const double rest = all->settings.stages[w->pass.stage].step;
    db_intensity_course *const c = &w->course;
    double promise = 0, gain;
    for (;;) {
        db_intensity_totals now;
        DB_TRY(converge_weights(w, &promise, &gain));
        const double length = length_of(w, w->best, w->rendered), small = GAIN * (double)all->used;
        const int rests = !(c->damping > 0) && length <= rest && gain <= small;
        if (rests || c->passes >= all->settings.joint.passes + 1 || c->rejected >= MOST_REJECTED) {
            explain_end(w, rests, length, promise, end);
            return DB_OK;
        }
        const double factor = place_trial(w);
        DB_TRY(run_pass(w, "joint intensities"));
        DB_TRY(compare_losses(w, factor, &now));
        record_pass(w, now.loss, length);
        /* so near to the end the loss says no more: shots end their own fits before they gain as much */
        if (now.loss <= now.base * (1 + 1e-9) + (gain <= small ? small : 0)) {
            DB_TRY(keep_linearizations(w, &now));
            c->fits = 1;
            c->rejected = 0;
            c->damping = c->damping > 1e-3 ? 0.1 * c->damping : 0;
            DB_TRY(db_intensity_keep(w));
            continue;
        }
        c->rejected++;
        c->damping = c->damping > 0 ? 10 * c->damping : 0.1;
        set_point(w, w->trial, w->rendered); /* return to the rendered point */
        db_intensity_restraint_scale(&w->restraint, reflections_of(w), 1 / factor);
        DB_TRY(make_records(w, NULL));
    }
}

/* First pass: all intensities are 0, and single shots measure theirs. */
static db_status start_from_shots(db_intensity_search *w) {
    w->pass.first = 1;
    DB_TRY(run_pass(w, "intensities of single shots"));
    w->pass.first = 0;
    DB_TRY(db_intensity_start(w));
    if (w->all->settings.joint.reindex) w->pass.indexing = &w->result->indexing;
    return DB_OK;
}

/* Begins the second pass at the merged intensities. */
static db_status begin_joint(db_intensity_search *w) {
    db_intensity_totals now;
    w->pass.scaling = &w->result->scaling;
    DB_TRY(run_pass(w, "joint intensities"));
    w->pass.scaling = NULL;
    DB_TRY(db_shots_exclude_outliers(w->all));
    DB_TRY(db_records_collect(w->all));
    db_intensity_records_group(&w->records);
    DB_TRY(compare_losses(w, 1, &now));
    DB_TRY(keep_linearizations(w, &now));
    record_pass(w, w->course.total, 0);
    w->course.fits = FITS;
    DB_TRY(db_intensity_fit_errors(w));
    return db_intensity_keep(w);
}

/* Normalizes scales to the geometric mean 1. Temperature factors keep their mean from the start, which steps do
 * not change. */
static db_status end_normalized(db_intensity_search *w) {
    const db_observations *const o = &w->result->observations;
    const size_t measured = o->first ? o->first[o->shots] : 0;
    double factor;
    DB_TRY(db_intensity_normalize_scales(&w->pass, &factor));
    db_merged_scale(&w->result->merged, factor);
    for (size_t i = 0; i < measured; i++) {
        o->list[i].intensity *= (float)factor;
        o->list[i].sigma *= (float)factor;
        o->list[i].light /= (float)factor;
    }
    return DB_OK;
}

/* Numbers the parts of reflections, of which frames of a series show the light. */
static db_status begin_light(db_shots *all, const db_joint_links *links, int stage) {
    if (!db_series_shares(all)) return DB_OK;
    DB_TRY(db_sweeps_find(all));
    return db_series_begin(all, links, stage, 1);
}

/* Errors and light at the minimum, and each shot's measurements there. */
static db_status pass_minimum(db_intensity_search *w, db_fit_shots_result *result) {
    db_shots *const all = w->all;
    (void)place_trial(w);
    DB_TRY(db_open_shots_sum(all, "errors", w->pass.stage, &w->pass.order,
                             db_intensity_shot_conclude, &w->pass, 0, NULL));
    if (all->series) DB_TRY(db_series_compare_light(all));
    DB_TRY(db_records_collect(all));
    DB_TRY(db_intensities_judge(all, result));
    DB_TRY(db_intensity_conclude(w, &result->estimates));
    DB_TRY(db_intensity_observe(&w->records, w->best, &w->result->observations));
    return end_normalized(w);
}

static db_status conclude_passes(db_intensity_search *w, db_fit_shots_result *result) {
    db_shots *const all = w->all;
    const db_joint_links links = db_joint_links_make(all, w->pass.stage);
    for (size_t g = 0; g < shared_of(w); g++)
        all->common.at_bound[w->pass.order.index[g]] = w->at_bound[g];
    db_status status = begin_light(all, &links, w->pass.stage);
    if (status == DB_OK) status = pass_minimum(w, result);
    db_series_end(all);
    return status;
}

static db_status conclude_stage(db_intensity_search *w, db_fit_shots_result *result) {
    db_shots *const all = w->all;
    if (all->settings.joint.passes > 0) DB_TRY(conclude_passes(w, result));
    w->result->passes = all->settings.joint.passes > 0 ? w->course.passes : 0;
    w->result->list = all->asu.reflections;
    memset(&all->asu.reflections, 0, sizeof all->asu.reflections);
    w->result->reference = all->asu.reference;
    all->asu.reference = NULL;
    result->intensities = w->result;
    w->result = NULL;
    return DB_OK;
}

/* Changes an orientation of the crystal to another way of indexing. */
static db_status turn_orientation(const db_shots *all, const db_indexing *way,
                                  const db_crystal *crystal, double orientation[9]) {
    db_crystal turned = *crystal;
    db_orientation_set(orientation, &turned);
    const db_status status = db_indexing_turn(all->context, way, &turned);
    memcpy(orientation, turned.orientation, sizeof turned.orientation);
    return status;
}

/* Changes the models of shots that have been reindexed. */
static db_status turn_models(const db_intensity_search *w) {
    db_shots *const all = w->all;
    const db_indexing_result *const indexing = w->pass.indexing;
    for (size_t s = 0; s < all->count; s++) {
        const int turns = indexing && all->summary[s].used && db_shots_own(all, s),
                  way = turns ? indexing->way[s] : 0;
        db_shot_model model;
        if (!way) continue;
        DB_TRY(db_shot_model_make(all, all->context, s, &model));
        db_crystal *const crystal = &model.experiment.crystal;
        const db_indexing *const to = &indexing->ways.way[way];
        db_status status = turn_orientation(all, to, crystal, all->summary[s].reference);
        if (status == DB_OK) status = db_indexing_turn(all->context, to, crystal);
        memcpy(all->summary[s].orientation, crystal->orientation, sizeof crystal->orientation);
        memcpy(all->state[s].start.crystal.Ncells, crystal->Ncells, sizeof crystal->Ncells);
        db_shots_get(all, &model.experiment, &model.placement, db_shots_value(all, s));
        db_shot_model_clear(&model);
        if (status != DB_OK) return status;
    }
    return DB_OK;
}

db_status db_intensity_stage_run(db_shots *all, int stage, db_stage_result *end,
                                 db_fit_shots_result *result) {
    db_intensity_search *const w = calloc(1, sizeof *w);
    db_status status = db_workers_need_memory(all, w, "the joint intensities");
    if (!w) return status;
    w->all = all;
    if (status == DB_OK) status = db_workers_common_status(all, prepare_search(w, stage));
    const int goes_on = db_checkpoint_is_in(all, stage);
    if (status == DB_OK) status = goes_on ? db_intensity_take_up(w) : start_from_shots(w);
    if (all->settings.joint.passes > 0) {
        if (status == DB_OK && !goes_on) status = begin_joint(w);
        if (status == DB_OK) status = search_intensities(w, end);
    } else if (status == DB_OK) {
        memset(end, 0, sizeof *end);
        end->end = DB_STAGE_CONVERGED;
        snprintf(end->reason, sizeof end->reason,
                 "intensities of single shots were scaled and averaged (intensities.passes: 0)");
    }
    if (status == DB_OK) status = conclude_stage(w, result);
    if (status == DB_ERROR_CANCELLED) all->ending = 1;
    if (status == DB_OK || (all->ending && w->course.has_best)) {
        db_status stored = db_joint_models_store(all, stage, w->best + reflections_of(w));
        if (stored == DB_OK) stored = db_workers_common_status(all, turn_models(w));
        if (stored != DB_OK) status = stored;
    }
    clear_search(w);
    return status;
}
