/* Scatter between shots at the minimum: error model, errors of intensities, halves. */
#include "fit/intensities/search.h"

#include "base/context_internal.h"
#include "fit/intensities/variance.h"
#include "fit/linear/cholesky.h"
#include "fit/result/estimates.h"
#include "fit/shots/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Solutions by which the diagonal of the inverse is estimated. */
enum { PROBES = 8 };

/* Share of a box in the curvature by its intensity. */
static double share_of(const db_intensity_search *w, const db_reduced_equations *r, size_t b) {
    return (double)r->curvature[b] / w->system.diagonal[r->reflection[b]];
}

/* Adds a shot's deviations (db_joint_adder). */
static void add_deviations(const void *user, const db_reduced_equations *r, double *sums) {
    const db_intensity_search *const w = user;
    for (size_t b = 0; b < r->count; b++) {
        const double now = w->best[r->reflection[b]];
        double intensity, variance;
        if (!db_intensity_box(r, b, now, &intensity, &variance)) continue;
        const double share = share_of(w, r, b), off = intensity - now, J = fmax(0, now);
        if (share < 0.6)
            db_deviations_add((db_deviations *)(void *)sums,
                              db_partiality_range((double)r->partiality[b]), J * J / variance,
                              off * off / (variance * (1 - share)));
    }
}

/* Sums over all shots of a vector of `size` doubles. */
static db_status add_over(const db_intensity_search *w, unsigned groups, size_t size,
                          db_joint_adder add, double *total) {
    const db_joint_system *const s = &w->system;
    db_tree_sum tree;
    db_status status = db_tree_sum_begin(s->context, db_joint_system_chunks(s), size, &tree);
    if (status == DB_OK && !total) status = db_fail_memory(s->context, "sums over shots");
    status = db_team_common_status(&s->team, s->context, status);
    if (status == DB_OK) status = db_joint_system_over(s, groups, &tree, add, w, total);
    db_tree_sum_clear(&tree);
    return status;
}

db_status db_intensity_fit_errors(db_intensity_search *w) {
    db_error_model *const errors = &w->result->scaling.errors;
    db_deviations *const deviations = calloc(1, sizeof *deviations);
    const db_status status = add_over(w, DB_BOTH_HALVES, sizeof *deviations / sizeof(double),
                                      add_deviations, (double *)(void *)deviations);
    if (status == DB_OK) db_error_model_fit(deviations, errors);
    free(deviations);
    /* Logarithms may differ in the last bit on other machines: all processes take the model of rank 0. */
    DB_TRY(status);
    return db_team_broadcast(&w->system.team, w->system.context, errors, sizeof *errors);
}

/* Sums over shots for each reflection (squares of pulls) and for each shell; doubles, one array behind the other. */
typedef struct scatter {
    double *square;         /* [reflections] sum of (weight x deviation)^2 over 1 - share */
    double *multiplicity;   /* [reflections] */
    double *share;          /* [reflections] sum of the shares of boxes */
    double *share_square;   /* [reflections] sum of their squares */
    double *misfit, *count; /* [DB_MOST_SHELLS] */
    size_t size;            /* doubles of all sums, which begin at square */
} scatter;

static scatter scatter_in(size_t reflections, double *memory) {
    return (scatter){ .square = memory,
                      .multiplicity = memory + reflections,
                      .share = memory + 2 * reflections,
                      .share_square = memory + 3 * reflections,
                      .misfit = memory + 4 * reflections,
                      .count = memory + 4 * reflections + DB_MOST_SHELLS,
                      .size = 4 * reflections + 2 * DB_MOST_SHELLS };
}

/* Adds a shot's pulls (db_joint_adder). */
static void add_pulls(const void *user, const db_reduced_equations *r, double *sums) {
    const db_intensity_search *const w = user;
    const db_asu_list *const list = w->pass.list;
    const db_shells shells = db_intensity_shells(list);
    const scatter to = scatter_in(list->count, sums);
    const size_t n = r->local;
    for (size_t b = 0; b < r->count; b++) {
        if (!(r->curvature[b] > 0)) continue;
        const uint32_t h = r->reflection[b];
        const float *const tail = r->tail + b * n;
        double pull = (double)r->pull[b];
        for (size_t i = 0; i < n; i++) pull -= (double)tail[i] * r->own[i];
        const double share = share_of(w, r, b), square = db_pull_square(pull, share), few = 0.9;
        const int shell = db_shell_of(&shells, (double)list->d[h]);
        to.square[h] += square;
        to.multiplicity[h]++;
        to.share[h] += share;
        to.share_square[h] += share * share;
        if (share >= few) continue;
        to.misfit[shell] += square / (double)r->curvature[b];
        to.count[shell]++;
    }
}

/* Variance of an intensity. spread: factor because other quantities are refined, too. */
static double variance_of(const db_joint_system *s, const scatter *sums, size_t h, int shell,
                          double spread) {
    const double misfit =
        sums->count[shell] > 0 ? fmax(1, sums->misfit[shell] / sums->count[shell]) : 1;
    return spread * db_intensity_variance(sums->square[h], sums->share[h], sums->share_square[h],
                                          s->diagonal[h], misfit);
}

/* Removes changes of all intensities that nothing determines: a common factor, and a common temperature factor.
 * Half of the shots takes them from the whole. */
static void project_out(const void *user, double *x) {
    const db_intensity_search *const w = user;
    const db_asu_list *const list = w->pass.list;
    const double *const diagonal = w->system.diagonal;
    const int with_fall = db_intensity_local_place(&w->pass, DB_B_FACTOR) < w->pass.order.local;
    double normal[3] = { 0 }, right[2] = { 0 };
    for (size_t h = 0; h < list->count; h++) {
        const double D = diagonal[h], I = w->best[h], d = (double)list->d[h],
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
    for (size_t h = 0; h < list->count; h++) {
        const double d = (double)list->d[h];
        if (diagonal[h] > 0) x[h] -= w->best[h] * (a + b / (d * d));
    }
}

/* Intensities that shots determine: the minimum plus x (NULL: 0), with errors from the sums. */
static void tell_intensities(const db_intensity_search *w, const scatter *sums,
                             const double *spread, const double *x, double *intensity,
                             double *sigma, uint32_t *multiplicity) {
    const db_asu_list *const list = w->pass.list;
    const db_shells shells = db_intensity_shells(list);
    for (size_t h = 0; h < list->count; h++) {
        if (!(w->system.diagonal[h] > 0) || !(sums->multiplicity[h] > 0)) continue;
        const int shell = db_shell_of(&shells, (double)list->d[h]);
        intensity[h] = x ? w->best[h] + x[h] : w->best[h];
        sigma[h] = sqrt(variance_of(&w->system, sums, h, shell, spread[h]));
        multiplicity[h] = (uint32_t)sums->multiplicity[h];
    }
}

/* Solution of half of the shots, near the common one, with each shot's own quantities free. Restraints are left
 * out, because they would be equal in both halves. */
static db_status solve_half(db_intensity_search *w, int half, const double *spread, scatter *sums,
                            db_merged *merged) {
    const unsigned group = half ? DB_HALF_B : DB_HALF_A;
    int iterations;
    DB_TRY(db_joint_system_sum(&w->system, group));
    DB_TRY(db_joint_system_solve(&w->system, group, 0, 1e-4, 0, w->system.right, w->step,
                                 &iterations));
    project_out(w, w->step);
    DB_TRY(add_over(w, group, sums->size, add_pulls, sums->square));
    tell_intensities(w, sums, spread, w->step, merged->half[half], merged->half_sigma[half],
                     merged->half_multiplicity[half]);
    return DB_OK;
}

/* Columns of the inverse for shared quantities, each the answer to a pull at one of them. */
static db_status invert_shared(db_intensity_search *w, double *right, db_covariance *shared) {
    const size_t n = w->system.reflections, count = shared->count;
    int iterations;
    for (size_t g = 0; g < count; g++) {
        memset(right, 0, (n + count) * sizeof *right);
        right[n + g] = 1;
        DB_TRY(db_joint_system_solve(&w->system, DB_BOTH_HALVES, 0, 1e-3, 1, right, w->step,
                                     &iterations));
        memcpy(shared->inverse + g * count, w->step + n, count * sizeof *right);
    }
    return DB_OK;
}

/* Finds shared quantities, and combinations of them, that are not determined even with known intensities: the shots' own
 * quantities make up for the former. */
static db_status mark_open(const db_intensity_search *w, db_covariance *shared) {
    const db_joint_system *const s = &w->system;
    const size_t n = s->shared;
    double *const factor = malloc((n * n + n + 1) * sizeof *factor), *const x = factor + n * n;
    if (!factor) return db_fail_memory(s->context, "the errors of shared quantities");
    db_cholesky_factor(n, s->normal, n, 0, NULL, DB_LEAST_FOR_BOXES, factor);
    for (size_t g = 0; g < n; g++) {
        const int absorbed = !w->at_bound[g] && !(s->normal[g * (n + 1)] > 0);
        if (!absorbed && !db_cholesky_combination(n, factor, g, x)) continue;
        for (size_t k = 0; k < n && absorbed; k++) x[k] = k == g;
        db_fit_direction *const d = &shared->direction[shared->direction_count++];
        d->condition = INFINITY;
        for (size_t k = 0; k < n; k++) {
            d->component[k] = x[k];
            d->change[k] = NAN;
            if (fabs(x[k]) > DB_LEAST_COMPONENT) shared->error[k] = INFINITY;
        }
    }
    free(factor);
    return DB_OK;
}

static db_status find_shared_errors(db_intensity_search *w, double *right,
                                    db_fit_estimates *estimates) {
    const db_joint_system *const s = &w->system;
    db_covariance shared;
    db_status status = db_team_common_status(&s->team, s->context,
                                             db_covariance_make(s->context, s->shared, &shared));
    if (status == DB_OK)
        status = db_team_common_status(&s->team, s->context, mark_open(w, &shared));
    if (status == DB_OK) status = invert_shared(w, right, &shared);
    if (status == DB_OK) {
        db_covariance_take_inverse(&shared);
        db_estimates_take(estimates, &shared, w->pass.order.index,
                          sqrt(fmax(1, w->course.total / w->course.degrees)));
    }
    db_covariance_clear(&shared);
    return status;
}

static db_status measure_intensities(db_intensity_search *w, scatter *sums, double *right,
                                     double *spread, db_fit_estimates *estimates) {
    db_merged *const merged = &w->result->merged;
    DB_TRY(add_over(w, DB_BOTH_HALVES, sums->size, add_pulls, sums->square));
    DB_TRY(db_joint_system_spread(&w->system, DB_BOTH_HALVES, PROBES, project_out, w, spread));
    tell_intensities(w, sums, spread, NULL, merged->intensity, merged->sigma, merged->multiplicity);
    DB_TRY(find_shared_errors(w, right, estimates));
    for (int half = 0; half < 2; half++) DB_TRY(solve_half(w, half, spread, sums, merged));
    const db_shells shells = db_intensity_shells(w->pass.list);
    db_merged_leave_out_unseen(w->pass.list, &shells, sums->square, merged);
    return DB_OK;
}

db_status db_intensity_conclude(db_intensity_search *w, db_fit_estimates *estimates) {
    const db_joint_system *const s = &w->system;
    const size_t n = s->reflections;
    scatter sums = scatter_in(n, NULL);
    double *const memory = calloc(sums.size + 2 * n + s->shared + 1, sizeof *memory);
    db_status status = db_merged_make(s->context, n, &w->result->merged);
    if (!memory) status = db_fail_memory(s->context, "the errors of the intensities");
    status = db_team_common_status(&s->team, s->context, status);
    if (status == DB_OK && memory) {
        double *const spread = memory + sums.size;
        sums = scatter_in(n, memory);
        status = measure_intensities(w, &sums, spread + n, spread, estimates);
    }
    free(memory);
    return status;
}
