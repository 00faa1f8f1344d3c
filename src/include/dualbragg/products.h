/** @file
 * Products of a plan's derivatives with one image or one direction, for differentiable
 * programs, without storing derivative images. With J the derivatives of all
 * pixels by all parameters and all structure factors:
 *
 *     db_plan_vjp   gradient = J^T cotangent      reverse mode
 *     db_plan_jvp   tangent  = J direction        forward mode */
#ifndef DUALBRAGG_PRODUCTS_H
#define DUALBRAGG_PRODUCTS_H

#include <dualbragg/plan.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One number for each variable of a plan's image: derivatives of a loss, or a direction.
 * Members that are NULL are not computed, or 0. All memory is the caller's. */
typedef struct db_plan_vector {
    size_t size;        /**< sizeof(db_plan_vector): set by DB_PLAN_VECTOR_INIT */
    double *parameters; /**< [parameter_count of db_plan_info], in the plan's order and units */
    /** [amplitude_count of db_plan_info]: by the structure factors F_c (electrons).
     * In the order of db_structure_factors.amplitude, one for each entry of the
     * box; or one for each shared value, see db_plan_share_amplitudes */
    double *amplitudes;
    /** [1]: default_F (electrons), where it is used: outside the box of the
     * list, everywhere without a list, and for entries of DB_NO_AMPLITUDE */
    double *default_F;
    /** [db_plan_pixels], of the plan's pixel type, laid out as its image: the background
     * (db_plan_set_background; photons), also if none is set. As a gradient it is the
     * cotangent; only elements that the plan renders are written, each once */
    void *background;
    double reserved[5]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_plan_vector;
#define DB_PLAN_VECTOR_INIT                                                                        \
    {                                                                                              \
        sizeof(db_plan_vector), NULL, NULL, NULL, NULL, { 0 }                                      \
    }

/** Marks an entry of the box that has default_F. */
#define DB_NO_AMPLITUDE UINT32_MAX

/** Gives entries of the plan's box of structure factors one common value: symmetry mates, Friedel
 * mates, or entries of one line of a list (db_amplitude_classes finds them). db_plan_vector.amplitudes
 * then has an element for each value: in a gradient the sum over its entries, in a direction the step
 * of all its entries. Images do not change; amplitudes of the entries may differ.
 *
 * @param plan to change
 * @param value of each entry of the box, from 0 to count - 1, or DB_NO_AMPLITUDE: the entry
 *     follows default_F; copied; NULL: each entry has its own value, as in a new plan
 * @param count number of values
 * @return DB_OK; DB_ERROR_USAGE, naming the entry; DB_ERROR_MEMORY */
DB_API db_status db_plan_share_amplitudes(db_plan *plan, const uint32_t *value, size_t count);

/** Sets a background, measured or modelled elsewhere, that is
 * added to all images of the plan (not to those of
 * db_plan_oracle). db_plan_normal compares the sum with its data.
 *
 * @param plan to change
 * @param background photons; db_plan_pixels elements of the plan's pixel type, laid out as its image;
 *     copied; NULL: none; of the host, or of the plan's GPU
 * @return DB_OK; DB_ERROR_INPUT, naming the element, where it is not finite; DB_ERROR_MEMORY; the
 *     background then stays as it was */
DB_API db_status db_plan_set_background(db_plan *plan, const void *background);

/** The gradient by all members of `gradient` that are not NULL: sums over the plan's
 * regions of cotangent times derivative; a pixel in two regions counts twice,
 *
 *     gradient[x] = sum over pixels of cotangent * dI/dx,   with dI/dF_c = 2 F_c dI/d(F_c^2)
 *
 * If the cotangent is the derivative of a loss by the pixels, the result is the derivative of the loss.
 * Pixels are of the plan's pixel type and laid out as its image. Pixels with a cotangent of 0 do not
 * contribute, and groups of such pixels are not rendered unless the image is wanted. There may be
 * hundreds of thousands of structure factors, with or without parameters. A sample contributes to
 * the nearest entry, with interpolation to the 64 entries around it; a spot in closed form to its
 * own entry. A structure factor of 0 that is not interpolated has the derivative 0.
 *
 * Sums are in double precision (their products in mixed precision in float), and have the same
 * bits for any number of threads. Costs: parameters alone about as much as db_plan_normal, or
 * less; one pass over the pixels of spots in closed form; of sampled spots one for the parameters or
 * the image, and one for the structure factors, which takes 1.2 to 1.5 times as long as db_plan_normal
 * with eight parameters (interpolated: 5 times).
 *
 * Memory, kept by the plan: for parameters up to 2 MB, which db_plan_normal uses too, and as many
 * parameters fit as there; for structure factors 8 bytes for each entry of the box (with a margin of 4
 * where it is interpolated), and for each of up to 256 pieces of the image 20 to 40 bytes for each entry
 * that its tiles meet, 10 KiB at least; for spots in closed form 8 bytes for each spot on each tile of
 * 64 x 16 pixels while it runs.
 *
 * On a GPU all products of the normal equations are summed (cotangent times the change of a pixel by a
 * typical step of a parameter must stay below 1e18), and the image takes a second pass. Gradients by
 * structure factors are summed on the processor, and with them, for spots in closed form, gradients by
 * parameters: for this the cotangent is copied to the host's memory. db_plan_device_note says so.
 *
 * Errors: DB_ERROR_USAGE without a cotangent or anything wanted, and where parameters are wanted and the
 * plan has none; DB_ERROR_INPUT, naming the pixel, where the cotangent is not finite, and where sums
 * overflow; DB_ERROR_UNSUPPORTED for structure factors with the reference's arithmetic;
 * DB_ERROR_MEMORY; DB_ERROR_CANCELLED. After an error the results are undefined. Thread-safety as in
 * plan.h.
 *
 * @param plan with or without parameters
 * @param cotangent db_plan_pixels elements of the plan's pixel type
 * @param image receives the image, photons; NULL: not wanted
 * @param gradient its members are filled, in units of cotangent times photons per unit
 * @return an error leaves the results undefined */
DB_API db_status db_plan_vjp(db_plan *plan, const void *cotangent, void *image,
                             const db_plan_vector *gradient);

/** The image, and its derivative along a direction in all members of `direction`: one
 * image, the sum over parameters and structure factors of direction times derivative image.
 *
 * Costs: one pass for the parameters, also on a GPU. There, with sampled spots, each structure factor,
 * source or rotation in the direction after the first takes an image of GPU memory. Each other member
 * costs an image or two. Allocates while it runs: an image where
 * parameters and structure factors both have a direction, and a table of structure factors or a list of
 * spots. A GPU renders all of it, except a direction of
 * interpolated structure factors (db_plan_device_note).
 *
 * Errors: those of db_plan_vjp; DB_ERROR_USAGE without room for the results; DB_ERROR_INPUT, naming the
 * parameter, where the direction is not finite.
 *
 * @param plan with or without parameters
 * @param direction at least one member, finite
 * @param image receives the image, photons
 * @param tangent receives the derivative along the direction; laid out as the image
 * @return an error leaves the results undefined */
DB_API db_status db_plan_jvp(db_plan *plan, const db_plan_vector *direction, void *image,
                             void *tangent);

#ifdef __cplusplus
}
#endif
#endif
