/* A shot of a joint stage with its pixels in memory, and the search for its local quantities. */
#include "fit/shots/shot_fit.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/statistics.h"
#include "fit/pixels/predict.h"
#include "fit/search/driver.h"
#include "fit/shots/workers.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_shot_moments_write(db_shots *all, db_context *context, size_t shot,
                                const db_moments *moments) {
    db_shot_moments *const to = &all->state[shot].moments;
    *to = (db_shot_moments){
        .spots = -1, .observed = -1, .count = moments->count, .blur = moments->blur
    };
    DB_TRY(db_store_put(context, &all->store, moments->spot, to->count * sizeof *moments->spot,
                        &to->spots));
    DB_TRY(db_store_put(context, &all->store, moments->observed,
                        to->count * sizeof *moments->observed, &to->observed));
    return DB_OK;
}

/* Reads moments from the store, for a model at which the variables start; both are borrowed. Clear them. */
static db_status shot_moments_read(const db_shots *all, db_context *context, size_t shot,
                                   const db_experiment *model, const db_variables *variables,
                                   db_moments *moments) {
    const db_shot_moments *const from = &all->state[shot].moments;
    DB_TRY(db_moments_allocate(context, model, from->count, variables, from->blur, moments));
    moments->count = moments->to = from->count;
    db_status status = db_store_get(context, &all->store, from->spots, moments->spot,
                                    from->count * sizeof *moments->spot);
    if (status == DB_OK)
        status = db_store_get(context, &all->store, from->observed, moments->observed,
                              from->count * sizeof *moments->observed);
    if (status != DB_OK) db_moments_clear(moments);
    return status;
}

static db_status open_pixels(db_shots *all, db_context *context, size_t shot, int stage,
                             db_open_shot *open) {
    const db_fit_stage *const s = &all->settings.stages[stage];
    const db_shot_state *const state = &all->state[shot];
    const db_objective_options options = {
        .stages = 1u << stage,
        .given = &state->start.crystal,
        .placement = &open->model.placement,
        .blur = s->blur,
        .target = s->target < 0 ? all->settings.target : (db_fit_target)s->target,
        .is_given = all->series || db_fit_is_intensity_stage(&all->settings, stage)
    };
    DB_TRY(db_store_read(context, &all->store, &state->place, &open->pixels));
    return db_objective_create(context, &open->model.experiment, &open->settings,
                               &open->pixels.blocks, &options, &open->objective);
}

static db_status open_moments(db_shots *all, db_context *context, size_t shot, int stage,
                              db_open_shot *open) {
    db_objective *const o = &open->objective;
    db_variables *const v = &o->variables;
    open->by_moments = 1;
    DB_TRY(db_variables_make(context, &open->settings, 1u << stage, &all->state[shot].start.crystal,
                             &open->model.experiment, &open->model.placement, v));
    o->context = context;
    o->degrees = all->state[shot].degrees;
    o->gradient = calloc(v->count + 1, sizeof *o->gradient);
    o->normal = calloc(v->count * v->count + 1, sizeof *o->normal);
    if (!o->gradient || !o->normal) return db_fail_memory(context, "a shot of a joint stage");
    return shot_moments_read(all, context, shot, &open->model.experiment, v, &open->moments);
}

static void close_shot(db_open_shot *open) {
    if (open->by_moments) {
        db_moments_clear(&open->moments);
        db_variables_clear(&open->objective.variables);
        free(open->objective.gradient);
        free(open->objective.normal);
    } else if (open->objective.context) {
        db_objective_destroy(&open->objective);
    }
    db_shot_model_clear(&open->model);
    db_stored_clear(&open->pixels);
    db_fit_settings_clear(&open->settings);
    free(open->held);
    free(open->work);
    free(open->linked);
}

static db_status open_shot(db_shots *all, db_context *context, size_t shot, int stage,
                           const db_schur_order *order, db_open_shot *open) {
    const size_t variables = order->shared + order->local;
    open->held = calloc(variables + 1, sizeof *open->held);
    open->work = malloc((db_schur_work_size(order) + 1) * sizeof *open->work);
    open->linked = calloc(3 * variables + 1, sizeof *open->linked);
    open->value = open->linked ? open->linked + variables : NULL;
    open->shift = open->linked ? open->linked + 2 * variables : NULL;
    db_status status = db_need_memory(context, open->held && open->work && open->linked,
                                      "a shot of a joint stage");
    if (status == DB_OK) status = db_shots_settings(all, context, shot, &open->settings);
    if (status == DB_OK) status = db_shot_model_make(all, context, shot, &open->model);
    if (status == DB_OK)
        status = (all->settings.stages[stage].kind == DB_STAGE_MOMENTS
                      ? open_moments
                      : open_pixels)(all, context, shot, stage, open);
    /* Priors of shared quantities count once, not for every shot. */
    for (size_t i = 0; i < order->shared && status == DB_OK; i++) {
        open->objective.variables.sigma[order->variable[i]] = INFINITY;
        open->shift[i] = db_shots_shift(all, shot, order->index[i]);
    }
    return status;
}

/* Work on open shots. */
typedef struct opening {
    int stage;
    const db_schur_order *order;
    db_open_shot_work work;
    void *user;
} opening;

static db_status work_open(db_shots *all, db_context *context, size_t shot, void *user,
                           double *sum) {
    const opening *const o = user;
    db_open_shot *const open = calloc(1, sizeof *open); /* large: stacks are small */
    if (!open) return db_fail_memory(context, "a shot");
    db_status status = open_shot(all, context, shot, o->stage, o->order, open);
    if (status == DB_OK) status = o->work(o->user, context, shot, open, sum);
#pragma omp atomic update
    all->evaluations += (size_t)open->evaluations;
    close_shot(open);
    free(open);
    return status;
}

db_status db_open_shots_sum(db_shots *all, const char *what, int stage, const db_schur_order *order,
                            db_open_shot_work work, void *user, size_t size, double *total) {
    opening o = { stage, order, work, user };
    return total ? db_workers_sum(all, what, stage, work_open, &o, size, total)
                 : db_workers_each(all, what, stage, work_open, &o);
}

/* Evaluates at open->value: loss, gradient and normal matrix, without priors. */
static db_status evaluate_open(db_open_shot *open) {
    db_objective *const o = &open->objective;
    return open->by_moments
               ? db_moments_evaluate(&open->moments, open->value, &o->loss, o->gradient, o->normal)
               : db_objective_evaluate(o, open->value, DB_OBJECTIVE_NORMAL);
}

/* Completes what a search at open->value has left out. */
static db_status complete_open(db_open_shot *open) {
    if (open->by_moments) return evaluate_open(open);
    open->objective.sums_only = 0;
    return db_objective_bring(&open->objective);
}

/* Local quantities of a shot as a problem. */
typedef struct local_problem {
    db_open_shot *open;
    const db_schur_order *order;
} local_problem;

static db_status evaluate_local(void *user, const double *x, db_evaluation *at) {
    const local_problem *const p = user;
    db_objective *const objective = &p->open->objective;
    const size_t n = objective->variables.count, m = p->order->local;
    const size_t *const local = p->order->variable + p->order->shared;
    for (size_t i = 0; i < m; i++) p->open->value[local[i]] = x[i];
    p->open->evaluations++;
    const db_status status = evaluate_open(p->open);
    if (status == DB_ERROR_INPUT) return DB_OK;
    DB_TRY(status);
    at->loss = objective->loss;
    for (size_t i = 0; i < m; i++) {
        at->gradient[i] = objective->gradient[local[i]];
        for (size_t j = 0; j < m; j++)
            at->normal[i * m + j] = objective->normal[local[i] * n + local[j]];
    }
    return DB_OK;
}

db_status db_local_unknowns(db_context *context, const db_fit_settings *settings,
                            const db_schur_order *order, const db_variables *v, db_unknowns *u) {
    const size_t first = order->shared;
    DB_TRY(db_unknowns_make(context, settings, order->index + first, order->local, u));
    for (size_t i = 0; i < u->count; i++) {
        const size_t k = order->variable[first + i];
        u->lower[i] = v->lower[k];
        u->upper[i] = v->upper[k];
        u->centre[i] = v->centre[k];
        u->sigma[i] = v->sigma[k];
    }
    return DB_OK;
}

static db_status search_local(local_problem *p, db_search *s, double *local) {
    db_open_shot *const open = p->open;
    db_objective *const objective = &open->objective;
    const size_t *const variable = p->order->variable + p->order->shared;
    int at_bound[DB_FIT_MOST_PARAMETERS];
    db_stage_result end;
    for (size_t i = 0; i < s->unknowns.count; i++)
        local[i] = fmin(fmax(local[i], s->unknowns.lower[i]), s->unknowns.upper[i]);
    DB_TRY(db_search_prepare(s));
    objective->sums_only = 1;
    db_status status = db_search_run(s, local, at_bound, &end);
    for (size_t i = 0; i < s->unknowns.count && open->by_moments; i++)
        open->value[variable[i]] = local[i];
    if (status == DB_OK) status = complete_open(open);
    objective->sums_only = 0;
    DB_TRY(status);
    db_variables_add_priors(&objective->variables, open->value, &objective->loss,
                            objective->gradient, objective->normal);
    for (size_t i = 0; i < s->unknowns.count; i++)
        open->held[variable[i]] =
            db_unknown_held(&s->unknowns, i, local[i], objective->gradient[variable[i]]) != 0;
    if (s->end != DB_LM_STOPPED && isfinite(objective->loss)) return DB_OK;
    return db_fail(objective->context, DB_ERROR_INPUT,
                   "stage %s: the target has no finite value for this shot", s->stage->name);
}

db_status db_open_shot_fit(db_open_shot *open, const db_schur_order *order,
                           const db_fit_stage *stage, const double *shared, double *local) {
    local_problem problem = { open, order };
    db_search search = { .context = open->objective.context,
                         .problem = { .evaluate = evaluate_local, .user = &problem },
                         .stage = stage,
                         .degrees = open->objective.degrees };
    for (size_t i = 0; i < order->shared; i++)
        open->value[order->variable[i]] = shared[i] + open->shift[i];
    db_status status = db_local_unknowns(search.context, &open->settings, order,
                                         &open->objective.variables, &search.unknowns);
    if (status == DB_OK) status = search_local(&problem, &search, local);
    db_search_clear(&search);
    return status;
}

db_status db_open_shot_predict(db_context *context, db_open_shot *open) {
    return db_predict_again(context, &open->objective.experiment, open->settings.excitation_angle,
                            open->pixels.boxes.reflection, open->pixels.boxes.count);
}

void db_shot_measure(const db_objective *objective, const db_stored *pixels, int after,
                     db_shot_summary *summary) {
    db_fit_statistics *const to = &summary->fit[after];
    db_statistics_residuals(objective, to);
    if (pixels->boxes.count) db_statistics_centroids(objective, &pixels->boxes, to);
    to->shoeboxes = 0; /* those that count */
    for (size_t b = 0; b < objective->blocks.count; b++)
        to->shoeboxes += db_objective_trust(objective, b) > 0;
}

db_status db_shot_objective_of(const db_shots *all, db_context *context, const db_open_shot *open,
                               const db_experiment *model, db_objective *objective) {
    const db_objective_options options = { .blur = 1,
                                           .target = (db_fit_target)open->objective.loss_of.target,
                                           .is_given = all->series != NULL };
    return db_objective_create(context, model, &open->settings, &open->pixels.blocks, &options,
                               objective);
}

db_status db_shot_objective_at_start(const db_shots *all, db_context *context, size_t shot,
                                     const db_open_shot *open, db_objective *before) {
    db_experiment start = all->state[shot].start; /* borrows */
    if (all->settings.intensity == DB_FIT_KNOWN)
        start.structure_factors = db_shots_amplitudes(all, shot);
    return db_shot_objective_of(all, context, open, &start, before);
}

size_t db_moving_quantities(const db_fit_settings *settings, const size_t *index, size_t count) {
    unsigned char motion[DB_PARAMETER_COUNT] = { 0 };
    size_t moving = 0;
    for (size_t i = 0; i < count; i++) {
        const db_fit_parameter *const p = &settings->parameters[index[i]];
        moving += p->group < 0 || !motion[p->parameter];
        if (p->group >= 0) motion[p->parameter] = 1;
    }
    return moving;
}

static void fill_box(const db_objective *o, const size_t *place, size_t b,
                     const db_linearization *s) {
    const size_t most = s->most;
    size_t list[DB_BLOCK_MOST];
    const size_t m = db_objective_block_variables(o, b, list), stride = m + DB_LINEAR;
    const double *const slope = db_objective_block_gradient(o, b);
    const double *const normal = db_objective_block_normal(o, b);
    float *to = s->normal + b * (most * (most + 1) / 2);
    s->moved[b] = (uint16_t)m;
    for (size_t k = 0; k < m; k++) {
        s->place[b * most + k] = (uint16_t)place[list[k]];
        s->slope[b * most + k] = (float)(0.5 * slope[k]);
        s->mixed[b * most + k] = (float)normal[m * stride + k];
        for (size_t l = 0; l <= k; l++) *to++ = (float)normal[k * stride + l];
    }
    s->intensity[b] = (float)o->solution[b].linear[0];
    s->loss[b] = (float)o->solution[b].loss;
    s->pull[b] = (float)(0.5 * slope[m]);
    s->curvature[b] = (float)normal[m * stride + m];
}

void db_shot_linearize(const db_open_shot *open, const db_schur_order *order,
                       const db_linearization *linearization) {
    size_t place[DB_FIT_MOST_PARAMETERS]; /* place of each variable: local quantities first */
    for (size_t i = 0; i < order->local; i++) place[order->variable[order->shared + i]] = i;
    for (size_t i = 0; i < order->shared; i++) place[order->variable[i]] = order->local + i;
    for (size_t b = 0; b < linearization->count; b++)
        fill_box(&open->objective, place, b, linearization);
}
