#include "fit/search/optimize.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/config/algorithms.h"
#include "fit/search/levenberg_marquardt.h"
#include "fit/search/stage_search.h"
#include "fit/config/misset.h"
#include "fit/config/physical_range.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the methods' callbacks need. NLopt's coordinate x of a quantity: value = start + x scale. */
typedef struct minimization {
    db_objective *shot;
    const db_variables *variables;
    const db_fit_stage *stage;
    db_fit_course *course;
    const double *orientation; /* that misset angles are told relative to */
    nlopt_opt optimizer;
    int number; /* of the stage */
    int evaluations;
    db_status status;
    int diverged, cancelled, no_progress;
    int at_best;            /* the shot's gradient and normal matrix are those of the best values */
    const char *stopped_by; /* the method's own words */
    double scale[DB_FIT_MOST_PARAMETERS];
    double loss; /* priors included; so are gradient and normal matrix, in the shot */
    double best, best_value[DB_FIT_MOST_PARAMETERS];
} minimization;

db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations) {
    if (course->room - course->count >= evaluations) return DB_OK;
    const size_t room = course->count + evaluations;
    db_fit_history *const grown = realloc(course->history, room * sizeof *grown);
    if (!grown) return db_fail_memory(context, "the history of the refinement");
    course->history = grown;
    double *const values = realloc(course->values, (room * course->width + 1) * sizeof *values);
    if (!values) return db_fail_memory(context, "the history of the refinement");
    course->values = values;
    course->room = room;
    for (size_t i = 0; i < course->count; i++)
        course->history[i].value = values + i * course->width;
    return DB_OK;
}

/* Parameter values as users know them. */
static void report_values(const minimization *m, double *value) {
    const db_fit_settings *const settings = m->shot->settings;
    double misset[3];
    db_misset_from(m->orientation, &m->shot->experiment.crystal, misset);
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const db_fit_parameter *const p = &settings->parameters[i];
        value[i] = p->parameter >= DB_MISSET_X && p->parameter <= DB_MISSET_Z
                       ? misset[p->parameter - DB_MISSET_X]
                       : db_fit_value(p, &m->shot->experiment, &m->shot->placement);
    }
}

/* Keeps the evaluation in the history and tells the caller, who may cancel. */
static void record(minimization *m, double gradient_norm) {
    db_fit_course *const course = m->course;
    db_fit_history *const entry = &course->history[course->count];
    double *const value = course->values + course->count++ * course->width;
    *entry = (db_fit_history){ .stage = m->number,
                               .evaluation = m->evaluations,
                               .target = m->loss / m->shot->degrees,
                               .gradient_norm = gradient_norm,
                               .value = value };
    report_values(m, entry->value);
    if (course->progress && course->progress(course->user, entry)) m->cancelled = 1;
}

/* Evaluates loss, gradient and normal matrix, priors included. Impossible values have an infinite
 * loss. */
static db_status evaluate_at(minimization *m, const double *values, db_objective_depth depth) {
    db_objective *const shot = m->shot;
    const db_status status = db_objective_evaluate(shot, values, depth);
    m->loss = INFINITY;
    if (status == DB_ERROR_INPUT) return DB_OK;
    DB_TRY(status);
    m->loss = shot->loss;
    db_variables_add_priors(m->variables, values, &m->loss,
                            depth == DB_OBJECTIVE_LOSS ? NULL : shot->gradient,
                            depth == DB_OBJECTIVE_NORMAL ? shot->normal : NULL);
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
        const double slope = m->shot->gradient[k] / m->shot->degrees * m->scale[k];
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
        const db_fit_parameter *const p = &m->shot->settings->parameters[m->variables->index[k]];
        const double table = db_parameter_describe(p->parameter)->scale;
        const double curvature = 2 * m->shot->normal[k * n + k] / m->shot->degrees;
        m->scale[k] = !isnan(p->scale) ? p->scale : curvature > 0 ? 1 / sqrt(curvature) : table;
        /* A parameter that hardly matters now must not be thrown far away. */
        if (isnan(p->scale)) m->scale[k] = fmin(m->scale[k], 10 * table);
    }
}

static int told_to_stop(const minimization *m) {
    return m->cancelled || m->diverged || m->evaluations >= m->stage->max_evaluations;
}

static double evaluate_nlopt(unsigned n, const double *x, double *gradient, void *data) {
    minimization *const m = data;
    double values[DB_FIT_MOST_PARAMETERS];
    if (told_to_stop(m)) { /* some methods ask on for a while */
        nlopt_force_stop(m->optimizer);
        if (gradient) memset(gradient, 0, n * sizeof *gradient);
        return HUGE_VAL;
    }
    for (size_t k = 0; k < n; k++) {
        const double value = m->variables->start[k] + x[k] * m->scale[k];
        values[k] = fmin(fmax(value, m->variables->lower[k]), m->variables->upper[k]);
    }
    (void)evaluate(m, values, gradient ? DB_OBJECTIVE_GRADIENT : DB_OBJECTIVE_LOSS);
    m->diverged = m->status != DB_OK || !isfinite(m->loss);
    if (told_to_stop(m)) nlopt_force_stop(m->optimizer);
    for (unsigned k = 0; k < n && gradient; k++)
        gradient[k] = m->diverged ? 0 : m->shot->gradient[k] / m->shot->degrees * m->scale[k];
    return m->diverged ? HUGE_VAL : m->loss / m->shot->degrees;
}

static const char *name_of(const minimization *m, size_t k, char name[DB_FIT_NAME_SIZE]) {
    const db_fit_settings *const settings = m->shot->settings;
    const int quantity = db_fit_quantity_of(&settings->parameters[m->variables->index[k]]);
    return db_fit_quantity_name(&settings->panel_groups, quantity, name);
}

static db_status check_finite_bounds(const minimization *m) {
    char text[DB_FIT_NAME_SIZE];
    for (size_t k = 0; k < m->variables->count; k++)
        if (!isfinite(m->variables->lower[k]) || !isfinite(m->variables->upper[k]))
            return db_fail(
                m->shot->context, DB_ERROR_USAGE,
                "stage %s: %s searches all of the space between bounds: %s needs a range, "
                "or min and max",
                m->stage->name, m->stage->algorithm, name_of(m, k, text));
    return DB_OK;
}

static db_status set_up(minimization *m, const db_algorithm *algorithm) {
    double lower[DB_FIT_MOST_PARAMETERS], upper[DB_FIT_MOST_PARAMETERS];
    const unsigned n = (unsigned)m->variables->count;
    if (algorithm->kind == DB_ALGORITHM_GLOBAL) DB_TRY(check_finite_bounds(m));
    m->optimizer = nlopt_create((nlopt_algorithm)algorithm->nlopt, n);
    if (!m->optimizer) return db_fail_memory(m->shot->context, "the optimizer");
    for (size_t k = 0; k < n; k++) {
        lower[k] = (m->variables->lower[k] - m->variables->start[k]) / m->scale[k];
        upper[k] = (m->variables->upper[k] - m->variables->start[k]) / m->scale[k];
    }
    nlopt_result code = nlopt_set_min_objective(m->optimizer, evaluate_nlopt, m);
    if (code > 0) code = nlopt_set_lower_bounds(m->optimizer, lower);
    if (code > 0) code = nlopt_set_upper_bounds(m->optimizer, upper);
    if (code > 0) code = nlopt_set_ftol_rel(m->optimizer, m->stage->tolerance);
    if (code > 0) code = nlopt_set_maxeval(m->optimizer, m->stage->max_evaluations);
    if (code > 0 && algorithm->needs_local) {
        nlopt_opt local = nlopt_create(NLOPT_LD_LBFGS, n);
        if (!local) return db_fail_memory(m->shot->context, "the optimizer");
        nlopt_set_ftol_rel(local, m->stage->tolerance);
        code = nlopt_set_local_optimizer(m->optimizer, local);
        nlopt_destroy(local);
    }
    if (code > 0) return DB_OK;
    return db_fail(m->shot->context, DB_ERROR_USAGE, "stage %s: NLopt refuses %s with these bounds",
                   m->stage->name, m->stage->algorithm);
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
    memcpy(gradient, m->shot->gradient, n * sizeof *gradient);
    memcpy(normal, m->shot->normal, n * n * sizeof *normal);
    return !go_on;
}

static db_status run_lm(minimization *m) {
    const size_t n = m->variables->count;
    double longest[DB_FIT_MOST_PARAMETERS], x[DB_FIT_MOST_PARAMETERS], farthest;
    DB_TRY(db_farthest_block(m->shot, &farthest));
    double *const memory = malloc(db_lm_room(n) * sizeof *memory);
    if (!memory) return db_fail_memory(m->shot->context, "the optimizer");
    for (size_t k = 0; k < n; k++) {
        const db_fit_parameter *const p = &m->shot->settings->parameters[m->variables->index[k]];
        const double typical =
            isnan(p->scale) ? db_parameter_describe(p->parameter)->scale : p->scale;
        /* A free intensity ends where its spot is lost, and a step that loses many is no better. */
        const int may_run_away = isnan(p->scale) && m->shot->settings->intensity == DB_FIT_KNOWN;
        longest[k] =
            may_run_away ? db_longest_step(m->shot, p, farthest, 10 * typical) : 10 * typical;
        m->scale[k] = typical;
    }
    const db_lm_problem problem = { .count = n,
                                    .evaluate = evaluate_lm,
                                    .user = m,
                                    .lower = m->variables->lower,
                                    .upper = m->variables->upper,
                                    .longest = longest,
                                    .degrees = m->shot->degrees,
                                    .tolerance = m->stage->tolerance,
                                    .step = m->stage->step,
                                    .most_evaluations = m->stage->max_evaluations };
    memcpy(x, m->variables->start, n * sizeof *x);
    const db_lm_result end = db_lm_minimize(&problem, x, memory);
    free(memory);
    m->diverged = end.end == DB_LM_STOPPED && !m->cancelled;
    m->no_progress = end.end == DB_LM_NO_PROGRESS;
    m->stopped_by = "no step, however short, lowers the target";
    return DB_OK;
}

/* A parameter on its bound that the gradient pushes outward; on a bound of physics, whatever the
 * gradient says: there, as for a mosaic spread of 0, it may be that of another parameter. */
static int at_bound_of(const minimization *m, size_t k) {
    const db_variables *const v = m->variables;
    const db_fit_parameter *const p = &m->shot->settings->parameters[v->index[k]];
    const double near = 1e-6 * m->scale[k], slope = m->shot->gradient[k];
    const double value = m->best_value[k];
    double least, most;
    db_physical_range(p->parameter, &least, &most);
    if (value <= v->lower[k] + near && (slope > 0 || v->lower[k] <= least)) return -1;
    return value >= v->upper[k] - near && (slope < 0 || v->upper[k] >= most);
}

static void find_bounds(const minimization *m, int *at_bound) {
    for (size_t k = 0; k < m->variables->count; k++) at_bound[k] = at_bound_of(m, k);
}

/* The first parameter at a bound that is the user's choice, not physics; count if there is none. */
static size_t held_by_user(const minimization *m, const int *at_bound) {
    size_t k = 0;
    for (; k < m->variables->count; k++) {
        double range[2];
        const db_fit_parameter *const p = &m->shot->settings->parameters[m->variables->index[k]];
        db_physical_range(p->parameter, &range[0], &range[1]);
        if (at_bound[k] < 0 && m->variables->lower[k] > range[0]) break;
        if (at_bound[k] > 0 && m->variables->upper[k] < range[1]) break;
    }
    return k;
}

static void explain(const minimization *m, db_stage_result *r) {
    /* NLopt's own criterion is a change, ours a promise: ten times what one more step would have
     * had to bring. */
    const int converged = r->promise <= 10 * m->stage->tolerance || r->step <= m->stage->step;
    const size_t held = held_by_user(m, r->at_bound);
    const char *const name = m->stage->name;
    char text[DB_FIT_NAME_SIZE];
    if (m->diverged) {
        r->end = DB_STAGE_DIVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: diverged, the target has no finite value after evaluation %d", name,
                 m->evaluations);
    } else if (held < m->variables->count) {
        const size_t i = m->variables->index[held];
        const db_fit_parameter *const p = &m->shot->settings->parameters[i];
        r->end = DB_STAGE_AT_BOUND;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: %s is held by its %s bound %.8g; a better model lies beyond it", name,
                 name_of(m, held, text), r->at_bound[held] < 0 ? "lower" : "upper",
                 r->at_bound[held] < 0 ? p->lower : p->upper);
    } else if (converged) {
        r->end = DB_STAGE_CONVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "converged: a further step would be %.2g standard errors long and promises a "
                 "relative decrease of the target of %.1e",
                 r->step, r->promise);
    } else if (m->no_progress && r->step <= 0.5) {
        r->end = DB_STAGE_CONVERGED;
        snprintf(
            r->reason, sizeof r->reason,
            "converged: no step lowers the target beyond its rounding; a free one would be %.2g "
            "standard errors long",
            r->step);
    } else if (m->evaluations >= m->stage->max_evaluations) {
        r->end = DB_STAGE_LIMIT;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: the limit of %d evaluations was reached, while a further step promises "
                 "a relative decrease of the target of %.1e",
                 name, m->stage->max_evaluations, r->promise);
    } else {
        r->end = DB_STAGE_ROUNDOFF;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: no further progress after %d evaluations (%s: %s), although a step of "
                 "%.2g standard errors promises a relative decrease of the target of %.1e",
                 name, m->evaluations, m->stage->algorithm, m->stopped_by, r->step, r->promise);
    }
}

static db_status finish(minimization *m, db_stage_result *result) {
    db_objective *const shot = m->shot;
    const db_variables *const v = m->variables;
    double lower[DB_FIT_MOST_PARAMETERS], upper[DB_FIT_MOST_PARAMETERS],
        step[DB_FIT_MOST_PARAMETERS];
    double diagonal[DB_FIT_MOST_PARAMETERS];
    memcpy(result->value, m->best_value, sizeof result->value);
    if (m->cancelled) {
        result->end = DB_STAGE_CANCELLED;
        snprintf(result->reason, sizeof result->reason,
                 "cancelled in stage %s after %d evaluation%s; this is the best model so far",
                 m->stage->name, m->evaluations, m->evaluations == 1 ? "" : "s");
        return DB_OK;
    }
    double *const memory = malloc(db_box_room(v->count) * sizeof *memory);
    const db_status status = !memory      ? db_fail_memory(shot->context, "the optimizer")
                             : m->at_best ? DB_OK
                                          : evaluate_at(m, m->best_value, DB_OBJECTIVE_NORMAL);
    if (status != DB_OK) {
        free(memory);
        return status;
    }
    find_bounds(m, result->at_bound);
    for (size_t k = 0; k < v->count; k++) {
        lower[k] = fmin(v->lower[k] - m->best_value[k], 0);
        upper[k] = fmax(v->upper[k] - m->best_value[k], 0);
        diagonal[k] = shot->normal[k * v->count + k];
    }
    const double promise = db_box_step(v->count, shot->gradient, shot->normal, db_lm_free_damping,
                                       diagonal, lower, upper, step, memory);
    free(memory);
    result->promise = fmax(0, promise) / fabs(m->loss);
    result->step = db_lm_step_length(promise, m->loss, shot->degrees);
    explain(m, result);
    return DB_OK;
}

db_status db_optimize_stage(db_objective *shot, const db_fit_stage *stage, int number,
                            const double orientation[9], db_fit_course *course,
                            db_stage_result *result) {
    db_algorithm algorithm;
    minimization m = { .shot = shot,
                       .variables = &shot->variables,
                       .stage = stage,
                       .course = course,
                       .orientation = orientation,
                       .number = number,
                       .best = HUGE_VAL };
    memset(result, 0, sizeof *result);
    DB_TRY(db_algorithm_check(shot->context, stage->algorithm, &algorithm));
    DB_TRY(db_fit_course_reserve(shot->context, course, (size_t)stage->max_evaluations + 1));
    memcpy(m.best_value, shot->variables.start, sizeof m.best_value);
    DB_TRY(algorithm.kind == DB_ALGORITHM_LM ? run_lm(&m) : run_nlopt(&m, &algorithm));
    if (m.status != DB_OK && m.status != DB_ERROR_INPUT) return m.status;
    return finish(&m, result);
}
