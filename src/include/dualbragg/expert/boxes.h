/** @file
 * Boxes: the regions of a plan as pixels of a refinement. Each box has its own intensity and background
 * plane,
 *
 *     expected counts = J x image + offset + b0 + b1 fast + b2 slow     (fast, slow from its centre),
 *
 * and one of five losses, whose weights depend on the expected counts. J >= 0 and the plane are linear: a
 * small Newton iteration finds the best ones for the image, so that the loss is a function of the plan's
 * parameters alone. `dualbragg fit` uses these calls. For known weights and one sum over all regions use
 * db_plan_normal (dualbragg/normal.h).
 *
 *     db_plan_create -> db_boxes_create -> db_boxes_set_data -> (db_plan_update -> db_boxes_evaluate)*
 *
 * On a device data, images and derivative images stay there; an evaluation brings back coefficients and
 * sums, in one copy.
 *
 * Boxes of a measured image take their data from the image, so that many
 * boxes need little more memory than one. Each is measured by itself:
 *
 *     db_plan_create -> db_boxes_create_in -> db_boxes_light -> db_boxes_measure */
#ifndef DUALBRAGG_EXPERT_BOXES_H
#define DUALBRAGG_EXPERT_BOXES_H

#include <dualbragg/measured_image.h>
#include <dualbragg/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Loss of a pixel: -2 ln(likelihood of its counts), with a constant that makes
 * it about 1 for a good model. Formulas in docs/theory/refinement.md, Targets. */
typedef enum db_loss_target {
    DB_LOSS_WEIGHTED, /**< chi2 with known variances */
    DB_LOSS_GAUSSIAN, /**< variances from the expected counts, and ln(variance) */
    DB_LOSS_POISSON,  /**< photon counts */
    DB_LOSS_HUBER,    /**< gaussian, but linear for outliers */
    DB_LOSS_STUDENT   /**< gaussian, but with small weights for outliers */
} db_loss_target;

/** A loss and the noise that it assumes. */
typedef struct db_loss {
    db_loss_target target;
    double gain;             /**< counts per photon, more than 0 */
    double fewest;           /**< poisson: expected photons below which it is a parabola; 0: 0.05 */
    double readout_variance; /**< counts squared */
    double tuning;           /**< huber: standard deviations k; student: degrees of freedom nu */
} db_loss;

/** Linear coefficients of a box: J, b0 (counts), b1 and b2 (counts per pixel). */
enum { DB_LINEAR = 4 };

/** Variables that a box may depend on: as many as the table has parameters, six motions of panels, and 400 values of
 * f' and f''. */
#define DB_BOXES_MOST_VARIABLES ((int)DB_PARAMETER_COUNT + 6 + 400)

/** Measured data of the boxes: arrays of db_plan_pixels elements, laid out as the plan's image. */
typedef struct db_box_data {
    size_t size;         /**< set by DB_BOX_DATA_INIT */
    const float *value;  /**< counts */
    const float *weight; /**< 1/known variance of the counts;
                                      0: the pixel is left out */
    const float
        *shape_variance; /**< part of the variance from the shape error of spots (counts^2) */
    const float *offset; /**< fixed part of the background (counts); NULL: none */
} db_box_data;
/** All zeros but for the size. */
#define DB_BOX_DATA_INIT                                                                           \
    { .size = sizeof(db_box_data) }

/** Free coefficients of a box. All zeros: none. */
typedef struct db_box_rule {
    double ridge;                    /**< 1/sigma^2 of a prior J = expected +- sigma; 0: none */
    double expected;                 /**< J of the prior */
    unsigned char solved[DB_LINEAR]; /**< 1: the coefficient moves to its best value */
    unsigned char summed[DB_LINEAR]; /**< 1: the sums have derivatives by the coefficient */
    unsigned char held_at_zero;      /**< 1: sums have no derivatives by a J that is not above 0 */
    unsigned char reserved[7];       /**< 0 */
    size_t links;                    /**< number of its links in the request */
} db_box_rule;

/** Coefficients of a box, and their loss. */
typedef struct db_box_solution {
    double linear[DB_LINEAR]; /**< J, b0, b1, b2 */
    double variance;          /**< of J, the plane being free; 0 where J is not free */
    double loss;              /**< of the box, ridge included */
} db_box_solution;

/** Dependence of a parameter on a variable of the refinement. */
typedef struct db_link {
    size_t column;   /**< number of the plan's parameter */
    size_t variable; /**< number of the variable */
    double slope;    /**< d parameter / d variable */
} db_link;

/** The variables of a box, with its links. */
typedef struct db_box_links {
    const db_link *link;
    size_t count;
    size_t variables;
} db_box_links;

/** What an evaluation renders. */
typedef enum db_boxes_image {
    DB_BOXES_AS_BEFORE,  /**< nothing: the last image is used again */
    DB_BOXES_IMAGE,      /**< the image */
    DB_BOXES_DERIVATIVES /**< and its derivatives by the plan's parameters */
} db_boxes_image;

/** Sums of an evaluation over each box. */
typedef enum db_boxes_sums {
    DB_BOXES_NO_SUMS,
    DB_BOXES_LINEAR, /**< db_block_sums: loss, slopes and half second derivatives by J, b0, b1, b2 */
    DB_BOXES_GRADIENT, /**< slopes by the variables, then J, b0, b1, b2 */
    DB_BOXES_NORMAL    /**< these slopes and the normal matrix, without eliminated coefficients */
} db_boxes_sums;

/** An evaluation. */
typedef struct db_boxes_request {
    size_t size; /**< set by DB_BOXES_REQUEST_INIT */
    const db_loss *loss;
    const db_box_rule *rule; /**< [boxes] */
    db_boxes_image image;
    int solve; /**< 1: coefficients are moved to their best values; 0: they stay */
    db_boxes_sums sums;
    const db_box_links *links; /**< of the boxes' variables; GRADIENT and NORMAL */
    size_t link_lists;         /**< number of them */
    size_t kept; /**< NORMAL: number of a box's coefficients that stay in its sums; the others
                      are eliminated (Schur complement): 0: all eliminated ... 4: all stay */
    size_t most; /**< GRADIENT and NORMAL: largest number of variables of a
                      list; it determines the places of the sums in `result` */
} db_boxes_request;
/** All zeros but for the size. */
#define DB_BOXES_REQUEST_INIT                                                                      \
    { .size = sizeof(db_boxes_request) }

/** Loss of a box at given coefficients, with slopes and half second derivatives (lower triangle) by them.
 * Rows and columns of coefficients that are not summed are 0. */
typedef struct db_block_sums {
    double value, gradient[DB_LINEAR], normal[DB_LINEAR * DB_LINEAR];
} db_block_sums;

/** A measured image with boxes. Everything is borrowed. */
typedef struct db_box_frame {
    size_t size;                    /**< set by DB_BOX_FRAME_INIT */
    const db_measured_image *image; /**< only its panels and counts are read */
    const float *background;        /**< local background (counts) of each of its pixels */
    const unsigned char *strong;    /**< 1: the pixel is strong; 0 */
    const unsigned char
        *own; /**< [db_plan_pixels], laid out as the plan's image. 1: a pixel that its box
                                   uses; 0 */
    const size_t *order;  /**< [boxes]: their numbers, neighbours one after the other, for which the
                               processor takes less time; NULL: as they are given */
    double gain;          /**< counts per photon, more than 0 */
    double readout_noise; /**< counts */
    double model_error;   /**< of the spots' shape, relative */
    int background_fixed; /**< 1: the local background is the boxes' offset; 0: where it is free, the
                               search for b0 begins at its mean */
    int whole; /**< 1: all of db_box_measured is wanted; 0: coefficients and explained pixels alone */
} db_box_frame;
/** All zeros but for the size. */
#define DB_BOX_FRAME_INIT                                                                          \
    { .size = sizeof(db_box_frame) }

/** Measurement of a spot in its box. Pixels in use are own ones. */
typedef struct db_box_measured {
    db_box_solution solution; /**< minimum of chi2 with the weights of the data,
                                   with J not below 0, and the ridge */
    double intensity;         /**< J without bound and ridge, which would bias faint spots */
    double variance;          /**< of the intensity */
    double chi2;              /**< of the box with this intensity */
    double shape;             /**< sum of the image over the pixels in use */
    double
        background; /**< sum of the plane b0 + b1 fast + b2 slow and the offset over these pixels */
    double sum;     /**< sum of the counts above the background over these pixels */
    double
        sum_variance; /**< variance of the sum by the noise of the pixels, without the error of the plane */
    double
        observed[2]; /**< centroid of the strong own pixels (pixels of the panel, fast, slow); NAN:
                             there are none above the local background */
    double observed_variance[2]; /**< of the centroid (pixels^2), by the noise of the pixels */
    int has_light;               /**< 0: the model has no light in the box; intensity,
                                      variance and chi2 are meaningless */
    int pixels;                  /**< in use */
    int strong;                  /**< of these */
    int explained;               /**< of these, pixels where the spot is half to
                        twice the counts above the local background */
} db_box_measured;

/** The boxes of a plan. */
typedef struct db_boxes db_boxes;

/** Doubles for the sums of a box: gradient and normal matrix.
 *
 * @param most of the request
 * @return the number */
static inline size_t db_boxes_room(size_t most) {
    return (most + DB_LINEAR) * (most + DB_LINEAR + 1);
}

/** Where the gradient of a box is: by its variables, then J, b0, b1, b2.
 *
 * @param results of GRADIENT or NORMAL
 * @param most of the request
 * @param box its number
 * @return its first element */
static inline double *db_boxes_gradient_of(double *results, size_t most, size_t box) {
    return results + box * db_boxes_room(most);
}

/** Where the normal matrix of a box is: half second derivatives, the lower triangle in rows of as many
 * elements as the box has variables and coefficients.
 *
 * @param results of NORMAL
 * @param most of the request
 * @param box its number
 * @return its first element */
static inline double *db_boxes_normal_of(double *results, size_t most, size_t box) {
    return db_boxes_gradient_of(results, most, box) + most + DB_LINEAR;
}

/** Makes boxes of a plan's regions, in their order.
 *
 * Memory: an image and an image for each parameter, on the plan's device. With the device "auto" a plan
 * that was predicted to render sooner on the processor may go to the device here (db_plan_device).
 *
 * @param plan of pixel type DB_FLOAT32, without a background of its own; must live as long as the boxes,
 *     and be used by the same thread
 * @param boxes receives them; to be destroyed by the caller; NULL after an error
 * @return DB_ERROR_USAGE for another plan; DB_ERROR_MEMORY */
DB_API db_status db_boxes_create(db_plan *plan, db_boxes **boxes);

/** db_boxes_create for boxes in a measured image. Weights of pixels are 1/variance by photons and readout at
 * the larger of local background and measured counts (mean of 3 x 3 own pixels), and by model_error times
 * the counts above the background (docs/theory/refinement.md).
 *
 * A device renders the image; the processor measures the boxes.
 *
 * @param plan as above
 * @param frame borrowed with its arrays, which must not change while the boxes exist
 * @param boxes receives them; to be destroyed by the caller; NULL after an error
 * @return as above; DB_ERROR_USAGE for arrays that are missing, a gain that is not above 0, or regions
 *     outside their panels of the measured image */
DB_API db_status db_boxes_create_in(db_plan *plan, const db_box_frame *frame, db_boxes **boxes);

/** Sets the measured data. The next evaluation copies
 * them to a device, and again after each such call.
 *
 * @param boxes of the plan
 * @param data its arrays are borrowed until others are set; change
 *     their contents only before another call of this function
 * @return DB_ERROR_USAGE for arrays that are missing */
DB_API db_status db_boxes_set_data(db_boxes *boxes, const db_box_data *data);

/** Renders, finds coefficients and sums, as requested, in this order.
 *
 * Results have the same bits for any number of threads; a device agrees with the processor to
 * rounding.
 *
 * @param boxes with data
 * @param request wanted results
 * @param solution [boxes]: coefficients to begin with, receives coefficients, variances (if solved) and
 *     losses (if solved; for GRADIENT and NORMAL, too; NORMAL subtracts the decrease by eliminated coefficients)
 * @param result receives the sums: LINEAR db_block_sums [boxes]; GRADIENT and NORMAL db_boxes_room(most)
 *     doubles a box, in which rows of eliminated coefficients are undefined. NULL without sums
 * @return DB_ERROR_USAGE; those of db_plan_forward and db_plan_gradient; after an error results are
 *     undefined */
DB_API db_status db_boxes_evaluate(db_boxes *boxes, const db_boxes_request *request,
                                   db_box_solution *solution, void *result);

/** Renders the image, and adds it up over each box.
 *
 * @param boxes of any kind
 * @param light [boxes] receives the sums
 * @return those of db_plan_forward */
DB_API db_status db_boxes_light(db_boxes *boxes, double *light);

/** Measures each box of a measured image with the last rendered image. Results have the same bits
 * for any number of threads.
 *
 * @param boxes from db_boxes_create_in
 * @param rule [boxes]: only the ridge and the coefficients to solve for are read
 * @param measured [boxes] receives the values that the frame requests; others are 0
 * @return DB_ERROR_USAGE for other boxes, or where nothing has been rendered yet; DB_ERROR_MEMORY;
 *     DB_ERROR_DEVICE, as db_boxes_image_of */
DB_API db_status db_boxes_measure(db_boxes *boxes, const db_box_rule *rule,
                                  db_box_measured *measured);

/** The last rendered image, in memory of the host.
 *
 * @param boxes of the plan
 * @param image receives it: db_plan_pixels elements that belong
 *     to the boxes; elements outside all regions are undefined
 * @return DB_ERROR_MEMORY; DB_ERROR_DEVICE, also if the image is lost, by a failure of
 *     the device or because other boxes of the plan have rendered since, and the plan
 *     has new values (db_plan_update), so that the image cannot be rendered again */
DB_API db_status db_boxes_image_of(db_boxes *boxes, const float **image);

/** Frees the boxes and sets the caller's pointer to NULL. The plan stays.
 *
 * @param boxes to destroy */
DB_API void db_boxes_destroy(db_boxes **boxes);

#ifdef __cplusplus
}
#endif
#endif
