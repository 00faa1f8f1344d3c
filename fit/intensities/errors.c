/* How far shots are from one another at the minimum: error model, errors of intensities, halves. */
#include "fit/intensities/work.h"

#include "base/context_internal.h"
#include "fit/intensities/spread.h"
#include "fit/result/estimates.h"
#include "fit/shots/team.h"
#include "fit/shots/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Solutions that estimate the diagonal of the inverse. */
enum { PROBES = 8 };

/* Share of a box in the curvature by its intensity. */
static double share_of(const db_intensity_search *w, const db_reduced_equations *r, size_t b) {
    return fmin((double)r->curvature[b] / w->system.diagonal[r->reflection[b]], 0.9);
}

/* A db_joint_adder of deviations. */
static void add_deviations(const void *user, size_t shot, const db_reduced_equations *r,
                           double *sums) {
    const db_intensity_search *const w = user;
    (void)shot;
    for (size_t b = 0; b < r->count; b++) {
        const double now = w->value[0][r->reflection[b]];
        double intensity, variance;
        if (!db_intensity_box(r, b, now, &intensity, &variance)) continue;
        const double share = share_of(w, r, b), off = intensity - now, J = fmax(0, now);
        if (share < 0.6)
            db_deviations_add((db_deviations *)(void *)sums,
                              db_partiality_range((double)r->partiality[b]), J * J / variance,
                              off * off / (variance * (1 - share)));
    }
}

/* Sums over all shots of a vector of so many doubles. */
static db_status add_over(db_intensity_search *w, unsigned groups, size_t size, db_joint_adder add,
                          const void *user, double *total) {
    db_tree_sum tree;
    db_status status =
        db_tree_sum_begin(w->all->context, db_joint_system_chunks(&w->system), size, &tree);
    if (status == DB_OK && !total) status = db_fail_memory(w->all->context, "sums over shots");
    status = db_workers_common_status(w->all, status);
    if (status == DB_OK) status = db_joint_system_over(&w->system, groups, &tree, add, user, total);
    db_tree_sum_clear(&tree);
    return status;
}

db_status db_intensity_fit_errors(db_intensity_search *w) {
    db_deviations *const deviations = calloc(1, sizeof *deviations);
    const db_status status = add_over(w, DB_BOTH_HALVES, sizeof *deviations / sizeof(double),
                                      add_deviations, w, (double *)(void *)deviations);
    if (status == DB_OK) db_error_model_fit(deviations, &w->errors);
    free(deviations);
    /* Logarithms may differ in the last bit on other machines: all take those of one. */
    DB_TRY(status);
    return db_team_broadcast(&w->all->team, w->all->context, &w->errors, sizeof w->errors);
}

/* Sums over shots for each reflection: squares of pulls; and in shells. All are doubles, one behind the
 * other. */
typedef struct scatter {
    double *square;         /* [reflections] sum of (weight x deviation)^2 over 1 - share */
    double *multiplicity;   /* [reflections] */
    double *misfit, *count; /* [DB_MOST_SHELLS] */
    size_t size;            /* of all: square is where they begin */
} scatter;

static scatter scatter_in(size_t reflections, double *memory) {
    return (scatter){ .square = memory,
                      .multiplicity = memory + reflections,
                      .misfit = memory + 2 * reflections,
                      .count = memory + 2 * reflections + DB_MOST_SHELLS,
                      .size = 2 * reflections + 2 * DB_MOST_SHELLS };
}

/* A db_joint_adder of these sums. */
static void add_pulls(const void *user, size_t shot, const db_reduced_equations *r, double *sums) {
    const db_intensity_search *const w = user;
    const db_shells shells = db_intensity_shells(w->pass.list);
    const scatter to = scatter_in(w->reflections, sums);
    const size_t n = r->local;
    (void)shot;
    for (size_t b = 0; b < r->count; b++) {
        if (!(r->curvature[b] > 0)) continue;
        const uint32_t h = r->reflection[b];
        const float *const tail = r->tail + b * n;
        double pull = (double)r->pull[b];
        for (size_t i = 0; i < n; i++) pull -= (double)tail[i] * r->own[i];
        const double share = share_of(w, r, b), square = pull * pull / (1 - share);
        const int shell = db_shell_of(&shells, (double)w->pass.list->d[h]);
        to.square[h] += square;
        to.multiplicity[h]++;
        if (share >= 0.9) continue;
        to.misfit[shell] += square / (double)r->curvature[b];
        to.count[shell]++;
    }
}

/* Variance of an intensity: what the scatter between shots says, and what the curvature says times
 * the mean misfit of its resolution, as if that were so many more shots. spread: how much more it is
 * because other quantities are refined beside it. */
static double variance_of(const db_joint_system *s, const scatter *sums, size_t h, int shell,
                          double spread) {
    const double known = 8, curvature = s->diagonal[h];
    const double misfit =
        sums->count[shell] > 0 ? fmax(1, sums->misfit[shell] / sums->count[shell]) : 1;
    const double n = sums->multiplicity[h], usual = misfit / curvature,
                 own = sums->square[h] / (curvature * curvature);
    return (n * own + known * usual) / (n + known) * spread;
}

static int refines_fall(const db_intensity_search *w) {
    const db_schur_order *const order = &w->pass.order;
    for (size_t i = order->shared; i < order->shared + order->local; i++)
        if (w->all->settings.parameters[order->index[i]].parameter == DB_B_FACTOR) return 1;
    return 0;
}

/* Changes of all intensities along which nothing is determined: by one factor for all, and by one
 * temperature factor. What a half of the shots cannot know it takes from the whole. */
static void project_out(const void *user, double *x) {
    const db_intensity_search *const w = user;
    const int with_fall = refines_fall(w);
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

/* The solution of half of the shots, near the common one, each shot's own quantities free. What
 * intensities were held to would be the same in both halves: they do without it. */
static db_status solve_half(db_intensity_search *w, int half, const db_shells *shells,
                            const double *spread, scatter *sums) {
    db_merged *const m = &w->result->merged;
    int iterations;
    w->system.restraint = NULL;
    DB_TRY(db_joint_system_sum(&w->system, half ? DB_HALF_B : DB_HALF_A));
    DB_TRY(db_joint_system_solve(&w->system, half ? DB_HALF_B : DB_HALF_A, 0, 1e-4, 0,
                                 w->system.right, w->step, &iterations));
    project_out(w, w->step);
    DB_TRY(add_over(w, half ? DB_HALF_B : DB_HALF_A, sums->size, add_pulls, w, sums->square));
    for (size_t h = 0; h < w->reflections; h++) {
        if (!(w->system.diagonal[h] > 0) || !(sums->multiplicity[h] > 0)) continue;
        const int shell = db_shell_of(shells, (double)w->pass.list->d[h]);
        m->half[half][h] = w->value[0][h] + w->step[h];
        m->half_sigma[half][h] = sqrt(variance_of(&w->system, sums, h, shell, spread[h]));
        m->half_multiplicity[half][h] = (uint32_t)sums->multiplicity[h];
    }
    return DB_OK;
}

/* Columns of the inverse of shared quantities, each the answer to a pull at one of them. */
static db_status invert_shared(db_intensity_search *w, double *right, double *column,
                               db_covariance *shared) {
    const size_t n = w->reflections, m = shared->count;
    int iterations;
    for (size_t g = 0; g < m; g++) {
        memset(right, 0, (n + m) * sizeof *right);
        right[n + g] = 1;
        DB_TRY(db_joint_system_solve(&w->system, DB_BOTH_HALVES, 0, 1e-3, 1, right, column,
                                     &iterations));
        memcpy(shared->inverse + g * m, column + n, m * sizeof *column);
    }
    return DB_OK;
}

static db_status find_shared_errors(db_intensity_search *w, double *right, double *column,
                                    db_fit_shots_result *result) {
    const db_schur_order *const order = &w->pass.order;
    db_covariance shared;
    db_status status = db_covariance_make(w->all->context, order->shared, &shared);
    status = db_workers_common_status(w->all, status);
    if (status == DB_OK) status = invert_shared(w, right, column, &shared);
    if (status == DB_OK) {
        db_covariance_take_inverse(&shared);
        db_estimates_take(&result->estimates, &shared, order->index,
                          sqrt(fmax(1, w->total / w->degrees)));
    }
    db_covariance_clear(&shared);
    return status;
}

static db_status measure_intensities(db_intensity_search *w, scatter *sums, double *right,
                                     double *spread, db_fit_shots_result *result) {
    const db_shells shells = db_intensity_shells(w->pass.list);
    db_merged *const m = &w->result->merged;
    DB_TRY(db_intensity_search_sum(w));
    DB_TRY(add_over(w, DB_BOTH_HALVES, sums->size, add_pulls, w, sums->square));
    DB_TRY(db_joint_system_spread(&w->system, DB_BOTH_HALVES, PROBES, project_out, w, spread));
    for (size_t h = 0; h < w->reflections; h++) {
        if (!(w->system.diagonal[h] > 0) || !(sums->multiplicity[h] > 0)) continue;
        const int shell = db_shell_of(&shells, (double)w->pass.list->d[h]);
        m->intensity[h] = w->value[0][h];
        m->sigma[h] = sqrt(variance_of(&w->system, sums, h, shell, spread[h]));
        m->multiplicity[h] = (uint32_t)sums->multiplicity[h];
    }
    DB_TRY(find_shared_errors(w, right, w->step, result));
    for (int half = 0; half < 2; half++) DB_TRY(solve_half(w, half, &shells, spread, sums));
    return DB_OK;
}

db_status db_intensity_conclude(db_intensity_search *w, db_fit_shots_result *result) {
    const size_t n = w->reflections, all = n + w->pass.order.shared;
    scatter sums = scatter_in(n, NULL);
    double *const memory = calloc(sums.size + 1, sizeof *memory);
    double *const right = calloc(all + 1, sizeof *right), *const spread =
                                                              calloc(n + 1, sizeof *spread);
    db_status status = db_merged_make(w->all->context, n, &w->result->merged);
    if (!memory || !right || !spread)
        status = db_fail_memory(w->all->context, "the errors of the amplitudes");
    status = db_workers_common_status(w->all, status);
    if (status == DB_OK && memory && right && spread) {
        sums = scatter_in(n, memory);
        status = measure_intensities(w, &sums, right, spread, result);
    }
    free(memory);
    free(right);
    free(spread);
    return status == DB_OK ? db_intensity_observe(w, 0, &w->result->observations) : status;
}
