/* The search for joint intensities. */
#include "fit/intensities/stage.h"

#include "fit/intensities/checkpoint.h"
#include "fit/intensities/messages.h"
#include "fit/intensities/work.h"

#include "base/context_internal.h"
#include "fit/config/orientation.h"
#include "fit/shots/checkpoint.h"
#include "fit/shots/joint.h"
#include "fit/shots/joint_models.h"
#include "fit/shots/outliers.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Evaluations of a shot's own quantities in a pass: the rest of the way is in the equations. */
enum { EVALUATIONS = 5, MOST_REJECTED = 5 };
enum { FITS = 3 };            /* of the error model, while weights settle for the first time */
static const double GAIN = 1; /* of the loss for each shot, since it was rendered: little enough */
static const double ENOUGH = 1e-4; /* what is left of the residual of the equations */

static db_status make_memory(db_intensity_search *w) {
    size_t most = 0;
    for (size_t s = 0; s < w->all->count; s++) {
        if (!w->all->summary[s].used || !db_shots_own(w->all, s)) continue;
        const size_t size = db_intensity_shot_size(w->all, &w->pass.order, s);
        most = size > most ? size : most;
        db_shot_state *const state = &w->all->state[s];
        state->record = state->linearization[0] = state->linearization[1] = -1;
    }
    w->memory = calloc((size_t)w->all->workers.count, sizeof *w->memory);
    for (int t = 0; t < w->all->workers.count && w->memory; t++)
        if (!(w->memory[t] = malloc(most + 16))) return DB_ERROR_MEMORY;
    return w->memory ? DB_OK : DB_ERROR_MEMORY;
}

static db_status allocate_search(db_intensity_search *w) {
    const size_t n = w->reflections, all = n + w->pass.order.shared;
    for (int k = 0; k < 2; k++) w->value[k] = calloc(n + 1, sizeof *w->value[k]);
    w->rendered = calloc(n + 1, sizeof *w->rendered);
    w->step = calloc(all + 1, sizeof *w->step);
    w->loss = calloc(w->all->count, sizeof *w->loss);
    w->base = calloc(w->all->count, sizeof *w->base);
    w->group = calloc(w->all->count, 1);
    w->result = calloc(1, sizeof *w->result);
    const int missing = !w->value[0] || !w->value[1] || !w->rendered || !w->step || !w->loss ||
                        !w->base || !w->group || !w->result || make_memory(w) != DB_OK;
    if (missing) return db_fail_memory(w->all->context, "the joint intensities");
    return db_intensity_restraint_make(w->all->context, &w->all->settings.joint, n,
                                       w->all->reference, &w->restraint);
}

static db_status prepare_search(db_intensity_search *w) {
    db_shots *const all = w->all;
    const db_fit_stage *const settings = &all->settings.stages[w->stage];
    w->reflections = all->reflections.count;
    w->pass.all = all;
    w->pass.stage = w->stage;
    w->pass.order = db_schur_order_make(&all->settings, w->stage, all->shared);
    w->pass.most = db_moving_quantities(&all->settings, w->pass.order.index,
                                        w->pass.order.shared + w->pass.order.local);
    w->pass.list = &all->reflections;
    w->pass.search = *settings;
    w->pass.search.max_evaluations = EVALUATIONS;
    w->pass.search.tolerance = 1e-3;
    w->pass.search.step = 3;
    DB_TRY(allocate_search(w));
    w->pass.loss = w->loss;
    w->pass.base = w->base;
    w->pass.errors = &w->errors;
    for (size_t i = 0; i < w->pass.order.shared; i++)
        w->shared[0][i] = w->shared[1][i] = all->common.value[w->pass.order.index[i]];
    w->system = (db_joint_system){ .context = all->context,
                                   .reflections = w->reflections,
                                   .shared = w->pass.order.shared,
                                   .shots = all->count,
                                   .threads = all->workers.count,
                                   .chunk = all->chunk,
                                   .team = all->team,
                                   .owner = db_shares_owner,
                                   .owner_of = all,
                                   .read = db_intensity_search_read,
                                   .user = w,
                                   .group = w->group,
                                   .restraint = w->restraint.strength,
                                   .restraint_pull = w->restraint.pull,
                                   .prior = w->prior,
                                   .prior_pull = w->prior_pull };
    DB_TRY(db_unknowns_make(all->context, &all->settings, w->pass.order.index, w->pass.order.shared,
                            &w->unknowns));
    db_intensity_search_group(w);
    DB_TRY(db_joint_system_make(&w->system));
    w->pass.diagonal = w->system.diagonal;
    return db_fit_course_reserve(all->context, &all->course,
                                 2 * (size_t)all->settings.joint.passes + 16);
}

static void clear_search(db_intensity_search *w) {
    for (int k = 0; k < 2; k++) free(w->value[k]);
    for (int t = 0; t < w->all->workers.count && w->memory; t++) free(w->memory[t]);
    db_joint_system_clear(&w->system);
    db_unknowns_clear(&w->unknowns);
    free(w->memory);
    free(w->rendered);
    free(w->step);
    free(w->loss);
    free(w->base);
    db_intensity_restraint_clear(&w->restraint);
    free(w->group);
    db_joint_intensities_destroy(&w->result);
    free(w);
}

/* A pass over all shots at the trial point. */
static db_status run_pass(db_intensity_search *w, const char *what) {
    db_shots *const all = w->all;
    w->pass.slot = !w->best;
    w->pass.intensity = w->value[1];
    w->pass.shared = w->shared[1];
    w->passes++;
    DB_TRY(db_workers_each(all, what, w->stage, db_intensity_shot_evaluate, &w->pass, NULL));
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    DB_TRY(db_shots_check_count(all));
    db_intensity_search_group(w);
    return DB_OK;
}

/* Of restraints on intensities, and of priors of what shots share, which count once. */
static double restraint_loss(const db_intensity_search *w, const double *value,
                             const double *shared) {
    double sum = db_intensity_restraint_loss(&w->restraint, value, w->reflections);
    db_unknowns_add_priors(&w->unknowns, shared, &sum, NULL, NULL);
    return sum;
}

/* Losses of the trial and of where the linearizations were made, by the weights of the trial; degrees of
 * freedom. */
static db_status compare_losses(db_intensity_search *w, db_intensity_totals *totals) {
    DB_TRY(db_intensity_add_up(w, totals));
    totals->loss += restraint_loss(w, w->value[1], w->shared[1]);
    totals->base += restraint_loss(w, w->rendered, w->rendered_shared);
    return DB_OK;
}

/* The trial becomes the best point, and its sums those of the equations. */
static db_status accept_trial(db_intensity_search *w, const db_intensity_totals *totals) {
    db_shots *const all = w->all;
    const size_t local = w->pass.order.local;
    w->total = totals->loss;
    memcpy(w->value[0], w->value[1], w->reflections * sizeof(double));
    memcpy(w->shared[0], w->shared[1], w->pass.order.shared * sizeof(double));
    for (size_t s = 0; s < all->count; s++)
        if (w->group[s])
            memcpy(all->state[s].best.local, all->state[s].trial.local, local * sizeof(double));
    db_intensity_restraint_follow(w->pass.list, w->value[0], w->system.diagonal, &w->restraint);
    DB_TRY(db_intensity_share_restraint(w));
    db_intensity_prior_follow(w);
    w->shots = totals->shots;
    w->has_best = 1;
    DB_TRY(db_intensity_search_sum(w));
    w->total -=
        db_intensity_restraint_drop(&w->restraint, w->value[0], w->system.diagonal, w->reflections);
    w->degrees = totals->degrees - (double)w->pass.order.shared;
    for (size_t h = 0; h < w->reflections; h++) w->degrees -= w->system.diagonal[h] > 0;
    return DB_OK;
}

/* What has been rendered is what counts from now on. */
static db_status keep_linearizations(db_intensity_search *w, const db_intensity_totals *totals) {
    w->best = !w->best;
    memcpy(w->rendered, w->value[1], w->reflections * sizeof(double));
    memcpy(w->rendered_shared, w->shared[1], w->pass.order.shared * sizeof(double));
    return accept_trial(w, totals);
}

static void record_pass(db_intensity_search *w, double loss, double length) {
    const db_fit_history now = { .stage = w->stage,
                                 .evaluation = w->passes,
                                 .target = loss / w->degrees,
                                 .gradient_norm = length };
    db_joint_record(w->all, w->pass.order.shared, w->pass.order.index, &now, w->shared[1]);
}

/* The next trial; length: root mean square of its changes in standard errors; promise: by how much
 * the loss would fall. */
static db_status make_step(db_intensity_search *w, double *length, double *promise) {
    const size_t n = w->reflections, m = w->pass.order.shared;
    const db_joint_system *const s = &w->system;
    double square = 0, count = 0;
    int iterations;
    DB_TRY(db_joint_system_solve(&w->system, DB_BOTH_HALVES, w->damping, ENOUGH, m > 0, s->right,
                                 w->step, &iterations));
    for (size_t g = 0; g < m; g++) {
        const double to = fmin(fmax(w->shared[0][g] + w->step[n + g], w->unknowns.lower[g]),
                               w->unknowns.upper[g]);
        w->step[n + g] = to - w->shared[0][g];
        w->shared[1][g] = to;
    }
    *promise = 0;
    for (size_t h = 0; h < n; h++) {
        w->value[1][h] = w->value[0][h] + w->step[h];
        *promise += w->step[h] * s->right[h];
        if (!(s->diagonal[h] > 0)) continue;
        square += w->step[h] * w->step[h] * s->diagonal[h];
        count++;
    }
    for (size_t g = n; g < n + m; g++) *promise += w->step[g] * s->right[g];
    *length = count > 0 ? sqrt(square / count) : 0;
    return DB_OK;
}

static void explain_end(const db_intensity_search *w, int converged, double length, double promise,
                        db_stage_result *end) {
    memset(end, 0, sizeof *end);
    memcpy(end->value, w->shared[0], w->pass.order.shared * sizeof *end->value);
    end->step = length;
    end->promise = promise / fabs(w->total);
    end->end = converged ? DB_STAGE_CONVERGED : DB_STAGE_LIMIT;
    snprintf(end->reason, sizeof end->reason,
             converged
                 ? "converged: the last change of the intensities was %.2g standard errors "
                   "(root mean square), after %d passes over the shots"
                 : "stage intensities: intensities still change by %.2g standard errors (root "
                   "mean square) after %d passes over the shots",
             length, w->passes);
}

/* Makes all records anew at the trial; step: from those that there are, NULL: where the linearizations were made. */
static db_status make_records(db_intensity_search *w, const double *step) {
    db_intensity_totals now;
    w->pass.slot = !w->best;
    w->pass.intensity = w->value[1];
    w->pass.shared = w->shared[1];
    w->pass.step = step;
    DB_TRY(
        db_workers_each(w->all, "weights", w->stage, db_intensity_shot_reweight, &w->pass, NULL));
    DB_TRY(compare_losses(w, &now));
    DB_TRY(accept_trial(w, &now));
    if (w->fits < 1) return DB_OK;
    w->fits--;
    return db_intensity_fit_errors(w);
}

/* Back to where the linearizations were made. */
static db_status go_back(db_intensity_search *w) {
    memcpy(w->value[1], w->rendered, w->reflections * sizeof(double));
    memcpy(w->shared[1], w->rendered_shared, w->pass.order.shared * sizeof(double));
    return make_records(w, NULL);
}

/* Root mean square of the changes of intensities since shots were rendered, in standard errors. */
static double moved_since_rendered(const db_intensity_search *w) {
    double square = 0, count = 0;
    for (size_t h = 0; h < w->reflections; h++) {
        const double curvature = w->system.diagonal[h], x = w->value[0][h] - w->rendered[h];
        if (!(curvature > 0)) continue;
        square += x * x * curvature;
        count++;
    }
    return count > 0 ? sqrt(square / count) : 0;
}

/* Steps until intensities and weights rest where the linearizations say. A damped one is alone. gain: by
 * how much the loss falls, as the steps promise. */
static db_status settle_weights(db_intensity_search *w, double *promise, double *gain) {
    const double enough = 0.2 * w->all->settings.stages[w->stage].step;
    enum { MOST = 20 };
    double length = INFINITY;
    *gain = 0;
    for (int k = 0; k < MOST && length > enough && (k == 0 || !(w->damping > 0)); k++) {
        DB_TRY(make_step(w, &length, promise));
        DB_TRY(make_records(w, w->step));
        *gain += *promise;
    }
    return DB_OK;
}

/* Shots are rendered where their linearizations say that the intensities rest, until these stay there. */
static db_status search_intensities(db_intensity_search *w, db_stage_result *end) {
    const db_fit_stage *const settings = &w->all->settings.stages[w->stage];
    double promise = 0, gain;
    for (;;) {
        db_intensity_totals now;
        DB_TRY(settle_weights(w, &promise, &gain));
        const double length = moved_since_rendered(w);
        const int rests = !(w->damping > 0) && length <= settings->step && gain <= GAIN * w->shots;
        if (rests || w->passes >= w->all->settings.joint.passes + 1 ||
            w->rejected >= MOST_REJECTED) {
            explain_end(w, rests, length, promise, end);
            return DB_OK;
        }
        memcpy(w->value[1], w->value[0], w->reflections * sizeof(double));
        memcpy(w->shared[1], w->shared[0], w->pass.order.shared * sizeof(double));
        DB_TRY(run_pass(w, "joint intensities"));
        DB_TRY(compare_losses(w, &now));
        record_pass(w, now.loss, length);
        if (now.loss <= now.base * (1 + 1e-9)) {
            DB_TRY(keep_linearizations(w, &now));
            w->fits = 1;
            w->rejected = 0;
            w->damping = w->damping > 1e-3 ? 0.1 * w->damping : 0;
            DB_TRY(db_intensity_keep(w));
            continue;
        }
        w->rejected++;
        w->damping = w->damping > 0 ? 10 * w->damping : 0.1;
        DB_TRY(go_back(w));
    }
}

/* Intensities are 0 in the first pass, which gives those of single shots. */
static db_status start_from_shots(db_intensity_search *w) {
    w->pass.first = 1;
    DB_TRY(run_pass(w, "intensities of single shots"));
    w->pass.first = 0;
    return db_intensity_start(w);
}

/* The second pass begins where they have been merged. */
static db_status begin_joint(db_intensity_search *w) {
    db_intensity_totals now;
    w->pass.scaling = &w->result->scaling;
    DB_TRY(run_pass(w, "joint intensities"));
    w->pass.scaling = NULL;
    DB_TRY(db_shots_exclude_outliers(w->all));
    DB_TRY(db_records_collect(w->all));
    db_intensity_search_group(w);
    DB_TRY(compare_losses(w, &now));
    DB_TRY(keep_linearizations(w, &now));
    record_pass(w, w->total, 0);
    w->fits = FITS;
    DB_TRY(db_intensity_fit_errors(w));
    return db_intensity_keep(w);
}

/* Scales have the geometric mean 1. Temperature factors keep the mean that the start has given them, from
 * which steps do not go. */
static db_status end_normalized(db_intensity_search *w) {
    db_merged *const merged = &w->result->merged;
    const db_observations *const o = &w->result->observations;
    const size_t measured = o->first ? o->first[o->shots] : 0;
    double factor;
    DB_TRY(db_intensity_normalize_scales(w, &factor));
    for (size_t h = 0; h < merged->count; h++) {
        merged->intensity[h] *= factor;
        merged->sigma[h] *= factor;
        for (int k = 0; k < 2; k++) {
            merged->half[k][h] *= factor;
            merged->half_sigma[k][h] *= factor;
        }
    }
    for (size_t i = 0; i < measured; i++) {
        o->list[i].intensity *= (float)factor;
        o->list[i].sigma *= (float)factor;
        o->list[i].light /= (float)factor;
    }
    return DB_OK;
}

static db_status conclude_stage(db_intensity_search *w, db_fit_shots_result *result) {
    db_shots *const all = w->all;
    if (all->settings.joint.passes > 0) {
        for (size_t g = 0; g < w->pass.order.shared; g++)
            all->common.at_bound[w->pass.order.index[g]] = w->at_bound[g];
        DB_TRY(db_workers_each(all, "errors", w->stage, db_intensity_shot_errors, &w->pass, NULL));
        DB_TRY(db_intensity_conclude(w, result));
        DB_TRY(end_normalized(w));
    }
    w->result->passes = w->passes;
    w->result->errors = w->errors;
    w->result->list = all->reflections;
    memset(&all->reflections, 0, sizeof all->reflections);
    w->result->reference = all->reference;
    all->reference = NULL;
    result->intensities = w->result;
    w->result = NULL;
    return DB_OK;
}

/* An orientation of the crystal becomes that of its other indexing. */
static db_status turn_orientation(const db_shots *all, const db_indexing *way,
                                  const db_crystal *crystal, double orientation[9]) {
    db_crystal turned = *crystal;
    db_orientation_set(orientation, &turned);
    const db_status status = db_indexing_turn(all->context, way, &turned);
    memcpy(orientation, turned.orientation, sizeof turned.orientation);
    return status;
}

/* Models of shots whose indices have been changed are indexed so, too. */
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
    db_status status = db_workers_common_status(
        all, w ? DB_OK : db_fail_memory(all->context, "the joint intensities"));
    if (!w) return status;
    w->all = all;
    w->stage = stage;
    if (status == DB_OK) status = db_workers_common_status(all, prepare_search(w));
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
    if (status == DB_OK || (all->ending && w->has_best)) {
        db_status stored = db_joint_models_store(all, stage, w->shared[0]);
        if (stored == DB_OK) stored = db_workers_common_status(all, turn_models(w));
        if (stored != DB_OK) status = stored;
    }
    clear_search(w);
    return status;
}
