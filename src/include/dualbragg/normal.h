/** @file
 * Normal equations of a plan's image and data, for
 * least-squares steps, without storing images.
 *
 *     r = model - data,   J = d model / d parameter,   W = diag(weight)
 *     chi2 = r W r,       gradient = J^T W r,          curvature = J^T W J
 *
 * so that d chi2 / d parameter = 2 gradient, and 2 curvature is the Hessian of chi2 in the
 * approximation of Gauss and Newton.
 *
 * Use it for least squares with known weights and backgrounds, where all
 * regions are one sum: your own minimizer, Gauss-Newton steps and Hessians (in
 * Python: Plan.normal), batches of shots (dualbragg/batch.h). `dualbragg fit`
 * uses boxes instead (dualbragg/expert/boxes.h): each box has its own intensity
 * and background, and losses whose weights depend on the expected counts. */
#ifndef DUALBRAGG_NORMAL_H
#define DUALBRAGG_NORMAL_H

#include <dualbragg/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Renders the plan's regions and sums over their pixels; a pixel in two regions counts twice.
 *
 *   data       measured image in photons: db_plan_pixels elements, laid out as the plan's image
 *   weight     of the squared residuals, as a rule 1/variance (1/photons^2), laid out as data. A
 *              pixel of weight 0 is left out, even if its data are not finite: a mask. NULL: 1 everywhere
 *   chi2       sum of weight (model - data)^2
 *   gradient   [parameter_count], in units of chi2 per unit of the parameter
 *   curvature  [parameter_count][parameter_count], symmetric
 *
 * Sums are in double precision, have the same bits for any number of threads, and do not depend on
 * the plan's pixel type. In mixed precision residuals, and changes by a
 * typical step of each parameter (db_parameter_info.scale), times the root
 * of the weight, must stay below 1e18: their products are computed in float.
 *
 * The first call allocates up to 2 MB, which the plan keeps; later calls allocate nothing.
 *
 * Errors: DB_ERROR_USAGE without parameters, data or room for results; DB_ERROR_INPUT, naming
 * the pixel, if a weight is negative, or a used weight or datum is not finite, and if sums
 * overflow; DB_ERROR_MEMORY; DB_ERROR_CANCELLED. After an error the results are undefined.
 * Thread-safety as in plan.h.
 *
 * @param plan with parameters
 * @param type of the elements of data and weight, independent of the plan's pixel type; in mixed precision
 *     they are rounded to 32 bits when they are read
 * @param data photons
 * @param weight 1/photons^2; NULL: 1
 * @param chi2 receives the sum
 * @param gradient receives [parameter_count]
 * @param curvature receives [parameter_count][parameter_count]
 * @return an error leaves the results undefined */
DB_API db_status db_plan_normal(db_plan *plan, db_pixel_type type, const void *data,
                                const void *weight, double *chi2, double *gradient,
                                double *curvature);

#ifdef __cplusplus
}
#endif
#endif
