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
enum { USED, DEGREES, LOST, COUNTS = DB_JOINT_COUNTS };

/* The state of a joint stage. */
typedef struct joint {
    db_shots *all;
    int stage;
    const db_fit_stage *settings;
    db_arrow_order order;
    double *sums; /* of the last evaluation, over all shots: db_arrow_sums_size, then COUNTS */
    size_t arrow_size, sums_size;
    db_tree_sum tree;
    const double *at;                       /* shared values of the evaluation */
    double best_at[DB_FIT_MOST_PARAMETERS]; /* those of the best points */
    double best, degrees;
    db_unknowns unknowns; /* what is shared */
    int evaluations;
    int lost; /* shots set aside since the last evaluation */
    int started;
    db_status status;
    double last_at[DB_FIT_MOST_PARAMETERS]; /* of the last evaluation */
    db_joint_log *log;                      /* of the search */
    size_t replayed, known;                 /* its known evaluations; those repeated so far */
    double *gradient;                       /* at the best point */
    double *normal;                         /* likewise; [shared][shared] */
} joint;

db_status db_joint_make_room(db_shots *all, db_context *context, size_t shot, int stage) {
    const db_arrow_order order = db_arrow_order_make(&all->settings, stage, all->shared);
    const size_t point = db_joint_point_size(&order);
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
    for (size_t i = 0; i < j->order.shared; i++) step[i] = j->at[i] - j->best_at[i];
    if (j->started)
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
    db_fit_stage own = *j->settings;
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
    if (status == DB_ERROR_INPUT && j->started) { /* the prediction is too far off */
        memcpy(trial->local, all->state[shot].best.local, j->order.local * sizeof(double));
        status = db_open_shot_fit(&open, &j->order, &own, j->at, trial->local);
    }
    if (status == DB_OK) all->summary[shot].target = open.objective.loss / open.objective.degrees;
    if (status == DB_OK)
        db_arrow_reduce(&j->order, open.objective.loss, open.objective.gradient,
                        open.objective.normal, open.held, &trial->tail, sum, open.work);
    count_evaluations(all, open.evaluations);
    db_open_shot_destroy(&open);
    if (status == DB_ERROR_INPUT && j->started) { /* the step is the cause: it is rejected */
        sum[0] = INFINITY;
        status = DB_OK;
    }
    if (status != DB_OK) status = db_shots_set_aside(all, context, shot, status, NULL);
    count_shot(&all->summary[shot], sum + j->arrow_size);
    return status;
}

static void take_counts(joint *j) {
    const double *const counts = j->sums + j->arrow_size;
    j->all->used = (size_t)counts[USED];
    j->all->degrees = counts[DEGREES];
    j->lost = (int)counts[LOST];
}

/* One pass over the shots. Sums may differ in the last bit on different machines: all processes take those
 * of rank 0. */
static db_status sum_shots(joint *j) {
    db_shots *const all = j->all;
    DB_TRY(db_workers_each(all, "evaluation", j->stage, evaluate_shot, j, &j->tree));
    DB_TRY(db_workers_total(all, &j->tree, j->sums));
    take_counts(j);
    if (!j->lost) return DB_OK;
    DB_TRY(db_records_meet(all));
    db_shots_report_aside(all);
    return DB_OK;
}

void db_joint_record(db_shots *all, const db_arrow_order *order, const db_fit_history *now,
                     const double *shared) {
    db_fit_history *const entry = isfinite(now->target) ? db_fit_course_add(&all->course) : NULL;
    if (!entry) return;
    double *const value = entry->value;
    *entry = *now;
    entry->value = value;
    for (size_t i = 0; i < all->parameters; i++)
        value[i] = all->shared[i] ? all->common[i] : (double)NAN;
    for (size_t i = 0; i < order->shared; i++) value[order->index[i]] = shared[i];
    const db_fit_shots_event event = { .kind = DB_SHOTS_EVALUATED,
                                       .stage = now->stage,
                                       .entry = entry };
    db_shots_report(all, &event);
}

double db_joint_gradient_norm(const db_unknowns *unknowns, const double *gradient, double degrees) {
    double square = 0;
    for (size_t i = 0; i < unknowns->count; i++)
        square += pow(gradient[i] / degrees * unknowns->scale[i], 2);
    return sqrt(square);
}

static void record(joint *j, double loss, const double *gradient) {
    const db_fit_history now = { .stage = j->stage,
                                 .evaluation = j->evaluations,
                                 .target = loss / j->degrees,
                                 .gradient_norm =
                                     db_joint_gradient_norm(&j->unknowns, gradient, j->degrees) };
    db_joint_record(j->all, &j->order, &now, j->at);
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

/* The best points of a repeated search are known already. */
static db_status commit(joint *j, double loss) {
    const int again = j->replayed < j->known;
    if (!again) keep_trials(j);
    if (j->at != j->best_at) memcpy(j->best_at, j->at, j->order.shared * sizeof *j->at);
    j->best = loss;
    j->started = 1;
    return again ? DB_OK : db_checkpoint_commit(j->all, j->log);
}

static void count_degrees(joint *j) { j->degrees = j->all->degrees - (double)j->order.shared; }

/* The sums of an evaluation before the run was interrupted. */
static db_status replay(joint *j) {
    const db_joint_log *const log = j->log;
    const double *const at = log->at + j->replayed * log->shared;
    for (size_t i = 0; i < log->shared; i++)
        if (!(fabs(at[i] - j->at[i]) <= 1e-9 * j->unknowns.scale[i]))
            return db_fail(j->all->context, DB_ERROR_INPUT,
                           "%s: is of another refinement: evaluation %d of stage %s would be "
                           "elsewhere",
                           j->all->options->checkpoint, j->evaluations, j->settings->name);
    memcpy(j->sums, log->sums + j->replayed * log->sums_size, log->sums_size * sizeof *j->sums);
    take_counts(j);
    return DB_OK;
}

static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    joint *const j = user;
    j->at = x;
    memcpy(j->last_at, x, j->order.shared * sizeof *x);
    j->evaluations++;
    j->status = j->replayed < j->known ? replay(j) : sum_shots(j);
    if (j->status != DB_OK) return 1;
    /* The target changes when a shot is set aside: the search starts again. */
    if (j->lost && j->started) return 1;
    if (j->replayed == j->known) j->status = db_joint_log_add(j->all->context, j->log, x, j->sums);
    j->status = db_workers_common_status(j->all, j->status);
    if (j->status != DB_OK) return 1;
    count_degrees(j);
    db_arrow_total(j->order.shared, j->sums, loss, gradient, normal);
    db_unknowns_add_priors(&j->unknowns, x, loss, gradient, normal);
    record(j, *loss, gradient);
    if (!j->started || *loss < j->best) j->status = commit(j, *loss);
    j->replayed += j->replayed < j->known;
    return j->status != DB_OK;
}

static db_status prepare(joint *j) {
    db_shots *const all = j->all;
    const size_t n = j->order.shared;
    db_unknowns *const u = &j->unknowns;
    DB_TRY(db_unknowns_make(all->context, &all->settings, j->order.index, n, u));
    for (size_t i = 0; i < n; i++) {
        j->best_at[i] = fmin(fmax(all->common[j->order.index[i]], u->lower[i]), u->upper[i]);
    }
    j->arrow_size = db_arrow_sums_size(n);
    j->sums_size = db_joint_sums_size(&j->order);
    DB_TRY(db_tree_sum_begin(all->context, db_shots_chunks(all), j->sums_size, &j->tree));
    j->sums = malloc(j->sums_size * sizeof *j->sums);
    j->gradient = malloc((n * (n + 1) + 1) * sizeof *j->gradient);
    if (!j->sums || !j->gradient) return db_fail_memory(all->context, "a joint stage");
    j->normal = j->gradient + n;
    return db_fit_course_reserve(all->context, &all->course,
                                 2 * (size_t)j->settings->max_evaluations + 16);
}

/* How the search ended at the best point, whose sums are those of the last evaluation. */
static void judge(joint *j, db_lm_end how, db_stage_result *end) {
    const size_t n = j->order.shared;
    double loss;
    db_arrow_total(n, j->sums, &loss, j->gradient, j->normal);
    db_unknowns_add_priors(&j->unknowns, j->best_at, &loss, j->gradient, j->normal);
    const db_search_end at = { .stage = j->settings,
                               .loss = loss,
                               .degrees = j->degrees,
                               .gradient = j->gradient,
                               .normal = j->normal,
                               .evaluations = j->evaluations,
                               .end = isfinite(loss) && how == DB_LM_STOPPED ? DB_LM_LIMIT : how };
    memset(end, 0, sizeof *end);
    memcpy(end->value, j->best_at, n * sizeof *end->value);
    db_stage_judge(&j->unknowns, &at, end);
    for (size_t i = 0; i < n; i++) j->all->common_at_bound[j->order.index[i]] = end->at_bound[i];
    for (size_t k = 0; k < j->all->count; k++)
        for (size_t i = 0; i < n && db_shots_own(j->all, k); i++)
            j->all->at_bound[k * j->all->parameters + j->order.index[i]] = end->at_bound[i];
}

/* Begins a search, or repeats the one that was interrupted. */
static void begin_search(joint *j) {
    db_joint_log *const log = j->log;
    j->lost = 0;
    j->best = INFINITY;
    count_degrees(j);
    if (j->replayed < j->known) {
        j->degrees = log->degrees;
        j->evaluations = log->evaluations;
        j->started = log->started;
        memcpy(j->best_at, log->from, log->shared * sizeof *log->from);
        return;
    }
    db_joint_log_begin(log, j->stage, &j->order);
    log->evaluations = j->evaluations;
    log->started = j->started;
    log->degrees = j->degrees;
    log->history = j->all->course.count;
    memcpy(log->from, j->best_at, log->shared * sizeof *log->from);
    j->replayed = j->known = 0;
}

static db_status search(joint *j, db_stage_result *end) {
    const size_t n = j->order.shared;
    double x[DB_FIT_MOST_PARAMETERS], loss;
    db_lm_end how;
    do {
        begin_search(j);
        memcpy(x, j->best_at, n * sizeof *x);
        how = db_stage_minimize(&j->unknowns, j->settings, j->degrees, evaluate, j, x).end;
        if (j->status != DB_OK) return j->status;
        DB_TRY(db_shots_check_count(j->all));
    } while (j->lost && j->evaluations < 2 * j->settings->max_evaluations);
    if (memcmp(j->last_at, j->best_at, n * sizeof *x) != 0) {
        j->lost = 0;
        evaluate(j, j->best_at, &loss, j->gradient, j->normal);
        if (j->status != DB_OK) return j->status;
        DB_TRY(db_shots_check_count(j->all));
    }
    judge(j, how, end);
    return DB_OK;
}

/* The best points that the checkpoint had. */
static void restore_points(const joint *j) {
    const size_t size = db_joint_point_size(&j->order);
    for (size_t i = 0; i < j->all->count; i++) {
        db_shot_state *const state = &j->all->state[i];
        if (state->best.local && state->point)
            memcpy(state->best.local, state->point, size * sizeof *state->point);
        if (state->point) free(state->point);
        state->point = NULL;
    }
}

db_status db_joint_run(db_shots *all, int stage, db_joint_log *log, db_stage_result *end,
                       db_fit_shots_result *result) {
    joint *const j = calloc(1, sizeof *j);
    if (!j) return db_fail_memory(all->context, "a joint stage");
    j->all = all;
    j->stage = stage;
    j->settings = &all->settings.stages[stage];
    j->order = db_arrow_order_make(&all->settings, stage, all->shared);
    j->log = log;
    j->known = log->stage == stage ? log->count : 0;
    if (j->known) restore_points(j);
    db_status status = db_workers_common_status(all, prepare(j));
    if (status == DB_OK) status = search(j, end);
    if (status == DB_OK && result) status = db_joint_conclude(all, stage, j->best_at, result);
    if (status == DB_ERROR_CANCELLED) all->ending = 1;
    if (status == DB_OK || (all->ending && j->started)) {
        const db_status stored = db_joint_models_store(all, stage, j->best_at);
        if (stored != DB_OK) status = stored;
    }
    db_tree_sum_clear(&j->tree);
    free(j->sums);
    free(j->gradient);
    db_unknowns_clear(&j->unknowns);
    free(j);
    return status;
}
