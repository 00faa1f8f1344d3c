/* The search of a stage from start to end. */
#include "fit/search/driver.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/config/physical_range.h"
#include "fit/config/modes.h"
#include "fit/config/quantity.h"
#include "fit/search/search.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int evaluate_lm(void *user, const double *x, double *loss, double *gradient,
                       double *normal) {
    db_search *const s = user;
    const size_t n = s->unknowns.count;
    const int goes_on = db_search_evaluate(s, x, DB_OBJECTIVE_NORMAL, loss);
    if (isfinite(*loss)) {
        memcpy(gradient, s->gradient, n * sizeof *gradient);
        memcpy(normal, s->normal, n * n * sizeof *normal);
    }
    return !goes_on;
}

/* Begins a search at the best point, or continues an interrupted one. */
static void begin_search(db_search *s) {
    db_search_log *const log = s->log;
    const size_t size = s->unknowns.count * sizeof *s->value;
    s->begins_anew = 0;
    s->best = INFINITY;
    if (!log) return;
    if (s->replayed < s->known) {
        s->degrees = log->degrees;
        s->evaluations = log->evaluations;
        s->started = log->started;
        memcpy(s->value, log->from, size);
        return;
    }
    log->stage = s->number;
    log->count = 0;
    log->evaluations = s->evaluations;
    log->started = s->started;
    log->degrees = s->degrees;
    log->history = s->course->count;
    memcpy(log->from, s->value, size);
    s->replayed = s->known = 0;
}

static void run_lm(db_search *s) {
    const db_unknowns *const u = &s->unknowns;
    db_lm_problem problem = { .count = u->count,
                              .evaluate = evaluate_lm,
                              .user = s,
                              .lower = u->lower,
                              .upper = u->upper,
                              .longest = u->longest,
                              .part = u->part,
                              .tolerance = s->stage->tolerance,
                              .step = s->stage->step,
                              .most_evaluations = s->stage->max_evaluations };
    double *const x = s->normal + u->count * u->count;
    do {
        begin_search(s);
        memcpy(x, s->value, u->count * sizeof *x);
        problem.degrees = s->degrees;
        s->end = db_lm_minimize(&problem, x, u->room).end;
    } while (s->status == DB_OK && s->begins_anew &&
             s->evaluations < 2 * s->stage->max_evaluations);
    if (s->end == DB_LM_STOPPED && isfinite(s->best)) s->end = DB_LM_LIMIT;
}

db_status db_search_prepare(db_search *s) {
    const size_t n = s->unknowns.count, most = 3 * (size_t)s->stage->max_evaluations + 16;
    DB_TRY(db_stage_check_method(s->context, s->stage));
    if (s->course) DB_TRY(db_fit_course_reserve(s->context, s->course, most));
    s->gradient = calloc(n * (n + 2) + 1, sizeof *s->gradient);
    if (!s->gradient) return db_fail_memory(s->context, "the search of a stage");
    s->normal = s->gradient + n;
    if (!s->log) return DB_OK;
    s->known = s->log->stage == s->number && s->log->unknowns == n ? s->log->count : 0;
    return db_search_log_reserve(s->context, s->log, n, s->known);
}

static const db_parameter_facts *facts_of(const db_unknowns *u, size_t i) {
    return db_facts_of(u->settings->parameters[u->index[i]].parameter);
}

int db_stage_bound_of(const db_unknowns *u, size_t i, double value, double slope) {
    const double near = db_unknown_near(u, i);
    const db_parameter_facts *const possible = facts_of(u, i);
    if (!(u->lower[i] < u->upper[i])) return 0; /* held by equal bounds */
    if (value <= u->lower[i] + near && u->lower[i] <= possible->least) return -1;
    if (value >= u->upper[i] - near && u->upper[i] >= possible->most) return 1;
    return db_unknown_held(u, i, value, slope);
}

int db_bound_holds(const db_fit_settings *settings, const db_fit_parameter *p, int at_bound,
                   char text[DB_BOUND_SIZE]) {
    const db_parameter_facts *const possible = db_facts_of(p->parameter);
    const int low = at_bound < 0;
    char name[DB_FIT_NAME_SIZE];
    if (possible->kind == DB_KIND_CELLS && !low && p->upper >= DB_LARGE_BLOCKS) return 0;
    if (!at_bound || !(low ? p->lower > possible->least : p->upper < possible->most)) return 0;
    if (db_mode_of(p->parameter) < DB_SPREAD_MODES) return 0; /* a warning: it moves no spot */
    snprintf(text, DB_BOUND_SIZE, "%s is held by its %s bound %.8g; a better model lies beyond it",
             db_fit_quantity_name(&settings->panel_groups, db_fit_quantity_of(p), name),
             low ? "lower" : "upper", low ? p->lower : p->upper);
    return 1;
}

/* The first unknown at a bound of the user; 0: none. */
static int held_by_user(const db_unknowns *u, const int *at_bound, char text[DB_BOUND_SIZE]) {
    for (size_t i = 0; i < u->count; i++)
        if (db_bound_holds(u->settings, &u->settings->parameters[u->index[i]], at_bound[i], text))
            return 1;
    return 0;
}

/* Our criterion is the promise of a further step. NLopt stops after a small change, so ten times the tolerance
 * counts as converged. */
static void explain_end(const db_search *s, const int *at_bound, db_stage_result *r) {
    const db_unknowns *const u = &s->unknowns;
    const db_fit_stage *const stage = s->stage;
    const int converged = r->promise <= 10 * stage->tolerance || r->step <= stage->step;
    char held[DB_BOUND_SIZE];
    const char *const stopped_by =
        s->stopped_by ? s->stopped_by : "no step, however short, lowers the target";
    if (s->end == DB_LM_STOPPED) {
        r->end = DB_STAGE_DIVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: diverged, the target has no finite value after evaluation %d",
                 stage->name, s->evaluations);
    } else if (held_by_user(u, at_bound, held)) {
        r->end = DB_STAGE_AT_BOUND;
        snprintf(r->reason, sizeof r->reason, "stage %s: %s", stage->name, held);
    } else if (converged) {
        r->end = DB_STAGE_CONVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "converged: a further step would be %.2g standard errors long and promises a "
                 "relative decrease of the target of %.1e",
                 r->step, r->promise);
    } else if (s->end == DB_LM_NO_PROGRESS && r->step <= 0.5) {
        r->end = DB_STAGE_CONVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "converged: no step lowers the target beyond rounding; an undamped step would be "
                 "%.2g standard errors long",
                 r->step);
    } else if (s->evaluations >= stage->max_evaluations) {
        r->end = DB_STAGE_LIMIT;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: the limit of %d evaluations was reached, while a further step promises "
                 "a relative decrease of the target of %.1e",
                 stage->name, stage->max_evaluations, r->promise);
    } else {
        r->end = DB_STAGE_ROUNDOFF;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: no further progress after %d evaluations (%s: %s), although a step of "
                 "%.2g standard errors promises a relative decrease of the target of %.1e",
                 stage->name, s->evaluations, db_stage_algorithm(stage), stopped_by, r->step,
                 r->promise);
    }
}

/* Evaluates at the best point, unless it was the last one; finds unknowns at a bound (-1, 0, 1) and the promise of
 * a further step; from them, how the stage ended. */
static db_status judge_stage(db_search *s, int *at_bound, db_stage_result *result) {
    const db_unknowns *const u = &s->unknowns;
    double loss = s->best;
    if (s->cancelled) {
        result->end = DB_STAGE_CANCELLED;
        snprintf(result->reason, sizeof result->reason,
                 "cancelled in stage %s after %d evaluation%s; this is the best model so far",
                 s->stage->name, s->evaluations, s->evaluations == 1 ? "" : "s");
        return DB_OK;
    }
    if (!s->at_best) DB_TRY(db_search_look(s, s->value, DB_OBJECTIVE_NORMAL, &loss));
    for (size_t i = 0; i < u->count; i++)
        at_bound[i] = db_stage_bound_of(u, i, s->value[i], s->gradient[i]);
    const double promise =
        db_lm_free_promise(u->count, s->value, u->lower, u->upper, s->gradient, s->normal, u->room);
    result->promise = fmax(0, promise) / fabs(loss);
    result->step = db_lm_step_length(promise, loss, s->degrees);
    explain_end(s, at_bound, result);
    return DB_OK;
}

db_status db_search_run(db_search *s, double *value, int *at_bound, db_stage_result *result) {
    s->value = value;
    s->best = INFINITY;
    if (s->stage->kind == DB_STAGE_NLOPT)
        s->status = db_nlopt_search(s);
    else
        run_lm(s);
    DB_TRY(s->status);
    return judge_stage(s, at_bound, result);
}

void db_search_clear(db_search *s) {
    free(s->gradient);
    db_unknowns_clear(&s->unknowns);
}
