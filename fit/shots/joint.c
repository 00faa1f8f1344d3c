/* A joint stage: the search for what shots share, which a checkpoint can resume. */
#include "fit/shots/joint.h"

#include "base/context_internal.h"
#include "fit/shots/joint_conclude.h"
#include "fit/shots/joint_models.h"
#include "fit/shots/records.h"
#include "fit/shots/shares.h"
#include "fit/shots/shot_fit.h"
#include "fit/shots/workers.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is counted beside the sums: shots in use, their degrees of freedom, shots set aside. */
enum { USED, DEGREES, LOST, COUNTS };

/* The state of a joint stage. */
typedef struct joint {
    db_shots *all;
    int stage;
    db_arrow_order order;
    double *sums; /* of the last evaluation, over all shots: db_arrow_sums_size, then COUNTS */
    size_t arrow_size;
    db_tree_sum tree;
    const double *at; /* shared values of the evaluation */
    db_search search; /* for them */
    db_search_log log;
} joint;

static size_t point_size(const db_arrow_order *order) {
    return order->local + db_arrow_tail_size(order);
}

db_status db_joint_make_room(db_shots *all, db_context *context, size_t shot, int stage) {
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    const size_t point = point_size(&order);
    db_shot_state *const state = &all->state[shot];
    double *const memory = calloc(2 * point + 1, sizeof *memory);
    if (!memory) return db_fail_memory(context, "the local quantities of a shot");
    free(state->best.local);
    state->best.local = memory;
    state->best.tail = db_arrow_tail_in(&order, memory + order.local);
    state->trial.local = memory + point;
    state->trial.tail = db_arrow_tail_in(&order, memory + point + order.local);
    return DB_OK;
}

/* The expected values of a shot's local quantities at these shared values. */
static void predict_local(const joint *j, size_t shot, double *local) {
    const db_shot_state *const state = &j->all->state[shot];
    double step[DB_FIT_MOST_PARAMETERS];
    for (size_t i = 0; i < j->order.shared; i++) step[i] = j->at[i] - j->search.value[i];
    if (j->search.started)
        db_arrow_answer(&j->order, &state->best.tail, 0, step);
    else
        memset(step + j->order.shared, 0, j->order.local * sizeof *step);
    for (size_t i = 0; i < j->order.local; i++)
        local[i] = state->best.local[i] + step[j->order.shared + i];
}

/* Counts uses of a shot's pixels. */
static void count_evaluations(db_shots *all, int evaluations) {
#pragma omp atomic update
    all->evaluations += (size_t)evaluations;
}

/* How each shot is fitted for given shared values. What is left of its gradient is eliminated
 * with its local quantities, so that only the last stage, whose values are the result, needs all
 * of the way to the minimum. Joint intensities are found by stages of their own, shared quantities
 * with them: before these it is enough to go where the equations say. */
static db_fit_stage local_search(const joint *j) {
    const double enough = 1e-2;
    db_fit_stage own = *j->search.stage;
    if (j->stage + 1 < (int)j->all->settings.stage_count)
        own.tolerance = fmax(own.tolerance, enough);
    if (j->all->settings.joint.wanted) own.max_evaluations = 1;
    return own;
}

static void count_shot(const db_shot_summary *summary, double counts[COUNTS]) {
    counts[summary->used ? USED : LOST]++;
    if (summary->used) counts[DEGREES] += summary->degrees;
}

static db_status evaluate_shot(db_shots *all, db_context *context, size_t shot, void *user,
                               double *sum) {
    joint *const j = user;
    const db_fit_stage own = local_search(j);
    db_open_shot open;
    db_shot_point *const trial = &all->state[shot].trial;
    DB_TRY(db_open_shot_create(all, context, shot, j->stage, &j->order, &open));
    predict_local(j, shot, trial->local);
    db_status status = db_open_shot_fit(&open, &j->order, &own, j->at, trial->local);
    if (status == DB_ERROR_INPUT && j->search.started) { /* the prediction is too far off */
        memcpy(trial->local, all->state[shot].best.local, j->order.local * sizeof(double));
        status = db_open_shot_fit(&open, &j->order, &own, j->at, trial->local);
    }
    if (status == DB_OK) all->summary[shot].target = open.objective.loss / open.objective.degrees;
    if (status == DB_OK)
        db_arrow_reduce(&j->order, open.objective.loss, open.objective.gradient,
                        open.objective.normal, open.held, &trial->tail, sum, open.work);
    count_evaluations(all, open.evaluations);
    db_open_shot_destroy(&open);
    if (status == DB_ERROR_INPUT && j->search.started) { /* the step is the cause: it is rejected */
        sum[0] = INFINITY;
        status = DB_OK;
    }
    if (status != DB_OK) status = db_shots_set_aside(all, context, shot, status, NULL);
    count_shot(&all->summary[shot], sum + j->arrow_size);
    return status;
}

/* One pass over the shots. Sums may differ in the last bit on different machines: all processes take those
 * of rank 0. *lost: shots that it has set aside. */
static db_status sum_shots(joint *j, int *lost) {
    db_shots *const all = j->all;
    const double *const counts = j->sums + j->arrow_size;
    DB_TRY(db_workers_each(all, "evaluation", j->stage, evaluate_shot, j, &j->tree));
    DB_TRY(db_workers_total(all, &j->tree, j->sums));
    all->used = (size_t)counts[USED];
    all->degrees = counts[DEGREES];
    *lost = counts[LOST] > 0;
    if (!*lost) return DB_OK;
    DB_TRY(db_records_meet(all));
    db_shots_report_aside(all);
    return db_shots_check_count(all);
}

void db_joint_record(db_shots *all, const db_arrow_order *order, const db_fit_history *now,
                     const double *shared) {
    db_fit_history *const entry =
        isfinite(now->target) ? db_fit_course_add(&all->course, now) : NULL;
    if (!entry) return;
    double *const value = entry->value;
    for (size_t i = 0; i < all->parameters; i++)
        value[i] = all->shared[i] ? all->common[i] : (double)NAN;
    for (size_t i = 0; i < order->shared; i++) value[order->index[i]] = shared[i];
    const db_fit_shots_event event = { .kind = DB_SHOTS_EVALUATED,
                                       .stage = now->stage,
                                       .entry = entry };
    db_shots_report(all, &event);
}

static int record(void *user, const double *x, const db_fit_history *now) {
    const joint *const j = user;
    db_joint_record(j->all, &j->order, now, x);
    return 0;
}

/* The trial points become the best ones. */
static void keep_trials(joint *j) {
    db_shots *const all = j->all;
    for (size_t i = 0; i < all->count; i++) {
        db_shot_state *const state = &all->state[i];
        if (!state->best.local || !all->summary[i].used) continue;
        /* Copied, not swapped: the memory belongs to best. */
        memcpy(state->best.local, state->trial.local, j->order.local * sizeof(double));
        memcpy(state->best.tail.row, state->trial.tail.row,
               db_arrow_tail_size(&j->order) * sizeof(double));
    }
}

static db_status move_log(void *user, db_pieces *pieces) {
    joint *const j = user;
    return db_checkpoint_move_log(j->all, &j->log, pieces);
}

/* The best point of a shot; the tail lies behind its local values. */
static db_status move_point(void *user, size_t shot, db_pieces *pieces) {
    const joint *const j = user;
    db_pieces_move(pieces, j->all->state[shot].best.local, point_size(&j->order) * sizeof(double));
    return DB_OK;
}

static db_stage_state state_of(joint *j) {
    return (db_stage_state){ "stage:search", j->stage, j->log.history, move_log, move_point, j };
}

static db_status keep(void *user, const double *x) {
    joint *const j = user;
    (void)x;
    keep_trials(j);
    const db_stage_state state = state_of(j);
    return db_checkpoint_keep(j->all, &state);
}

static double degrees(const joint *j) { return j->all->degrees - (double)j->order.shared; }

static db_status evaluate(void *user, const double *x, db_evaluation *at) {
    joint *const j = user;
    int lost;
    j->at = x;
    DB_TRY(sum_shots(j, &lost));
    at->degrees = degrees(j);
    at->is_of_another = lost && j->search.started; /* without the shots that were set aside */
    db_arrow_total(j->order.shared, j->sums, &at->loss, at->gradient, at->normal);
    return DB_OK;
}

static db_status prepare(joint *j) {
    db_shots *const all = j->all;
    const size_t n = j->order.shared;
    j->arrow_size = db_arrow_sums_size(n);
    const size_t sums_size = j->arrow_size + COUNTS;
    DB_TRY(db_tree_sum_begin(all->context, db_shots_chunks(all), sums_size, &j->tree));
    j->sums = malloc(sums_size * sizeof *j->sums);
    if (!j->sums) return db_fail_memory(all->context, "a joint stage");
    j->search = (db_search){ .context = all->context,
                             .problem = { evaluate, record, keep, j },
                             .stage = &all->settings.stages[j->stage],
                             .number = j->stage,
                             .course = &all->course,
                             .log = &j->log,
                             .degrees = degrees(j) };
    DB_TRY(db_unknowns_make(all->context, &all->settings, j->order.index, n, &j->search.unknowns));
    return db_search_prepare(&j->search);
}

static db_status search(joint *j, db_stage_result *end) {
    db_shots *const all = j->all;
    const size_t n = j->order.shared;
    const db_unknowns *const u = &j->search.unknowns;
    memset(end, 0, sizeof *end);
    for (size_t i = 0; i < n; i++)
        end->value[i] = fmin(fmax(all->common[j->order.index[i]], u->lower[i]), u->upper[i]);
    DB_TRY(db_search_run(&j->search, end));
    for (size_t i = 0; i < n; i++) all->common_at_bound[j->order.index[i]] = end->at_bound[i];
    for (size_t k = 0; k < all->count; k++)
        for (size_t i = 0; i < n && db_shots_own(all, k); i++)
            all->at_bound[k * all->parameters + j->order.index[i]] = end->at_bound[i];
    return DB_OK;
}

/* Goes on where the run was interrupted. */
static db_status take_up(joint *j) {
    const db_stage_state state = state_of(j);
    j->log.stage = -1;
    if (!db_checkpoint_is_in(j->all, j->stage)) return DB_OK;
    DB_TRY(db_checkpoint_take_up(j->all, &state));
    j->log.history = j->all->course.count;
    return DB_OK;
}

db_status db_joint_run(db_shots *all, int stage, db_stage_result *end,
                       db_fit_shots_result *result) {
    joint *const j = calloc(1, sizeof *j);
    if (!j) return db_fail_memory(all->context, "a joint stage");
    j->all = all;
    j->stage = stage;
    j->order = db_arrow_order_make(&all->settings, stage, all->shared);
    db_status status = take_up(j);
    if (status == DB_OK) status = db_workers_common_status(all, prepare(j));
    if (status == DB_OK) status = search(j, end);
    if (status == DB_OK && result) status = db_joint_conclude(all, stage, end->value, result);
    if (status == DB_ERROR_CANCELLED) all->ending = 1;
    if (status == DB_OK || (all->ending && j->search.started)) {
        const db_status stored = db_joint_models_store(all, stage, end->value);
        if (stored != DB_OK) status = stored;
    }
    db_tree_sum_clear(&j->tree);
    free(j->sums);
    db_search_clear(&j->search);
    db_search_log_clear(&j->log);
    free(j);
    return status;
}
