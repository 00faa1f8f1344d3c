/** @file
 * Products of a plan's derivatives with one image or one direction: what differentiable programs
 * chain a plan with, without the derivative images being stored. With J the derivatives of all
 * pixels by all parameters:
 *
 *     db_plan_vjp   gradient = J^T cotangent      reverse mode
 *     db_plan_jvp   tangent  = J direction        forward mode */
#ifndef DUALBRAGG_PRODUCTS_H
#define DUALBRAGG_PRODUCTS_H

#include <dualbragg/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Renders the plan's regions and sums cotangent times derivative over their pixels, for each
 * parameter; a pixel in two regions counts twice. If the cotangent is the derivative of a loss by
 * the pixels, the result is the derivative of the loss by the parameters.
 *
 * Pixels are of the plan's pixel type and laid out as its image. Where the cotangent is 0, nothing
 * counts, and unless the image is wanted nothing is rendered in groups of such pixels. Sums are in
 * double precision, of products that in mixed precision are formed in float, and have the same bits
 * for any number of threads. One pass costs about as much as db_plan_normal, or less.
 *
 * On a GPU the plan needs pixels of 32 bits; all products of the normal equations are summed there
 * (cotangent times what a typical step of a parameter changes must stay below 1e18), and the image
 * takes a second pass.
 *
 * The first call allocates up to 2 MB, which the plan keeps and db_plan_normal uses too. As many
 * parameters fit as there.
 *
 * Errors: DB_ERROR_USAGE without parameters, cotangent or room for the gradient; DB_ERROR_INPUT,
 * naming the pixel, where the cotangent is not finite, and where sums overflow;
 * DB_ERROR_UNSUPPORTED for pixels of 64 bits on a GPU; DB_ERROR_MEMORY; DB_ERROR_CANCELLED. After
 * an error the results are undefined. Thread-safety as in plan.h.
 *
 * @param plan with parameters
 * @param cotangent db_plan_pixels elements
 * @param image receives the image, photons; NULL: not wanted
 * @param gradient receives [parameter_count], in units of cotangent times photons per unit of the
 * parameter
 * @return an error leaves the results undefined */
DB_API db_status db_plan_vjp(db_plan *plan, const void *cotangent, void *image, double *gradient);

/** Renders the plan's regions and the derivative of each pixel along a direction in the space of
 * parameters: the sum over parameters of direction times derivative image, as one image.
 *
 * Runs on the processor; a plan on a GPU gives an error: there, call db_plan_gradient and add up
 * its images.
 *
 * Errors: DB_ERROR_USAGE without parameters, direction or room for the results; DB_ERROR_INPUT,
 * naming the parameter, where the direction is not finite; DB_ERROR_UNSUPPORTED on a GPU;
 * DB_ERROR_MEMORY; DB_ERROR_CANCELLED. After an error the results are undefined. Thread-safety as
 * in plan.h.
 *
 * @param plan with parameters
 * @param direction [parameter_count], in the parameters' units
 * @param image receives the image, photons
 * @param tangent receives the derivative along the direction; laid out as the image
 * @return an error leaves the results undefined */
DB_API db_status db_plan_jvp(db_plan *plan, const double *direction, void *image, void *tangent);

#ifdef __cplusplus
}
#endif
#endif
