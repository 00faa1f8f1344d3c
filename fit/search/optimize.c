/* One stage of one image. */
#include "fit/search/refinement.h"

#include "base/context_internal.h"
#include "fit/config/orientation.h"
#include "fit/objective/evaluate.h"

#include <math.h>
#include <string.h>

/* An objective as a problem for a search. */
typedef struct minimization {
    db_objective *objective;
    db_fit_course *course;
    const db_crystal *given;
} minimization;

void db_report_values(const db_fit_settings *settings, const db_crystal *given,
                      const db_experiment *experiment, const db_panel_placement *placement,
                      double *value) {
    db_experiment known = *experiment; /* borrows */
    db_orientation_report(settings, given, &known.crystal);
    for (size_t i = 0; i < settings->parameter_count; i++)
        value[i] = db_fit_value(&settings->parameters[i], &known, placement);
}

static db_status evaluate_image(void *user, const double *x, db_evaluation *at) {
    const minimization *const m = user;
    db_objective *const o = m->objective;
    const size_t n = o->variables.count;
    const db_objective_depth depth = at->normal     ? DB_OBJECTIVE_NORMAL
                                     : at->gradient ? DB_OBJECTIVE_GRADIENT
                                                    : DB_OBJECTIVE_LOSS;
    const db_status status = db_objective_evaluate(o, x, depth);
    if (status == DB_ERROR_INPUT) return DB_OK; /* the step is the cause: rejected */
    DB_TRY(status);
    at->loss = o->loss;
    if (at->gradient) memcpy(at->gradient, o->gradient, n * sizeof *at->gradient);
    if (at->normal) memcpy(at->normal, o->normal, n * n * sizeof *at->normal);
    return DB_OK;
}

static int record_image(void *user, const double *x, const db_fit_history *now) {
    const minimization *const m = user;
    const db_objective *const o = m->objective;
    db_fit_history *const entry = db_fit_course_add(m->course, now);
    (void)x;
    if (!entry) return 0;
    db_report_values(o->settings, m->given, &o->experiment, &o->placement, entry->value);
    return db_fit_course_tell(m->course, entry);
}

/* Limits steps. With free intensities a step that loses spots does not lower the loss, so no other limit is
 * needed. */
static db_status limit_steps(const db_objective *objective, db_unknowns *u) {
    const db_fit_settings *const settings = objective->settings;
    double farthest;
    if (settings->intensity != DB_FIT_KNOWN) return DB_OK;
    DB_TRY(db_farthest_block(objective, &farthest));
    for (size_t k = 0; k < u->count; k++) {
        const db_fit_parameter *const p = &settings->parameters[u->index[k]];
        if (isnan(p->scale)) u->longest[k] = db_longest_step(objective, p, farthest, u->longest[k]);
    }
    return DB_OK;
}

db_status db_optimize_stage(db_objective *objective, const db_fit_stage *stage, int number,
                            const db_crystal *given, db_fit_course *course,
                            db_stage_result *result) {
    const db_variables *const v = &objective->variables;
    minimization m = { objective, course, given };
    db_search s = { .context = objective->context,
                    .problem = { evaluate_image, record_image, NULL, NULL, &m },
                    .stage = stage,
                    .number = number,
                    .course = course,
                    .degrees = objective->degrees };
    memset(result, 0, sizeof *result);
    memcpy(result->value, v->start, v->count * sizeof *v->start);
    DB_TRY(db_unknowns_of_variables(s.context, objective->settings, v, &s.unknowns));
    db_status status = limit_steps(objective, &s.unknowns);
    if (status == DB_OK) status = db_search_prepare(&s);
    objective->sums_only = 1;
    if (status == DB_OK) status = db_search_run(&s, result->value, result->at_bound, result);
    objective->sums_only = 0;
    if (status == DB_OK) status = db_objective_bring(objective);
    db_search_clear(&s);
    return status;
}
