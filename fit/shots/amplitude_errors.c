/* How far shots are from one another at the minimum: error model, errors of intensities, halves. */
#include "fit/shots/amplitude_work.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of a box in the curvature by its intensity. */
static double share_of(const db_amplitude_work *w, const db_amplitude_record *r, size_t b) {
    return fmin((double)r->curvature[b] / w->system.diagonal[r->reflection[b]], 0.9);
}

db_status db_amplitude_fit_errors(db_amplitude_work *w) {
    db_deviations *const deviations = calloc(1, sizeof *deviations);
    if (!deviations) return db_fail_memory(w->all->context, "the error model");
    db_status status = DB_OK;
    for (size_t s = 0; s < w->all->count && status == DB_OK; s++) {
        db_amplitude_record r;
        if (!w->group[s]) continue;
        status = db_amplitude_work_read(w, s, 0, &r);
        for (size_t b = 0; b < r.count && status == DB_OK; b++) {
            const double now = w->value[0][r.reflection[b]];
            double intensity, variance;
            if (!db_amplitude_box(&r, b, now, &intensity, &variance)) continue;
            const double share = share_of(w, &r, b), off = intensity - now, J = fmax(0, now);
            if (share < 0.6)
                db_deviations_add(deviations, db_partiality_range((double)r.partiality[b]),
                                  J * J / variance, off * off / (variance * (1 - share)));
        }
    }
    if (status == DB_OK) db_error_model_fit(deviations, &w->errors);
    free(deviations);
    return status;
}

/* Sums over shots for each reflection: squares of pulls; and in shells. */
typedef struct scatter {
    double *square;         /* [reflections] sum of (weight x deviation)^2 over 1 - share */
    uint32_t *multiplicity; /* [reflections] */
    double misfit[DB_MOST_SHELLS], count[DB_MOST_SHELLS];
} scatter;

static db_status add_scatter(db_amplitude_work *w, unsigned groups, const db_shells *shells,
                             scatter *sums) {
    const size_t n = w->pass.order.local;
    memset(sums->square, 0, w->reflections * sizeof *sums->square);
    memset(sums->multiplicity, 0, w->reflections * sizeof *sums->multiplicity);
    memset(sums->misfit, 0, sizeof sums->misfit);
    memset(sums->count, 0, sizeof sums->count);
    for (size_t s = 0; s < w->all->count; s++) {
        db_amplitude_record r;
        if (!(w->group[s] & groups)) continue;
        DB_TRY(db_amplitude_work_read(w, s, 0, &r));
        for (size_t b = 0; b < r.count; b++) {
            if (!(r.curvature[b] > 0)) continue;
            const uint32_t h = r.reflection[b];
            const float *const tail = r.tail + b * n;
            double pull = (double)r.pull[b];
            for (size_t i = 0; i < n; i++) pull -= (double)tail[i] * r.own[i];
            const double share = share_of(w, &r, b), square = pull * pull / (1 - share);
            const int shell = db_shell_of(shells, (double)w->pass.list->d[h]);
            sums->square[h] += square;
            sums->multiplicity[h]++;
            if (share >= 0.9) continue;
            sums->misfit[shell] += square / (double)r.curvature[b];
            sums->count[shell]++;
        }
    }
    return DB_OK;
}

/* Variance of an intensity: what the scatter between shots says, and what the curvature says times
 * the mean misfit of its resolution, as if that were so many more shots. Quantities that are
 * refined beside it add to it, to first order. */
static double variance_of(const db_amplitude_system *s, const scatter *sums, size_t h, int shell) {
    const double known = 8, curvature = s->diagonal[h];
    const double misfit =
        sums->count[shell] > 0 ? fmax(1, sums->misfit[shell] / sums->count[shell]) : 1;
    const double n = sums->multiplicity[h], usual = misfit / curvature,
                 own = sums->square[h] / (curvature * curvature);
    const double others = fmin(s->remainder[h] / curvature, 1);
    return (n * own + known * usual) / (n + known) * (1 + others);
}

/* Changes of all intensities along which nothing is determined: by one factor for all, and by one
 * temperature factor. What a half of the shots cannot know it takes from the whole. */
static void project(const db_amplitude_work *w, int with_fall, double *x) {
    double normal[3] = { 0 }, right[2] = { 0 };
    for (size_t h = 0; h < w->reflections; h++) {
        const double D = w->system.diagonal[h], I = w->value[0][h], d = (double)w->pass.list->d[h],
                     fall = with_fall ? I / (d * d) : 0;
        normal[0] += D * I * I;
        normal[1] += D * I * fall;
        normal[2] += D * fall * fall;
        right[0] += D * I * x[h];
        right[1] += D * fall * x[h];
    }
    const double determinant = normal[0] * normal[2] - normal[1] * normal[1];
    const int both = with_fall && determinant > 1e-12 * normal[0] * normal[2];
    const double a = both ? (right[0] * normal[2] - right[1] * normal[1]) / determinant
                          : (normal[0] > 0 ? right[0] / normal[0] : 0);
    const double b = both ? (right[1] * normal[0] - right[0] * normal[1]) / determinant : 0;
    for (size_t h = 0; h < w->reflections; h++) {
        const double d = (double)w->pass.list->d[h];
        if (w->system.diagonal[h] > 0) x[h] -= w->value[0][h] * (a + b / (d * d));
    }
}

static int refines_fall(const db_amplitude_work *w) {
    const db_arrow_order *const order = &w->pass.order;
    for (size_t i = order->shared; i < order->shared + order->local; i++)
        if (w->all->settings.parameters[order->index[i]].parameter == DB_B_FACTOR) return 1;
    return 0;
}

/* The solution of half of the shots, near the common one, each shot's own quantities free. */
static db_status solve_half(db_amplitude_work *w, int half, const db_shells *shells,
                            scatter *sums) {
    db_merged *const m = &w->result->merged;
    int iterations;
    DB_TRY(db_amplitude_system_sum(&w->system, half ? DB_HALF_B : DB_HALF_A));
    DB_TRY(db_amplitude_system_solve(&w->system, half ? DB_HALF_B : DB_HALF_A, 0, 1e-4, 0,
                                     w->system.right, w->step, &iterations));
    project(w, refines_fall(w), w->step);
    DB_TRY(add_scatter(w, half ? DB_HALF_B : DB_HALF_A, shells, sums));
    for (size_t h = 0; h < w->reflections; h++) {
        if (!(w->system.diagonal[h] > 0) || !sums->multiplicity[h]) continue;
        const int shell = db_shell_of(shells, (double)w->pass.list->d[h]);
        m->half[half][h] = w->value[0][h] + w->step[h];
        m->half_sigma[half][h] = sqrt(variance_of(&w->system, sums, h, shell));
        m->half_multiplicity[half][h] = sums->multiplicity[h];
    }
    return DB_OK;
}

/* Errors of shared quantities: columns of the inverse, each the answer to a pull at one of them. */
static db_status find_shared_errors(db_amplitude_work *w, double *right, double *column,
                                    db_fit_shots_result *result) {
    const db_arrow_order *const order = &w->pass.order;
    const size_t n = w->reflections, m = order->shared;
    const double misfit = sqrt(fmax(1, w->total / w->degrees));
    int iterations;
    for (size_t g = 0; g < m; g++) {
        const size_t index = order->index[g];
        memset(right, 0, (n + m) * sizeof *right);
        right[n + g] = 1;
        DB_TRY(db_amplitude_system_solve(&w->system, DB_BOTH_HALVES, 0, 1e-3, 1, right, column,
                                         &iterations));
        const double error = sqrt(fmax(0, column[n + g]));
        if (!(error > 0)) continue; /* not determined */
        result->error_unscaled[index] = error;
        result->error_scaled[index] = result->error[index] = error * misfit;
        for (size_t k = 0; k < m; k++)
            result->correlation[index][order->index[k]] = column[n + k] / error;
    }
    for (size_t g = 0; g < m; g++)
        for (size_t k = 0; k < m; k++) {
            double *const at = &result->correlation[order->index[g]][order->index[k]];
            const double other = result->error_unscaled[order->index[k]];
            *at = g == k ? 1 : other > 0 ? *at / other : 0;
        }
    return DB_OK;
}

static db_status measure(db_amplitude_work *w, scatter *sums, db_fit_shots_result *result) {
    const db_shells shells = db_amplitude_shells(w->pass.list);
    db_merged *const m = &w->result->merged;
    DB_TRY(db_amplitude_system_sum(&w->system, DB_BOTH_HALVES));
    DB_TRY(add_scatter(w, DB_BOTH_HALVES, &shells, sums));
    for (size_t h = 0; h < w->reflections; h++) {
        if (!(w->system.diagonal[h] > 0) || !sums->multiplicity[h]) continue;
        const int shell = db_shell_of(&shells, (double)w->pass.list->d[h]);
        m->intensity[h] = w->value[0][h];
        m->sigma[h] = sqrt(variance_of(&w->system, sums, h, shell));
        m->multiplicity[h] = sums->multiplicity[h];
    }
    double *const right = calloc(w->reflections + w->pass.order.shared + 1, sizeof *right);
    if (!right) return db_fail_memory(w->all->context, "the errors of shared quantities");
    const db_status status = find_shared_errors(w, right, w->step, result);
    free(right);
    DB_TRY(status);
    for (int half = 0; half < 2; half++) DB_TRY(solve_half(w, half, &shells, sums));
    return DB_OK;
}

db_status db_amplitude_conclude(db_amplitude_work *w, db_fit_shots_result *result) {
    scatter *const sums = calloc(1, sizeof *sums);
    db_status status = sums ? db_merged_make(w->all->context, w->reflections, &w->result->merged)
                            : DB_ERROR_MEMORY;
    if (sums) {
        sums->square = calloc(w->reflections + 1, sizeof *sums->square);
        sums->multiplicity = calloc(w->reflections + 1, sizeof *sums->multiplicity);
        if (!sums->square || !sums->multiplicity) status = DB_ERROR_MEMORY;
    }
    if (status == DB_ERROR_MEMORY)
        status = db_fail_memory(w->all->context, "the errors of the amplitudes");
    if (status == DB_OK) status = measure(w, sums, result);
    if (status == DB_OK) status = db_amplitude_observe(w, &w->result->observations);
    if (sums) {
        free(sums->square);
        free(sums->multiplicity);
    }
    free(sums);
    return status;
}
