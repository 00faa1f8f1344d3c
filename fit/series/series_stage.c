/* The search for what the frames of a series share. */
#include "fit/series/series_stage.h"

#include "base/context_internal.h"
#include "fit/shots/joint_models.h"
#include "fit/series/series_conclude.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_series_begin(db_shots *all) {
    all->shares_intensities = db_series_shares(all);
    if (all->shares_intensities && all->team.size > 1)
        return db_fail(all->context, DB_ERROR_UNSUPPORTED,
                       "a series whose frames share intensities is refined by one process, found "
                       "%d",
                       all->team.size);
    return DB_OK;
}

typedef struct search {
    db_series series;
    const db_fit_stage *settings;
    db_unknowns unknowns;
    size_t *index;
    double *at; /* of the last evaluation */
    int evaluations;
    db_status status;
} search;

static int evaluate(void *user, const double *x, double *loss, double *gradient, double *normal) {
    search *const s = user;
    db_frames *const frames = &s->series.frames;
    db_shots *const all = s->series.all;
    const size_t n = frames->unknowns;
    memcpy(s->at, x, n * sizeof *x);
    s->evaluations++;
    all->evaluations += frames->count;
    s->status = db_workers_cancelled(all) ? db_fail(all->context, DB_ERROR_CANCELLED, "cancelled")
                                          : db_frames_evaluate(frames, x);
    *loss = INFINITY;
    if (s->status == DB_ERROR_INPUT && s->evaluations > 1) { /* the step is the cause */
        s->status = DB_OK;
        return 0;
    }
    if (s->status != DB_OK) return 1;
    *loss = frames->loss;
    memcpy(gradient, frames->gradient, n * sizeof *gradient);
    memcpy(normal, frames->normal, n * n * sizeof *normal);
    db_unknowns_add_priors(&s->unknowns, x, loss, gradient, normal);
    const db_fit_history now = { .stage = s->series.stage,
                                 .evaluation = s->evaluations,
                                 .target = *loss / frames->degrees,
                                 .gradient_norm = db_search_gradient_norm(&s->unknowns, gradient,
                                                                          frames->degrees) };
    db_joint_record(all, &s->series.order, &now, x);
    return 0;
}

static db_status prepare(search *s, double *x) {
    const db_series *const series = &s->series;
    db_shots *const all = series->all;
    s->index = calloc(series->unknowns + 1, sizeof *s->index);
    s->at = calloc(series->unknowns + 1, sizeof *s->at);
    if (!s->index || !s->at) return db_fail_memory(all->context, "the search of a series");
    for (size_t i = 0; i < series->unknowns; i++) s->index[i] = series->unknown[i].index;
    DB_TRY(
        db_unknowns_make(all->context, &all->settings, s->index, series->unknowns, &s->unknowns));
    for (size_t i = 0; i < series->unknowns; i++) {
        const db_series_unknown *const u = &series->unknown[i];
        s->unknowns.lower[i] = u->lower;
        s->unknowns.upper[i] = u->upper;
        s->unknowns.centre[i] = u->centre;
        s->unknowns.sigma[i] = u->sigma;
        x[i] = fmin(fmax(u->start, u->lower), u->upper);
    }
    return db_fit_course_reserve(all->context, &all->course,
                                 2 * (size_t)s->settings->max_evaluations + 16);
}

/* How the search ended at x, which is where the last evaluation was. */
static void judge(const search *s, const double *x, const db_search_end *at, db_stage_result *end) {
    const db_series *const series = &s->series;
    db_shots *const all = series->all;
    memset(end, 0, sizeof *end);
    memcpy(end->value, x, series->unknowns * sizeof *x);
    db_stage_judge(&s->unknowns, at, end);
    for (size_t i = 0; i < series->order.shared; i++) {
        all->common_at_bound[s->index[i]] = end->at_bound[i];
        for (size_t k = 0; k < all->count; k++)
            all->at_bound[k * all->parameters + s->index[i]] = end->at_bound[i];
    }
    for (size_t k = 0; k < series->count; k++)
        for (size_t l = 0; l < series->order.local; l++) {
            const db_frame_link *part[2];
            int *const own = &all->at_bound[series->shot[k] * all->parameters +
                                            series->order.index[series->order.shared + l]];
            *own = 0;
            for (size_t p = db_series_parts(series, k, l, part); p-- > 0;)
                if (end->at_bound[part[p]->unknown]) *own = end->at_bound[part[p]->unknown];
        }
}

/* What each frame is told of its fit. */
static void summarize(const db_series *series) {
    for (size_t k = 0; k < series->count; k++) {
        const db_objective *const o = &series->open[k].objective;
        db_shot_summary *const summary = &series->all->summary[series->shot[k]];
        const double own = (double)(series->unknowns - series->order.shared);
        summary->degrees = o->degrees + (double)o->variables.count -
                           db_frames_intensities(&series->frames, k) - own / (double)series->count;
        summary->target = o->loss / summary->degrees;
    }
}

static db_status run(search *s, double *x, db_stage_result *end, db_fit_shots_result *result) {
    const size_t n = s->series.unknowns;
    double loss, *const gradient = calloc(n * (n + 1) + 1, sizeof *gradient);
    if (!gradient) return db_fail_memory(s->series.all->context, "the search of a series");
    const db_lm_end how =
        db_stage_minimize(&s->unknowns, s->settings, s->series.frames.degrees, evaluate, s, x).end;
    if (s->status == DB_OK) evaluate(s, x, &loss, gradient, gradient + n);
    if (s->status == DB_OK) {
        const db_search_end at = { .stage = s->settings,
                                   .loss = loss,
                                   .degrees = s->series.frames.degrees,
                                   .gradient = gradient,
                                   .normal = gradient + n,
                                   .evaluations = s->evaluations,
                                   .end =
                                       isfinite(loss) && how == DB_LM_STOPPED ? DB_LM_LIMIT : how };
        judge(s, x, &at, end);
        summarize(&s->series);
    }
    if (s->status == DB_OK && result)
        s->status = db_series_conclude(&s->series, end, gradient + n, result);
    free(gradient);
    return s->status;
}

db_status db_series_run(db_shots *all, int stage, db_stage_result *end,
                        db_fit_shots_result *result) {
    double x[DB_FIT_MOST_PARAMETERS];
    search *const s = calloc(1, sizeof *s);
    if (!s) return db_fail_memory(all->context, "a stage of a series");
    s->settings = &all->settings.stages[stage];
    db_status status = db_series_open(all, stage, &s->series);
    if (status == DB_OK) {
        status = prepare(s, x);
        if (status == DB_OK) status = run(s, x, end, result);
        if (status == DB_ERROR_CANCELLED) all->ending = 1;
        if (status == DB_OK || (all->ending && s->evaluations > 0)) {
            db_series_set_local(&s->series, x);
            const db_status stored = db_joint_models_store(all, stage, x);
            if (stored != DB_OK) status = stored;
        }
        db_series_close(&s->series);
    }
    db_unknowns_clear(&s->unknowns);
    free(s->index);
    free(s->at);
    free(s);
    return status;
}
