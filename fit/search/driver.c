/* The search of a stage from start to end. */
#include "fit/search/driver.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/search/nlopt_search.h"
#include "fit/search/stage_end.h"

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

/* Begins a search at the best point, or repeats the one that was interrupted. */
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

db_status db_search_run(db_search *s, double *value, int *at_bound, db_stage_result *result) {
    s->value = value;
    s->best = INFINITY;
    if (s->stage->kind == DB_STAGE_NLOPT)
        s->status = db_nlopt_search(s);
    else
        run_lm(s);
    DB_TRY(s->status);
    return db_stage_judge(s, at_bound, result);
}

void db_search_clear(db_search *s) {
    free(s->gradient);
    db_unknowns_clear(&s->unknowns);
}
