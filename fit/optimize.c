#include "fit/optimize.h"

#include "core/context_internal.h"
#include "fit/physical_range.h"

#include <math.h>
#include <nlopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What NLopt's callback needs. Coordinate x of a parameter: value = origin + x scale. */
typedef struct minimization {
    db_target *target;
    const db_fit_stage *stage;
    db_fit_course *course;
    nlopt_opt optimizer;
    int number; /* of the stage */
    int evaluations;
    db_status status;
    int diverged, cancelled;
    double origin[DB_PARAMETER_COUNT], scale[DB_PARAMETER_COUNT];
    double lower[DB_PARAMETER_COUNT], upper[DB_PARAMETER_COUNT]; /* of the values */
    double best, best_value[DB_PARAMETER_COUNT];
} minimization;

db_status db_fit_course_reserve(db_context *context, db_fit_course *course, size_t evaluations) {
    if (course->room - course->count >= evaluations) return DB_OK;
    const size_t room = course->count + evaluations;
    db_fit_history *const grown = realloc(course->history, room * sizeof *grown);
    if (!grown) return db_fail_memory(context, "the history of the refinement");
    course->history = grown;
    course->room = room;
    return DB_OK;
}

static void values_at(const minimization *m, const double *x, double *values) {
    for (size_t k = 0; k < m->target->count; k++) {
        const double value = m->origin[k] + x[k] * m->scale[k];
        values[k] = fmin(fmax(value, m->lower[k]), m->upper[k]);
    }
}

/* Keeps the evaluation in the history and tells the caller, who may cancel. */
static void record(minimization *m, double value, double gradient_norm) {
    db_fit_course *const course = m->course;
    db_fit_history *const entry = &course->history[course->count++];
    *entry = (db_fit_history){ .stage = m->number,
                               .evaluation = ++m->evaluations,
                               .target = value,
                               .gradient_norm = gradient_norm };
    const db_fit_settings *const settings = m->target->settings;
    for (size_t i = 0; i < settings->parameter_count; i++)
        entry->value[i] =
            db_parameter_get(&m->target->experiment, settings->parameters[i].parameter);
    if (course->progress && course->progress(course->user, entry)) m->cancelled = 1;
}

static double evaluate(unsigned n, const double *x, double *gradient, void *data) {
    minimization *const m = data;
    db_target *const target = m->target;
    double values[DB_PARAMETER_COUNT];
    values_at(m, x, values);
    m->status = db_target_evaluate(target, values, DB_TARGET_GRADIENT);
    const double value = target->chi2 / target->degrees;
    double square = 0;
    for (unsigned k = 0; k < n; k++) {
        const double slope = target->gradient[k] / target->degrees * m->scale[k];
        if (gradient) gradient[k] = slope;
        square += slope * slope;
    }
    if (m->status == DB_OK && isfinite(value) && isfinite(square)) {
        if (value < m->best) {
            m->best = value;
            memcpy(m->best_value, values, n * sizeof *values);
        }
        record(m, value, sqrt(square));
    } else {
        m->diverged = 1;
    }
    if (m->diverged || m->cancelled || m->evaluations >= m->stage->max_evaluations)
        nlopt_force_stop(m->optimizer);
    return isfinite(value) ? value : HUGE_VAL;
}

/* Bounds, also physical ones, and units of the optimizer's coordinates. */
static db_status set_coordinates(minimization *m) {
    const db_target *const target = m->target;
    for (size_t k = 0; k < target->count; k++) {
        const db_fit_parameter *const p = &target->settings->parameters[target->index[k]];
        db_physical_range(p->parameter, &m->lower[k], &m->upper[k]);
        m->lower[k] = fmax(m->lower[k], p->lower);
        m->upper[k] = fmin(m->upper[k], p->upper);
        m->origin[k] = db_parameter_get(&target->experiment, p->parameter);
        m->origin[k] = fmin(fmax(m->origin[k], m->lower[k]), m->upper[k]);
    }
    DB_TRY(db_target_evaluate(m->target, m->origin, DB_TARGET_NORMAL));
    for (size_t k = 0; k < target->count; k++) {
        const db_fit_parameter *const p = &target->settings->parameters[target->index[k]];
        const double table = db_parameter_describe(p->parameter)->scale;
        const double curvature = 2 * target->normal[k * target->count + k] / target->degrees;
        m->scale[k] = !isnan(p->scale) ? p->scale : curvature > 0 ? 1 / sqrt(curvature) : table;
        /* A parameter that hardly matters now must not be thrown far away. */
        if (isnan(p->scale)) m->scale[k] = fmin(m->scale[k], 10 * table);
    }
    return DB_OK;
}

db_status db_optimize_check_algorithm(db_context *context, const char *name, int *algorithm) {
    *algorithm = (int)nlopt_algorithm_from_string(name);
    if (*algorithm >= 0 && strncmp(name, "LD_", 3) == 0 && !strstr(name, "AUGLAG")) return DB_OK;
    return db_fail(context, DB_ERROR_USAGE,
                   "algorithm '%s': expected a gradient-based one of NLopt, such as LD_LBFGS",
                   name);
}

static db_status set_up(minimization *m, int algorithm) {
    double lower[DB_PARAMETER_COUNT], upper[DB_PARAMETER_COUNT];
    const size_t n = m->target->count;
    m->optimizer = nlopt_create((nlopt_algorithm)algorithm, (unsigned)n);
    if (!m->optimizer) return db_fail_memory(m->target->context, "the optimizer");
    for (size_t k = 0; k < n; k++) {
        lower[k] = (m->lower[k] - m->origin[k]) / m->scale[k];
        upper[k] = (m->upper[k] - m->origin[k]) / m->scale[k];
    }
    if (nlopt_set_min_objective(m->optimizer, evaluate, m) < 0 ||
        nlopt_set_lower_bounds(m->optimizer, lower) < 0 ||
        nlopt_set_upper_bounds(m->optimizer, upper) < 0 ||
        nlopt_set_ftol_rel(m->optimizer, m->stage->tolerance) < 0)
        return db_fail(m->target->context, DB_ERROR_USAGE, "stage %s: NLopt refuses the bounds",
                       m->stage->name);
    return DB_OK;
}

/* Solves H step = -slope for the parameters that are free to move, by Gauss-Seidel iterations,
 * which converge for any positive definite H; returns the decrease of the target that the quadratic
 * model promises. */
static double promised_decrease(const db_target *target, const int *blocked) {
    enum { SWEEPS = 200 };
    const size_t n = target->count;
    double step[DB_PARAMETER_COUNT] = { 0 }, decrease = 0;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        for (size_t k = 0; k < n; k++) {
            const double diagonal = target->normal[k * n + k];
            if (blocked[k] || !(diagonal > 0)) continue;
            double rest = -0.5 * target->gradient[k];
            for (size_t l = 0; l < n; l++)
                if (l != k) rest -= target->normal[k * n + l] * step[l];
            step[k] = rest / diagonal;
        }
    }
    for (size_t k = 0; k < n; k++) decrease -= 0.5 * target->gradient[k] * step[k];
    return decrease;
}

/* A parameter on its bound that the gradient pushes outward. */
static void find_bounds(const minimization *m, int *at_bound) {
    for (size_t k = 0; k < m->target->count; k++) {
        const double near = 1e-6 * m->scale[k], slope = m->target->gradient[k];
        const double value = m->best_value[k];
        at_bound[k] = value <= m->lower[k] + near && slope > 0   ? -1
                      : value >= m->upper[k] - near && slope < 0 ? 1
                                                                 : 0;
    }
}

/* The first parameter at a bound that is the user's choice, not physics; count if there is none. */
static size_t held_by_user(const minimization *m, const int *at_bound) {
    size_t k = 0;
    for (; k < m->target->count; k++) {
        double range[2];
        const db_fit_parameter *const p = &m->target->settings->parameters[m->target->index[k]];
        db_physical_range(p->parameter, &range[0], &range[1]);
        if (at_bound[k] < 0 && m->lower[k] > range[0]) break;
        if (at_bound[k] > 0 && m->upper[k] < range[1]) break;
    }
    return k;
}

static void explain(const minimization *m, nlopt_result code, db_stage_result *r) {
    /* Less is left than ten times what one more step would have had to bring. */
    const int converged = r->promise <= 10 * m->stage->tolerance;
    const size_t held = held_by_user(m, r->at_bound);
    const char *const name = m->stage->name;
    if (m->diverged) {
        r->end = DB_STAGE_DIVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: diverged, the target has no finite value after evaluation %d", name,
                 m->evaluations);
    } else if (held < m->target->count) {
        const db_fit_parameter *const p = &m->target->settings->parameters[m->target->index[held]];
        r->end = DB_STAGE_AT_BOUND;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: %s is held by its %s bound %.8g; a better model lies beyond it", name,
                 db_parameter_describe(p->parameter)->name,
                 r->at_bound[held] < 0 ? "lower" : "upper", m->best_value[held]);
    } else if (converged) {
        r->end = DB_STAGE_CONVERGED;
        snprintf(r->reason, sizeof r->reason,
                 "converged: a further step promises a relative decrease of the target of %.1e",
                 fmax(0, r->promise));
    } else if (m->evaluations >= m->stage->max_evaluations) {
        r->end = DB_STAGE_LIMIT;
        snprintf(
            r->reason, sizeof r->reason,
            "stage %s: the limit of %d evaluations was reached, while a further step promises a "
            "relative decrease of the target of %.1e",
            name, m->stage->max_evaluations, r->promise);
    } else {
        r->end = DB_STAGE_ROUNDOFF;
        snprintf(r->reason, sizeof r->reason,
                 "stage %s: no further progress after %d evaluations (NLopt: %s), although a step "
                 "promises a "
                 "relative decrease of the target of %.1e",
                 name, m->evaluations, nlopt_result_to_string(code), r->promise);
    }
}

static db_status finish(minimization *m, nlopt_result code, db_stage_result *result) {
    db_target *const target = m->target;
    if (m->cancelled)
        return db_fail(target->context, DB_ERROR_CANCELLED, "cancelled by the caller");
    DB_TRY(db_target_evaluate(target, m->best_value, DB_TARGET_NORMAL));
    memcpy(result->value, m->best_value, sizeof result->value);
    find_bounds(m, result->at_bound);
    result->promise = promised_decrease(target, result->at_bound) / target->chi2;
    explain(m, code, result);
    return DB_OK;
}

db_status db_optimize_stage(db_target *target, const db_fit_stage *stage, int number,
                            db_fit_course *course, db_stage_result *result) {
    int algorithm;
    minimization m = { .target = target, .stage = stage, .course = course, .number = number };
    memset(result, 0, sizeof *result);
    DB_TRY(db_optimize_check_algorithm(target->context, stage->algorithm, &algorithm));
    DB_TRY(db_fit_course_reserve(target->context, course, (size_t)stage->max_evaluations + 1));
    DB_TRY(set_coordinates(&m));
    m.best = HUGE_VAL;
    memcpy(m.best_value, m.origin, sizeof m.best_value);
    double x[DB_PARAMETER_COUNT] = { 0 }, value;
    db_status status = set_up(&m, algorithm);
    nlopt_result code = NLOPT_FAILURE;
    if (status == DB_OK) code = nlopt_optimize(m.optimizer, x, &value);
    if (m.optimizer) nlopt_destroy(m.optimizer);
    DB_TRY(status);
    return finish(&m, code, result);
}
