/* A shot of a joint stage with its pixels in memory, and the search for its local quantities. */
#include "fit/shots/shot_fit.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/statistics.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_open_shot_create(db_shots *all, db_context *context, size_t shot, int stage,
                              const db_arrow_order *order, db_open_shot *open) {
    const db_fit_stage *const s = &all->settings.stages[stage];
    const db_shot_state *const state = &all->state[shot];
    const size_t variables = order->shared + order->local;
    memset(open, 0, sizeof *open);
    open->held = calloc(variables + 1, sizeof *open->held);
    open->work = malloc((db_arrow_work_size(order) + 1) * sizeof *open->work);
    open->linked = calloc(2 * variables + 1, sizeof *open->linked);
    open->value = open->linked ? open->linked + variables : NULL;
    db_status status = open->held && open->work && open->linked
                           ? DB_OK
                           : db_fail_memory(context, "a shot of a joint stage");
    if (status == DB_OK) status = db_spool_read(context, &all->spool, &state->place, &open->pixels);
    if (status == DB_OK) status = db_shots_settings(all, context, shot, &open->settings);
    if (status == DB_OK) status = db_shot_model_make(all, context, shot, &open->model);
    if (status == DB_OK) {
        const db_objective_options options = {
            .stages = 1u << stage,
            .given = &state->start.crystal,
            .placement = &open->model.placement,
            .blur = s->blur,
            .target = s->target < 0 ? all->settings.target : (db_fit_target)s->target,
            .is_given = all->series || db_fit_is_amplitude_stage(&all->settings, stage)
        };
        status = db_objective_create(context, &open->model.experiment, &open->settings,
                                     &open->pixels.blocks, &options, &open->objective);
    }
    /* Priors of shared quantities count once, not for every shot. */
    for (size_t i = 0; i < order->shared && status == DB_OK; i++)
        open->objective.variables.sigma[order->variable[i]] = INFINITY;
    if (status != DB_OK) db_open_shot_destroy(open);
    return status;
}

void db_open_shot_destroy(db_open_shot *open) {
    if (open->objective.context) db_objective_destroy(&open->objective);
    db_shot_model_clear(&open->model);
    db_spooled_clear(&open->pixels);
    db_fit_settings_clear(&open->settings);
    free(open->held);
    free(open->work);
    free(open->linked);
    memset(open, 0, sizeof *open);
}

/* What the callback of the local search needs. */
typedef struct search {
    db_open_shot *open;
    const db_arrow_order *order;
    double loss;
    db_status status;
} search;

static void evaluate_at(search *s, const double *x) {
    db_objective *const objective = &s->open->objective;
    const size_t *const local = s->order->variable + s->order->shared;
    for (size_t i = 0; i < s->order->local; i++) s->open->value[local[i]] = x[i];
    s->status = db_objective_evaluate(objective, s->open->value, DB_OBJECTIVE_NORMAL);
    s->open->evaluations++;
    s->loss = objective->loss;
    db_variables_add_priors(&objective->variables, s->open->value, &s->loss, objective->gradient,
                            objective->normal);
}

static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    search *const s = user;
    const db_objective *const objective = &s->open->objective;
    const size_t n = objective->variables.count, m = s->order->local;
    const size_t *const local = s->order->variable + s->order->shared;
    evaluate_at(s, x);
    *loss = s->status == DB_OK ? s->loss : (double)INFINITY;
    for (size_t i = 0; i < m; i++) {
        gradient[i] = objective->gradient[local[i]];
        for (size_t j = 0; j < m; j++)
            normal[i * m + j] = objective->normal[local[i] * n + local[j]];
    }
    return s->status != DB_OK && s->status != DB_ERROR_INPUT;
}

/* The local quantities as unknowns, between the bounds of the shot's variables. */
static db_status make_unknowns(const search *s, db_unknowns *u) {
    const db_variables *const v = &s->open->objective.variables;
    const db_arrow_order *const order = s->order;
    DB_TRY(db_unknowns_make(s->open->objective.context, &s->open->settings,
                            order->index + order->shared, order->local, u));
    for (size_t i = 0; i < order->local; i++) {
        u->lower[i] = v->lower[order->variable[order->shared + i]];
        u->upper[i] = v->upper[order->variable[order->shared + i]];
    }
    return DB_OK;
}

db_status db_open_shot_fit(db_open_shot *open, const db_arrow_order *order,
                           const db_fit_stage *stage, const double *shared, double *local) {
    const db_objective *const objective = &open->objective;
    const size_t *const variable = order->variable + order->shared;
    const size_t n = order->local;
    search s = { .open = open, .order = order };
    db_unknowns unknowns;
    DB_TRY(make_unknowns(&s, &unknowns));
    for (size_t i = 0; i < order->shared; i++) open->value[order->variable[i]] = shared[i];
    for (size_t i = 0; i < n; i++)
        local[i] = fmin(fmax(local[i], unknowns.lower[i]), unknowns.upper[i]);
    db_lm_end end = DB_LM_CONVERGED;
    open->objective.sums_only = 1;
    if (n > 0)
        end = db_stage_minimize(&unknowns, stage, objective->degrees, evaluate, &s, local).end;
    int stale = n == 0; /* is the last evaluation not that of the best point? */
    for (size_t i = 0; i < n; i++) stale |= open->value[variable[i]] != local[i];
    if (stale && (s.status == DB_OK || s.status == DB_ERROR_INPUT)) evaluate_at(&s, local);
    open->objective.sums_only = 0;
    if (s.status == DB_OK) s.status = db_objective_bring(&open->objective);
    open->objective.loss = s.loss;
    for (size_t i = 0; i < n; i++)
        open->held[variable[i]] =
            db_unknown_held(&unknowns, i, local[i], objective->gradient[variable[i]]) != 0;
    db_unknowns_clear(&unknowns);
    if (s.status != DB_OK) return s.status;
    if (end != DB_LM_STOPPED && isfinite(s.loss)) return DB_OK;
    return db_fail(objective->context, DB_ERROR_INPUT,
                   "stage %s: the target has no finite value for this shot", stage->name);
}

void db_shot_measure(const db_objective *objective, const db_spooled *pixels, int after,
                     db_shot_summary *summary) {
    db_fit_statistics statistics = { 0 };
    db_statistics_residuals(objective, &statistics);
    statistics.chi2_reduced = statistics.centroid_rms = NAN; /* degrees of freedom stay */
    if (pixels->boxes.count) db_statistics_centroids(objective, &pixels->boxes, &statistics);
    db_shot_store_statistics(&statistics, after, summary);
    summary->shoeboxes = pixels->blocks.count;
}

db_status db_shot_objective_at_start(const db_shots *all, db_context *context, size_t shot,
                                     const db_open_shot *open, db_objective *before) {
    const db_objective_options options = { .blur = 1,
                                           .target = (db_fit_target)open->objective.loss_of.target,
                                           .is_given = all->series != NULL };
    db_experiment start = all->state[shot].start; /* borrows */
    if (all->settings.intensity == DB_FIT_KNOWN) start.structure_factors = all->amplitudes;
    return db_objective_create(context, &start, &open->settings, &open->pixels.blocks, &options,
                               before);
}

void db_shot_start_is_impossible(db_shot_summary *summary) {
    summary->chi2[0] = summary->correlation[0] = summary->centroid_rms[0] = NAN;
}
