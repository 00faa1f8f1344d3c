/* Errors of what the frames of a series share, and of what varies along them. */
#include "fit/series/series_conclude.h"

#include "base/context_internal.h"
#include "loss/eliminate.h"
#include "fit/shots/joint_conclude.h"
#include "fit/result/estimates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Errors of all unknowns. */
typedef struct errors {
    double *plain, *scaled, *robust, *quoted; /* [unknowns] */
} errors;

/* Raises errors to those by how much parts of the data disagree: reflections, or frames. */
static db_status add_robust(const db_series *s, const double *normal, const double *pulls,
                            size_t parts, const int *used, errors *e) {
    const size_t n = s->unknowns;
    double *const scatter = malloc((n * n + 1) * sizeof *scatter);
    if (!scatter) return db_fail_memory(s->all->context, "the errors of a series");
    memcpy(scatter, pulls, n * n * sizeof *scatter);
    for (size_t i = 0; i < n; i++)
        if (s->unknown[i].sigma < INFINITY)
            scatter[i * n + i] += 1 / (s->unknown[i].sigma * s->unknown[i].sigma);
    db_covariance estimate = { .error = NULL };
    const db_status status =
        db_covariance_estimate(s->all->context, normal, scatter, n, used, &estimate);
    for (size_t i = 0; i < n && status == DB_OK; i++)
        e->robust[i] = fmax(e->robust[i], db_covariance_robust_error(&estimate, i, parts, n));
    db_covariance_clear(&estimate);
    free(scatter);
    return status;
}

/* Correlations and directions of the shared unknowns, with the others free. */
static db_status describe_shared(const db_series *s, const double *normal, const int *used,
                                 db_fit_shots_result *result) {
    const size_t n = s->unknowns, shared = s->order.shared;
    double *const left = calloc(n * n + n + shared * shared + 1, sizeof *left);
    if (!left) return db_fail_memory(s->all->context, "the errors of a series");
    double *const gradient = left + n * n;
    double *const matrix = gradient + n;
    memcpy(left, normal, n * n * sizeof *left);
    (void)db_eliminate(n, shared, gradient, left, n);
    for (size_t i = 0; i < shared; i++)
        for (size_t k = 0; k < shared; k++)
            matrix[i * shared + k] = i > k ? left[i * n + k] : left[k * n + i];
    db_covariance estimate = { .error = NULL };
    const db_status status =
        db_covariance_estimate(s->all->context, matrix, NULL, shared, used, &estimate);
    if (status == DB_OK)
        db_estimates_take(&result->estimates, &estimate, s->order.index, shared, 1);
    db_covariance_clear(&estimate);
    free(left);
    return status;
}

/* Errors of frames' local quantities from those of the knots beside them. */
static void spread_local(const db_series *s, const db_covariance *estimate, const errors *e) {
    db_shots *const all = s->all;
    for (size_t k = 0; k < s->count; k++)
        for (size_t l = 0; l < s->order.local; l++) {
            const db_frame_link *part[2];
            const size_t parts = db_series_parts(s, k, l, part);
            double variance = 0;
            for (size_t a = 0; a < parts; a++)
                for (size_t b = 0; b < parts; b++) {
                    const size_t i = part[a]->unknown, j = part[b]->unknown;
                    variance += part[a]->weight * part[b]->weight * e->quoted[i] * e->quoted[j] *
                                estimate->correlation[i][j];
                }
            all->error[s->shot[k] * all->parameters + s->order.index[s->order.shared + l]] =
                sqrt(variance);
        }
}

/* Of chi2 per degree of freedom, as errors take it. */
static double misfit_of(const db_series *s) {
    double chi2 = 0, degrees = -(double)s->order.shared;
    for (size_t k = 0; k < s->count; k++) {
        chi2 += s->all->summary[s->shot[k]].chi2[1];
        degrees += s->all->summary[s->shot[k]].degrees;
    }
    return sqrt(fmax(1, chi2 / degrees));
}

static void list_shared(const db_series *s, const errors *e, db_fit_shots_result *result) {
    for (size_t i = 0; i < s->order.shared; i++) {
        db_fit_estimate *const to = &result->estimates.list[s->order.index[i]];
        to->error_unscaled = e->plain[i];
        to->error_scaled = e->scaled[i];
        to->error_robust = e->robust[i];
        to->error = e->quoted[i];
    }
}

static db_status estimate_errors(const db_series *s, const double *normal, const int *used,
                                 errors *e, db_fit_shots_result *result) {
    const size_t n = s->unknowns;
    const double misfit = misfit_of(s);
    db_covariance estimate = { .error = NULL };
    DB_TRY(add_robust(s, normal, s->frames.scatter, s->frames.reflections, used, e));
    DB_TRY(add_robust(s, normal, s->frames.frame_scatter, s->count, used, e));
    const db_status status =
        db_covariance_estimate(s->all->context, normal, NULL, n, used, &estimate);
    if (status == DB_OK) {
        for (size_t i = 0; i < n; i++) {
            e->plain[i] = estimate.error[i];
            e->scaled[i] = estimate.error[i] * misfit;
            e->quoted[i] = fmax(e->scaled[i], e->robust[i]);
            if (db_series_is_held(&s->unknown[i])) e->quoted[i] = 0;
        }
        spread_local(s, &estimate, e);
        list_shared(s, e, result);
    }
    db_covariance_clear(&estimate);
    return status;
}

/* The starting models on the same pixels, which share intensities as the refined ones do. */
static db_status measure_starts(const db_series *s) {
    db_shots *const all = s->all;
    db_objective *const before = calloc(s->count + 1, sizeof *before);
    db_frame *const frame = calloc(s->count + 1, sizeof *frame);
    db_frames frames = { .count = 0 };
    db_status status =
        before && frame ? DB_OK : db_fail_memory(all->context, "the start of a series");
    for (size_t k = 0; k < s->count && status == DB_OK; k++) {
        frame[k] =
            (db_frame){ &before[k], s->open[k].pixels.boxes.reflection, NULL, 0, s->shot[k] };
        status = db_shot_objective_at_start(all, all->context, s->shot[k], &s->open[k], &before[k]);
    }
    if (status == DB_OK) status = db_frames_make(all->context, frame, s->count, 0, &frames);
    if (status == DB_OK) status = db_frames_evaluate(&frames, NULL);
    for (size_t k = 0; k < s->count && (status == DB_OK || status == DB_ERROR_INPUT); k++)
        if (status == DB_OK)
            db_shot_measure(&before[k], &s->open[k].pixels, 0, &all->summary[s->shot[k]]);
        else
            db_shot_start_is_impossible(&all->summary[s->shot[k]]);
    db_frames_clear(&frames);
    for (size_t k = 0; k < s->count && before; k++)
        if (before[k].context) db_objective_destroy(&before[k]);
    free(before);
    free(frame);
    return status == DB_ERROR_INPUT ? DB_OK : status;
}

static db_status measure(const db_series *s) {
    DB_TRY(measure_starts(s));
    for (size_t k = 0; k < s->count; k++)
        db_shot_measure(&s->open[k].objective, &s->open[k].pixels, 1, &s->all->summary[s->shot[k]]);
    return DB_OK;
}

db_status db_series_conclude(const db_series *series, const db_stage_result *end,
                             const double *normal, db_fit_shots_result *result) {
    const size_t n = series->unknowns;
    int used[DB_FIT_MOST_PARAMETERS];
    for (size_t i = 0; i < n; i++)
        used[i] = end->at_bound[i] == 0 && !db_series_is_held(&series->unknown[i]);
    DB_TRY(measure(series));
    double *const numbers = malloc((4 * n + 1) * sizeof *numbers);
    if (!numbers) return db_fail_memory(series->all->context, "the errors of a series");
    for (size_t i = 0; i < 4 * n; i++) numbers[i] = NAN;
    errors e = { numbers, numbers + n, numbers + 2 * n, numbers + 3 * n };
    db_status status = describe_shared(series, normal, used, result);
    if (status == DB_OK) status = estimate_errors(series, normal, used, &e, result);
    free(numbers);
    return status;
}
