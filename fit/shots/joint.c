/* A joint stage: the search for the quantities that shots share. A checkpoint can resume it. */
#include "fit/shots/joint.h"

#include "fit/shots/curves.h"
#include "fit/shots/outliers.h"

#include "base/context_internal.h"
#include "fit/shots/joint_stages.h"
#include "fit/shots/links.h"
#include "fit/shots/records.h"
#include "fit/shots/series.h"
#include "fit/shots/series_earned.h"
#include "fit/shots/shares.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"
#include "fit/config/quantity.h"
#include "fit/search/driver.h"
#include "fit/shots/shot_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Counts that follow the sums: shots in use, their degrees of freedom, excluded shots. */
enum { USED, DEGREES, LOST, COUNTS };

/* The state of a joint stage. */
typedef struct joint {
    db_shots *all;
    int stage;
    db_joint_links links;
    size_t *index; /* [unknowns]: number of the parameter in the settings */
    double *value; /* [unknowns]: values at the best point */
    double *spare; /* [unknowns] */
    int *at_bound; /* [unknowns] */
    double *sums;  /* sums of the last evaluation over all shots, db_schur_sums_size, then COUNTS */
    size_t schur_size;
    const double *at; /* unknowns of the evaluation */
    db_search search;
    db_search_log log;
    int looks; /* 1: the stage only evaluates; models do not move */
    /* of a series, where not NULL: get the sums of products of an evaluation (db_series_sum) */
    double *pulls[2];
    int unearned[DB_EARNINGS]; /* of a series: 1: unknowns of this kind stay */
    int is_asked;              /* 1: that is known */
    int is_at_start; /* 1: the last evaluation of a series was at `value`, with which the search begins */
} joint;

static size_t point_size(const db_schur_order *order) {
    return order->local + db_schur_tail_size(order) + db_contradiction_size(order->shared);
}

static db_shot_point point_in(const db_schur_order *order, double *memory) {
    return (db_shot_point){ memory, db_schur_tail_in(order, memory + order->local),
                            memory + order->local + db_schur_tail_size(order) };
}

db_status db_joint_make_room(db_shots *all, db_context *context, size_t shot, int stage) {
    const db_joint_links links = db_joint_links_make(all, stage);
    const db_schur_order order = links.order;
    const size_t point = point_size(&order),
                 starts = order.shared * (sizeof *all->state->begin / sizeof(double));
    db_shot_state *const state = &all->state[shot];
    double *const memory = calloc(2 * point + starts + 1, sizeof *memory);
    if (!memory) return db_fail_memory(context, "the local quantities of a shot");
    free(state->best.local);
    state->best = point_in(&order, memory);
    state->trial = point_in(&order, memory + point);
    state->begin = (db_linked_start *)(void *)(memory + 2 * point);
    return DB_OK;
}

/* Predicts a shot's local quantities for new shared values, to first order. */
static void predict_local(const joint *j, size_t shot, double *local) {
    const db_shot_state *const state = &j->all->state[shot];
    const db_schur_order *const order = &j->links.order;
    double step[DB_FIT_MOST_PARAMETERS], from[DB_FIT_MOST_PARAMETERS];
    db_joint_links_values(&j->links, shot, j->at, step);
    db_joint_links_values(&j->links, shot, j->value, from);
    for (size_t i = 0; i < order->shared; i++) step[i] -= from[i];
    if (j->search.started)
        db_schur_answer(order, &state->best.tail, 0, step);
    else
        memset(step + order->shared, 0, order->local * sizeof *step);
    for (size_t i = 0; i < order->local; i++)
        local[i] = state->best.local[i] + step[order->shared + i];
}

/* The search of each shot for given shared values. The rest of its gradient is eliminated with its local
 * quantities, so that only the last stage, whose values are the result, has to reach the minimum. Joint
 * intensities have stages of their own, which find shared quantities, too: before them one evaluation is
 * enough. With curves each evaluation renders many derivatives: shots come near their
 * minima, and the rest is eliminated. */
static db_fit_stage local_search(const joint *j) {
    const double enough = 1e-2, near = 1e-3;
    db_fit_stage own = *j->search.stage;
    if (j->stage + 1 < (int)j->all->settings.stage_count)
        own.tolerance = fmax(own.tolerance, enough);
    if (j->all->settings.joint.wanted || j->looks) own.max_evaluations = 1;
    if (j->search.started && db_fit_refines_curves(&j->all->settings))
        own.tolerance = fmax(own.tolerance, near);
    return own;
}

static void count_shot(const db_shot_summary *summary, double counts[COUNTS]) {
    counts[summary->used ? USED : LOST]++;
    if (summary->used) counts[DEGREES] += summary->degrees;
}

/* Adds a shot's part of the reduced equations to sums, with its local quantities at their best values. */
static db_status reduce_shot(const joint *j, db_context *context, size_t shot, db_open_shot *open,
                             double *sum) {
    const db_schur_order *const order = &j->links.order;
    db_objective *const o = &open->objective;
    /* moments: the likelihood of spots depends on their widths, so it cannot compare shots */
    j->all->summary[shot].target = open->by_moments ? 0 : o->loss / o->degrees;
    if (j->all->series) return db_series_note(j->all, context, shot, open);
    double *const own = calloc(db_schur_sums_size(order->shared), sizeof *own);
    if (!own) return db_fail_memory(context, "a shot of a joint stage");
    db_schur_reduce(order, o->loss, o->gradient, o->normal, open->held,
                    &j->all->state[shot].trial.tail, own, open->work);
    db_joint_links_add(&j->links, shot, own, sum);
    memcpy(j->all->state[shot].trial.sums, own, db_contradiction_size(order->shared) * sizeof *own);
    free(own);
    return DB_OK;
}

static db_status fit_shot(joint *j, db_context *context, size_t shot, db_open_shot *open,
                          double *sum) {
    db_shots *const all = j->all;
    const db_schur_order *const order = &j->links.order;
    const db_fit_stage own = local_search(j);
    db_shot_point *const trial = &all->state[shot].trial;
    if (all->series) db_series_give(all, shot, 0, &open->objective);
    db_joint_links_values(&j->links, shot, j->at, open->linked);
    predict_local(j, shot, trial->local);
    db_status status = db_open_shot_fit(open, order, &own, open->linked, trial->local);
    if (status == DB_ERROR_INPUT && j->search.started) { /* the prediction is too far off */
        memcpy(trial->local, all->state[shot].best.local, order->local * sizeof(double));
        status = db_open_shot_fit(open, order, &own, open->linked, trial->local);
    }
    return status == DB_OK ? reduce_shot(j, context, shot, open, sum) : status;
}

static db_status evaluate_shot(void *user, db_context *context, size_t shot, db_open_shot *open,
                               double *sum) {
    joint *const j = user;
    db_shots *const all = j->all;
    db_status status = fit_shot(j, context, shot, open, sum);
    if (status == DB_ERROR_INPUT && j->search.started) { /* the step is the cause: it is rejected */
        sum[0] = INFINITY;
        status = DB_OK;
    }
    if (status != DB_OK) status = db_shots_exclude(all, context, shot, status, NULL);
    count_shot(&all->summary[shot], sum + j->schur_size);
    return status;
}

/* Sums over all shots in one pass. Sums may differ in the last bit on different machines, so all processes take
 * the sums of rank 0. *lost: number of shots that the pass has excluded. */
static db_status sum_shots(joint *j, int *lost) {
    db_shots *const all = j->all;
    const double *const counts = j->sums + j->schur_size;
    j->is_at_start = 0;
    if (all->series) DB_TRY(db_series_approach(all, j->at));
    DB_TRY(db_open_shots_sum(all, "evaluation", j->stage, &j->links.order, evaluate_shot, j,
                             j->schur_size + COUNTS, j->sums));
    all->used = (size_t)counts[USED];
    all->degrees = counts[DEGREES];
    *lost = counts[LOST] > 0;
    if (all->series && isfinite(j->sums[0]) && !*lost) {
        DB_TRY(db_series_sum(all, j->sums, j->pulls[0] ? j->pulls : NULL));
        db_series_correct_targets(all);
    }
    if (!*lost) return DB_OK;
    DB_TRY(db_records_collect(all));
    db_shots_report_excluded(all);
    return db_shots_check_count(all);
}

void db_joint_record(db_shots *all, size_t shared, const size_t *index, const db_fit_history *now,
                     const double *at) {
    db_fit_history *const entry =
        isfinite(now->target) ? db_fit_course_add(&all->course, now) : NULL;
    if (!entry) return;
    double *const value = entry->value;
    for (size_t i = 0; i < all->parameters; i++)
        value[i] = all->shared[i] ? all->common.value[i] : (double)NAN;
    for (size_t i = 0; i < shared; i++) value[index[i]] = at[i];
    const db_fit_shots_event event = { .kind = DB_SHOTS_EVALUATED,
                                       .stage = now->stage,
                                       .entry = entry };
    db_shots_report(all, &event);
}

static int record_joint(void *user, const double *x, const db_fit_history *now) {
    const joint *const j = user;
    db_joint_record(j->all, j->links.shared, j->index, now, x);
    return 0;
}

/* Copies the trial points of shots to their best points. */
static void keep_trials(joint *j) {
    db_shots *const all = j->all;
    for (size_t i = 0; i < all->count; i++) {
        db_shot_state *const state = &all->state[i];
        if (!state->best.local || !all->summary[i].used) continue;
        /* Copied, not swapped: the memory belongs to best. */
        memcpy(state->best.local, state->trial.local, j->links.order.local * sizeof(double));
        memcpy(state->best.tail.row, state->trial.tail.row,
               db_schur_tail_size(&j->links.order) * sizeof(double));
        memcpy(state->best.sums, state->trial.sums,
               db_contradiction_size(j->links.order.shared) * sizeof(double));
        state->best_target = all->summary[i].target;
    }
}

static db_status move_log(void *user, db_pieces *pieces) {
    joint *const j = user;
    db_pieces_move(pieces, j->unearned, sizeof j->unearned);
    return db_checkpoint_move_log(j->all, j->stage, j->links.unknowns, &j->log, pieces);
}

/* Lists the memory of a shot's best point; the tail follows the local values. */
static db_status move_point(void *user, size_t shot, db_pieces *pieces) {
    const joint *const j = user;
    db_pieces_move(pieces, j->all->state[shot].best.local,
                   point_size(&j->links.order) * sizeof(double));
    return DB_OK;
}

static db_stage_state state_of(joint *j) {
    return (db_stage_state){ "stage:search", j->stage, j->log.history, move_log, move_point, j };
}

static db_status keep_best(void *user) {
    joint *const j = user;
    keep_trials(j);
    const db_stage_state state = state_of(j);
    return db_checkpoint_keep(j->all, &state);
}

/* Unknowns that not all shots share, without those that are held, such as a scale to which others are relative. */
static double own_unknowns(const joint *j) {
    return (double)db_unknowns_moving(&j->search.unknowns, j->links.shared);
}

static double degrees(const joint *j) {
    return j->all->degrees - (double)j->links.shared - own_unknowns(j);
}

/* A step that lowers no loss: shots in false minima may be the cause. Their losses jump between evaluations, and no step can
 * promise that. They would be excluded at the end of the stage; without them the search goes on, and they begin once more.
 * All processes call it. */
static db_status leave_out_far(void *user, int *is_of_another) {
    joint *const j = user;
    db_shots *const all = j->all;
    if (!db_stage_lets_begin_again(all, j->stage)) return DB_OK;
    for (size_t i = 0; i < all->count; i++)
        if (all->summary[i].used && db_shots_own(all, i))
            all->summary[i].target = all->state[i].best_target;
    DB_TRY(db_records_collect(all));
    const size_t used = all->used;
    DB_TRY(db_shots_exclude_outliers(all));
    *is_of_another = all->used < used;
    j->search.degrees = degrees(j);
    return *is_of_another ? db_shots_check_count(all) : DB_OK;
}

static db_earning earning_of(const joint *j, size_t unknown) {
    const db_fit_parameter *const p = &j->all->settings.parameters[j->index[unknown]];
    if (!p->earned) return DB_EARNING_NONE;
    if (p->parameter == DB_SCALE) return DB_EARNING_SCALE;
    switch (db_facts_of(p->parameter)->kind) {
    case DB_KIND_SPINDLE_TILT: return DB_EARNING_TILT;
    case DB_KIND_MOSAIC_TENSOR:
    case DB_KIND_MOSAIC_COVARIANCE: return DB_EARNING_ROTATION;
    default: return DB_EARNING_NONE;
    }
}

/* The first unknown of a parameter, of which each crystal may have one; their number. */
static size_t unknowns_of(const joint *j, db_parameter parameter, size_t *first) {
    for (size_t l = 0; l < j->links.order.shared; l++) {
        *first = j->links.first[l];
        if (j->all->settings.parameters[j->index[*first]].parameter == parameter)
            return j->links.values[l];
    }
    return 0;
}

/* Variances about each axis that are earned take up the one about all axes, beside which they would not be determined. */
static void part_rotations(const joint *j, double *value) {
    static const db_parameter axis[3] = { DB_MOSAIC_XX, DB_MOSAIC_YY, DB_MOSAIC_ZZ };
    const db_unknowns *const u = &j->search.unknowns;
    size_t all, about[3];
    const size_t count = unknowns_of(j, DB_MOSAIC_VARIANCE, &all);
    for (int i = 0; i < 3; i++)
        if (unknowns_of(j, axis[i], &about[i]) != count ||
            earning_of(j, about[i]) != DB_EARNING_ROTATION)
            return;
    for (size_t c = 0; c < count; c++) {
        for (int i = 0; i < 3; i++) value[about[i] + c] += value[all + c];
        value[all + c] = u->lower[all + c] = u->upper[all + c] = 0;
    }
}

static void hold_unearned(const joint *j, double *value) {
    const db_unknowns *const u = &j->search.unknowns;
    for (size_t i = 0; i < j->links.unknowns; i++) {
        const db_earning earning = earning_of(j, i);
        if (earning != DB_EARNING_NONE && j->unearned[earning])
            u->lower[i] = u->upper[i] = value[i];
    }
    if (j->is_asked && !j->unearned[DB_EARNING_ROTATION]) part_rotations(j, value);
}

/* Starting values of the unknowns and of a series' intensities, from the shots in use. All processes must call this
 * function. */
static db_status begin_unknowns(joint *j, double *value) {
    db_shots *const all = j->all;
    db_unknowns *const u = &j->search.unknowns;
    for (size_t i = 0; i < j->links.shared; i++) value[i] = all->common.value[j->index[i]];
    if (db_series_shares(all)) DB_TRY(db_sweeps_find(all));
    DB_TRY(db_joint_links_start(all, &j->links, u, value));
    for (size_t i = 0; i < j->links.unknowns; i++)
        value[i] = fmin(fmax(value[i], u->lower[i]), u->upper[i]);
    hold_unearned(j, value);
    if (!db_series_shares(all) || j->search.stage->kind == DB_STAGE_MOMENTS) return DB_OK;
    db_series_end(all);
    DB_TRY(db_series_begin(all, &j->links, j->stage, 0));
    j->search.degrees = degrees(j);
    return db_series_start(all, value);
}

static db_status evaluate_joint(void *user, const double *x, db_evaluation *at) {
    joint *const j = user;
    int lost = 0;
    if (!j->is_at_start || memcmp(x, j->value, j->links.unknowns * sizeof *x) != 0) {
        j->at = x;
        DB_TRY(sum_shots(j, &lost));
    }
    j->is_at_start = 0;
    if (lost && j->all->series) /* as a resumed run does; the best point does not change */
        DB_TRY(begin_unknowns(j, j->search.started ? j->spare : j->value));
    at->degrees = degrees(j);
    /* 1: the sums are of a smaller set of shots than the best point */
    at->is_of_another = lost && (j->search.started || j->all->series);
    db_schur_total(j->links.unknowns, j->sums, &at->loss, at->gradient, at->normal);
    return DB_OK;
}

static db_status allocate_joint(joint *j) {
    const size_t n = j->links.unknowns;
    j->schur_size = db_schur_sums_size(n);
    const size_t sums_size = j->schur_size + COUNTS;
    j->sums = malloc((sums_size + 2 * n) * sizeof *j->sums);
    j->index = calloc(n + 1, sizeof *j->index);
    j->at_bound = calloc(n + 1, sizeof *j->at_bound);
    if (!j->sums || !j->index || !j->at_bound)
        return db_fail_memory(j->all->context, "a joint stage");
    j->value = j->sums + sums_size;
    j->spare = j->value + n;
    j->search.stage = &j->all->settings.stages[j->stage];
    db_joint_links_index(&j->links, j->index);
    return DB_OK;
}

static db_status prepare_joint(joint *j) {
    db_shots *const all = j->all;
    j->search =
        (db_search){ .context = all->context,
                     .problem = { evaluate_joint, record_joint, keep_best, leave_out_far, j },
                     .stage = j->search.stage,
                     .number = j->stage,
                     .course = &all->course,
                     .log = all->checkpoint ? &j->log : NULL };
    DB_TRY(db_unknowns_make(all->context, &all->settings, j->index, j->links.unknowns,
                            &j->search.unknowns));
    j->search.degrees = degrees(j);
    DB_TRY(db_curves_restrain(all, &j->search.unknowns));
    return db_search_prepare(&j->search);
}

/* Stores which linked quantities of a shot are at a bound. Takes the shot's part of the unknowns of groups and knots from
 * its degrees of freedom. */
static void tell_shot(const joint *j, size_t shot, double own_part) {
    db_shots *const all = j->all;
    for (size_t l = 0; l < j->links.order.shared; l++) {
        db_joint_link link[DB_MOST_LINKS];
        int *const own = &db_shots_values(all, shot).at_bound[j->links.order.index[l]];
        *own = 0;
        for (size_t p = db_joint_links_of(&j->links, shot, l, link); p-- > 0;)
            if (j->at_bound[link[p].unknown]) *own = j->at_bound[link[p].unknown];
    }
    all->summary[shot].degrees -= own_part;
}

/* Are the models near enough to the pixels for this stage? If not, models and bounds stay as the previous stage has
 * left them. */
static db_status are_near(joint *j, int *near) {
    const double most = j->search.stage->most_misfit;
    int lost;
    *near = 1;
    if (!(most > 0)) return DB_OK;
    j->at = j->value;
    j->looks = 1;
    DB_TRY(sum_shots(j, &lost));
    *near = j->sums[0] / degrees(j) <= most;
    j->looks = !*near;
    for (size_t i = 0; i < j->links.shared && !*near; i++)
        j->at_bound[i] = j->all->common.at_bound[j->index[i]];
    return DB_OK;
}

/* An evaluation at the start of the stage, with the sums of products. The search begins with it. */
static db_status look_at_start(joint *j, double *pulls) {
    int lost = 1;
    j->pulls[0] = pulls;
    j->pulls[1] = pulls + j->schur_size;
    db_status status = DB_OK;
    while (lost && status == DB_OK) {
        memset(pulls, 0, 2 * j->schur_size * sizeof *pulls);
        j->at = j->value;
        status = sum_shots(j, &lost);
        if (lost && status == DB_OK) status = begin_unknowns(j, j->value);
    }
    j->pulls[0] = j->pulls[1] = NULL;
    j->is_at_start = status == DB_OK;
    return status;
}

/* Asks at the start of the stage which kinds are not earned, by rank 0 for all: logarithms may differ in the last bit on
 * another machine. earning, held: [unknowns] */
static db_status ask_earned(joint *j, const unsigned char *earning, double *pulls,
                            unsigned char *held) {
    db_shots *const all = j->all;
    const db_unknowns *const u = &j->search.unknowns;
    const size_t n = j->links.unknowns;
    DB_TRY(look_at_start(j, pulls));
    for (size_t i = 0; i < n; i++)
        held[i] = u->lower[i] >= u->upper[i] || db_unknown_held(u, i, j->value[i], j->sums[1 + i]);
    const db_series_evidence evidence = { n, db_series_reflections(all), j->sums,
                                          pulls + j->schur_size, earning };
    DB_TRY(
        db_workers_common_status(all, db_series_earn(all->context, &evidence, held, j->unearned)));
    DB_TRY(db_team_broadcast(&all->team, all->context, j->unearned, sizeof j->unearned));
    j->is_asked = 1;
    if (!j->unearned[DB_EARNING_ROTATION]) j->is_at_start = 0; /* values are others */
    hold_unearned(j, j->value);
    return DB_OK;
}

/* Holds what a series does not earn at the start of the stage. A resumed stage has it from its checkpoint. */
static db_status earn_unknowns(joint *j) {
    const size_t n = j->links.unknowns;
    int any = 0;
    for (size_t i = 0; i < n; i++) any |= earning_of(j, i) != DB_EARNING_NONE;
    if (!any || !j->all->series || j->log.stage >= 0) return DB_OK;
    unsigned char *const flags = calloc(2 * n + 1, 1);
    double *const pulls = calloc(2 * j->schur_size + 1, sizeof *pulls);
    db_status status = db_workers_need_memory(j->all, flags && pulls, "what a series has to earn");
    for (size_t i = 0; i < n && flags; i++) flags[i] = (unsigned char)earning_of(j, i);
    if (status == DB_OK && flags && pulls) status = ask_earned(j, flags, pulls, flags + n);
    free(flags);
    free(pulls);
    return status;
}

static db_status search_unknowns(joint *j, db_stage_result *end) {
    db_shots *const all = j->all;
    int near;
    memset(end, 0, sizeof *end);
    DB_TRY(are_near(j, &near));
    if (near) DB_TRY(db_search_run(&j->search, j->value, j->at_bound, end));
    for (size_t i = 0; i < j->links.shared; i++) all->common.at_bound[j->index[i]] = j->at_bound[i];
    const double own_part = own_unknowns(j) / (double)all->used;
    for (size_t k = 0; k < all->count; k++)
        if (db_shots_own(all, k)) tell_shot(j, k, own_part);
    return DB_OK;
}

/* Excludes shots that contradict the minimum, unless stages of single shots follow: what these free, as the modes of a bent
 * crystal, may be what the shots differ in. *again: 1 if there are any, and no later stage refines the others without them. */
static db_status leave_out_contradicting(joint *j, int is_last, int *again) {
    const size_t s = j->links.order.shared;
    const db_segment next = db_segment_from(j->all, j->stage + 1);
    unsigned char held[DB_MOST_COMPARED];
    size_t excluded = 0;
    if (j->all->options->series || j->looks || !db_contradiction_size(s) || next.to > next.from)
        return DB_OK;
    for (size_t k = 0; k < s; k++) held[k] = j->at_bound[k] != 0;
    DB_TRY(db_shots_exclude_contradicting(j->all, j->index, s, j->value, held, &excluded));
    *again = is_last && excluded > 0;
    return DB_OK;
}

/* Adds a shot's sums for the choice of priors; a shot that cannot be evaluated is left out. */
static db_status weigh_shot(void *user, db_context *context, size_t shot, db_open_shot *open,
                            double *sum) {
    const db_status status = fit_shot(user, context, shot, open, sum);
    return status == DB_ERROR_INPUT ? DB_OK : status;
}

/* Chooses the strengths of priors of curves that are open, by a pass over the shots as the previous stage has left
 * them. A resumed run chooses them again before it reads the evaluations of its checkpoint. */
static db_status choose_priors(joint *j) {
    db_shots *const all = j->all;
    const size_t n = j->links.unknowns;
    if (!db_curves_are_open(all, j->stage)) return DB_OK;
    for (size_t i = 0; i < n; i++) j->value[i] = all->common.value[j->index[i]];
    j->at = j->value;
    DB_TRY(db_open_shots_sum(all, "evidence", j->stage, &j->links.order, weigh_shot, j,
                             j->schur_size, j->sums));
    return db_workers_common_status(all, db_curves_choose(all, j->index, n, j->value, j->sums));
}

/* Resumes the stage from the checkpoint. */
static db_status take_up(joint *j) {
    const db_stage_state state = state_of(j);
    j->log.stage = -1;
    if (!db_checkpoint_is_in(j->all, j->stage)) return DB_OK;
    DB_TRY(db_checkpoint_take_up(j->all, &state));
    for (size_t i = 0; i < j->all->count; i++) /* records are of the best point */
        j->all->state[i].best_target = j->all->summary[i].target;
    j->log.history = j->all->course.count;
    j->is_asked = 1;
    return DB_OK;
}

db_status db_joint_run(db_shots *all, int stage, db_stage_result *end, db_fit_shots_result *result,
                       int *again) {
    joint *const j = calloc(1, sizeof *j);
    db_status status = db_workers_need_memory(all, j, "a joint stage");
    if (!j || status != DB_OK) {
        free(j);
        return status;
    }
    j->all = all;
    j->stage = stage;
    j->links = db_joint_links_make(all, stage);
    status = db_workers_common_status(all, allocate_joint(j));
    if (status == DB_OK) status = choose_priors(j);
    if (status == DB_OK) status = take_up(j);
    if (status == DB_OK) status = db_workers_common_status(all, prepare_joint(j));
    if (status == DB_OK) status = begin_unknowns(j, j->value);
    if (status == DB_OK) status = earn_unknowns(j);
    if (status == DB_OK) status = search_unknowns(j, end);
    if (status == DB_OK && end->end == DB_STAGE_CONVERGED)
        status = leave_out_contradicting(j, result != NULL, again);
    if (status == DB_OK && result && !*again) {
        const db_joint_minimum at = { stage,    &j->links,   &j->search.unknowns,
                                      j->value, j->at_bound, j->looks };
        status = db_joint_conclude(all, &at, result);
    }
    if (status == DB_ERROR_CANCELLED) all->ending = 1;
    if (status == DB_OK || (all->ending && j->search.started)) {
        const db_status stored = db_joint_models_store(all, stage, j->value);
        if (stored != DB_OK) status = stored;
    }
    db_series_end(all);
    free(j->index);
    free(j->at_bound);
    free(j->sums);
    db_search_clear(&j->search);
    db_search_log_clear(&j->log);
    free(j);
    return status;
}

/* The end of a joint stage: models are moved to its minimum. */

/* The point to which models are moved. */
typedef struct target {
    int stage;
    db_joint_links links;
    const double *unknown;
} target;

/* Stores which of a shot's own quantities are at a bound. A quantity that the best point leaves out has a slope that pushes
 * it outward. A stage without tails (joint intensities, models that stay) knows no slopes. */
static db_status tell_bounds(const db_shots *all, const db_schur_order *order, db_context *context,
                             size_t shot, const db_variables *variables) {
    const db_shot_point *const best = &all->state[shot].best;
    db_unknowns u;
    DB_TRY(db_local_unknowns(context, &all->settings, order, variables, &u));
    for (size_t i = 0; i < order->local; i++) {
        const double outward = db_schur_is_left_out(order, &best->tail, i);
        const int low = db_stage_bound_of(&u, i, best->local[i], outward);
        db_shots_values(all, shot).at_bound[u.index[i]] =
            low ? low : db_stage_bound_of(&u, i, best->local[i], -outward);
    }
    db_unknowns_clear(&u);
    return DB_OK;
}

/* Moves a model to the best point of its shot. */
static db_status move_model(db_shots *all, const target *to, db_context *context, size_t shot,
                            db_shot_model *model, db_fit_settings *settings,
                            db_variables *variables) {
    const db_schur_order *const order = &to->links.order;
    db_experiment *const e = &model->experiment;
    double values[DB_FIT_MOST_PARAMETERS], linked[DB_FIT_MOST_PARAMETERS];
    DB_TRY(db_shots_settings(all, context, shot, settings));
    DB_TRY(db_variables_make(context, settings, 1u << to->stage, &all->state[shot].start.crystal, e,
                             &model->placement, variables));
    db_joint_links_values(&to->links, shot, to->unknown, linked);
    for (size_t i = 0; i < order->shared + order->local; i++)
        values[order->variable[i]] = i < order->shared
                                         ? linked[i] + db_shots_shift(all, shot, order->index[i])
                                         : all->state[shot].best.local[i - order->shared];
    db_variables_store(variables, values, e);
    db_variables_place(variables, values, &model->placement);
    DB_TRY(db_panel_placement_apply(context, &model->placement, &e->detector));
    db_shots_get(all, e, &model->placement, db_shots_value(all, shot));
    memcpy(all->summary[shot].orientation, e->crystal.orientation, sizeof e->crystal.orientation);
    all->summary[shot].stage = to->stage + 1;
    return tell_bounds(all, order, context, shot, variables);
}

/* Moves the model of a shot to its best point. */
static db_status store_shot(db_shots *all, db_context *context, size_t shot, void *user,
                            double *sum) {
    (void)sum;
    db_shot_model model = { .panels = NULL };
    db_fit_settings settings = { .parameters = NULL };
    db_variables variables = { 0 };
    db_status status = db_shot_model_make(all, context, shot, &model);
    if (status == DB_OK)
        status = move_model(all, user, context, shot, &model, &settings, &variables);
    db_shot_model_clear(&model);
    db_fit_settings_clear(&settings);
    db_variables_clear(&variables);
    return status;
}

db_status db_joint_models_store(db_shots *all, int stage, const double *unknown) {
    target to = { .stage = stage, .unknown = unknown };
    to.links = db_joint_links_make(all, stage);
    DB_TRY(db_workers_each(all, "models", stage, store_shot, &to));
    for (size_t l = 0; l < to.links.order.shared; l++)
        if (to.links.first[l] < to.links.shared)
            all->common.value[to.links.order.index[l]] = unknown[to.links.first[l]];
    db_shots_tie_common(all);
    return DB_OK;
}
