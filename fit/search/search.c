/* Evaluations of a search: adds priors, records, keeps the best point, repeats the evaluations of an interrupted
 * run. */
#include "fit/search/search.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_search_log_reserve(db_context *context, db_search_log *log, size_t unknowns,
                                size_t rows) {
    double *const row = realloc(log->row, (rows * db_search_log_width(unknowns) + 1) * sizeof *row);
    if (row) log->row = row;
    double *const from = realloc(log->from, (unknowns + 1) * sizeof *from);
    if (from) log->from = from;
    if (!row || !from) return db_fail_memory(context, "what a stage has evaluated");
    log->unknowns = unknowns;
    log->room = rows;
    return DB_OK;
}

void db_search_log_clear(db_search_log *log) {
    free(log->row);
    free(log->from);
    *log = (db_search_log){ .stage = -1 };
}

/* Length of the gradient per degree of freedom, in typical changes of the unknowns. */
static double gradient_norm_of(const db_unknowns *unknowns, const double *gradient,
                               double degrees) {
    double square = 0;
    for (size_t i = 0; i < unknowns->count; i++)
        square += pow(gradient[i] / degrees * unknowns->scale[i], 2);
    return sqrt(square);
}

/* Repeats an evaluation from before an interruption. */
static db_status replay(db_search *s, const db_search_log *log, const double *x, db_evaluation *e) {
    const size_t n = s->unknowns.count;
    const double *const row = log->row + s->replayed++ * db_search_log_width(n);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(row[i] - x[i]) <= 1e-9 * s->unknowns.scale[i]))
            return db_fail(s->context, DB_ERROR_INPUT,
                           "%s: is of another refinement: evaluation %d of stage %s would be "
                           "elsewhere",
                           log->path, s->evaluations, s->stage->name);
    e->degrees = row[n];
    e->loss = row[n + 1];
    if (e->gradient) memcpy(e->gradient, row + n + 2, n * sizeof *row);
    if (e->normal) memcpy(e->normal, row + 2 * n + 2, n * n * sizeof *row);
    return DB_OK;
}

/* Adds an evaluation to the log, which grows with them: with many unknowns each takes much memory. */
static db_status note(db_search *s, db_search_log *log, const double *x, const db_evaluation *e) {
    const size_t n = log->unknowns;
    if (log->count == log->room)
        DB_TRY(db_search_log_reserve(s->context, log, n, log->count + log->count / 2 + 1));
    double *const row = log->row + log->count++ * db_search_log_width(n);
    memcpy(row, x, n * sizeof *row);
    row[n] = e->degrees;
    row[n + 1] = e->loss;
    memcpy(row + n + 2, e->gradient, n * sizeof *row);
    memcpy(row + 2 * n + 2, e->normal, n * n * sizeof *row);
    return DB_OK;
}

static db_status evaluate_at(db_search *s, const double *x, db_objective_depth depth,
                             db_search_log *log, double *loss) {
    const int repeats = log && s->replayed < s->known;
    db_evaluation e = { .loss = INFINITY,
                        .degrees = s->degrees,
                        .gradient = depth == DB_OBJECTIVE_LOSS ? NULL : s->gradient,
                        .normal = depth == DB_OBJECTIVE_NORMAL ? s->normal : NULL };
    DB_TRY(repeats ? replay(s, log, x, &e) : s->problem.evaluate(s->problem.user, x, &e));
    s->degrees = e.degrees;
    s->begins_anew = e.is_of_another;
    if (log && !repeats && !e.is_of_another) DB_TRY(note(s, log, x, &e));
    *loss = e.loss;
    db_unknowns_add_priors(&s->unknowns, x, loss, e.gradient, e.normal);
    return DB_OK;
}

db_status db_search_look(db_search *s, const double *x, db_objective_depth depth, double *loss) {
    return evaluate_at(s, x, depth, NULL, loss);
}

/* Records an evaluation; not if its loss is not finite. */
static int record_evaluation(db_search *s, const double *x, db_objective_depth depth, double loss) {
    const double norm =
        depth == DB_OBJECTIVE_LOSS ? 0 : gradient_norm_of(&s->unknowns, s->gradient, s->degrees);
    const db_fit_history now = { .stage = s->number,
                                 .evaluation = s->evaluations,
                                 .target = loss / s->degrees,
                                 .gradient_norm = norm };
    if (!isfinite(loss) || !isfinite(norm)) return 0;
    s->cancelled = s->problem.record && s->problem.record(s->problem.user, x, &now);
    return 1;
}

int db_search_evaluate(db_search *s, const double *x, db_objective_depth depth, double *loss) {
    const int repeats = s->replayed < s->known;
    s->evaluations++;
    s->at_best = 0;
    s->status = evaluate_at(s, x, depth, s->log, loss);
    if (s->status != DB_OK || s->begins_anew) return 0;
    if (record_evaluation(s, x, depth, *loss) && *loss < s->best) {
        s->best = *loss;
        s->at_best = depth == DB_OBJECTIVE_NORMAL;
        s->started = 1;
        memcpy(s->value, x, s->unknowns.count * sizeof *x);
        if (s->problem.keep && !repeats) s->status = s->problem.keep(s->problem.user);
    } else if (s->problem.doubt && s->started && !repeats && !s->cancelled) {
        s->status = s->problem.doubt(s->problem.user, &s->begins_anew);
    }
    return s->status == DB_OK && !s->cancelled && !s->begins_anew;
}
