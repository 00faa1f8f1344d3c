/* Results of a joint refinement: errors of shared and local quantities, statistics of shots. */
#include "fit/shots/joint.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"
#include "fit/objective/evaluate.h"
#include "fit/result/errors.h"
#include "fit/result/estimates.h"
#include "fit/shots/series.h"
#include "fit/shots/workers.h"
#include "fit/objective/statistics.h"
#include "fit/config/quantity.h"
#include "loss/eliminate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The normal matrix; then lower triangles of the products of half the gradients: of shots, of their blocks, of
 * regions of their detectors. */
enum { SUMS = 4 };

/* Counts beside the sums: blocks, chi2, degrees of freedom. Behind them is the diagonal of the normal matrix, [unknowns],
 * before local quantities are eliminated; 0 for a series, whose frames' quantities are unknowns. */
enum { BLOCKS, CHI2, DEGREES, COUNTS };

typedef struct conclusion {
    db_shots *all;
    const db_joint_minimum *at;
    const db_joint_links *links;
    db_schur_order order;
    double *sums;       /* over all shots: [SUMS][db_schur_sums_size], then COUNTS */
    size_t sums_size;   /* doubles of one of them */
    size_t *index;      /* [unknowns] numbers among the settings' parameters */
    double *covariance; /* [unknowns][unknowns], as quoted, in the determined directions */
    double *alone;      /* [unknowns] error if it alone were refined */
    double *open;       /* [opens][unknowns] changes along undetermined directions; owned */
    size_t opens;
} conclusion;

static double *diagonals(const conclusion *c, double *sums) {
    return sums + SUMS * c->sums_size + COUNTS;
}

static size_t all_sums(const conclusion *c) {
    return SUMS * c->sums_size + COUNTS + c->links->unknowns;
}

/* Statistics of the starting model on the same pixels. */
static db_status measure_start(const db_shots *all, db_context *context, size_t shot,
                               const db_open_shot *open) {
    db_objective before;
    DB_TRY(db_shot_objective_at_start(all, context, shot, open, &before));
    if (all->series) db_series_give(all, shot, 1, &before);
    const db_status status = db_objective_evaluate(&before, NULL, DB_OBJECTIVE_LOSS);
    if (status == DB_OK) db_shot_measure(&before, &open->pixels, 0, &all->summary[shot]);
    db_objective_destroy(&before);
    return status == DB_ERROR_INPUT ? DB_OK : status; /* an impossible start has no statistics */
}

static void store_local(const conclusion *c, size_t shot, const db_covariance *estimate) {
    const db_shot_summary *const summary = &c->all->summary[shot];
    const double misfit = sqrt(fmax(1, summary->fit[1].chi2 / summary->degrees));
    for (size_t i = 0; i < estimate->count; i++)
        db_shots_values(c->all, shot).error[c->order.index[c->order.shared + i]] =
            fmax(estimate->error[i] * misfit, estimate->robust[i]);
}

/* Errors of local quantities at fixed shared ones. regions: scatter of regions, by all variables; NULL: none. */
static db_status estimate_local(const conclusion *c, db_context *context, size_t shot,
                                const db_open_shot *open, const double *regions) {
    const size_t m = c->order.local, *const local = c->order.variable + c->order.shared;
    int used[DB_FIT_MOST_PARAMETERS];
    double shared_misfit;
    db_covariance estimate = { .error = NULL };
    for (size_t i = 0; i < m; i++) used[i] = !open->held[local[i]];
    const db_status status = db_errors_of_variables(context, &open->objective, local, m, used,
                                                    regions, &estimate, &shared_misfit);
    if (status == DB_OK) store_local(c, shot, &estimate);
    db_covariance_clear(&estimate);
    return status;
}

/* Adds products of gradients of parts of a shot (`of`, by the variables) by the shared quantities, with its local
 * quantities free: T of T' with T = (1, dependence of the local quantities). */
static db_status add_pulls_of_parts(const conclusion *c, db_context *context, size_t shot,
                                    const double *of, double *scatter) {
    const size_t s = c->order.shared, m = c->order.local, n = s + m;
    const size_t *const variable = c->order.variable;
    const db_schur_tail *const tail = &c->all->state[shot].best.tail;
    double *const t = calloc(s * n + n + 1, sizeof *t);
    double *const row = t + s * n;
    if (!t) return db_fail_memory(context, "the errors of a shot");
    for (size_t k = 0; k < s; k++) {
        t[k * n + k] = 1;
        db_schur_answer(&c->order, tail, 1, t + k * n);
    }
    for (size_t k = 0, at = 1 + s; k < s; k++) {
        for (size_t j = 0; j < n; j++) {
            row[j] = 0;
            for (size_t i = 0; i < n; i++)
                row[j] += t[k * n + i] * of[variable[i] * n + variable[j]];
        }
        for (size_t l = 0; l <= k; l++, at++)
            for (size_t j = 0; j < n; j++) scatter[at] += row[j] * t[l * n + j];
    }
    free(t);
    return DB_OK;
}

/* Adds a shot's contribution to its linked quantities, and the square of its gradient, to sums of 0. */
static void add_pull(const conclusion *c, size_t shot, db_open_shot *open, double *sums,
                     double *scatter) {
    const size_t s = c->order.shared;
    db_schur_reduce(&c->order, open->objective.loss, open->objective.gradient,
                    open->objective.normal, open->held, &c->all->state[shot].best.tail, sums,
                    open->work);
    for (size_t i = 0, at = 1 + s; i < s; i++)
        for (size_t k = 0; k <= i; k++) scatter[at++] = 0.25 * sums[1 + i] * sums[1 + k];
}

/* Adds what a shot's linked quantities have on the diagonal while its local ones are held. */
static void add_diagonal(const conclusion *c, size_t shot, const db_objective *o, double *sums) {
    const size_t n = o->variables.count;
    db_joint_link link[DB_MOST_LINKS];
    for (size_t k = 0; k < c->order.shared; k++)
        for (size_t p = db_joint_links_of(c->links, shot, k, link); p-- > 0;)
            diagonals(c, sums)[link[p].unknown] +=
                link[p].weight * link[p].weight * o->normal[c->order.variable[k] * (n + 1)];
}

/* Adds a shot's sums by the unknowns, and sums of its parts. */
static db_status add_sums(const conclusion *c, db_context *context, size_t shot, db_open_shot *open,
                          const double *regions, double *sums) {
    const size_t size = db_schur_sums_size(c->order.shared);
    double *const own = calloc(SUMS * size, sizeof *own);
    if (!own) return db_fail_memory(context, "the errors of a shot");
    add_pull(c, shot, open, own, own + size);
    db_status status =
        add_pulls_of_parts(c, context, shot, open->objective.scatter, own + 2 * size);
    if (status == DB_OK) status = add_pulls_of_parts(c, context, shot, regions, own + 3 * size);
    for (size_t k = 0; k < SUMS && status == DB_OK; k++)
        db_joint_links_add(c->links, shot, own + k * size, sums + k * c->sums_size);
    add_diagonal(c, shot, &open->objective, sums);
    free(own);
    return status;
}

/* Adds a shot's sums by the shared quantities, and sums of its parts; estimates errors of its local quantities. */
static db_status conclude_errors(const conclusion *c, db_context *context, size_t shot,
                                 db_open_shot *open, double *sums) {
    const db_objective *const o = &open->objective;
    const size_t n = o->variables.count;
    if (c->all->series) { /* frames are summed together */
        DB_TRY(db_series_note_light(c->all, context, shot, open));
        return db_series_note(c->all, context, shot, open);
    }
    int made = 0; /* too few blocks for regions */
    double *const regions = malloc((n * n + 1) * sizeof *regions);
    db_status status = regions ? db_objective_region_scatter(o, regions, &made)
                               : db_fail_memory(context, "the errors of a shot");
    if (status == DB_OK) status = estimate_local(c, context, shot, open, made ? regions : NULL);
    if (status == DB_OK)
        status = add_sums(c, context, shot, open, made ? regions : o->scatter, sums);
    free(regions);
    return status;
}

static void count_shot(const db_shot_summary *summary, double counts[COUNTS]) {
    counts[BLOCKS] += (double)summary->fit[1].shoeboxes;
    counts[CHI2] += summary->fit[1].chi2;
    counts[DEGREES] += summary->degrees;
}

static db_status conclude_shot(void *user, db_context *context, size_t shot, db_open_shot *open,
                               double *sum) {
    conclusion *const c = user;
    db_shots *const all = c->all;
    db_fit_stage search = all->settings.stages[c->at->stage];
    if (c->at->stays) search.max_evaluations = 1;
    if (all->series) db_series_give(all, shot, 0, &open->objective);
    db_joint_links_values(c->links, shot, c->at->at, open->linked);
    DB_TRY(db_open_shot_fit(open, &c->order, &search, open->linked, all->state[shot].best.local));
    db_shot_measure(&open->objective, &open->pixels, 1, &all->summary[shot]);
    DB_TRY(measure_start(all, context, shot, open));
    DB_TRY(conclude_errors(c, context, shot, open, sum));
    count_shot(&all->summary[shot], sum + SUMS * c->sums_size);
    return DB_OK;
}

/* What the unknowns tell of a shot's linked quantities. */
typedef struct linked_errors {
    size_t count, opens;
    double *covariance; /* [count][count] */
    double *open;       /* [count][opens] changes along undetermined directions */
    double *square;     /* [count] squares of their errors, if each unknown alone were refined */
} linked_errors;

/* to: of zeros */
static void link_errors(const conclusion *c, size_t shot, const linked_errors *to) {
    const size_t s = c->order.shared, n = c->links->unknowns;
    db_joint_link a[DB_MOST_LINKS], b[DB_MOST_LINKS];
    for (size_t k = 0; k < s; k++)
        for (size_t p = db_joint_links_of(c->links, shot, k, a); p-- > 0;) {
            const size_t u = a[p].unknown;
            to->square[k] += pow(a[p].weight * c->alone[u], 2);
            for (size_t d = 0; d < c->opens; d++)
                to->open[k * c->opens + d] += a[p].weight * c->open[d * n + u];
            for (size_t l = 0; l < s; l++)
                for (size_t q = db_joint_links_of(c->links, shot, l, b); q-- > 0;)
                    to->covariance[k * s + l] +=
                        a[p].weight * b[q].weight * c->covariance[u * n + b[q].unknown];
        }
}

/* Error of a quantity that follows the linked quantities by by[], and has this error if they are known. INFINITY: it moves
 * along an undetermined direction; NAN: it does not move at all. */
static double error_of(const linked_errors *linked, const double *by, double known) {
    const size_t s = linked->count;
    double variance = known * known, most = variance, along = 0;
    for (size_t k = 0; k < s; k++) {
        most += by[k] * by[k] * linked->square[k];
        for (size_t l = 0; l < s; l++) variance += by[k] * linked->covariance[k * s + l] * by[l];
    }
    for (size_t d = 0; d < linked->opens; d++) {
        double change = 0;
        for (size_t k = 0; k < s; k++) change += by[k] * linked->open[k * linked->opens + d];
        along += change * change;
    }
    if (along > DB_LEAST_COMPONENT * DB_LEAST_COMPONENT * most) return INFINITY;
    return variance > 0 ? sqrt(variance) : (double)NAN;
}

/* Adds errors of the unknowns to the errors of local quantities, which depend on them, and stores errors of
 * quantities that are sums of unknowns. */
static db_status widen_local(db_shots *all, db_context *context, size_t shot, void *user,
                             double *nothing) {
    (void)nothing;
    const conclusion *const c = user;
    const size_t s = c->order.shared, m = c->order.local;
    double *const error = db_shots_values(all, shot).error;
    double *const answer = calloc(m * s + s + m + s * (s + c->opens + 1) + 1, sizeof *answer);
    double *const step = answer + m * s;
    const linked_errors linked = { s, c->opens, step + s + m, step + s + m + s * s,
                                   step + s + m + s * (s + c->opens) };
    if (!answer) return db_fail_memory(context, "the errors of a shot");
    link_errors(c, shot, &linked);
    for (size_t k = 0; k < s; k++) {
        memset(step, 0, (s + m) * sizeof *step);
        step[k] = 1;
        if (c->links->first[k] >= c->links->shared)
            error[c->order.index[k]] = error_of(&linked, step, 0);
        db_schur_answer(&c->order, &all->state[shot].best.tail, 1, step);
        for (size_t i = 0; i < m; i++) answer[i * s + k] = step[s + i];
    }
    for (size_t i = 0; i < m; i++) {
        double *const own = &error[c->order.index[s + i]];
        *own = error_of(&linked, answer + i * s, *own);
    }
    free(answer);
    return DB_OK;
}

/* Number of all refined quantities: unknowns, and the local quantities of all shots. */
static size_t quantity_count(const conclusion *c) {
    return c->links->unknowns + c->all->used * c->order.local;
}

static double counted(const conclusion *c, int what) {
    return c->sums[SUMS * c->sums_size + (size_t)what];
}

/* Empties the equation of an unknown that stays, or of which elimination has left only rounding. */
static void leave_out(size_t n, size_t unknown, double *normal) {
    for (size_t k = 0; k < n; k++) normal[unknown * n + k] = normal[k * n + unknown] = 0;
}

/* Less than this part of what is known of a quantity, or of a combination of them, is rounding. A series sums over boxes. */
static double least_of(const conclusion *c) {
    return c->all->series ? DB_LEAST_FOR_BOXES : DB_LEAST_EIGENVALUE;
}

/* Correlations and directions of the quantities that all shots share, with the other unknowns free. */
static db_status describe_shared(const conclusion *c, const double *normal, const int *used,
                                 double misfit, db_fit_shots_result *result) {
    const size_t n = c->links->unknowns, s = c->links->shared;
    double *const left = calloc(n * n + n + s * s + 1, sizeof *left);
    if (!left) return db_fail_memory(c->all->context, "the errors of the refinement");
    double *const gradient = left + n * n;
    double *const matrix = gradient + n;
    memcpy(left, normal, n * n * sizeof *left);
    for (size_t i = 0; i < n; i++)
        if (!used[i]) leave_out(n, i, left);
    (void)db_eliminate(n, s, gradient, left, n);
    for (size_t i = 0; i < s; i++)
        if (!(left[i * n + i] > least_of(c) * normal[i * n + i])) leave_out(n, i, left);
    for (size_t i = 0; i < s; i++)
        for (size_t k = 0; k < s; k++)
            matrix[i * s + k] = i > k ? left[i * n + k] : left[k * n + i];
    db_covariance estimate = { .error = NULL };
    const db_status status =
        db_covariance_estimate(c->all->context, matrix, s, used, least_of(c), &estimate);
    if (status == DB_OK) db_estimates_take(&result->estimates, &estimate, c->index, misfit);
    db_covariance_clear(&estimate);
    free(left);
    return status;
}

/* Keeps the directions that are not determined. */
static db_status keep_open(conclusion *c, const double *normal, const db_covariance *estimate) {
    const size_t n = c->links->unknowns;
    const double *const before = diagonals(c, c->sums);
    for (size_t d = 0; d < estimate->direction_count; d++)
        c->opens += !db_direction_is_determined(&estimate->direction[d]);
    c->open = malloc((c->opens * n + 1) * sizeof *c->open);
    if (!c->open) return db_fail_memory(c->all->context, "the errors of the refinement");
    for (size_t i = 0; i < n; i++) {
        const double own = normal[i * (n + 1)] > 0 ? normal[i * (n + 1)] : before[i];
        c->alone[i] = own > 0 ? 1 / sqrt(own) : 1;
    }
    double *to = c->open;
    for (size_t d = 0; d < estimate->direction_count; d++) {
        if (db_direction_is_determined(&estimate->direction[d])) continue;
        for (size_t i = 0; i < n; i++) *to++ = estimate->direction[d].component[i] * c->alone[i];
    }
    return DB_OK;
}

/* Covariance of the unknowns as quoted. */
static void quote(const conclusion *c, const db_covariance *estimate, double misfit) {
    const size_t n = estimate->count;
    memcpy(c->covariance, estimate->inverse, n * n * sizeof *c->covariance);
    for (size_t i = 0; i < n; i++) {
        const double own = estimate->inverse[i * (n + 1)],
                     factor = own > 0 ? fmax(misfit, estimate->robust[i] / sqrt(own)) : 0;
        for (size_t k = 0; k < n; k++) {
            c->covariance[i * n + k] *= factor;
            c->covariance[k * n + i] *= factor;
        }
    }
}

/* Errors of the unknowns; normal, priors, scatter of shots, blocks and regions: [unknowns][unknowns]. */
static db_status estimate_unknowns(conclusion *c, const double *normal, const double *priors,
                                   double *const scatter[3], double misfit, const int *used,
                                   db_fit_shots_result *result) {
    const db_shots *const all = c->all;
    const size_t n = c->links->unknowns;
    const db_scatter parts[2] = { { scatter[0], NULL, all->used, 0, n, priors },
                                  { scatter[1], all->series ? NULL : scatter[2],
                                    all->series ? db_series_reflections(all)
                                                : (size_t)counted(c, BLOCKS),
                                    all->used, quantity_count(c), priors } };
    db_covariance estimate = { .error = NULL };
    db_status status = db_errors_of_parts(all->context, normal, n, used, least_of(c), parts, 2,
                                          &estimate, &result->estimates.shared_misfit);
    for (size_t i = 0; i < c->links->shared && status == DB_OK; i++)
        result->estimates.list[c->index[i]].error_robust =
            isinf(estimate.error[i]) ? estimate.error[i] : estimate.robust[i];
    if (status == DB_OK) quote(c, &estimate, misfit);
    if (status == DB_OK) status = keep_open(c, normal, &estimate);
    db_covariance_clear(&estimate);
    return status;
}

static db_status describe_minimum(conclusion *c, double *numbers, int *used,
                                  db_fit_shots_result *result) {
    const size_t n = c->links->unknowns;
    double *const normal = numbers;
    double *const scatter[3] = { normal + n * n, normal + 2 * n * n, normal + 3 * n * n };
    double *const priors = normal + 4 * n * n, *const gradient = normal + 5 * n * n, loss;
    const db_unknowns *const u = c->at->unknowns;
    db_schur_total(n, c->sums, &loss, gradient, normal);
    for (int k = 0; k < SUMS - 1; k++)
        db_schur_total(n, c->sums + (size_t)(k + 1) * c->sums_size, &loss, gradient, scatter[k]);
    for (size_t i = 0; i < n; i++) {
        used[i] = c->at->at_bound[i] == 0 && u->lower[i] < u->upper[i];
        if (!db_is_determined(normal[i * (n + 1)], diagonals(c, c->sums)[i]))
            leave_out(n, i, normal);
    }
    db_unknowns_add_curvature(u, normal);
    db_unknowns_add_curvature(u, priors);
    for (int k = 0; k < SUMS - 1; k++) db_unknowns_add_curvature(u, scatter[k]);
    const double degrees = counted(c, DEGREES) - (double)c->links->shared;
    const double misfit = sqrt(fmax(1, counted(c, CHI2) / degrees));
    DB_TRY(estimate_unknowns(c, normal, priors, scatter, misfit, used, result));
    return describe_shared(c, normal, used, misfit, result);
}

static db_status describe_unknowns(conclusion *c, db_fit_shots_result *result) {
    const size_t n = c->links->unknowns;
    double *const numbers = calloc(5 * n * n + n + 1, sizeof *numbers);
    int *const used = calloc(n + 1, sizeof *used);
    const db_status status = numbers && used
                                 ? describe_minimum(c, numbers, used, result)
                                 : db_fail_memory(c->all->context, "the errors of the refinement");
    free(numbers);
    free(used);
    return status;
}

/* Passes over the shots and sums for the conclusion. */
static db_status sum_up(conclusion *c) {
    db_shots *const all = c->all;
    double *const pulls[2] = { c->sums + c->sums_size, c->sums + 2 * c->sums_size };
    if (all->series) DB_TRY(db_series_solve(all, c->at->at));
    DB_TRY(db_open_shots_sum(all, "errors", c->at->stage, &c->order, conclude_shot, c, all_sums(c),
                             c->sums));
    return all->series ? db_series_sum(all, c->sums, pulls) : DB_OK;
}

db_status db_joint_conclude(db_shots *all, const db_joint_minimum *at,
                            db_fit_shots_result *result) {
    conclusion c = { .all = all, .at = at, .links = at->links, .order = at->links->order };
    const size_t n = at->links->unknowns;
    c.sums_size = db_schur_sums_size(n);
    c.sums = calloc(all_sums(&c), sizeof *c.sums);
    c.index = calloc(n + 1, sizeof *c.index);
    c.covariance = calloc(n * n + n + 1, sizeof *c.covariance);
    db_status status = db_need_memory(all->context, c.sums && c.index && c.covariance,
                                      "the errors of the refinement");
    c.alone = c.covariance + n * n;
    if (status == DB_OK) db_joint_links_index(c.links, c.index);
    status = db_workers_common_status(all, status);
    if (status == DB_OK) status = sum_up(&c);
    if (status == DB_OK && all->series) status = db_series_judge_turns(all, at);
    if (status == DB_OK && all->series) status = db_series_passages(all, result);
    if (status == DB_OK) status = db_workers_common_status(all, describe_unknowns(&c, result));
    if (status == DB_OK) status = db_workers_each(all, "errors", at->stage, widen_local, &c);
    free(c.sums);
    free(c.index);
    free(c.covariance);
    free(c.open);
    return status;
}
