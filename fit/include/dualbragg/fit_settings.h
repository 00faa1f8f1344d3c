/** @file
 * Settings of a refinement: what it compares, in which stages, what it minimizes. */
#ifndef DUALBRAGG_FIT_SETTINGS_H
#define DUALBRAGG_FIT_SETTINGS_H

#include <dualbragg/fit_parameter.h>
#include <dualbragg/fit_spots.h>
#include <dualbragg/plan.h>
#include <stddef.h>

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

/** What a stage compares with the model, and how it searches. */
typedef enum db_stage_kind {
    DB_STAGE_PIXELS,  /**< pixels; Levenberg-Marquardt */
    DB_STAGE_MOMENTS, /**< places and widths of spots in closed form (free intensities); the same */
    DB_STAGE_INTENSITIES, /**< pixels of many shots, with intensities that they share */
    DB_STAGE_NLOPT        /**< pixels; a method of NLopt */
} db_stage_kind;

/** A stage refines some of the parameters (db_fit_parameter.stages) on part of the data; stages run
 * in order, each from the last one's end. */
typedef struct db_fit_stage {
    char name[DB_FIT_NAME_SIZE];
    double dmin; /**< resolution limit of the data used (A); 0: none */
    /** >= 1: cell counts N divided by this, to widen the spots and the radius of convergence */
    double blur;
    db_stage_kind kind;
    char nlopt[DB_FIT_NAME_SIZE]; /**< DB_STAGE_NLOPT: NLopt's name of the method, as "LD_LBFGS" */
    int target;                   /**< a db_fit_target; -1: that of the settings */
    /** the stage has converged when a further step promises no larger relative decrease of the
     * target */
    double tolerance;
    double step; /**< LM: and when a further step is no longer than this many standard errors */
    int max_evaluations;
    /** 1: the stage is tried on each half of the spots first, and what it would be the first to
     * refine stays as it is unless it describes the other half better (DB_STAGE_MOMENTS) */
    int earned;
    /** by pixels: the stage is left out if chi2 per degree of freedom is larger at its start: a model
     * that misses more than noise is refined better by moments; 0: any */
    double most_misfit;
    /** share of the spots that the image has, those nearest to the beam, as far as which data are used,
     * if that is not beyond dmin; 0 or 1: all */
    double innermost;
    double reserved[1]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_stage;

/** Several starts, for an orientation that is known roughly: the first stage runs from each, cut
 * short; those that then explain most of the strong pixels go through all stages, until one
 * explains half of them. Intensities need no starts of their own: free ones are linear, and a scale
 * that is refined is matched to each start. */
typedef struct db_fit_starts {
    int count;       /**< with the given one, which is the first; 1: that one alone */
    double turn;     /**< degree: largest turn of the others from the given one */
    int seed;        /**< another seed, other turns */
    int keep;        /**< number of starts, the best ones, that go through all stages, at most */
    int evaluations; /**< of the first stage, of each start */
} db_fit_starts;

/** One intensity of each reflection for all of many shots (dualbragg/fit_shots.h). */
typedef struct db_fit_joint {
    /** 1: a last stage refines the intensities together with everything else. Before it, with free
     * intensities, come each shot's own stages and those of what shots share. Symmetry is that
     * of the settings' amplitude_group; scale is to be among the parameters. */
    int wanted;
    int anomalous; /**< 1: Bijvoet mates have intensities of their own */
    int reindex; /**< 1: the indexing ambiguity is resolved: where the lattice has rotations that the
                        crystal has not, shots are brought to one way of indexing; shots whose
                        intensities do not tell theirs, and shots of the other hand, are excluded */
    int seed;    /**< of the draw of the two halves of the shots */
    int passes;  /**< over all shots, at most; 0: intensities of single shots are scaled and
                         averaged, nothing more */
    double dmin;      /**< finest resolution (A); NAN: what half of the detector's rim reaches */
    double restraint; /**< each intensity is held to the mean of its resolution, within this many
                         times that mean; NAN: it is not */
    /** Known amplitudes, 0 or NAN where there is none (read with default_F NAN): shots are indexed
     * as they are, and the results are compared with them after a scale and a B factor. Borrowed;
     * NULL: none. */
    const db_structure_factors *reference;
    /** Each intensity that the reference has is held to the reference's, scaled, within this many
     * times the mean of its resolution, in place of `restraint`; NAN: it is not. */
    double reference_restraint;
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
    /** a pixel is strong if it is this many standard deviations above the local background and touches
     * at least two more such pixels */
    double strong_sigma;
    int min_strong_reflections; /**< fewer than this: the image is refused as blank */
    /** degree; a reflection is predicted if a rotation by at most this makes its node, a ball of 3
     * standard deviations, touch the Ewald sphere */
    double excitation_angle;
    db_fit_pixels pixels; /**< known */
    /** whose reflections have the intensities that shots share: number or symbol of the space group */
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
    /** free: a weak ridge keeps intensities J from exceeding this many times the mean of their
     * resolution, as those of reflections far from the Ewald sphere would; ten times as many in
     * stages without blur; 0: none */
    double intensity_limit;
    db_fit_starts starts;
    db_fit_joint joint;
    /** 1: of spots in closed form, each stage has as many sub-pixels as keep what a pixel is off by below
     * a tenth of the model error (db_spots_oversample); 0: those of the experiment */
    int choose_oversample;
    /** of the lattice: A, B, C, I or F as the named symmetry says; 0: nothing is said. The cells that it makes of the edges
     * are no rivals in the verdict */
    int centring;
    double reserved[10]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_settings;

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

/** Frees the lists. Safe on zeroed settings.
 *
 * @param settings to clear */
DB_API void db_fit_settings_clear(db_fit_settings *settings);

/** The stages used when a configuration names none: coarse to fine, in resolution and width of the
 * spots. Sets stages and stage_count from the parameters; db_fit_run does this itself if
 * stage_count is 0.
 *
 * @param settings to change */
DB_API void db_fit_settings_default_stages(db_fit_settings *settings);

#ifdef __cplusplus
}
#endif
#endif
