/* Results of a joint refinement: errors of shared and local quantities, statistics of shots. */
#include "fit/shots/joint_conclude.h"

#include "base/context_internal.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/region_scatter.h"
#include "fit/result/errors.h"
#include "fit/shots/shot_fit.h"
#include "fit/shots/workers.h"
#include "fit/objective/statistics.h"
#include "fit/config/quantity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The model; then, of the products of half the gradients, the lower triangles: of shots, of their
 * blocks, of regions of their detectors. */
enum { SUMS = 4 };

/* What is counted beside them: blocks, chi2, degrees of freedom. */
enum { BLOCKS, CHI2, DEGREES, COUNTS };

typedef struct conclusion {
    db_shots *all;
    int stage;
    const db_fit_stage *settings;
    db_arrow_order order;
    const double *at; /* shared values */
    double *sums;     /* over all shots: [SUMS][db_arrow_sums_size], then COUNTS */
    size_t sums_size; /* of one of them */
    db_tree_sum tree;
    double *covariance; /* [shared][shared], as quoted */
} conclusion;

void db_shot_measure(const db_objective *objective, const db_spooled *pixels, int after,
                     db_shot_summary *summary) {
    db_fit_statistics statistics = { 0 };
    db_statistics_residuals(objective, &statistics);
    statistics.chi2_reduced = statistics.centroid_rms = NAN; /* degrees of freedom stay */
    if (pixels->boxes.count) db_statistics_centroids(objective, &pixels->boxes, &statistics);
    db_shot_store_statistics(&statistics, after, summary);
    summary->shoeboxes = pixels->blocks.count;
}

db_status db_shot_objective_at_start(const db_shots *all, db_context *context, size_t shot,
                                     const db_open_shot *open, db_objective *before) {
    const db_objective_options options = { .blur = 1,
                                           .target = (db_fit_target)open->objective.loss_of.target,
                                           .is_frame = all->shares_intensities };
    db_experiment start = all->state[shot].start; /* borrows */
    if (all->settings.intensity == DB_FIT_KNOWN) start.structure_factors = all->amplitudes;
    return db_objective_create(context, &start, &open->settings, &open->pixels.blocks, &options,
                               before);
}

void db_shot_start_is_impossible(db_shot_summary *summary) {
    summary->chi2[0] = summary->correlation[0] = summary->centroid_rms[0] = NAN;
}

/* The starting model on the same pixels. */
static db_status measure_start(const db_shots *all, db_context *context, size_t shot,
                               const db_open_shot *open) {
    db_objective before;
    DB_TRY(db_shot_objective_at_start(all, context, shot, open, &before));
    const db_status status = db_objective_evaluate(&before, NULL, DB_OBJECTIVE_LOSS);
    if (status == DB_OK) db_shot_measure(&before, &open->pixels, 0, &all->summary[shot]);
    db_objective_destroy(&before);
    if (status != DB_ERROR_INPUT) return status;
    db_shot_start_is_impossible(&all->summary[shot]);
    return DB_OK;
}

/* Products of the gradients of regions of the detector; of single blocks where these are too few. */
static db_status scatter_of_regions(db_context *context, const db_objective *objective,
                                    double **scatter) {
    const size_t n = objective->variables.count;
    int made;
    *scatter = malloc((n * n + 1) * sizeof **scatter);
    if (!*scatter) return db_fail_memory(context, "the errors of a shot");
    const db_status status = db_objective_region_scatter(objective, *scatter, &made);
    if (!made) memcpy(*scatter, objective->scatter, n * n * sizeof **scatter);
    return status;
}

/* The part of a matrix by a shot's variables that is by its local quantities. */
static void take_local(const conclusion *c, const db_open_shot *open, const double *from,
                       double *to) {
    const size_t n = open->objective.variables.count, m = c->order.local;
    const size_t *const local = c->order.variable + c->order.shared;
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) to[i * m + k] = from[local[i] * n + local[k]];
}

static void store_local(const conclusion *c, size_t shot, const db_open_shot *open, const int *used,
                        const db_covariance *estimate) {
    const size_t m = c->order.local, parts = open->objective.blocks.count;
    const size_t *const local = c->order.variable + c->order.shared;
    const double misfit =
        sqrt(fmax(1, c->all->summary[shot].chi2[1] / c->all->summary[shot].degrees));
    for (size_t i = 0; i < m; i++) {
        const size_t index = c->order.index[c->order.shared + i];
        c->all->error[shot * c->all->parameters + index] =
            fmax(estimate->error[i] * misfit, db_covariance_robust_error(estimate, i, parts, m));
        c->all->at_bound[shot * c->all->parameters + index] =
            used[i]                                  ? 0
            : open->objective.gradient[local[i]] > 0 ? -1
                                                     : 1;
    }
}

/* Errors of local quantities at fixed shared ones. regions: their scatter, by all variables. */
static db_status estimate_local(const conclusion *c, db_context *context, size_t shot,
                                const db_open_shot *open, const double *regions) {
    const size_t m = c->order.local;
    const size_t *const local = c->order.variable + c->order.shared;
    double *const normal = malloc((3 * m * m + 1) * sizeof *normal);
    double *const scatter[2] = { normal + m * m, normal + 2 * m * m };
    int *const used = malloc((m + 1) * sizeof *used);
    double shared_misfit;
    db_covariance estimate = { .error = NULL };
    db_status status = normal && used ? DB_OK : db_fail_memory(context, "the errors of a shot");
    if (status == DB_OK) {
        take_local(c, open, open->objective.normal, normal);
        take_local(c, open, open->objective.scatter, scatter[0]);
        take_local(c, open, regions, scatter[1]);
        for (size_t i = 0; i < m; i++) {
            const double sigma = open->objective.variables.sigma[local[i]];
            used[i] = !open->held[local[i]];
            for (int k = 0; k < 2; k++)
                if (sigma < INFINITY) scatter[k][i * m + i] += 1 / (sigma * sigma);
        }
        status = db_covariance_estimate(context, normal, scatter[0], m, used, &estimate);
    }
    if (status == DB_OK)
        status = db_errors_by_regions(context, normal, scatter[0], scatter[1], m, used, 1,
                                      &estimate, &shared_misfit);
    if (status == DB_OK) store_local(c, shot, open, used, &estimate);
    free(normal);
    free(used);
    db_covariance_clear(&estimate);
    return status;
}

/* Adds products of gradients (`of`, by the variables) of parts of a shot by the shared quantities,
 * with its local quantities free: T of T' with T = (1, dependence of the local quantities). */
static db_status add_pulls_of_parts(const conclusion *c, db_context *context, size_t shot,
                                    const double *of, double *scatter) {
    const size_t s = c->order.shared, m = c->order.local, n = s + m;
    const size_t *const variable = c->order.variable;
    const db_arrow_tail *const tail = &c->all->state[shot].best.tail;
    double *const t = calloc(s * n + n + 1, sizeof *t);
    double *const row = t + s * n;
    if (!t) return db_fail_memory(context, "the errors of a shot");
    for (size_t k = 0; k < s; k++) {
        t[k * n + k] = 1;
        db_arrow_answer(&c->order, tail, 1, t + k * n);
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

/* Adds the shot's contribution to the shared quantities, and the square of its gradient. */
static void add_pull(const conclusion *c, size_t shot, db_open_shot *open, double *sums) {
    const size_t s = c->order.shared;
    double *const scatter = sums + c->sums_size;
    double pull[DB_FIT_MOST_PARAMETERS];
    memcpy(pull, sums + 1, s * sizeof *pull);
    db_arrow_reduce(&c->order, open->objective.loss, open->objective.gradient,
                    open->objective.normal, open->held, &c->all->state[shot].best.tail, sums,
                    open->work);
    for (size_t i = 0, at = 1 + s; i < s; i++) {
        pull[i] = 0.5 * (sums[1 + i] - pull[i]);
        for (size_t k = 0; k <= i; k++) scatter[at++] += pull[i] * pull[k];
    }
}

/* What a shot says of the shared quantities, and what single parts of it do; errors of its local
 * quantities. */
static db_status conclude_errors(const conclusion *c, db_context *context, size_t shot,
                                 db_open_shot *open, double *sums) {
    double *regions = NULL;
    db_status status = scatter_of_regions(context, &open->objective, &regions);
    if (status == DB_OK) status = estimate_local(c, context, shot, open, regions);
    if (status == DB_OK) {
        add_pull(c, shot, open, sums);
        status =
            add_pulls_of_parts(c, context, shot, open->objective.scatter, sums + 2 * c->sums_size);
    }
    if (status == DB_OK)
        status = add_pulls_of_parts(c, context, shot, regions, sums + 3 * c->sums_size);
    free(regions);
    return status;
}

static void count_shot(const db_shot_summary *summary, double counts[COUNTS]) {
    counts[BLOCKS] += (double)summary->shoeboxes;
    counts[CHI2] += summary->chi2[1];
    counts[DEGREES] += summary->degrees;
}

static db_status conclude_shot(db_shots *all, db_context *context, size_t shot, void *user,
                               double *sum) {
    conclusion *const c = user;
    db_open_shot *const open = malloc(sizeof *open); /* large: stacks are small */
    if (!open) return db_fail_memory(context, "a shot");
    db_status status = db_open_shot_create(all, context, shot, c->stage, &c->order, open);
    if (status == DB_OK) {
        status = db_open_shot_fit(open, &c->order, c->settings, c->at, all->state[shot].best.local);
        if (status == DB_OK)
            db_shot_measure(&open->objective, &open->pixels, 1, &all->summary[shot]);
        if (status == DB_OK) status = measure_start(all, context, shot, open);
        if (status == DB_OK) status = conclude_errors(c, context, shot, open, sum);
        if (status == DB_OK) count_shot(&all->summary[shot], sum + SUMS * c->sums_size);
        db_open_shot_destroy(open);
    }
    free(open);
    return status;
}

/* Adds the errors of the shared quantities to those of the local ones, which depend on them. */
static db_status widen_local(db_shots *all, db_context *context, size_t shot, void *user,
                             double *nothing) {
    (void)nothing;
    const conclusion *const c = user;
    const size_t s = c->order.shared, m = c->order.local;
    double *const answer = malloc((m * s + s + m + 1) * sizeof *answer);
    double *const step = answer + m * s;
    if (!answer) return db_fail_memory(context, "the errors of a shot");
    for (size_t k = 0; k < s; k++) {
        memset(step, 0, (s + m) * sizeof *step);
        step[k] = 1;
        db_arrow_answer(&c->order, &all->state[shot].best.tail, 1, step);
        for (size_t i = 0; i < m; i++) answer[i * s + k] = step[s + i];
    }
    for (size_t i = 0; i < m; i++) {
        double *const error = &all->error[shot * all->parameters + c->order.index[s + i]];
        double sum = *error * *error;
        for (size_t k = 0; k < s; k++)
            for (size_t l = 0; l < s; l++)
                sum += answer[i * s + k] * c->covariance[k * s + l] * answer[i * s + l];
        *error = sqrt(sum);
    }
    free(answer);
    return DB_OK;
}

/* Errors by how much parts of the data, shots or blocks, disagree. regions: of blocks, the scatter
 * of whole regions; NULL: none. */
static db_status estimate_robust(const conclusion *c, const double *normal, const double *scatter,
                                 const double *regions, size_t parts, size_t quantities,
                                 const int *used, db_fit_shots_result *result) {
    const size_t s = c->order.shared;
    db_covariance estimate = { .error = NULL };
    db_status status = db_covariance_estimate(c->all->context, normal, scatter, s, used, &estimate);
    if (status == DB_OK && regions)
        status = db_errors_by_regions(c->all->context, normal, scatter, regions, s, used,
                                      c->all->used, &estimate, &result->estimates.shared_misfit);
    if (status == DB_OK)
        db_estimates_raise_robust(&result->estimates, &estimate, c->order.index, s, parts,
                                  quantities);
    db_covariance_clear(&estimate);
    return status;
}

/* Everything that is refined: shared quantities, and the local ones of all shots. */
static size_t quantity_count(const conclusion *c) {
    return c->order.shared + c->all->used * c->order.local;
}

static double counted(const conclusion *c, int what) {
    return c->sums[SUMS * c->sums_size + (size_t)what];
}

/* Errors of the shared quantities; normal, scatter of shots, blocks and regions:
 * [shared][shared]. */
static db_status estimate_shared(const conclusion *c, const double *normal,
                                 double *const scatter[3], double misfit, db_covariance *estimate,
                                 db_fit_shots_result *result) {
    const size_t s = c->order.shared;
    int used[DB_FIT_MOST_PARAMETERS];
    for (size_t i = 0; i < s; i++) used[i] = c->all->common_at_bound[c->order.index[i]] == 0;
    DB_TRY(db_covariance_estimate(c->all->context, normal, NULL, s, used, estimate));
    DB_TRY(estimate_robust(c, normal, scatter[0], NULL, c->all->used, s, used, result));
    DB_TRY(estimate_robust(c, normal, scatter[1], scatter[2], (size_t)counted(c, BLOCKS),
                           quantity_count(c), used, result));
    db_estimates_take(&result->estimates, estimate, c->order.index, s, misfit);
    const db_fit_estimate *const list = result->estimates.list;
    for (size_t i = 0; i < s; i++)
        for (size_t k = 0; k < s; k++) {
            const size_t a = c->order.index[i], b = c->order.index[k];
            const double both = list[a].error * list[b].error;
            c->covariance[i * s + k] = isfinite(both) ? both * estimate->correlation[i][k] : 0;
        }
    return DB_OK;
}

static db_status describe_shared(const conclusion *c, db_fit_shots_result *result) {
    const size_t s = c->order.shared;
    double *const normal = calloc(4 * s * s + s + 1, sizeof *normal);
    double *const scatter[3] = { normal + s * s, normal + 2 * s * s, normal + 3 * s * s };
    double *const gradient = normal + 4 * s * s;
    db_covariance estimate = { .error = NULL };
    double loss;
    db_status status =
        normal ? DB_OK : db_fail_memory(c->all->context, "the errors of the refinement");
    if (status == DB_OK) {
        for (int k = 0; k < SUMS - 1; k++)
            db_arrow_total(s, c->sums + (size_t)(k + 1) * c->sums_size, &loss, gradient,
                           scatter[k]);
        db_arrow_total(s, c->sums, &loss, gradient, normal);
        for (size_t i = 0; i < s; i++) {
            const double sigma = c->all->settings.parameters[c->order.index[i]].prior[1];
            if (!(sigma < INFINITY)) continue;
            normal[i * s + i] += 1 / (sigma * sigma);
            for (int k = 0; k < SUMS - 1; k++) scatter[k][i * s + i] += 1 / (sigma * sigma);
        }
        const double misfit = sqrt(fmax(1, counted(c, CHI2) / (counted(c, DEGREES) - (double)s)));
        status = estimate_shared(c, normal, scatter, misfit, &estimate, result);
    }
    free(normal);
    db_covariance_clear(&estimate);
    return status;
}

db_status db_joint_conclude(db_shots *all, int stage, const double *shared,
                            db_fit_shots_result *result) {
    conclusion c = {
        .all = all, .stage = stage, .settings = &all->settings.stages[stage], .at = shared
    };
    c.order = db_arrow_order_make(&all->settings, stage, all->shared);
    c.sums_size = db_arrow_sums_size(c.order.shared);
    const size_t size = SUMS * c.sums_size + COUNTS;
    c.sums = calloc(size, sizeof *c.sums);
    c.covariance = calloc(c.order.shared * c.order.shared + 1, sizeof *c.covariance);
    db_status status = c.sums && c.covariance
                           ? db_tree_sum_begin(all->context, db_shots_chunks(all), size, &c.tree)
                           : db_fail_memory(all->context, "the errors of the refinement");
    status = db_workers_common_status(all, status);
    if (status == DB_OK) status = db_workers_each(all, "errors", stage, conclude_shot, &c, &c.tree);
    if (status == DB_OK) status = db_workers_total(all, &c.tree, c.sums);
    if (status == DB_OK) status = db_workers_common_status(all, describe_shared(&c, result));
    if (status == DB_OK) status = db_workers_each(all, "errors", stage, widen_local, &c, NULL);
    db_tree_sum_clear(&c.tree);
    free(c.sums);
    free(c.covariance);
    return status;
}
