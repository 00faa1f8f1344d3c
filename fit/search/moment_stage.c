#include "fit/search/moment_stage.h"

#include "base/context_internal.h"
#include "fit/config/algorithms.h"
#include "fit/config/misset.h"
#include "fit/search/mode_start.h"
#include "fit/search/moments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_SPOTS = 1000,
    PER_VARIABLE = 2 /* spots of a half, at least; each brings five or six numbers */
};

/* Of the loss of held-out spots, per spot: what moments lack, since faint ends of spots do not
 * count, can bring a little. */
static const double LEAST_GAIN = 0.32;

typedef struct stage_run {
    db_refinement *refinement;
    const db_fit_stage *stage;
    int number;
    db_variables variables;
    db_moments moments;
    db_unknowns unknowns;
    double *gradient, *normal;         /* of the least loss, or room for an evaluation */
    double least;                      /* loss, of what has been evaluated, INFINITY: nothing */
    double at[DB_FIT_MOST_PARAMETERS]; /* where it was */
    int evaluations, cancelled;
} stage_run;

static void record(stage_run *s, double loss, const double *gradient) {
    db_refinement *const r = s->refinement;
    if (!isfinite(loss)) return;
    db_fit_history *const entry = db_fit_course_add(&r->course);
    if (!entry) return;
    entry->stage = s->number;
    entry->evaluation = s->evaluations;
    entry->target = loss / (double)s->moments.count;
    entry->gradient_norm = 0;
    for (size_t k = 0; k < s->variables.count; k++)
        entry->gradient_norm = hypot(entry->gradient_norm,
                                     gradient[k] * s->unknowns.scale[k] / (double)s->moments.count);
    db_report_values(r->data.settings, r->result->experiment.crystal.orientation,
                     &s->moments.experiment, &r->placement, entry->value);
    if (r->course.progress && r->course.progress(r->course.user, entry)) s->cancelled = 1;
}

static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    stage_run *const s = user;
    const size_t n = s->variables.count;
    if (db_moments_evaluate(&s->moments, x, loss, gradient, normal)) return 1;
    if (*loss < s->least) {
        s->least = *loss;
        memcpy(s->at, x, n * sizeof *x);
        memcpy(s->gradient, gradient, n * sizeof *gradient);
        memcpy(s->normal, normal, n * n * sizeof *normal);
    }
    s->evaluations++;
    record(s, *loss, gradient);
    return s->cancelled;
}

/* From x, with the spots that the moments have in use. */
static db_status minimize(stage_run *s, db_lm_evaluate how, void *user, double *x, db_lm_end *end) {
    db_moments *const m = &s->moments;
    DB_TRY(db_mode_starts(m, x));
    *end = db_stage_minimize(&s->unknowns, s->stage, (double)(m->to - m->from), how, user, x).end;
    return m->status;
}

/* Each half refined, and the other one judged. */
static db_status try_halves(stage_run *s, db_fit_trial *trial) {
    db_moments *const m = &s->moments;
    const db_variables *const v = &s->variables;
    double x[DB_FIT_MOST_PARAMETERS], loss;
    const size_t least = PER_VARIABLE * v->count;
    db_lm_end end;
    trial->spots = m->count;
    if (m->half < least || m->count - m->half < least) return DB_OK;
    for (int half = 0; half < 2; half++) {
        m->from = half ? m->half : 0;
        m->to = half ? m->count : m->half;
        memcpy(x, v->start, v->count * sizeof *x);
        DB_TRY(db_moments_slopes(m, x, NULL, 0, &loss, NULL));
        trial->before += m->held_out / (double)m->count;
        DB_TRY(minimize(s, db_moments_evaluate, m, x, &end));
        DB_TRY(db_moments_slopes(m, x, NULL, 0, &loss, NULL));
        trial->after += m->held_out / (double)m->count;
    }
    m->from = 0;
    m->to = m->count;
    trial->kept = trial->after < trial->before - LEAST_GAIN;
    return m->status;
}

static db_status judge(stage_run *s, db_lm_end stop, db_stage_result *end) {
    if (s->cancelled) {
        end->end = DB_STAGE_CANCELLED;
        snprintf(end->reason, sizeof end->reason,
                 "cancelled in stage %s after %d evaluation%s; this is the best model so far",
                 s->stage->name, s->evaluations, s->evaluations == 1 ? "" : "s");
        return DB_OK;
    }
    const int known =
        isfinite(s->least) && !memcmp(s->at, end->value, s->variables.count * sizeof *s->at);
    if (!known) db_moments_evaluate(&s->moments, end->value, &s->least, s->gradient, s->normal);
    db_variables_set(&s->variables, end->value, &s->moments.experiment);
    const db_search_end found = { .stage = s->stage,
                                  .loss = s->least,
                                  .degrees = (double)s->moments.count,
                                  .gradient = s->gradient,
                                  .normal = s->normal,
                                  .evaluations = s->evaluations,
                                  .end = stop };
    db_stage_judge(&s->unknowns, &found, end);
    return s->moments.status;
}

/* Right models of thaumatin reach 0.06, a wrong one that took all pixels for its own 0.3 to 0.6. */
static const double MOST_COVERED = 0.25;

/* How much of the detector the model's spots cover, as far as two standard deviations. Where
 * it is much, any pixel is explained by some of them, and images of them take long. */
static db_status find_covered(const stage_run *s, double *covered) {
    static const double four_pi = 4 * 3.14159265358979323846;
    const db_experiment *const model = &s->moments.experiment;
    db_predicted_spots all;
    *covered = 0;
    DB_TRY(db_spots_predict(s->refinement->context, model, NULL, &all));
    for (size_t i = 0; i < all.count; i++) {
        const double *const c = all.spot[i].covariance;
        *covered += four_pi * sqrt(fmax(0, c[0] * c[1] - c[2] * c[2]));
    }
    *covered /= (double)db_experiment_pixels(model);
    db_predicted_spots_clear(&all);
    return DB_OK;
}

static db_status run(stage_run *s, db_stage_result *end) {
    db_refinement *const r = s->refinement;
    const db_variables *const v = &s->variables;
    db_fit_trial *trial = NULL;
    db_lm_end stop;
    if (s->stage->earned) {
        trial = db_refinement_trial(r, s->number);
        if (!trial) return db_fail_memory(r->context, "the trial of a stage");
        DB_TRY(try_halves(s, trial));
        if (!trial->kept) return DB_OK;
    }
    memcpy(end->value, v->start, v->count * sizeof *v->start);
    DB_TRY(db_fit_course_reserve(r->context, &r->course, (size_t)s->stage->max_evaluations + 1));
    DB_TRY(minimize(s, evaluate, s, end->value, &stop));
    DB_TRY(judge(s, stop, end));
    if (!trial || s->cancelled) return DB_OK;
    DB_TRY(find_covered(s, &trial->covered));
    trial->kept = trial->covered <= MOST_COVERED;
    if (!trial->kept) memset(end, 0, sizeof *end); /* as of stages that spots do not bear out */
    return DB_OK;
}

static db_status prepare(stage_run *s, const db_experiment *from, const db_shoeboxes *boxes) {
    const db_refinement *const r = s->refinement;
    const db_variables *const v = &s->variables;
    const size_t n = v->count;
    const double blur = s->stage->blur * s->stage->blur - 1;
    DB_TRY(db_moments_make(r->context, from, boxes, v, blur, &s->moments));
    DB_TRY(db_unknowns_make(r->context, r->data.settings, v->index, n, &s->unknowns));
    memcpy(s->unknowns.lower, v->lower, n * sizeof *v->lower);
    memcpy(s->unknowns.upper, v->upper, n * sizeof *v->upper);
    s->gradient = malloc((n * n + n + 1) * sizeof *s->gradient);
    s->normal = s->gradient + n;
    return s->gradient ? DB_OK : db_fail_memory(r->context, "the moments of spots");
}

static db_status run_on(stage_run *s, const db_experiment *from, db_stage_result *end) {
    db_refinement *const r = s->refinement;
    db_fit_settings settings = *r->data.settings; /* borrows */
    settings.max_shoeboxes =
        settings.max_shoeboxes > MOST_SPOTS ? settings.max_shoeboxes : MOST_SPOTS;
    const db_fit_data data = { r->data.image, r->data.strong, &settings };
    db_shoeboxes boxes;
    DB_TRY(
        db_shoeboxes_place(r->context, from, &data, s->stage->dmin, DB_SHOEBOXES_STRONG, &boxes));
    db_status status = prepare(s, from, &boxes);
    if (status == DB_OK && s->moments.count == 0)
        status =
            db_fail(r->context, DB_ERROR_INPUT,
                    "stage %s: the model predicts none of the strong reflections", s->stage->name);
    if (status == DB_OK) status = run(s, end);
    db_shoeboxes_clear(&boxes);
    return status;
}

static db_status run_moments(db_refinement *r, int number, db_stage_result *end) {
    const db_fit_settings *const settings = r->data.settings;
    double turned[3];
    const int turns = db_refinement_turns(settings, number);
    db_experiment from = r->result->experiment; /* borrows everything but the crystal */
    stage_run *const s = calloc(1, sizeof *s);  /* large: stacks are small */
    if (!s) return db_fail_memory(r->context, "the moments of spots");
    memset(end, 0, sizeof *end);
    s->refinement = r;
    s->stage = &settings->stages[number];
    s->number = number;
    s->least = INFINITY;
    db_refinement_turned(r, turned);
    if (turns) db_misset_fold(&from.crystal);
    db_variables_make(settings, 1u << number, turns ? turned : NULL, &from, &r->placement,
                      &s->variables);
    db_status status = run_on(s, &from, end);
    const int kept = !s->stage->earned || (r->result->trial_count > 0 &&
                                           r->result->trials[r->result->trial_count - 1].kept);
    if (status == DB_OK && kept)
        status = db_refinement_store(r, &s->variables, &from.crystal, end);
    else if (status == DB_OK)
        db_refinement_drop(r, number);
    if (s->unknowns.lower) db_unknowns_clear(&s->unknowns);
    free(s->gradient);
    db_moments_clear(&s->moments);
    free(s);
    return status;
}

/* The model stays as it is, with what was refined so far. */
static void refuse(db_refinement *r, int number, const char *why, db_stage_result *end) {
    db_fit_result *const result = r->result;
    const db_fit_settings *const settings = r->data.settings;
    for (int i = number; i < (int)settings->stage_count; i++) db_refinement_drop(r, i);
    end->end = DB_STAGE_REFUSED;
    snprintf(end->reason, sizeof end->reason, "stage %s is not begun: %.300s",
             settings->stages[number].name, why);
    result->status = DB_NOT_CONVERGED;
    snprintf(result->reason, sizeof result->reason, "stage %s is not begun: %.440s",
             settings->stages[number].name, why);
}

/* Stages that data have to earn widen the spots of a wrong lattice until they reach everything that is
 * seen: they are begun only from one that spots bear out. */
static db_status check_lattice(db_refinement *r, int number, db_stage_result *end) {
    db_fit_verdict verdict;
    int is_right;
    memset(end, 0, sizeof *end);
    if (!r->data.settings->stages[number].earned || r->result->trial_count || !r->check)
        return DB_OK;
    DB_TRY(r->check(r->context, &r->result->experiment, &r->data, &is_right, &verdict));
    if (!is_right) refuse(r, number, verdict.reason, end);
    return DB_OK;
}

db_status db_stage_run(db_refinement *r, int number, db_stage_result *end) {
    db_algorithm algorithm;
    DB_TRY(check_lattice(r, number, end));
    if (end->end == DB_STAGE_REFUSED) return DB_OK;
    DB_TRY(db_algorithm_check(r->context, r->data.settings->stages[number].algorithm, &algorithm));
    return algorithm.kind == DB_ALGORITHM_MOMENTS ? run_moments(r, number, end)
                                                  : db_refinement_run_stage(r, number, end);
}
