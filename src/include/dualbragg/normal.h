/** @file
 * Normal equations of a plan's image and data: what a least-squares step needs, without one image
 * being stored.
 *
 *     r = model - data,   J = d model / d parameter,   W = diag(weight)
 *     chi2 = r W r,       gradient = J^T W r,          curvature = J^T W J
 *
 * so that d chi2 / d parameter = 2 gradient, and 2 curvature is the Hessian of chi2 in the
 * approximation of Gauss and Newton.
 *
 * Whom it serves: least squares with weights and backgrounds that are known beforehand, in which all
 * regions are one sum: minimizers of one's own, Gauss-Newton steps and Hessians (in Python: Plan.normal),
 * batches of shots (dualbragg/batch.h). `dualbragg fit` is made of boxes instead (dualbragg/expert/boxes.h), which
 * have an intensity and a background of their own each, and losses whose weights follow from the expected
 * counts. */
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
 *              pixel of weight 0 is left out, whatever its data: a mask. NULL: 1 everywhere
 *   chi2       sum of weight (model - data)^2
 *   gradient   [parameter_count], in units of chi2 per unit of the parameter
 *   curvature  [parameter_count][parameter_count], symmetric
 *
 * Sums are in double precision, have the same bits for any number of threads, and do not depend on
 * the plan's pixel type. In mixed precision the residuals and what a typical step of each parameter
 * changes (db_parameter_info.scale), times the root of the weight, must stay below 1e18: products
 * of two are formed in float.
 *
 * The first call allocates up to 2 MB, which the plan keeps; later calls allocate nothing.
 *
 * Errors: DB_ERROR_USAGE without parameters, data or room for results; DB_ERROR_INPUT, naming the
 * pixel, where a weight is negative, or weight or data that count are not finite, and where sums
 * overflow; DB_ERROR_MEMORY; DB_ERROR_CANCELLED. After an error the results are undefined.
 * Thread-safety as in plan.h.
 *
 * @param plan with parameters
 * @param type of the elements of data and weight, whatever the plan's pixel type; in mixed precision
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
