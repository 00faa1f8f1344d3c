#include "fit/shots/shot_fit.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/search/levenberg_marquardt.h"
#include "fit/config/misset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_open_shot_create(db_shots *all, db_context *context, size_t shot, int stage,
                              const db_arrow_order *order, db_open_shot *open) {
    const db_fit_stage *const s = &all->settings.stages[stage];
    const db_shot_state *const state = &all->state[shot];
    const int turns = db_refinement_turns(&all->settings, stage);
    const size_t variables = order->shared + order->local;
    memset(open, 0, sizeof *open);
    open->settings = malloc(sizeof *open->settings);
    open->held = calloc(variables + 1, sizeof *open->held);
    open->work = malloc((db_arrow_work_size(order) + 1) * sizeof *open->work);
    db_status status = open->settings && open->held && open->work
                           ? DB_OK
                           : db_fail_memory(context, "a shot of a joint stage");
    if (status == DB_OK) status = db_spool_read(context, &all->spool, &state->place, &open->pixels);
    if (status == DB_OK) {
        db_shots_settings(all, shot, open->settings);
        status = db_shot_model_make(all, context, shot, &open->model);
    }
    if (status == DB_OK) {
        if (turns) db_misset_fold(&open->model.experiment.crystal);
        const db_objective_options options = { .stages = 1u << stage,
                                               .turned = turns ? state->turned : NULL,
                                               .placement = &open->model.placement,
                                               .blur = s->blur,
                                               .target = s->target < 0 ? all->settings.target
                                                                       : (db_fit_target)s->target };
        status = db_objective_create(context, &open->model.experiment, open->settings,
                                     &open->pixels.blocks, &options, &open->shot);
    }
    /* Priors of what is shared count once, not for every shot. */
    for (size_t i = 0; i < order->shared && status == DB_OK; i++)
        open->shot.variables.sigma[order->variable[i]] = INFINITY;
    if (status != DB_OK) db_open_shot_destroy(open);
    return status;
}

void db_open_shot_destroy(db_open_shot *open) {
    if (open->shot.context) db_objective_destroy(&open->shot);
    db_shot_model_clear(&open->model);
    db_spooled_clear(&open->pixels);
    free(open->settings);
    free(open->held);
    free(open->work);
    memset(open, 0, sizeof *open);
}

/* What the callback of the local search needs. */
typedef struct search {
    db_open_shot *open;
    const db_arrow_order *order;
    double value[DB_FIT_MOST_PARAMETERS]; /* of all variables */
    double loss;
    db_status status;
} search;

static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    search *const s = user;
    db_objective *const shot = &s->open->shot;
    const db_arrow_order *const order = s->order;
    const size_t n = shot->variables.count, *const local = order->variable + order->shared;
    for (size_t i = 0; i < order->local; i++) s->value[local[i]] = x[i];
    s->status = db_objective_evaluate(shot, s->value, DB_OBJECTIVE_NORMAL);
    s->open->evaluations++;
    s->loss = shot->loss;
    db_variables_add_priors(&shot->variables, s->value, &s->loss, shot->gradient, shot->normal);
    *loss = s->status == DB_OK ? s->loss : (double)INFINITY;
    for (size_t i = 0; i < order->local; i++) {
        gradient[i] = shot->gradient[local[i]];
        for (size_t j = 0; j < order->local; j++)
            normal[i * order->local + j] = shot->normal[local[i] * n + local[j]];
    }
    return s->status != DB_OK && s->status != DB_ERROR_INPUT;
}

/* The local search as a problem of its own; bounds: [3][local], for bounds and longest step. */
static db_lm_problem problem_of(search *s, const db_fit_stage *stage, double *bounds) {
    const db_open_shot *const open = s->open;
    const db_variables *const v = &open->shot.variables;
    const size_t n = s->order->local;
    for (size_t i = 0; i < n; i++) {
        const size_t k = s->order->variable[s->order->shared + i];
        const db_fit_parameter *const p = &open->settings->parameters[v->index[k]];
        bounds[i] = v->lower[k];
        bounds[n + i] = v->upper[k];
        bounds[2 * n + i] =
            10 * (isnan(p->scale) ? db_parameter_describe(p->parameter)->scale : p->scale);
    }
    return (db_lm_problem){ .count = n,
                            .evaluate = evaluate,
                            .user = s,
                            .lower = bounds,
                            .upper = bounds + n,
                            .longest = bounds + 2 * n,
                            .degrees = open->shot.degrees,
                            .tolerance = stage->tolerance,
                            .step = stage->step,
                            .most_evaluations = stage->max_evaluations };
}

/* Local quantities on a bound that the gradient pushes outward. */
static void find_held(const search *s, const double *bounds, const double *local) {
    const size_t n = s->order->local;
    for (size_t i = 0; i < n; i++) {
        const size_t k = s->order->variable[s->order->shared + i];
        const double near = 1e-7 * bounds[2 * n + i], slope = s->open->shot.gradient[k];
        s->open->held[k] = (local[i] <= bounds[i] + near && slope > 0) ||
                           (local[i] >= bounds[n + i] - near && slope < 0);
    }
}

db_status db_open_shot_fit(db_open_shot *open, const db_arrow_order *order,
                           const db_fit_stage *stage, const double *shared, double *local) {
    const size_t n = order->local;
    search s = { .open = open, .order = order };
    double *const memory = malloc((db_lm_room(n) + 3 * n + n * (n + 1) + 1) * sizeof *memory);
    if (!memory) return db_fail_memory(open->shot.context, "the search of a shot");
    double *const bounds = memory + db_lm_room(n), *const gradient = bounds + 3 * n;
    for (size_t i = 0; i < order->shared; i++) s.value[order->variable[i]] = shared[i];
    const db_lm_problem problem = problem_of(&s, stage, bounds);
    for (size_t i = 0; i < n; i++) local[i] = fmin(fmax(local[i], bounds[i]), bounds[n + i]);
    db_lm_result end = { .end = DB_LM_CONVERGED };
    double last;
    if (n > 0) end = db_lm_minimize(&problem, local, memory);
    int stale = n == 0; /* is the last evaluation not that of the best point? */
    for (size_t i = 0; i < n; i++) stale |= s.value[order->variable[order->shared + i]] != local[i];
    if (stale && (s.status == DB_OK || s.status == DB_ERROR_INPUT))
        evaluate(&s, local, &last, gradient, gradient + n);
    open->shot.loss = s.loss;
    find_held(&s, bounds, local);
    free(memory);
    if (s.status != DB_OK) return s.status;
    if (end.end != DB_LM_STOPPED && isfinite(s.loss)) return DB_OK;
    return db_fail(open->shot.context, DB_ERROR_INPUT,
                   "stage %s: the target has no finite value for this shot", stage->name);
}
