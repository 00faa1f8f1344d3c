/* One stage of one image, by Levenberg-Marquardt or a method of NLopt. */
#include "fit/search/optimize.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/config/algorithms.h"
#include "fit/config/misset.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the methods' callbacks need. NLopt's coordinate x of a quantity: value = start + x scale. */
typedef struct minimization {
    db_objective *objective;
    const db_variables *variables;
    const db_fit_stage *stage;
    db_fit_course *course;
    const double *orientation; /* that misset angles are relative to */
    nlopt_opt optimizer;
    db_unknowns unknowns; /* all variables */
    int number;           /* of the stage */
    int evaluations;
    db_status status;
    db_lm_end end;
    int cancelled;
    int at_best; /* the objective's gradient and normal matrix are those of the best values */
    const char *stopped_by; /* NLopt's own words */
    double loss; /* priors included; so are gradient and normal matrix, in the objective */
    double best, *best_value;
} minimization;

void db_report_values(const db_fit_settings *settings, const double orientation[9],
                      const db_experiment *experiment, const db_panel_placement *placement,
                      double *value) {
    double misset[3];
    db_misset_from(orientation, &experiment->crystal, misset);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        value[i] = p->parameter >= DB_MISSET_X && p->parameter <= DB_MISSET_Z
                       ? misset[p->parameter - DB_MISSET_X]
                       : db_fit_value(p, experiment, placement);
    }
}

/* Keeps the evaluation in the history and tells the caller, who may cancel. */
static void record(minimization *m, double gradient_norm) {
    db_fit_course *const course = m->course;
    db_fit_history *const entry = db_fit_course_add(course);
    if (!entry) return;
    entry->stage = m->number;
    entry->evaluation = m->evaluations;
    entry->target = m->loss / m->objective->degrees;
    entry->gradient_norm = gradient_norm;
    db_report_values(m->objective->settings, m->orientation, &m->objective->experiment,
                     &m->objective->placement, entry->value);
    if (course->progress && course->progress(course->user, entry)) m->cancelled = 1;
}

/* Evaluates loss, gradient and normal matrix, priors included. Impossible values have an infinite
 * loss. */
static db_status evaluate_at(minimization *m, const double *values, db_objective_depth depth) {
    db_objective *const objective = m->objective;
    const db_status status = db_objective_evaluate(objective, values, depth);
    m->loss = INFINITY;
    if (status == DB_ERROR_INPUT) return DB_OK;
    DB_TRY(status);
    m->loss = objective->loss;
    db_variables_add_priors(m->variables, values, &m->loss,
                            depth == DB_OBJECTIVE_LOSS ? NULL : objective->gradient,
                            depth == DB_OBJECTIVE_NORMAL ? objective->normal : NULL);
    return DB_OK;
}

/* One evaluation of a method; 0: it is to stop. */
static int evaluate(minimization *m, const double *values, db_objective_depth depth) {
    const size_t n = m->variables->count;
    double square = 0;
    m->status = evaluate_at(m, values, depth);
    if (m->status != DB_OK) return 0;
    m->evaluations++;
    for (size_t k = 0; k < n && depth != DB_OBJECTIVE_LOSS; k++) {
        const double slope =
            m->objective->gradient[k] / m->objective->degrees * m->unknowns.scale[k];
        square += slope * slope;
    }
    m->at_best = 0;
    if (isfinite(m->loss) && isfinite(square)) {
        if (m->loss < m->best) {
            m->at_best = depth == DB_OBJECTIVE_NORMAL;
            m->best = m->loss;
            memcpy(m->best_value, values, n * sizeof *values);
        }
        record(m, sqrt(square));
    }
    return !m->cancelled;
}

/* Units of NLopt's coordinates, from the first evaluation. */
static void set_scales(minimization *m) {
    const size_t n = m->variables->count;
    for (size_t k = 0; k < n; k++) {
        const db_fit_parameter *const p =
            &m->objective->settings->parameters[m->variables->index[k]];
        const double table = db_parameter_describe(p->parameter)->scale;
        const double curvature = 2 * m->objective->normal[k * n + k] / m->objective->degrees;
        m->unknowns.scale[k] = !isnan(p->scale) ? p->scale
                               : curvature > 0  ? 1 / sqrt(curvature)
                                                : table;
        /* A parameter with little influence at the start must not take huge steps. */
        if (isnan(p->scale)) m->unknowns.scale[k] = fmin(m->unknowns.scale[k], 10 * table);
    }
}

static int must_stop(const minimization *m) {
    return m->cancelled || m->end == DB_LM_STOPPED || m->evaluations >= m->stage->max_evaluations;
}

static double evaluate_nlopt(unsigned n, const double *x, double *gradient, void *data) {
    minimization *const m = data;
    double values[DB_FIT_MOST_PARAMETERS];
    if (must_stop(m)) { /* some methods go on for a while */
        nlopt_force_stop(m->optimizer);
        if (gradient) memset(gradient, 0, n * sizeof *gradient);
        return HUGE_VAL;
    }
    for (size_t k = 0; k < n; k++) {
        const double value = m->variables->start[k] + x[k] * m->unknowns.scale[k];
        values[k] = fmin(fmax(value, m->variables->lower[k]), m->variables->upper[k]);
    }
    (void)evaluate(m, values, gradient ? DB_OBJECTIVE_GRADIENT : DB_OBJECTIVE_LOSS);
    if (m->status != DB_OK || !isfinite(m->loss)) m->end = DB_LM_STOPPED;
    if (must_stop(m)) nlopt_force_stop(m->optimizer);
    for (unsigned k = 0; k < n && gradient; k++)
        gradient[k] = m->end == DB_LM_STOPPED ? 0
                                              : m->objective->gradient[k] / m->objective->degrees *
                                                    m->unknowns.scale[k];
    return m->end == DB_LM_STOPPED ? HUGE_VAL : m->loss / m->objective->degrees;
}

static db_status check_finite_bounds(const minimization *m) {
    const db_fit_settings *const settings = m->objective->settings;
    for (size_t k = 0; k < m->variables->count; k++) {
        const db_fit_quantity quantity =
            db_fit_quantity_of(&settings->parameters[m->variables->index[k]]);
        char name[DB_FIT_NAME_SIZE];
        if (isfinite(m->variables->lower[k]) && isfinite(m->variables->upper[k])) continue;
        return db_fail(m->objective->context, DB_ERROR_USAGE,
                       "stage %s: %s searches all of the space between bounds: %s needs a range, "
                       "or min and max",
                       m->stage->name, m->stage->algorithm,
                       db_fit_quantity_name(&settings->panel_groups, quantity, name));
    }
    return DB_OK;
}

static db_status set_up(minimization *m, const db_algorithm *algorithm) {
    double lower[DB_FIT_MOST_PARAMETERS], upper[DB_FIT_MOST_PARAMETERS];
    const unsigned n = (unsigned)m->variables->count;
    if (algorithm->kind == DB_ALGORITHM_GLOBAL) DB_TRY(check_finite_bounds(m));
    m->optimizer = nlopt_create((nlopt_algorithm)algorithm->nlopt, n);
    if (!m->optimizer) return db_fail_memory(m->objective->context, "the optimizer");
    for (size_t k = 0; k < n; k++) {
        lower[k] = (m->variables->lower[k] - m->variables->start[k]) / m->unknowns.scale[k];
        upper[k] = (m->variables->upper[k] - m->variables->start[k]) / m->unknowns.scale[k];
    }
    nlopt_result code = nlopt_set_min_objective(m->optimizer, evaluate_nlopt, m);
    if (code > 0) code = nlopt_set_lower_bounds(m->optimizer, lower);
    if (code > 0) code = nlopt_set_upper_bounds(m->optimizer, upper);
    if (code > 0) code = nlopt_set_ftol_rel(m->optimizer, m->stage->tolerance);
    if (code > 0) code = nlopt_set_maxeval(m->optimizer, m->stage->max_evaluations);
    if (code > 0 && algorithm->needs_local) {
        nlopt_opt local = nlopt_create(NLOPT_LD_LBFGS, n);
        if (!local) return db_fail_memory(m->objective->context, "the optimizer");
        nlopt_set_ftol_rel(local, m->stage->tolerance);
        code = nlopt_set_local_optimizer(m->optimizer, local);
        nlopt_destroy(local);
    }
    if (code > 0) return DB_OK;
    return db_fail(m->objective->context, DB_ERROR_USAGE,
                   "stage %s: NLopt refuses %s with these bounds", m->stage->name,
                   m->stage->algorithm);
}

static db_status run_nlopt(minimization *m, const db_algorithm *algorithm) {
    double x[DB_FIT_MOST_PARAMETERS] = { 0 }, value;
    DB_TRY(evaluate_at(m, m->variables->start, DB_OBJECTIVE_NORMAL));
    set_scales(m);
    nlopt_srand(1); /* the same search every time */
    const db_status status = set_up(m, algorithm);
    if (status == DB_OK)
        m->stopped_by = nlopt_result_to_string(nlopt_optimize(m->optimizer, x, &value));
    if (m->optimizer) nlopt_destroy(m->optimizer);
    return status;
}

static int evaluate_lm(void *user, const double *x, double *loss, double *gradient,
                       double *normal) {
    minimization *const m = user;
    const size_t n = m->variables->count;
    const int go_on = evaluate(m, x, DB_OBJECTIVE_NORMAL);
    *loss = m->loss;
    memcpy(gradient, m->objective->gradient, n * sizeof *gradient);
    memcpy(normal, m->objective->normal, n * n * sizeof *normal);
    return !go_on;
}

static db_status run_lm(minimization *m) {
    const size_t n = m->variables->count;
    double x[DB_FIT_MOST_PARAMETERS], farthest;
    DB_TRY(db_farthest_block(m->objective, &farthest));
    for (size_t k = 0; k < n; k++) {
        const db_fit_parameter *const p =
            &m->objective->settings->parameters[m->variables->index[k]];
        /* With free intensities a step that loses spots does not lower the loss, so no other limit
         * is needed. */
        if (isnan(p->scale) && m->objective->settings->intensity == DB_FIT_KNOWN)
            m->unknowns.longest[k] =
                db_longest_step(m->objective, p, farthest, m->unknowns.longest[k]);
    }
    memcpy(x, m->variables->start, n * sizeof *x);
    m->end =
        db_stage_minimize(&m->unknowns, m->stage, m->objective->degrees, evaluate_lm, m, x).end;
    return DB_OK;
}

static db_status finish(minimization *m, db_stage_result *result) {
    db_objective *const objective = m->objective;
    if (m->cancelled) {
        result->end = DB_STAGE_CANCELLED;
        snprintf(result->reason, sizeof result->reason,
                 "cancelled in stage %s after %d evaluation%s; this is the best model so far",
                 m->stage->name, m->evaluations, m->evaluations == 1 ? "" : "s");
        return DB_OK;
    }
    if (!m->at_best) DB_TRY(evaluate_at(m, m->best_value, DB_OBJECTIVE_NORMAL));
    const db_search_end end = { .stage = m->stage,
                                .loss = m->loss,
                                .degrees = objective->degrees,
                                .gradient = objective->gradient,
                                .normal = objective->normal,
                                .evaluations = m->evaluations,
                                .end = m->end,
                                .stopped_by = m->stopped_by };
    db_stage_judge(&m->unknowns, &end, result);
    return DB_OK;
}

db_status db_optimize_stage(db_objective *objective, const db_fit_stage *stage, int number,
                            const double orientation[9], db_fit_course *course,
                            db_stage_result *result) {
    const db_variables *const v = &objective->variables;
    db_algorithm algorithm;
    minimization m = { .objective = objective,
                       .variables = v,
                       .stage = stage,
                       .course = course,
                       .orientation = orientation,
                       .number = number,
                       .end = DB_LM_CONVERGED,
                       .best = HUGE_VAL,
                       .best_value = result->value };
    memset(result, 0, sizeof *result);
    DB_TRY(db_algorithm_check(objective->context, stage->algorithm, &algorithm));
    DB_TRY(db_fit_course_reserve(objective->context, course, (size_t)stage->max_evaluations + 1));
    DB_TRY(
        db_unknowns_make(objective->context, objective->settings, v->index, v->count, &m.unknowns));
    memcpy(m.unknowns.lower, v->lower, v->count * sizeof *v->lower);
    memcpy(m.unknowns.upper, v->upper, v->count * sizeof *v->upper);
    memcpy(m.best_value, v->start, v->count * sizeof *v->start);
    objective->sums_only = 1;
    db_status status = algorithm.kind == DB_ALGORITHM_LM ? run_lm(&m) : run_nlopt(&m, &algorithm);
    if (m.status != DB_OK && m.status != DB_ERROR_INPUT) status = m.status;
    if (status == DB_OK) status = finish(&m, result);
    objective->sums_only = 0;
    if (status == DB_OK) status = db_objective_bring(objective);
    db_unknowns_clear(&m.unknowns);
    return status;
}
