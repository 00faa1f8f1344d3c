/** @file
 * Refinement of parameters against a measured image (libdualbragg_fit).
 *
 * Two kinds of model intensity:
 *  - known structure factors: model = scale x simulated image + a background in each tile of the
 *    image; scale (unless it is a parameter) and background are linear;
 *  - free: shoeboxes around predicted reflections; in each, model = J * shape + background.
 * Linear coefficients are eliminated at every evaluation (variable projection, Golub & Pereyra
 * 1973), so that only positions and shapes of the spots drive the parameters. */
#ifndef DUALBRAGG_FIT_H
#define DUALBRAGG_FIT_H

#include <dualbragg/dualbragg.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where the intensities of reflections come from. */
typedef enum db_fit_intensity { DB_FIT_FREE, DB_FIT_KNOWN } db_fit_intensity;

/** What is minimized: the sum over pixels of -2 ln(likelihood of the counts), in forms that a good
 * model brings to about 1 per degree of freedom. Formulas in docs/theory/refinement.md. */
typedef enum db_fit_target {
    /** chi2 with variances from the measured counts, smoothed: no model, however far off, can
     * change them */
    DB_FIT_WEIGHTED,
    DB_FIT_GAUSSIAN, /**< variances from the model, and ln(variance) */
    DB_FIT_POISSON,  /**< photon counts */
    DB_FIT_HUBER,    /**< gaussian, but outliers count linearly */
    DB_FIT_STUDENT   /**< gaussian, but outliers hardly count */
} db_fit_target;

/** What known structure factors are compared with. */
typedef enum db_fit_pixels {
    DB_FIT_PIXELS_ALL,      /**< the region of interest, or the whole image, cut into tiles */
    DB_FIT_PIXELS_SHOEBOXES /**< shoeboxes around the reflections that the model makes brightest */
} db_fit_pixels;

/** The background of each block of pixels, a shoebox or a tile. */
typedef enum db_fit_background {
    DB_FIT_BACKGROUND_PLANE,    /**< refined: constant and two slopes */
    DB_FIT_BACKGROUND_CONSTANT, /**< refined: constant */
    DB_FIT_BACKGROUND_FIXED,    /**< the local background, a robust mean of the surroundings */
    DB_FIT_BACKGROUND_SMOOTH, /**< one smooth surface through what is no spot, of the whole panel */
    DB_FIT_BACKGROUND_NONE    /**< 0 */
} db_fit_background;

enum { DB_FIT_MAX_STAGES = 16, DB_FIT_NAME_SIZE = 64 };

/** Groups of panels that move as one rigid body each. */
enum {
    DB_FIT_GROUP_MOTIONS = 6,
    DB_FIT_GROUP_NAME_SIZE = 48 /**< leaves room for the motion beside it */
};
/** Which panel is of which group. */
typedef struct db_fit_panel_groups {
    size_t count;
    char (*name)[DB_FIT_GROUP_NAME_SIZE]; /**< of each group; owned */
    size_t panel_count;                   /**< panels of which something is said */
    short *of_panel; /**< group of each of them; -1: in none, so that it stays; owned */
} db_fit_panel_groups;

/** Appends a group of that name, which is copied and cut off where it is too long.
 *
 * @param context receives the message of a failure
 * @param groups to append to; owns the copy of the name
 * @param name of the group
 * @return DB_OK; DB_ERROR_USAGE beyond the largest number of groups; DB_ERROR_MEMORY */
DB_API db_status db_fit_panel_groups_add(db_context *context, db_fit_panel_groups *groups,
                                         const char *name);

/** Puts a panel into a group, or, -1, into none.
 *
 * @param context receives the message of a failure
 * @param groups to change
 * @param panel its number, from 0
 * @param group its number, from 0; -1: none
 * @return DB_OK; DB_ERROR_USAGE for a panel number that is too large; DB_ERROR_MEMORY */
DB_API db_status db_fit_panel_groups_put(db_context *context, db_fit_panel_groups *groups,
                                         size_t panel, int group);

/** Group of a panel.
 *
 * @param groups to ask
 * @param panel its number, from 0
 * @return number of the group; -1: in none */
static inline int db_fit_panel_groups_of(const db_fit_panel_groups *groups, size_t panel) {
    return panel < groups->panel_count ? groups->of_panel[panel] : -1;
}

/** Number of what can be refined: a parameter of the table, or the motion of a group of panels
 * (db_fit_quantity_make). A type of its own, so that it is not taken for an index of parameters. */
typedef struct db_fit_quantity {
    int number; /**< -1: none */
} db_fit_quantity;

/** One refined (or tied) quantity: a parameter of the table, or the motion of a group of panels.
 * The value of a motion counts from the start of the refinement, where it is 0. */
typedef struct db_fit_parameter {
    db_parameter parameter;
    double lower; /**< bound in the parameter's unit, absolute; -INFINITY: open */
    double upper; /**< likewise; INFINITY: open */
    /** unit of the optimizer's coordinate, in the parameter's unit; NAN: chosen from the curvature
     * of the target at the start of a stage */
    double scale;
    /** none: it is refined; else it keeps the value of that quantity (a tie such as b = a) */
    db_fit_quantity follows;
    /** centre, sigma in the parameter's unit: adds ((value - centre)/sigma)^2 to the target; sigma
     * INFINITY: none */
    double prior[2];
    /** -1: the table's parameter; else a group of the settings' panel_groups: parameter is one of
     * DB_PANEL_SHIFT_FAST to DB_PANEL_TURN_NORMAL and means the motion of this group along or about
     * the axes of its frame (db_panel_group_frame) */
    int group;
    /** of several images: 1 all share one value, 0 each has its own, -1 as
     * db_fit_parameter_is_shared says */
    int shared;
    /** in which stages it is refined (tied: goes along): bit s stands for stage number s;
     * DB_FIT_ALL_STAGES unless something else is said */
    unsigned stages;
    /** of a configuration: bounds are to be start - range and start + range, which
     * db_fit_config_start makes of it; NAN: not given */
    double range;
    int line; /**< of the configuration's file, for messages; 0: none */
    /** 1: of the usual stages of spots in closed form, only those from `detector` on refine it, if
     * held-out spots bear it out */
    int earned;
    double reserved[4]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_parameter;

/** db_fit_parameter.stages of a parameter that all stages refine. */
#define DB_FIT_ALL_STAGES (~0u)

/** Whether a parameter follows another quantity instead of being refined.
 *
 * @param parameter one of the settings
 * @return 1 or 0 */
static inline int db_fit_parameter_is_tied(const db_fit_parameter *parameter) {
    return parameter->follows.number >= 0;
}

/** Whether a parameter is refined in stage number `stage`.
 *
 * @param parameter one of the settings
 * @param stage from 0
 * @return 1 or 0 */
static inline int db_fit_parameter_in_stage(const db_fit_parameter *parameter, size_t stage) {
    return (int)(parameter->stages >> stage & 1);
}

/** Says whether a parameter is to be refined in stage number `stage`.
 *
 * @param parameter to change
 * @param stage from 0, below DB_FIT_MAX_STAGES
 * @param refined 1 or 0 */
static inline void db_fit_parameter_set_stage(db_fit_parameter *parameter, size_t stage,
                                              int refined) {
    parameter->stages = (parameter->stages & ~(1u << stage)) | (refined ? 1u << stage : 0);
}

/** A parameter of the table that is refined with nothing said about it.
 *
 * @param parameter of the table
 * @return the parameter: no bounds, no prior, not tied, refined in all stages */
DB_API db_fit_parameter db_fit_parameter_free(db_parameter parameter);

/** Whether several images share one value of it. Unless it says so itself, they do if it describes
 * the detector or the spindle's axis.
 *
 * @param parameter one of the settings
 * @return 1 or 0 */
DB_API int db_fit_parameter_is_shared(const db_fit_parameter *parameter);

/** The quantity that is a parameter of the table (group -1) or the motion of a group of panels.
 * db_fit_quantity_at is the way back.
 *
 * @param parameter of the table
 * @param group -1, or the number of a group of panels
 * @return the quantity */
DB_API db_fit_quantity db_fit_quantity_make(db_parameter parameter, int group);

/** Number of the quantity that a parameter of the settings is.
 *
 * @param parameter one of the settings
 * @return the quantity */
DB_API db_fit_quantity db_fit_quantity_of(const db_fit_parameter *parameter);

/** Parameter and group of a quantity.
 *
 * @param quantity its number
 * @param parameter receives the parameter of the table
 * @param group receives -1 or the number of the group */
DB_API void db_fit_quantity_at(db_fit_quantity quantity, db_parameter *parameter, int *group);

/** Name of a quantity by its number: "cell_a", "quadrant_0:shift_fast".
 *
 * @param groups those of the settings
 * @param quantity its number
 * @param name receives it
 * @return name */
DB_API const char *db_fit_quantity_name(const db_fit_panel_groups *groups, db_fit_quantity quantity,
                                        char name[DB_FIT_NAME_SIZE]);

/** A stage refines some of the parameters (db_fit_parameter.stages) on part of the data; stages run
 * in order, each from the last one's end. */
typedef struct db_fit_stage {
    char name[DB_FIT_NAME_SIZE];
    double dmin; /**< resolution limit of the data used (A); 0: none */
    /** >= 1: cell counts N divided by this, to widen the spots and the radius of convergence */
    double blur;
    /** "LM"; "moments": the same, on places and widths of spots in closed form instead of their
     * pixels (free intensities); or NLopt's name of one such as "LD_LBFGS" */
    char algorithm[DB_FIT_NAME_SIZE];
    int target; /**< a db_fit_target; -1: that of the settings */
    /** the stage has converged when a further step promises no larger relative decrease of the
     * target, */
    double tolerance;
    double step; /**< or is no longer than so many standard errors (LM) */
    int max_evaluations;
    /** 1: the stage is tried on each half of the spots first, and what it would be the first to
     * refine stays as it is unless it describes the other half better (algorithm "moments") */
    int earned;
    /** by pixels: the stage is left out if chi2 per degree of freedom is larger at its start: a model
     * that misses more than noise is refined better by moments; 0: any */
    double most_misfit;
    double reserved[2]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_stage;

/** Reflections that a list names: by index, by where they were seen, or by the pixels they get. */
typedef enum db_fit_listing {
    DB_FIT_LISTED_BY_INDEX,    /**< hkl */
    DB_FIT_LISTED_BY_POSITION, /**< panel and position */
    DB_FIT_LISTED_BY_BOX       /**< panel and box, and hkl unless it is 0 0 0 */
} db_fit_listing;
/** A reflection of a list. */
typedef struct db_fit_spot {
    int hkl[3];
    size_t panel;
    double position[2]; /**< pixels of the panel, fast, slow */
    int box[4];         /**< pixels of the panel: fast min, max, slow min, max, inclusive */
} db_fit_spot;
/** A list of reflections. */
typedef struct db_fit_spots {
    db_fit_listing listing;
    size_t count;
    db_fit_spot *spot; /**< ordered by hkl, or as read; owned */
    /** 1: of neighbouring frames, so that what the image shows of a reflection counts even where
     * that is nothing */
    int are_parts;
} db_fit_spots;

/** Reads lines "h k l", or "fast slow" or "fast slow panel" (panels from 0), or "panel fast_min
 * fast_max slow_min slow_max", perhaps followed by "h k l" (boxes, inclusive). Further columns of
 * the first two, blank lines and what follows '#' are passed over. Or reads a reflection table of
 * DIALS (.refl): miller_index of indexed reflections, or xyzobs.px.value and panel, or bbox, panel
 * and, where they are indexed, miller_index; of several experiments that of number `experiment`
 * (from 0), which otherwise may be -1. Clear it with db_fit_spots_clear.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param listing what the lines say
 * @param experiment number in a table of several experiments, from 0; -1: there is one
 * @param spots overwritten; owns the list
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; *spots then owns nothing */
DB_API db_status db_fit_spots_read(db_context *context, const char *path, db_fit_listing listing,
                                   int experiment, db_fit_spots *spots);

/** Frees the list and zeroes the struct. Safe on a zeroed struct.
 *
 * @param spots to clear */
DB_API void db_fit_spots_clear(db_fit_spots *spots);

/** Several starts, for an orientation that is known roughly: the first stage runs from each, cut
 * short; those that then explain most of the strong pixels go through all stages, until one
 * explains half of them. Intensities need no starts of their own: free ones are linear, and a scale
 * that is refined is matched to each start. */
typedef struct db_fit_starts {
    int count;       /**< with the given one, which is the first; 1: that one alone */
    double misset;   /**< degree: the others are turned from it by at most so much */
    int seed;        /**< another one, other turns */
    int keep;        /**< at most so many of the best go through all stages */
    int evaluations; /**< of the first stage, of each start */
} db_fit_starts;

/** One intensity of each reflection for all of many shots (dualbragg/fit_shots.h). */
typedef struct db_fit_joint {
    /** 1: after each shot's own stages, with free intensities, and those of what shots share, a last
     * stage named amplitudes refines the intensities together with everything else. Symmetry is that
     * of the settings' amplitude_group; scale is to be among the parameters. */
    int wanted;
    int anomalous; /**< 1: Bijvoet mates have intensities of their own */
    int reindex; /**< 1: where the lattice has rotations that the crystal has not, shots are brought
                        to one way of indexing; those that do not tell theirs, and those of the other
                        hand, are set aside */
    int seed;    /**< of the draw of the two halves of the shots */
    int passes;  /**< over all shots, at most; 0: intensities of single shots are scaled and
                         averaged, and that is all */
    double dmin; /**< finest resolution (A); NAN: what half of the detector's rim reaches */
    double
        restraint; /**< each intensity is held to the mean of its resolution, within so many times
                         that mean; NAN: it is not */
} db_fit_joint;

/** Owns its lists. A copy by assignment shares them: it may be used as long as the original is, and
 * neither changed in its lists nor cleared. */
typedef struct db_fit_settings {
    size_t size; /**< sizeof(db_fit_settings): set by db_fit_settings_init */
    db_fit_intensity intensity;
    db_fit_panel_groups panel_groups;
    db_fit_parameter *parameters; /**< owned; see db_fit_settings_add_parameter */
    size_t parameter_count;
    db_fit_stage stages[DB_FIT_MAX_STAGES];
    size_t stage_count;
    db_fit_target target;
    double huber_limit;     /**< standard deviations beyond which DB_FIT_HUBER counts linearly; 3 */
    double student_freedom; /**< degrees of freedom of DB_FIT_STUDENT; 4 */
    db_fit_background background;
    double gain;          /**< counts per photon; 1 */
    double readout_noise; /**< counts, standard deviation of one pixel; 0 */
    double dmin, dmax;    /**< resolution range of the reflections used (A); 0: open */
    /** w: shoeboxes are (2w+1)^2 pixels; 0: the largest, up to 8, that the spacing of predicted
     * reflections leaves room for; for wide spots in closed form up to 20 */
    int shoebox_half_width;
    int max_shoeboxes; /**< strongest ones are kept */
    /** free: reflections that get shoeboxes; NULL: those with strong pixels; borrowed */
    const db_fit_spots *spots;
    /** a pixel is strong if it exceeds the local background by so many of its standard deviations
     * and touches at least two more such pixels */
    double strong_sigma;
    int min_strong_reflections; /**< fewer than this: the image is refused as blank */
    /** degree; a reflection is predicted if a rotation by at most this makes its node, a ball of 3
     * standard deviations, touch the Ewald sphere */
    double excitation_angle;
    db_fit_pixels pixels; /**< known */
    /** known, in shoeboxes: amplitudes are refined, too, each intensity held to the given one by a
     * restraint of so many mean intensities of its resolution; NAN: they are not */
    double amplitude_sigma;
    /** which of them are equivalent: number or symbol of the space group */
    char amplitude_group[DB_FIT_NAME_SIZE];
    int roi[4]; /**< known: fast min, max, slow min, max (inclusive); all -1: whole image */
    /** known: pixels; the region is cut into tiles of about this size, each with a background plane
     * of its own */
    int background_tile;
    db_precision precision;
    /** relative error of the model's Bragg part, added to the variance: real spots deviate from any
     * ideal shape by more than photon noise, and without it the few strongest decide everything;
     * NAN: 0.1 (free) or 0 (known) */
    double model_error;
    /** free: a weak ridge keeps intensities J from exceeding so many times the mean of their
     * resolution, as those of reflections far from the Ewald sphere would; ten times as many in
     * stages without blur; 0: none */
    double intensity_limit;
    db_fit_starts starts;
    db_fit_joint joint;
    /** 1: of spots in closed form, each stage has as many sub-pixels as keep what a pixel is off by below
     * a tenth of the model error (db_spots_oversample); 0: those of the experiment */
    int choose_oversample;
    double reserved[11]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_settings;

/** db_struct_size of the structs of fit.h and fit_shots.h.
 *
 * @param name of the struct
 * @return bytes; 0: there is none of that name */
DB_API size_t db_fit_struct_size(const char *name);

/** Documented defaults; no parameters, no stages.
 *
 * @param settings overwritten; what it owned is not freed */
DB_API void db_fit_settings_init(db_fit_settings *settings);

/** Appends a parameter; pointers to the others are then no longer valid.
 *
 * @param context receives the message of a failure
 * @param settings to append to
 * @param parameter copied
 * @return DB_OK; DB_ERROR_MEMORY; nothing is then appended */
DB_API db_status db_fit_settings_add_parameter(db_context *context, db_fit_settings *settings,
                                               const db_fit_parameter *parameter);

/** A copy with lists of its own. *copy is overwritten, and owns nothing after a failure. The list
 * of reflections (spots) stays borrowed.
 *
 * @param context receives the message of a failure
 * @param settings to copy
 * @param copy overwritten
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_settings_copy(db_context *context, const db_fit_settings *settings,
                                      db_fit_settings *copy);

/** Frees the lists. Safe on zeroed settings.
 *
 * @param settings to clear */
DB_API void db_fit_settings_clear(db_fit_settings *settings);

/** A shoebox after refinement, with its pixels (row by row, fast index fastest). */
typedef struct db_fit_shoebox {
    int hkl[3];
    double d_spacing; /**< A */
    /** of the image; offset and stride address the arrays below (one shoebox: offset 0) */
    db_region region;
    double predicted[2]; /**< predicted position (pixels, fast, slow) after refinement */
    double intensity, intensity_esd; /**< J of model = J * shape (free) or summed model (known) */
    /** plane: constant, per pixel fast, per pixel slow, from the box centre */
    double background[3];
    double chi2;
    /** observed minus model centroid (pixels, fast, slow); NAN: one of them cannot be located */
    double centroid_offset[2];
    /** standard deviation of Z = (measured - model)/sigma over the pixels used: 1 if model and
     * noise are right */
    double sigma_z;
    double worst_z; /**< of the pixel farthest from the model, with its sign */
    int outlier;    /**< 1: sigma_z exceeds db_fit_result.sigma_z_limit */
    /** in the pixels used: of the model, and measured above its background (counts) */
    double light[2];
    int pixels_used, strong_pixels, strong_explained;
    float *measured;
    float *model;
    float *sigma; /**< <= 0: pixel not used */
} db_fit_shoebox;

/** What the image shows of a reflection: the model's spot, fitted to its shoebox together with a
 * background. Intensities are not bounded by 0, and have no prior. Errors are those of the refined
 * model, by the variances, and enlarged where the box's own chi2 per degree of freedom exceeds 1. */
typedef struct db_fit_reflection {
    int hkl[3];
    double d_spacing;    /**< A */
    double position[2];  /**< predicted (pixels of the panel, fast, slow) */
    double observed[2];  /**< centroid of the strong pixels (the same); NAN: there are none */
    db_region region;    /**< the shoebox */
    double counts;       /**< of the spot, in the pixels used */
    double counts_sigma; /**< its standard error */
    double square;       /**< F^2 of the whole reflection, for a fluence of DB_DEFAULT_FLUENCE and a
                            scale of 1; negative where there are fewer counts than background */
    double square_sigma; /**< its standard error */
    double F; /**< that of the model's image: not negative, held by the prior on intensities
                            and the same for all spots of a reflection */
    double
        partiality; /**< part of the reflection that the image shows, 0 to 1: db_spot.recorded; of
                            sampled spots by a Gaussian of the excitation */
    double background; /**< counts per pixel */
    int pixels;        /**< used */
    int strong;        /**< of them, those that stand out of the background */
    double observed_variance
        [2];    /**< of the centroid (pixels^2, fast, slow), by the noise of its pixels */
    double sum; /**< counts above the background's plane, over the pixels used */
    double
        sum_sigma; /**< its standard error, by the noise of the pixels; the plane's own is left out */
} db_fit_reflection;

/** A pixel as a robust target sees it. */
typedef struct db_fit_pixel {
    size_t panel;
    int fast, slow;       /**< of the panel, from 0 */
    double counts, model; /**< measured and expected */
    double z;             /**< (counts - model)/sigma */
    double trust;         /**< the weight that it has left, of 1 */
} db_fit_pixel;

/** An evaluation of the target. */
typedef struct db_fit_history {
    int stage;            /**< index into the stages */
    int evaluation;       /**< within the stage, from 1 */
    double target;        /**< chi2 per degree of freedom of the data in use */
    double gradient_norm; /**< in optimizer coordinates */
    double *value;        /**< of the fit's parameters, in their order; borrowed */
} db_fit_history;

/** Residual statistics of one model against the data. strong_explained is counted over all strong
 * pixels of the image in the resolution range and all reflections that this model predicts, the
 * rest over the shoeboxes in use. */
typedef struct db_fit_statistics {
    size_t pixels, shoeboxes;
    double chi2, chi2_reduced; /**< with the variances of the target */
    double rms_residual;       /**< counts */
    double strong_pixels;      /**< see db_fit_settings.strong_sigma */
    /** fraction of them at which the model's Bragg part is between half and twice the observed
     * excess over the local background */
    double strong_explained;
    double correlation;  /**< model against measured, background removed */
    double centroid_rms; /**< pixels: observed minus model spot centroid */
} db_fit_statistics;

/** Goodness of fit on a part of the data. Bragg: the model without the background. */
typedef struct db_fit_goodness {
    size_t pixels;
    double chi2_reduced; /**< chi2 over the pixels' share of the degrees of freedom */
    double residual;     /**< sum |measured - model| / sum |measured - background|, as R factors */
    double correlation;  /**< Bragg against measured, background removed; NAN: no variation */
} db_fit_goodness;

/** A shell of resolution; shells hold about the same number of pixels. */
typedef struct db_fit_shell {
    double d_max, d_min; /**< A */
    db_fit_goodness before, after;
} db_fit_shell;

/** A rectangle of the detector. */
typedef struct db_fit_area {
    size_t panel;
    int fast_start, slow_start, fast_count, slow_count;
    size_t spots;    /**< shoeboxes of which both centroids can be located */
    double shift[2]; /**< mean of their centroid_offset (pixels, fast, slow); NAN: none */
    db_fit_goodness before, after;
} db_fit_area;

/** A combination of parameters: an eigenvector of the normal matrix J^T J scaled to unit diagonal,
 * in which each parameter counts in units of the error it would have if it alone were refined. */
typedef struct db_fit_direction {
    /** from 0, the data do not determine it, to the number of parameters; 1 for all if no two
     * parameters are correlated */
    double eigenvalue;
    double condition;  /**< largest eigenvalue over this one; INFINITY: not determined */
    double *component; /**< of the result's parameters; a unit vector; the largest is positive */
    /** of the parameters, in their units: one standard deviation along this direction, which raises
     * chi2 by 1; NAN: not determined */
    double *change;
} db_fit_direction;

/** A structure-factor amplitude. */
typedef struct db_fit_amplitude {
    int hkl[3];      /**< of the equivalent reflections that with the largest h, then k, then l */
    double input, F; /**< as given and refined (electrons) */
    double sigma;    /**< standard error; of one that no shoebox holds that of the restraint */
    size_t boxes;    /**< shoeboxes that hold it */
} db_fit_amplitude;

/** The outcome of a start. */
typedef struct db_fit_start {
    int number;       /**< in the sequence, from 0, the given one */
    double turn[3];   /**< from the given one, about the laboratory's axes (degree) */
    double target;    /**< chi2 per degree of freedom after its first stage; INFINITY: none */
    double explained; /**< fraction of the strong pixels that it explains then */
    int evaluations;
    double refined_explained; /**< after all stages; NAN: not run */
    int chosen;               /**< 1: the result goes on from here */
} db_fit_start;

/** What became of a stage that was not certain to run. */
typedef struct db_fit_trial {
    int stage; /**< index into the stages */
    int kept;
    double misfit;        /**< by pixels: chi2 per degree of freedom at its start; else 0 */
    double before, after; /**< loss of held-out spots without and with it, per spot; kept where it
                             falls by 0.32 */
    size_t spots;
    /** of a stage that held-out spots bear out: how many times all spots of its model, as far as two
     * standard deviations, cover the detector; it is not kept above 0.25 */
    double covered;
} db_fit_trial;

/** Tests of a model, on spots that were found without any model and on intensities. */
typedef enum db_fit_test_kind {
    DB_FIT_TEST_PLACES, /**< number of spots at reflections / spots beside them */
    /** probability of as many at reflections if the lattice were wrong in one direction */
    DB_FIT_TEST_CHANCE,
    DB_FIT_TEST_PART,     /**< fraction of the spots: excess of those at reflections */
    DB_FIT_TEST_MULTIPLE, /**< fraction of those whose index h, k or l is a multiple of 2 or 3 */
    /** spots half or a third of the way between reflections / spots at reflections */
    DB_FIT_TEST_BETWEEN,
    /** spots that one common shift would bring to reflections / spots at reflections */
    DB_FIT_TEST_DISPLACED,
    /** as PLACES, among the quarter of the spots, all neighbours, where it is least */
    DB_FIT_TEST_QUARTERS,
    /** chance that a reflection with a spot is nearer to the Ewald sphere than one without */
    DB_FIT_TEST_EXCITATION,
    /** known: order of measured intensities is that of calculated ones, in standard deviations by
     * chance */
    DB_FIT_TEST_INTENSITIES,
    DB_FIT_TEST_BRIGHTNESS, /**< known: light of the model / measured light */
    /** free: strong pixels that the refined model explains / that the start did */
    DB_FIT_TEST_EXPLAINED,
    /** edges refined, distance held: by how many errors the data ask for another one, if off by 0.5 % or
     * more; else 0 */
    DB_FIT_TEST_DISTANCE,
    DB_FIT_TESTS
} db_fit_test_kind;

/** A test of a model. */
typedef struct db_fit_test {
    double found;       /**< NAN: the test could not be made */
    double least, most; /**< passed if found is between them */
    int passed;         /**< 1, also if the test could not be made */
} db_fit_test;

/** Verdict on a model: may it be used? */
typedef struct db_fit_verdict {
    int usable; /**< 1: all tests are passed; orientation and cell may be used */
    db_fit_test test[DB_FIT_TESTS];
    size_t spots; /**< of the image, in the resolution range; the strongest 400 at most */
    /** spots near well excited reflections; farther away, but less than half way to the next */
    size_t at, beside;
    double position_rms; /**< pixels: of those near, from where they are predicted */
    size_t predicted;    /**< reflections near the Ewald sphere */
    size_t seen;         /**< of them, with a spot */
    size_t intensities;  /**< that were compared with calculated ones */
    char reason[448];    /**< which test failed, and what may be wrong; "" */
    /** free intensities: spots of the final data, and the part of them whose light in the model is that
     * measured within a factor of 1.5; NAN: they are fewer than 20 */
    size_t light_spots;
    double light_part;
    int intensities_usable; /**< 0: light_part is below 2/3 */
} db_fit_verdict;

/** Name of a test, such as "places".
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_name(db_fit_test_kind kind);

/** What the figure of a test is, in words.
 *
 * @param kind the test
 * @return static storage; NULL out of range */
DB_API const char *db_fit_test_meaning(db_fit_test_kind kind);

enum { DB_FIT_WARNING_SIZE = 320 };

/** What a search for the orientation has found. */
typedef struct db_fit_orientation {
    size_t spots;           /**< that tell orientations apart */
    size_t indexed;         /**< of them, near nodes of the lattice */
    double by_chance;       /**< of `indexed`, for a lattice turned at random */
    double log_probability; /**< ln of the probability that one turned at random has as many */
} db_fit_orientation;

/** What a refinement has found. */
typedef struct db_fit_result {
    /** DB_OK converged; DB_NOT_CONVERGED; DB_ERROR_CANCELLED: the best model so far */
    db_status status;
    char reason[512];       /**< why it stopped, or may not be used */
    db_fit_verdict verdict; /**< on the refined model; a model that fails is DB_NOT_CONVERGED */
    size_t parameter_count; /**< those of the settings */
    /* Lists of parameter_count elements each: */
    db_parameter *parameter;
    char (*name)[DB_FIT_NAME_SIZE];
    double *start;
    double *refined;
    /** Standard errors; NAN: tied, or at its bound; INFINITY: the data do not determine it. */
    double *error_unscaled; /**< from the variances alone */
    /** times sqrt(chi2_reduced) where that exceeds 1: the misfit is taken for more of the same
     * noise */
    double *error_scaled;
    /** from how much shoeboxes (or tiles) disagree, or whole regions of the detector where these disagree
     * more: needs neither the right noise nor independent residuals within them; NAN: too few */
    double *error_robust;
    double *error;               /**< the one to quote: the larger of the last two */
    int *at_bound;               /**< -1 lower, 1 upper, 0 inside */
    double **correlation;        /**< [i][k] of each with each: 1 on the diagonal; 0: not defined */
    db_fit_direction *direction; /**< the worst determined first */
    size_t direction_count;
    db_experiment experiment;        /**< refined; owned */
    db_fit_statistics before, after; /**< same data, starting and refined model */
    int evaluations;
    double seconds; /**< all */
    /** of the stages alone: without the search for strong pixels before them, and statistics and
     * errors after them */
    double refining_seconds;
    db_fit_history *history;
    size_t history_count;
    double *history_values; /**< what history[].value points into */
    db_fit_shoebox *shoeboxes;
    size_t shoebox_count;
    int shoebox_half_width;       /**< pixels; that of the settings, or the one chosen */
    db_fit_amplitude *amplitudes; /**< refined ones, in the order of h, k, l; NULL: none are */
    size_t amplitude_count;
    db_fit_start *starts; /**< the best first; NULL if there was one */
    size_t start_count;
    db_fit_trial *trials; /**< of stages that were not certain to run; NULL: all were */
    size_t trial_count;
    /** of the shoeboxes; the limit lies 5 robust standard deviations above the median */
    double sigma_z_median, sigma_z_limit;
    /** targets huber and student: pixels in use more than 5 standard deviations off the model; the
     * first of them, least trusted first */
    size_t distrusted_count, distrusted_listed;
    db_fit_pixel *distrusted;
    db_fit_shell *shells; /**< from low to high resolution */
    size_t shell_count;
    db_fit_area *areas;
    size_t area_count;
    char (*warnings)[DB_FIT_WARNING_SIZE]; /**< what to look at before the result is used */
    const char **advice;                   /**< what to do about each of them */
    size_t warning_count;
    /** whole image of the refined model (counts), full detector; NULL if not rendered */
    float *model_image;
    int fast_pixels, slow_pixels;
    void *memory; /**< owned: behind the lists of parameters and directions */
    /** what of model_image is not the crystal's: the local background, or planes (known) */
    float *background_image;
    /** known: factor of all spots of model_image, beside that of the experiment; free: 1 */
    double image_scale;
    db_fit_reflection *reflections; /**< free: of all predicted reflections, by h, k, l */
    size_t reflection_count;
    /** how much whole regions of the detector disagree, over how much their shoeboxes do by themselves (a
     * ratio of standard deviations, over all directions; 1 if that may be chance): above 1 where
     * neighbours miss the data in the same way */
    double shared_misfit;
    /** where edges of the cell are refined and the distance is held: by how much (mm) the data ask for
     * another distance, were it refined, too, and the error of that; NAN: not asked */
    double distance_step, distance_error;
    /** all spots of the image in the resolution range; of them, those that lie at no reflection that is
     * predicted; if they are many, what a search among these has found: another lattice of the same cell
     * (indexed 0: none) */
    size_t all_spots, left_spots;
    db_fit_orientation other_lattice;
} db_fit_result;

/** Called after each evaluation; a non-zero return cancels: the refinement ends with the best model
 * so far. */
typedef int (*db_fit_progress)(void *user, const db_fit_history *entry);

/** Refines. *result is NULL on failure (bad input, blank image ...), but given for
 * DB_NOT_CONVERGED, and for DB_ERROR_CANCELLED if it was `progress` that cancelled. While several
 * starts are tried the context's progress is told how many are done, and may cancel, too.
 *
 * @param context receives the message of a failure
 * @param start starting model; not changed
 * @param image measured image; not changed
 * @param settings what is refined and how; not changed
 * @param progress called after each evaluation by the calling thread; may be NULL
 * @param user handed to the function
 * @param result receives it; to be destroyed by the caller
 * @return DB_OK; DB_NOT_CONVERGED or DB_ERROR_CANCELLED with a result; else an error without one */
DB_API db_status db_fit_run(db_context *context, const db_experiment *start,
                            const db_measured_image *image, const db_fit_settings *settings,
                            db_fit_progress progress, void *user, db_fit_result **result);

/** Frees a result and sets the pointer to NULL. NULL and pointer to NULL are allowed.
 *
 * @param result to destroy */
DB_API void db_fit_result_destroy(db_fit_result **result);

/** Statistics of a model as it is: nothing is refined but the linear coefficients. The shoeboxes
 * are those that `placed_by` predicts (NULL: the experiment itself), so that models can be compared
 * on the same pixels.
 *
 * @param context receives the message of a failure
 * @param experiment model
 * @param placed_by model that places the shoeboxes; NULL: the same
 * @param image measured image
 * @param settings those of the data
 * @param statistics filled
 * @return DB_OK or an error */
DB_API db_status db_fit_evaluate(db_context *context, const db_experiment *experiment,
                                 const db_experiment *placed_by, const db_measured_image *image,
                                 const db_fit_settings *settings, db_fit_statistics *statistics);

/** Finds the orientation of a crystal of known cell (indexing): the one that explains the image's
 * spots best. Its previous orientation does not matter, and the misset becomes 0. Of orientations
 * that are equivalent by symmetry it finds any. settings: those of the data. DB_ERROR_INPUT if no
 * orientation explains more than chance would. The context's progress is told how much of the most
 * work there can be is done.
 *
 * @param context receives the message of a failure
 * @param image measured image
 * @param settings those of the data
 * @param experiment its crystal is turned
 * @param found filled
 * @return DB_OK; DB_ERROR_INPUT if no orientation explains more than chance would;
 *     DB_ERROR_CANCELLED; other errors */
DB_API db_status db_fit_find_orientation(db_context *context, const db_measured_image *image,
                                         const db_fit_settings *settings, db_experiment *experiment,
                                         db_fit_orientation *found);

enum { DB_FIT_MOST_LATTICES = 16 };

/** A lattice that a search has found. */
typedef struct db_fit_lattice {
    double orientation[9];    /**< of its crystal, with misset 0 (row-major rotation) */
    db_fit_orientation found; /**< from the spots that lattices before it have left */
} db_fit_lattice;

/** Finds several lattices of one cell: the one that explains most of the strongest spots, then, from
 * the spots that it leaves, the next one, until no orientation explains more than chance would. A
 * lattice within about half a degree of one before it is no other.
 *
 * @param context receives the message of a failure
 * @param image measured image
 * @param settings those of the data
 * @param experiment cell, beam, detector and goniometer; not changed
 * @param most lattices to look for, 1 to DB_FIT_MOST_LATTICES
 * @param lattices receives them; room for `most`
 * @param count receives how many were found
 * @return DB_OK: at least one; DB_ERROR_INPUT if no orientation explains more than chance would;
 *     DB_ERROR_CANCELLED; other errors */
DB_API db_status db_fit_find_lattices(db_context *context, const db_measured_image *image,
                                      const db_fit_settings *settings,
                                      const db_experiment *experiment, size_t most,
                                      db_fit_lattice *lattices, size_t *count);

/** The stages used when a configuration names none: coarse to fine, in resolution and width of the
 * spots. Sets stages and stage_count from the parameters; db_fit_run does this itself if
 * stage_count is 0.
 *
 * @param settings to change */
DB_API void db_fit_settings_default_stages(db_fit_settings *settings);

/** Stage number `to` becomes one like stage number `from`, and refines the same; stage_count stays.
 *
 * @param settings to change
 * @param from number of the stage to copy
 * @param to number of the stage to overwrite, below DB_FIT_MAX_STAGES */
DB_API void db_fit_settings_copy_stage(db_fit_settings *settings, size_t from, size_t to);

enum { DB_FIT_PATH_SIZE = 1024 };

/** A fit configuration as read from YAML: settings, and the starting model as a db_setup plus what
 * a db_setup does not have. File names of the file are relative to its folder and stand here
 * relative to the working directory. setup borrows the names kept here, so the struct must not be
 * copied while setup is in use. */
typedef struct db_fit_config {
    db_fit_settings settings; /**< bounds given as a range are open until db_fit_config_start */
    db_setup setup;
    char config_file[DB_FIT_PATH_SIZE]; /**< the file read; "" for defaults */
    char image_file[DB_FIT_PATH_SIZE];
    char spectrum_file[DB_FIT_PATH_SIZE]; /**< "": none */
    char output_prefix[DB_FIT_PATH_SIZE]; /**< outputs: prefix.yaml, .mat, .json, .html, .log */
    char matrix_file[DB_FIT_PATH_SIZE], hkl_file[DB_FIT_PATH_SIZE];
    char symmetry[DB_FIT_NAME_SIZE]; /**< crystal system, lattice or space group; "": none */
    char hkl_columns[DB_FIT_NAME_SIZE], hkl_space_group[DB_FIT_NAME_SIZE]; /**< "": open */
    char expt_file[DB_FIT_PATH_SIZE]; /**< experiment list that the model comes from; "" */
    char mask_file[DB_FIT_PATH_SIZE], hot_pixel_file[DB_FIT_PATH_SIZE];
    char reflection_file[DB_FIT_PATH_SIZE], spot_file[DB_FIT_PATH_SIZE],
        box_file[DB_FIT_PATH_SIZE]; /**< see db_fit_spots_read */
    double trusted[2];              /**< least and largest count that is trusted; NAN: not given */
    /** a pixel that is alone and so many standard deviations above its surroundings is hot; 0: no
     * pixel is */
    double hot_sigma;
    char shot_list[DB_FIT_PATH_SIZE]; /**< many shots instead of one image (fit_shots.h); "": one */
    double shot_outlier_sigma;        /**< see db_fit_shots_options.outlier_sigma */
    /** 1: the shots are frames of one crystal on a turning spindle, whose angles come from the
     * images' headers */
    int series;
    double series_knots;                /**< see db_fit_shots_options.knots */
    char command[2 * DB_FIT_PATH_SIZE]; /**< command line, for the record; "" */
    /** 1: wavelength, distance, pixels, beam centre come from the image header unless given */
    int header_geometry;
    /** replaces the setup's orientation (row-major rotation from the standard frame); first
     * component NAN: not given */
    double orientation[9];
    /** 1: it is found from the image's spots; more: those of up to so many lattices
     * (db_fit_shot_list_find) */
    int find_orientation;
    /** pixels along fast, slow, from the outer corner of the first pixel; NAN: not given */
    double beam_centre[2];
    double beam_tilt[2]; /**< mrad: horizontal, vertical */
    double scale;        /**< overall factor of the starting model */
    int automatic;       /**< 1: what is refined was left open; db_fit_config_start chooses it */
    int blocks_given;    /**< 1: the size of the crystal's blocks was given */
    int phi_given;       /**< 1: the spindle angle was given */
    /** of a detector of one panel that is cut into its modules where groups of panels name them:
     * pixels of a module along fast, slow, and of the gaps between them; 0: as the detector's size
     * says */
    int modules[4];
    double reserved[12]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_config;

/** All defaults: header geometry, free intensities, no parameters.
 *
 * @param config overwritten; what it owned is not freed */
DB_API void db_fit_config_init(db_fit_config *config);

/** A copy with lists of its own. *copy is overwritten; its setup borrows the names of the original.
 *
 * @param context receives the message of a failure
 * @param config to copy
 * @param copy overwritten
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_config_copy(db_context *context, const db_fit_config *config,
                                    db_fit_config *copy);

/** Frees what it owns. Safe on a zeroed configuration.
 *
 * @param config to clear */
DB_API void db_fit_config_clear(db_fit_config *config);

/** A configuration for an image without a file: defaults, what is refined left open, with overrides
 * as below.
 *
 * @param context receives the message of a failure
 * @param image name of the measured image; "": none is named, or overrides name it or a list of shots
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param config replaced
 * @return as db_fit_config_read */
DB_API db_status db_fit_config_make(db_context *context, const char *image,
                                    const char *const *overrides, size_t override_count,
                                    db_fit_config *config);

/** Reads a YAML fit configuration. overrides: "key.path=value" strings applied after the file;
 * their file names are relative to the working directory. *config is initialized or all zeros
 * before; what it owns is freed. Clear it with db_fit_config_clear, also after a failure. Errors
 * name file, line, key, what was expected and the nearest known key, if one is near.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param config replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_USAGE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_fit_config_read(db_context *context, const char *path,
                                    const char *const *overrides, size_t override_count,
                                    db_fit_config *config);

/** Takes wavelength, distance, pixel size and count, beam centre, polarization, two-theta, sensor
 * and oscillation range from an image's header into a setup, wherever the setup has NAN (counts:
 * 0). The beam centre is converted to the meaning that the setup's convention gives it; what
 * neither knows stays open.
 *
 * @param context receives the message of a failure
 * @param image with what its header says
 * @param setup completed
 * @return DB_OK or an error */
DB_API db_status db_setup_from_image(db_context *context, const db_measured_image *image,
                                     db_setup *setup);

/** Reads the configuration's image and masks what must not count: pixels outside the trusted range
 * (the configuration's, else those of the experiment list's panels), rectangles masked in that
 * list, pixels that are 0 in the mask file, those of the list of hot pixels (lines "fast slow
 * [panel]"), and pixels found hot. Notices say how many. DB_ERROR_INPUT if the list's panels are
 * not the image's.
 *
 * @param context receives the message of a failure
 * @param config names the image and what masks it
 * @param image overwritten; to be cleared by the caller
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_read_image(db_context *context, const db_fit_config *config,
                                          db_measured_image *image,
                                          void (*notices)(void *user, const char *line),
                                          void *user);

/** Masks in an image that the caller has what the configuration says must not count: pixels outside
 * the trusted range, those of the mask file and of the list of hot pixels, and pixels found hot.
 * Gain and readout noise are measured where they were not given, as of an image that is read. What an
 * experiment list says of pixels is not asked.
 *
 * @param context receives the message of a failure
 * @param config says what masks it
 * @param image its counts (dark levels are subtracted, and then kept in `dark`), its mask, and what is
 *     known of its noise are changed
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_mask_image(db_context *context, const db_fit_config *config,
                                          db_measured_image *image,
                                          void (*notices)(void *user, const char *line),
                                          void *user);

/** Reads the list of reflections that the configuration names, if any (else spots->count is 0); of
 * a reflection table those of the experiment that the model comes from. Clear it with
 * db_fit_spots_clear.
 *
 * @param context receives the message of a failure
 * @param config names the list
 * @param spots overwritten
 * @return DB_OK or an error */
DB_API db_status db_fit_config_read_spots(db_context *context, const db_fit_config *config,
                                          db_fit_spots *spots);

/** The starting model of a configuration for an image. Completes config->setup from the header
 * (header_geometry), turns ranges into bounds, adds default stages, takes the gain from the header
 * if it was not given, and refuses starting values outside their bounds and detectors of another
 * shape than the image. *start is overwritten; clear it with db_experiment_clear.
 *
 * @param context receives the message of a failure
 * @param config completed
 * @param image that is to be refined against
 * @param start overwritten
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_start(db_context *context, db_fit_config *config,
                                     const db_measured_image *image, db_experiment *start,
                                     void (*notices)(void *user, const char *line), void *user);

/** The same for a starting model that the caller has: what is refined, ties by symmetry, bounds,
 * stages, and the orientation if it is to be found. The section model of the configuration is not
 * asked, but for symmetry and find_orientation.
 *
 * @param context receives the message of a failure
 * @param config completed
 * @param image that is to be refined against
 * @param start the model; changed as the configuration asks, also if the call fails
 * @param notices as for db_fit_config_start
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_start_at(db_context *context, db_fit_config *config,
                                        const db_measured_image *image, db_experiment *start,
                                        void (*notices)(void *user, const char *line), void *user);

/* Outputs. All are written atomically. */

/** Writes lines h k l F sigma, then the number of shoeboxes and F as given: the asymmetric unit, to
 * be read with its space group. DB_ERROR_USAGE if no amplitudes were refined.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param result to write
 * @return DB_OK; DB_ERROR_USAGE if no amplitudes were refined; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_amplitudes(db_context *context, const char *path,
                                         const db_fit_config *config, const db_fit_result *result);

/** Renders the spots of a refined model on the whole detector, without background: each predicted
 * reflection with its own intensity (free), or all with the structure factors given (known).
 *
 * @param context receives the message of a failure
 * @param result model
 * @param image receives fast_pixels * slow_pixels counts
 * @return DB_OK or an error */
DB_API db_status db_fit_render_spots(db_context *context, const db_fit_result *result,
                                     float *image);

/** Writes db_fit_render_spots as 32-bit floats, as db_write_float_image does.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_spots(db_context *context, const char *path,
                                    const db_fit_result *result);

/** Writes the background of a result likewise.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_background(db_context *context, const char *path,
                                         const db_fit_result *result);

/** Writes free intensities as lines of text, which begin with h k l F.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result with intensities
 * @return DB_OK; DB_ERROR_USAGE without intensities; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_intensities(db_context *context, const char *path,
                                          const db_fit_result *result);

/** Writes free intensities as a reflection table of DIALS: as HDF5 if the configuration names a
 * reflection table of that form in its section data, else as MessagePack. The experiment has the
 * identifier that the configuration's experiment list gives it.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement; NULL: not known
 * @param result with intensities
 * @return DB_OK; DB_ERROR_USAGE without intensities; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_table(db_context *context, const char *path,
                                    const db_fit_config *config, const db_fit_result *result);

/** Writes all of a result as JSON (docs/reference/json.md).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_json(db_context *context, const char *path,
                                   const db_fit_config *config, const db_fit_result *result);

/** Writes an HTML page of a result, as one file.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param image measured image
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_html(db_context *context, const char *path,
                                   const db_fit_config *config, const db_measured_image *image,
                                   const db_fit_result *result);
/** Writes measured and model image side by side, as PNG. DB_ERROR_UNSUPPORTED without libpng.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param image measured image
 * @param result to write
 * @return DB_OK; DB_ERROR_UNSUPPORTED without libpng; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_png(db_context *context, const char *path,
                                  const db_fit_config *config, const db_measured_image *image,
                                  const db_fit_result *result);
/** Writes the refined model as a configuration that db_fit_config_read reads as a starting model.
 * One from an experiment list names a list of the same name, with .expt for .yaml, which is to be
 * written beside it (db_write_expt).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_yaml(db_context *context, const char *path,
                                   const db_fit_config *config, const db_fit_result *result);

#ifdef __cplusplus
}
#endif
#endif
