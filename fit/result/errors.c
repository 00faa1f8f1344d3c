/* Errors of refined quantities: by noise, by misfit, and by the scatter between shoeboxes and between regions of
 * the detector (docs/theory/refinement.md, Errors). */
#include "fit/result/errors.h"

#include "base/context_internal.h"
#include "fit/linear/cholesky.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_PARTS = 4 };        /* for each quantity: they make a good estimate of the scatter */
static const double SURELY = 3; /* standard deviations */

/* Trace of covariance x matrix: a scatter of all directions, in units of noise, or the number of quantities that a part of
 * the normal matrix determines. */
static double trace_of(const db_covariance *c, const double *matrix) {
    double sum = 0;
    for (size_t k = 0; k < c->count; k++)
        for (size_t l = 0; l < c->count; l++)
            sum += c->inverse[k * c->count + l] * matrix[k * c->count + l];
    return sum;
}

/* Number of quantities that parts of the data determine: priors hold the rest, which absorbs no scatter. */
static double fitted_quantities(const db_covariance *c, const db_scatter *s) {
    return (double)s->quantities - (s->priors ? trace_of(c, s->priors) : 0);
}

static double determined_directions(const db_covariance *c) {
    double sum = 0;
    for (size_t k = 0; k < c->direction_count; k++)
        sum += db_direction_is_determined(&c->direction[k]);
    return sum;
}

/* Ratio of errors by regions to errors by parts. 1 if the ratio may be chance: over all directions it must exceed
 * 1 by three standard deviations; the ratio of variances has DB_REGIONS - 1 degrees of freedom for each direction
 * and image. */
static double misfit_of_regions(const db_covariance *c, const db_scatter *s) {
    const double degrees = DB_REGIONS - 1, enlarged = DB_REGIONS / degrees;
    const double all = degrees * (double)s->images * determined_directions(c);
    const double ratio = enlarged * trace_of(c, s->of_regions) / trace_of(c, s->of_parts);
    return ratio > 1 + SURELY * sqrt(2 / all) ? sqrt(ratio) : 1;
}

/* Is a scatter of more parts than quantities larger than noise by three standard deviations, although the fit has made it
 * smaller? Few parts may hold most of what is known, so this is not allowed for. */
static int surely_exceeds_noise(const db_covariance *c, const db_scatter *s) {
    const double held = s->priors ? trace_of(c, s->priors) : 0,
                 left = (double)s->parts - fitted_quantities(c, s);
    return s->parts > s->quantities &&
           trace_of(c, s->of_parts) - held >
               (determined_directions(c) - held) * (1 + SURELY * sqrt(2 / left));
}

/* Raises robust errors to the errors by a scatter of more parts than there are quantities. */
static void raise_robust(const db_scatter *s, db_covariance *c, double *shared_misfit) {
    const double misfit = s->of_regions ? misfit_of_regions(c, s) : 1,
                 enlarged = sqrt((double)DB_REGIONS / (DB_REGIONS - 1)), parts = (double)s->parts,
                 factor = sqrt(parts / (parts - fitted_quantities(c, s)));
    if (s->of_regions) *shared_misfit = misfit;
    for (size_t i = 0; i < c->count; i++) {
        double error = db_covariance_sandwich(c, s->of_parts, i);
        if (misfit > 1) error = fmax(error, db_covariance_sandwich(c, s->of_regions, i) * enlarged);
        c->robust[i] = fmax(c->robust[i], error * factor);
    }
}

db_status db_errors_of_parts(db_context *context, const double *normal, size_t count,
                             const int *used, double least, const db_scatter *scatter,
                             size_t scatters, db_covariance *estimate, double *shared_misfit) {
    DB_TRY(db_covariance_estimate(context, normal, count, used, least, estimate));
    int enough = 0;
    for (size_t k = 0; k < scatters; k++) {
        const size_t wanted = MANY_PARTS * scatter[k].quantities;
        if (scatter[k].parts >= wanted) raise_robust(&scatter[k], estimate, shared_misfit);
        enough |= scatter[k].parts >= wanted;
    }
    /* Without even a poor estimate, models that miss more than noise have far too small errors. */
    for (size_t k = 0; k < scatters && !enough; k++)
        if (surely_exceeds_noise(estimate, &scatter[k]))
            raise_robust(&scatter[k], estimate, shared_misfit);
    return DB_OK;
}

/* Part of a matrix for some of an objective's variables. */
static void take_some(const double *from, size_t n, const size_t *variable, size_t count,
                      double *to) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++) to[i * count + k] = from[variable[i] * n + variable[k]];
}

db_status db_errors_of_variables(db_context *context, const db_objective *o, const size_t *variable,
                                 size_t count, const int *used, const double *regions,
                                 db_covariance *estimate, double *shared_misfit) {
    const size_t n = o->variables.count;
    double *const normal = calloc(4 * count * count + 1, sizeof *normal);
    double *const scatter[2] = { normal + count * count, normal + 2 * count * count };
    double *const priors = normal + 3 * count * count;
    const double *const from[2] = { o->scatter, regions };
    const db_scatter parts = { scatter[0], regions ? scatter[1] : NULL, o->blocks.count, 1, count,
                               priors };
    if (!normal) return db_fail_memory(context, "the errors of a shot");
    take_some(o->normal, n, variable, count, normal);
    for (int s = 0; s < 1 + (regions != NULL); s++) {
        take_some(from[s], n, variable, count, scatter[s]);
        for (size_t i = 0; i < count; i++) {
            const double sigma = o->variables.sigma[variable[i]];
            priors[i * count + i] = 1 / (sigma * sigma); /* 0: none */
            scatter[s][i * count + i] += priors[i * count + i];
        }
    }
    const db_status status = db_errors_of_parts(context, normal, count, used, DB_LEAST_EIGENVALUE,
                                                &parts, 1, estimate, shared_misfit);
    free(normal);
    return status;
}

static db_status estimate(db_context *context, const db_objective *objective,
                          const db_fit_estimates *found, db_covariance *c, double *shared_misfit) {
    const size_t n = objective->variables.count;
    size_t all[DB_FIT_MOST_PARAMETERS];
    int used[DB_FIT_MOST_PARAMETERS] = { 0 }, made = 0;
    double *const regions = malloc((n * n + 1) * sizeof *regions);
    *shared_misfit = 1;
    if (!regions) return db_fail_memory(context, "the regions' scatter");
    for (size_t k = 0; k < n; k++) {
        const size_t i = objective->variables.index[k];
        all[k] = k;
        used[k] = i >= found->count || found->list[i].at_bound == 0;
    }
    db_status status = db_objective_region_scatter(objective, regions, &made);
    if (status == DB_OK)
        status = db_errors_of_variables(context, objective, all, n, used, made ? regions : NULL, c,
                                        shared_misfit);
    free(regions);
    return status;
}

db_status db_errors_estimate(db_context *context, const db_objective *objective,
                             double chi2_reduced, db_fit_result *result) {
    db_covariance c = { .error = NULL };
    db_fit_estimates *const found = &result->estimates;
    db_status status = estimate(context, objective, found, &c, &found->shared_misfit);
    if (status == DB_OK)
        db_estimates_take(found, &c, objective->variables.index, sqrt(fmax(1, chi2_reduced)));
    db_covariance_clear(&c);
    return status;
}

db_status db_errors_of_step(db_context *context, const db_objective *objective,
                            const db_fit_estimates *found, double chi2_reduced, size_t variable,
                            double *step, double *error) {
    const size_t n = objective->variables.count;
    db_covariance c = { .error = NULL };
    double misfit;
    const db_status status = estimate(context, objective, found, &c, &misfit);
    if (status == DB_OK) {
        *error = fmax(c.error[variable] * sqrt(fmax(1, chi2_reduced)), c.robust[variable]);
        for (size_t i = 0; i < n; i++) {
            step[i] = 0;
            for (size_t k = 0; k < n; k++)
                step[i] -= 0.5 * c.inverse[i * n + k] * objective->gradient[k];
        }
    }
    db_covariance_clear(&c);
    return status;
}

/* Products of the gradients of regions of neighbouring blocks. */

enum { FEWEST_BLOCKS = 4 }; /* of a region */

/* Scattering vectors at the middles of blocks. */
static db_status locate(const db_objective *objective, db_place *list) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(objective->context, &objective->experiment, &geometry));
    for (size_t b = 0; b < objective->blocks.count; b++) {
        const db_region *const r = &objective->blocks.region[b];
        const double middle[2] = { r->fast_start + 0.5 * r->fast_count,
                                   r->slow_start + 0.5 * r->slow_count };
        db_fit_geometry_scattering(&geometry, r->panel, middle, list[b].q);
        list[b].number = b;
    }
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

/* Half the gradient of some blocks by the variables, then by a shared J. */
static void add_region(const db_objective *objective, const db_place *list, size_t count,
                       double *pull) {
    const size_t n = objective->variables.count;
    memset(pull, 0, (n + 1) * sizeof *pull);
    for (size_t i = 0; i < count; i++) {
        size_t own[DB_BLOCK_MOST + 1];
        const double *const gradient = db_objective_block_gradient(objective, list[i].number);
        const size_t variables = db_objective_block_variables(objective, list[i].number, own);
        own[variables] = n;
        for (size_t k = 0; k <= variables; k++) pull[own[k]] += 0.5 * gradient[k];
    }
    if (objective->rule != DB_INTENSITY_SHARED) return;
    for (size_t k = 0; k < n; k++) pull[k] -= db_objective_shared_part(objective, k) * pull[n];
}

static void scatter_regions(const db_objective *objective, const db_place *list, double *pull,
                            double *scatter) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    for (int r = 0; r < DB_REGIONS; r++) {
        const size_t first = db_region_start(blocks, DB_REGIONS, r),
                     end = db_region_start(blocks, DB_REGIONS, r + 1);
        add_region(objective, list + first, end - first, pull);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++) scatter[k * n + l] += pull[k] * pull[l];
    }
}

db_status db_objective_region_scatter(const db_objective *objective, double *scatter, int *made) {
    const size_t n = objective->variables.count, blocks = objective->blocks.count;
    *made = blocks >= FEWEST_BLOCKS * DB_REGIONS;
    memset(scatter, 0, n * n * sizeof *scatter);
    if (!*made) return DB_OK;
    db_place *const list = malloc(blocks * sizeof *list);
    double *const pull = malloc((n + 1) * sizeof *pull);
    db_status status = list && pull ? locate(objective, list)
                                    : db_fail_memory(objective->context, "the regions' scatter");
    if (status == DB_OK) {
        db_regions_cut(list, blocks, DB_REGIONS);
        scatter_regions(objective, list, pull, scatter);
    }
    free(list);
    free(pull);
    return status;
}

/* What quantities that are held do to the errors of refined ones. */

db_status db_held_response(db_context *context, const double *normal, size_t n, const int *used,
                           size_t held, double *change) {
    double *const factor = malloc((n * n + 1) * sizeof *factor);
    unsigned char *const stays = calloc(n + 1, 1);
    if (factor && stays) {
        for (size_t k = 0; k < n; k++) {
            stays[k] = k == held || !used[k];
            change[k] = -normal[k * n + held];
        }
        db_cholesky_factor(n, normal, n, 0, stays, DB_LEAST_FOR_VARIANCE, factor);
        db_cholesky_solve(n, factor, change);
    }
    const db_status status =
        db_need_memory(context, factor && stays, "what a held quantity changes");
    free(factor);
    free(stays);
    return status;
}

static int is_changed(const double *change, const size_t *index, size_t k,
                      const db_fit_estimates *estimates) {
    return index[k] < estimates->count && estimates->list[index[k]].error > 0 &&
           isfinite(estimates->list[index[k]].error) && isfinite(change[k]);
}

void db_held_widen(const double *change, const size_t *index, size_t n, db_fit_estimates *e) {
    for (size_t k = 0; k < n; k++) {
        if (!is_changed(change, index, k, e)) continue;
        for (size_t l = 0; l < k; l++) {
            if (!is_changed(change, index, l, e)) continue;
            const size_t a = index[k], b = index[l];
            const double own[2] = { e->list[a].error, e->list[b].error };
            const double both = e->correlation[a][b] * own[0] * own[1] + change[k] * change[l];
            e->correlation[a][b] = e->correlation[b][a] =
                both / (hypot(own[0], change[k]) * hypot(own[1], change[l]));
        }
    }
    for (size_t k = 0; k < n; k++)
        if (is_changed(change, index, k, e))
            e->list[index[k]].error = hypot(e->list[index[k]].error, change[k]);
}
