/* Methods of NLopt. Its coordinate x of an unknown: value = start + x scale. */
#include "fit/search/search.h"

#include "base/context_internal.h"

#include <dualbragg/expert/fit_quantities.h>

#include <math.h>
#include <nlopt.h>
#include <string.h>

typedef struct nlopt_search {
    db_search *search;
    double start[DB_FIT_MOST_PARAMETERS];
    nlopt_opt optimizer;
} nlopt_search;

/* Sets units of the coordinates, from an evaluation at the start. */
static void set_scales(db_search *s) {
    const db_unknowns *const u = &s->unknowns;
    for (size_t k = 0; k < u->count; k++) {
        const db_fit_parameter *const p = &u->settings->parameters[u->index[k]];
        const double table = db_parameter_describe(p->parameter)->scale;
        const double curvature = 2 * s->normal[k * u->count + k] / s->degrees;
        u->scale[k] = !isnan(p->scale) ? p->scale : curvature > 0 ? 1 / sqrt(curvature) : table;
        /* A parameter with little influence at the start must not take huge steps. */
        if (isnan(p->scale)) u->scale[k] = fmin(u->scale[k], 10 * table);
    }
}

static int must_stop(const db_search *s) {
    return s->status != DB_OK || s->cancelled || s->end == DB_LM_STOPPED ||
           s->evaluations >= s->stage->max_evaluations;
}

static double evaluate_nlopt(unsigned n, const double *x, double *gradient, void *data) {
    const nlopt_search *const m = data;
    db_search *const s = m->search;
    const db_unknowns *const u = &s->unknowns;
    double values[DB_FIT_MOST_PARAMETERS], loss = HUGE_VAL;
    if (gradient) memset(gradient, 0, n * sizeof *gradient);
    if (must_stop(s)) { /* some methods go on for some evaluations */
        nlopt_force_stop(m->optimizer);
        return HUGE_VAL;
    }
    for (size_t k = 0; k < n; k++)
        values[k] = fmin(fmax(m->start[k] + x[k] * u->scale[k], u->lower[k]), u->upper[k]);
    (void)db_search_evaluate(s, values, gradient ? DB_OBJECTIVE_GRADIENT : DB_OBJECTIVE_LOSS,
                             &loss);
    if (s->status != DB_OK || !isfinite(loss)) s->end = DB_LM_STOPPED;
    if (must_stop(s)) nlopt_force_stop(m->optimizer);
    if (s->end == DB_LM_STOPPED) return HUGE_VAL;
    for (unsigned k = 0; k < n && gradient; k++)
        gradient[k] = s->gradient[k] / s->degrees * u->scale[k];
    return loss / s->degrees;
}

static db_status check_finite_bounds(const db_search *s) {
    const db_unknowns *const u = &s->unknowns;
    for (size_t k = 0; k < u->count; k++) {
        char name[DB_FIT_NAME_SIZE];
        if (isfinite(u->lower[k]) && isfinite(u->upper[k])) continue;
        return db_fail(
            s->context, DB_ERROR_USAGE,
            "stage %s: %s searches all of the space between bounds: %s needs a range, "
            "or min and max",
            s->stage->name, s->stage->nlopt,
            db_fit_quantity_name(&u->settings->panel_groups,
                                 db_fit_quantity_of(&u->settings->parameters[u->index[k]]), name));
    }
    return DB_OK;
}

static db_status set_up(nlopt_search *m) {
    db_search *const s = m->search;
    const db_unknowns *const u = &s->unknowns;
    double lower[DB_FIT_MOST_PARAMETERS], upper[DB_FIT_MOST_PARAMETERS];
    const unsigned n = (unsigned)u->count;
    if (*s->stage->nlopt == 'G') DB_TRY(check_finite_bounds(s));
    m->optimizer = nlopt_create(nlopt_algorithm_from_string(s->stage->nlopt), n);
    if (!m->optimizer) return db_fail_memory(s->context, "the optimizer");
    for (size_t k = 0; k < n; k++) {
        lower[k] = (u->lower[k] - m->start[k]) / u->scale[k];
        upper[k] = (u->upper[k] - m->start[k]) / u->scale[k];
    }
    nlopt_result code = nlopt_set_min_objective(m->optimizer, evaluate_nlopt, m);
    if (code > 0) code = nlopt_set_lower_bounds(m->optimizer, lower);
    if (code > 0) code = nlopt_set_upper_bounds(m->optimizer, upper);
    if (code > 0) code = nlopt_set_ftol_rel(m->optimizer, s->stage->tolerance);
    if (code > 0) code = nlopt_set_maxeval(m->optimizer, s->stage->max_evaluations);
    if (code > 0 &&
        strstr(s->stage->nlopt, "MLSL")) { /* MLSL starts a local search again and again */
        nlopt_opt local = nlopt_create(NLOPT_LD_LBFGS, n);
        if (!local) return db_fail_memory(s->context, "the optimizer");
        nlopt_set_ftol_rel(local, s->stage->tolerance);
        code = nlopt_set_local_optimizer(m->optimizer, local);
        nlopt_destroy(local);
    }
    if (code > 0) return DB_OK;
    return db_fail(s->context, DB_ERROR_USAGE, "stage %s: NLopt refuses %s with these bounds",
                   s->stage->name, s->stage->nlopt);
}

db_status db_nlopt_search(db_search *s) {
    nlopt_search m = { .search = s };
    double x[DB_FIT_MOST_PARAMETERS] = { 0 }, value;
    memcpy(m.start, s->value, s->unknowns.count * sizeof *s->value);
    DB_TRY(db_search_look(s, m.start, DB_OBJECTIVE_NORMAL, &value));
    set_scales(s);
    nlopt_srand(1); /* the same random numbers every time */
    const db_status status = set_up(&m);
    if (status == DB_OK)
        s->stopped_by = nlopt_result_to_string(nlopt_optimize(m.optimizer, x, &value));
    if (m.optimizer) nlopt_destroy(m.optimizer);
    return status == DB_OK ? s->status : status;
}
