/* Errors of refined quantities: by noise, by misfit, and by how much shoeboxes and regions of the
 * detector disagree (docs/theory/refinement.md, Errors). */
#include "fit/result/errors.h"

#include "base/context_internal.h"
#include "fit/objective/region_scatter.h"
#include "fit/objective/shared_intensities.h"

#include <math.h>
#include <stdlib.h>

static db_status store_amplitudes(db_context *context, const db_objective *objective,
                                  const db_covariance *c, double chi2_reduced,
                                  db_fit_result *result) {
    const db_amplitudes *const a = objective->amplitudes;
    double *const factor = malloc((2 * a->count + 1) * sizeof *factor);
    double *const error = factor + a->count;
    if (!factor) return db_fail_memory(context, "the refined amplitudes");
    db_objective_reflection_errors(objective, c->error, c->correlation, error);
    for (size_t r = 0; r < a->count; r++) {
        factor[r] = objective->solution[a->box[a->first[r]]].linear[0];
        error[r] *= sqrt(fmax(1, chi2_reduced));
    }
    const db_status status = db_amplitudes_to_result(context, &objective->experiment,
                                                     objective->settings, a, factor, error, result);
    free(factor);
    return status;
}

/* Trace of covariance x scatter: of each direction, by how much it scatters, in units of noise. */
static double scatter_in_units_of_noise(const db_covariance *c, const double *scatter, size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
            if (isfinite(c->error[k]) && isfinite(c->error[l]))
                sum += c->error[k] * c->error[l] * c->correlation[k][l] * scatter[k * n + l];
    return sum;
}

/* Errors by regions take the place of those by blocks where they are larger, if over all directions
 * they are larger than chance brings: by three standard deviations, where the ratio of variances has
 * DB_REGIONS - 1 degrees of freedom for each and each image. Returns the ratio of errors. */
static double share_misfit(const db_covariance *of_regions, double ratio, size_t n, size_t images,
                           db_covariance *of_blocks) {
    const double degrees = DB_REGIONS - 1, enlarged = DB_REGIONS / degrees;
    const double all = degrees * (double)images * (double)of_blocks->direction_count;
    ratio *= enlarged;
    if (!(ratio > 1 + 3 * sqrt(2 / all))) return 1;
    for (size_t k = 0; k < n; k++)
        of_blocks->robust[k] = fmax(of_blocks->robust[k], of_regions->robust[k] * sqrt(enlarged));
    return sqrt(ratio);
}

db_status db_errors_by_regions(db_context *context, const double *normal, const double *of_blocks,
                               const double *of_regions, size_t count, const int *used,
                               size_t images, db_covariance *estimate, double *shared_misfit) {
    db_covariance by_regions = { .error = NULL };
    const db_status status =
        db_covariance_estimate(context, normal, of_regions, count, used, &by_regions);
    if (status == DB_OK)
        *shared_misfit = share_misfit(&by_regions,
                                      scatter_in_units_of_noise(estimate, of_regions, count) /
                                          scatter_in_units_of_noise(estimate, of_blocks, count),
                                      count, images, estimate);
    db_covariance_clear(&by_regions);
    return status;
}

/* Whole regions of the detector may disagree more than their blocks do by themselves. */
static db_status look_at_regions(db_context *context, const db_objective *objective,
                                 const int *used, db_covariance *of_blocks, double *misfit) {
    const size_t n = objective->variables.count;
    double *const scatter = malloc((n * n + 1) * sizeof *scatter);
    int made = 0;
    *misfit = 1;
    if (!scatter) return db_fail_memory(context, "the regions' scatter");
    db_status status = db_objective_region_scatter(objective, scatter, &made);
    if (status == DB_OK && made)
        status = db_errors_by_regions(context, objective->normal, objective->scatter, scatter, n,
                                      used, 1, of_blocks, misfit);
    free(scatter);
    return status;
}

static db_status estimate(db_context *context, const db_objective *objective,
                          const db_fit_estimates *found, db_covariance *c, double *shared_misfit) {
    const size_t n = objective->variables.count;
    int used[DB_FIT_MOST_PARAMETERS] = { 0 };
    for (size_t k = 0; k < n; k++) {
        const size_t i = objective->variables.index[k];
        used[k] = i >= found->count || found->list[i].at_bound == 0;
    }
    DB_TRY(db_covariance_estimate(context, objective->normal, objective->scatter, n, used, c));
    return look_at_regions(context, objective, used, c, shared_misfit);
}

db_status db_errors_estimate(db_context *context, const db_objective *objective,
                             double chi2_reduced, db_fit_result *result) {
    db_covariance c = { .error = NULL };
    db_fit_estimates *const found = &result->estimates;
    const size_t n = objective->variables.count, *const index = objective->variables.index;
    db_status status = estimate(context, objective, found, &c, &found->shared_misfit);
    if (status == DB_OK) {
        db_estimates_raise_robust(found, &c, index, n, objective->blocks.count, n);
        db_estimates_take(found, &c, index, n, sqrt(fmax(1, chi2_reduced)));
    }
    if (status == DB_OK && objective->amplitudes)
        status = store_amplitudes(context, objective, &c, chi2_reduced, result);
    db_covariance_clear(&c);
    return status;
}

db_status db_errors_of_step(db_context *context, const db_objective *objective,
                            const db_fit_estimates *found, double chi2_reduced, size_t variable,
                            double *step, double *error) {
    const size_t n = objective->variables.count, parts = objective->blocks.count;
    db_covariance c = { .error = NULL };
    double misfit;
    const db_status status = estimate(context, objective, found, &c, &misfit);
    if (status == DB_OK) {
        *error = fmax(c.error[variable] * sqrt(fmax(1, chi2_reduced)),
                      db_covariance_robust_error(&c, variable, parts, n));
        for (size_t i = 0; i < n; i++) {
            step[i] = 0;
            for (size_t k = 0; k < n; k++)
                if (isfinite(c.error[i]) && isfinite(c.error[k]))
                    step[i] -= 0.5 * c.error[i] * c.error[k] * c.correlation[i][k] *
                               objective->gradient[k];
        }
    }
    db_covariance_clear(&c);
    return status;
}
