/** @file
 * Plans: preparations for rendering one kind of image many times.
 *
 *     db_plan_create -> (db_plan_update -> db_plan_forward | db_plan_gradient)* -> db_plan_destroy
 *
 * A plan owns its buffers; updating and executing a warm plan allocates nothing. A plan is used by
 * one thread at a time; it parallelizes inside. Results have the same bits for any number of
 * threads. */
#ifndef DUALBRAGG_PLAN_H
#define DUALBRAGG_PLAN_H

#include <dualbragg/parameters.h>
#include <dualbragg/region.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Arithmetic of a plan. */
typedef enum db_precision {
    DB_PRECISION_DOUBLE, /**< all arithmetic in double */
    /** Miller indices in double, everything after reduction to the nearest node in float */
    DB_PRECISION_MIXED
} db_precision;

/** What a plan renders, and how. */
typedef struct db_plan_options {
    size_t size; /**< sizeof(db_plan_options): set by DB_PLAN_OPTIONS_INIT */
    db_precision precision;
    db_pixel_type pixel_type;       /**< of image and derivative images */
    const db_parameter *parameters; /**< derivatives wanted from db_plan_gradient, in this order */
    size_t parameter_count;
    const db_region *regions; /**< NULL: all pixels of all panels, panel after panel */
    size_t region_count;
    /** photons that each pixel may lack: the plan leaves out samples far from all
     * spots, to save time; 0: none. Derivatives: see docs/reference/precision.md */
    double tolerance;
    /** [region_count][3] Miller indices h, k, l: each region shows this reflection only, with its structure
     * factor in the experiment, and the background; NULL: all reflections. For plans with regions
     * and without parameters */
    const int *reflections;
    double reserved[7]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_plan_options;
#define DB_PLAN_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(db_plan_options), DB_PRECISION_DOUBLE, DB_FLOAT32, NULL, 0, NULL, 0, 0, NULL, { 0 } \
    }

typedef struct db_plan db_plan;

/** Which precision suits a job, and why. */
typedef struct db_precision_advice {
    db_precision precision;
    /** expected largest error of the image, relative to its
     * maximum; NAN: not estimated, as for small jobs */
    double error;
    char reason[96]; /**< "the job is small" ... */
} db_precision_advice;

/** Advises on a plan with these options (options->precision is ignored; NULL: defaults):
 * mixed if the image is expected to agree with double within 1e-6 of its maximum and
 * every derivative image within 1e-5 of its largest value; double otherwise, and for
 * jobs that are fast anyway. Some pixels, evenly distributed and at bright reflections,
 * are rendered in both precisions, at most a few percent of the work. Equal jobs get
 * equal advice. It is an estimate, not a proof. See docs/reference/precision.md.
 *
 * @param context receives the message of a failure
 * @param experiment to render
 * @param options of the plan; NULL: defaults
 * @param advice filled
 * @return DB_OK or an error */
DB_API db_status db_precision_recommend(db_context *context, const db_experiment *experiment,
                                        const db_plan_options *options,
                                        db_precision_advice *advice);

/** Prepares a plan for this experiment. The plan copies what it needs. options may be NULL.
 *
 * @param context receives the messages of the plan; must live as long as it
 * @param experiment the plan copies the parts that it needs
 * @param options NULL: defaults
 * @param plan receives it; to be destroyed by the caller
 * @return DB_OK; DB_ERROR_USAGE, DB_ERROR_INPUT, DB_ERROR_MEMORY or DB_ERROR_DEVICE; *plan is then
 *     NULL */
DB_API db_status db_plan_create(db_context *context, const db_experiment *experiment,
                                const db_plan_options *options, db_plan **plan);

/** Sets the experiment's values. Counts (sources, domains, phi steps, panels, pixels,
 * table size) must be those of creation: DB_ERROR_USAGE otherwise. Allocates nothing.
 *
 * @param plan to change
 * @param experiment of the same counts
 * @return DB_OK; DB_ERROR_USAGE or DB_ERROR_INPUT */
DB_API db_status db_plan_update(db_plan *plan, const db_experiment *experiment);

/** Renders the image: I(pixel) in photons (docs/theory/pixel.md, Sum over
 * samples). image: caller's buffer of the plan's pixel type, as large as offsets
 * and strides of the regions need. Pixels outside the regions do not change.
 *
 * @param plan to execute
 * @param image receives db_plan_pixels elements of the plan's pixel type
 * @return DB_OK; DB_ERROR_USAGE, DB_ERROR_CANCELLED or DB_ERROR_DEVICE */
DB_API db_status db_plan_forward(db_plan *plan, void *image);

/** Mean wavelength (A) of each pixel's photons: sum over sources of photons times wavelength, over photons; 0 in
 * pixels without photons. A source counts with its own wavelength; its bandwidth in closed form has no effect. In
 * pixels of fewer photons than the plan's tolerance the mean is rough. Renders two images; the plan's values do not
 * change.
 *
 * @param plan to execute, without a background image
 * @param image receives it, laid out as the plan's image, in the host's memory
 * @return DB_OK; DB_ERROR_USAGE, DB_ERROR_UNSUPPORTED, DB_ERROR_MEMORY or those of db_plan_forward */
DB_API db_status db_plan_mean_wavelength(db_plan *plan, void *image);

/** Renders the image and dI/dparameter (photons per unit of the parameter) for each parameter of
 * the plan in one pass. derivatives: parameter_count pointers to caller's buffers of the same shape
 * as image.
 *
 * @param plan to execute
 * @param image as for db_plan_forward
 * @param derivatives parameter_count buffers
 * @return DB_OK; DB_ERROR_USAGE, DB_ERROR_CANCELLED or DB_ERROR_DEVICE */
DB_API db_status db_plan_gradient(db_plan *plan, void *image, void *const *derivatives);

/** Number of elements that image and derivative buffers need.
 *
 * @param plan to ask
 * @return their number */
DB_API size_t db_plan_pixels(const db_plan *plan);

/** Description of a plan. */
typedef struct db_plan_info {
    const db_parameter *parameters; /**< in the plan's order; the plan's */
    size_t parameter_count;         /**< length of gradients, number of derivative images */
    /** structure factors in the plan's list: extent[0] * extent[1] * extent[2] of
     * db_structure_factors, or the number of values that they share (db_plan_share_amplitudes); 0
     * without a list */
    size_t amplitude_count;
    const db_region *regions; /**< as they were given; all panels if none were; the plan's */
    size_t region_count;
    db_pixel_type pixel_type; /**< of the elements of images */
    db_precision precision;
    const db_experiment *experiment; /**< with the values of the last update; the plan's */
    double reserved[3]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_plan_info;

/** Describes a plan.
 *
 * @param plan to ask; owns the lists
 * @return the description, valid until the plan changes */
DB_API db_plan_info db_plan_describe(const db_plan *plan);

/** Frees the plan and sets the caller's pointer to NULL.
 *
 * @param plan to destroy */
DB_API void db_plan_destroy(db_plan **plan);

#ifdef __cplusplus
}
#endif
#endif
