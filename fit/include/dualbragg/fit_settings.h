/** @file
 * Settings of a refinement: data, stages, targets. */
#ifndef DUALBRAGG_FIT_SETTINGS_H
#define DUALBRAGG_FIT_SETTINGS_H

#include <dualbragg/fit_parameter.h>
#include <dualbragg/fit_spots.h>
#include <dualbragg/plan.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Source of the intensities of reflections. */
typedef enum db_fit_intensity { DB_FIT_FREE, DB_FIT_KNOWN } db_fit_intensity;

/** Functions to minimize: the sum over pixels of -2 ln(likelihood of the counts), scaled to
 * about 1 per degree of freedom for a good model. Formulas in docs/theory/refinement.md. */
typedef enum db_fit_target {
    /** chi2 with variances from the smoothed measured
     * counts, which do not depend on the model */
    DB_FIT_WEIGHTED,
    DB_FIT_GAUSSIAN, /**< variances from the model, and ln(variance) */
    DB_FIT_POISSON,  /**< photon counts */
    DB_FIT_HUBER,    /**< gaussian, but linear for outliers */
    DB_FIT_STUDENT   /**< gaussian, but with small weights for outliers */
} db_fit_target;

/** Pixels that known structure factors are compared with. */
typedef enum db_fit_pixels {
    DB_FIT_PIXELS_ALL,      /**< the region of interest, or the whole image, cut into tiles */
    DB_FIT_PIXELS_SHOEBOXES /**< shoeboxes around the brightest reflections of the model */
} db_fit_pixels;

/** The background of each block of pixels, a shoebox or a tile. */
typedef enum db_fit_background {
    DB_FIT_BACKGROUND_PLANE,    /**< refined: constant and two slopes */
    DB_FIT_BACKGROUND_CONSTANT, /**< refined: constant */
    DB_FIT_BACKGROUND_FIXED,    /**< the local background, a robust mean of the surroundings */
    DB_FIT_BACKGROUND_SMOOTH,   /**< one smooth surface through the panel's pixels outside spots */
    DB_FIT_BACKGROUND_NONE      /**< 0 */
} db_fit_background;

/** Data and algorithm of a stage. */
typedef enum db_stage_kind {
    DB_STAGE_PIXELS, /**< pixels; Levenberg-Marquardt */
    DB_STAGE_MOMENTS, /**< places and widths of spots in closed form (free intensities); Levenberg-Marquardt */
    DB_STAGE_INTENSITIES, /**< pixels of many shots, with joint intensities */
    DB_STAGE_NLOPT        /**< pixels; a method of NLopt */
} db_stage_kind;

/** A stage refines some of the parameters (db_fit_parameter.stages) on part
 * of the data; stages run in order, each from the result of the last. */
typedef struct db_fit_stage {
    char name[DB_FIT_NAME_SIZE];
    double dmin; /**< resolution limit of the data used (A); 0: none */
    /** >= 1: cell counts N divided by this, to widen the spots and the radius of convergence */
    double blur;
    db_stage_kind kind;
    char nlopt[DB_FIT_NAME_SIZE]; /**< DB_STAGE_NLOPT: NLopt's name of the method, as "LD_LBFGS" */
    int target;                   /**< a db_fit_target; -1: as in the settings */
    /** the stage has converged if a further step promises
     * a smaller relative decrease of the target */
    double tolerance;
    double step; /**< LM: or if a further step is shorter than this many standard errors */
    int max_evaluations;
    /** 1: the stage is first tried on each half of the spots. Parameters that it refines for
     * the first time are kept only if they describe the other half better (DB_STAGE_MOMENTS) */
    int earned;
    /** by pixels: the stage is left out if chi2 per degree of freedom exceeds this at
     * its start, because moments refine a model with misfit better; with free intensities also
     * if its result makes spots less likely by e^32 than its start; 0: never left out */
    double most_misfit;
    /** fraction of the image's spots, nearest to the beam, that
     * limits the data of the stage, within dmin; 0 or 1: all */
    double innermost;
    double reserved[1]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_stage;

/** Several starts, for an orientation that is known roughly: a shortened first
 * stage runs from each start; the starts that then explain most of the strong
 * pixels go through all stages, until one explains half of them. Intensities need
 * no starts: free ones are linear, and a refined scale is matched to each start. */
typedef struct db_fit_starts {
    int count;       /**< with the given orientation, which is the first; 1: only the given one */
    double turn;     /**< degree: largest turn of the others from the given one */
    int seed;        /**< seed of the turns */
    int keep;        /**< largest number of best starts that go through all stages */
    int evaluations; /**< largest number in the first stage of each start */
} db_fit_starts;

/** Joint intensities: one for each reflection of many shots (dualbragg/fit_shots.h). */
typedef struct db_fit_joint {
    /** 1: a last stage refines the intensities together with all parameters. Before it,
     * with free intensities, come the stages of single shots and of shared parameters. The
     * symmetry is amplitude_group of the settings; scale must be among the parameters. */
    int wanted;
    int anomalous; /**< 1: Bijvoet mates have separate intensities */
    int reindex;   /**< 1: resolves the indexing ambiguity: if the lattice has rotations that
                        the crystal lacks, shots are reindexed to agree; shots with
                        undecided intensities, and shots of the other hand, are excluded */
    int seed;      /**< of the draw of the two halves of the shots */
    int passes;    /**< largest number over all shots; 0: only scales and
                         averages the intensities of single shots */
    double dmin;   /**< finest resolution (A); NAN: resolution at half of the detector's rim */
    /** least and largest photon energy (eV): a reflection whose photons have another mean energy, by the model of its
     * shot (db_spot.wavelength), is left out; NAN: none is */
    double energies[2];
    double restraint; /**< restrains each intensity to the mean at its resolution, with
                         a standard deviation of this many times the mean; NAN: none */
    /** Known amplitudes, 0 or NAN: none (read with default_F NAN). Shots are indexed like
     * them, and results are compared with them after a scale and a B factor. Borrowed;
     * NULL: none. */
    const db_structure_factors *reference;
    /** Restrains each intensity to the scaled reference, with a standard deviation of
     * this many times the mean at its resolution, instead of `restraint`; NAN: none. */
    double reference_restraint;
} db_fit_joint;

/** Refined curves of f' and f'' of kinds of sites (db_site_kinds of the starting models, which have these
 * points): priors. The values are parameters (db_parameter_site_curve). */
typedef struct db_fit_curves {
    double points[3]; /**< first and last energy (eV), number of points; 0: no curves are refined */
    /** electrons: standard deviation of a point from the mean of its neighbours; 0: none; NAN: chosen by
     * the evidence of the shots */
    double smoothness;
    double
        calm; /**< factor on smoothness and kramers_kronig away from the start's edge, chosen by evidence if
                      smoothness is; 0: both hold everywhere */
    double wings[2]; /**< points this near to the ends (eV) stay near the start with this standard
                         deviation (electrons); 0: none */
    /** electrons: standard deviation of f' from the f' that belongs to f'' (db_kramers_kronig); 0: none; NAN: chosen
     * by the evidence of the shots */
    double kramers_kronig;
} db_fit_curves;

/** Settings; owns its lists. A copy by assignment shares the lists: use it
 * only as long as the original, and do not change or clear its lists. */
typedef struct db_fit_settings {
    size_t size; /**< sizeof(db_fit_settings): set by db_fit_settings_init */
    db_fit_intensity intensity;
    db_fit_panel_groups panel_groups;
    db_fit_parameter *parameters; /**< owned; see db_fit_settings_add_parameter */
    size_t parameter_count;
    db_fit_stage stages[DB_FIT_MAX_STAGES];
    size_t stage_count;
    db_fit_target target;
    double huber_limit;     /**< standard deviations beyond which DB_FIT_HUBER is linear; 3 */
    double student_freedom; /**< degrees of freedom of DB_FIT_STUDENT; 4 */
    db_fit_background background;
    double gain;          /**< counts per photon; 1 */
    double readout_noise; /**< counts, standard deviation of one pixel; 0 */
    double dmin, dmax;    /**< resolution range of the reflections used (A); 0: open */
    /** w: shoeboxes are (2w+1)^2 pixels; 0: the largest, up to 8, that fits
     * between predicted reflections; for wide spots in closed form up to 20 */
    int shoebox_half_width;
    int max_shoeboxes; /**< strongest ones are kept */
    /** free: reflections that get shoeboxes; NULL: reflections with strong pixels; borrowed */
    const db_fit_spots *spots;
    /** a pixel is strong if it is this many standard deviations above the local background and touches
     * at least two more such pixels */
    double strong_sigma;
    int min_strong_reflections; /**< fewer than this: the image is refused as blank */
    /** 1: a frame of a rotation series, which is not refused if it shows few reflections or none, since
     * other frames show them, too */
    int one_of_series;
    /** degree; a reflection is predicted if a rotation by at most this angle
     * brings its node, a ball of 3 standard deviations, to the Ewald sphere */
    double excitation_angle;
    db_fit_pixels pixels; /**< known */
    /** space group of the joint intensities: number or symbol */
    char amplitude_group[DB_FIT_NAME_SIZE];
    int roi
        [4]; /**< fast min, max, slow min, max (inclusive); all -1: whole image; free: other pixels must be masked */
    /** known: pixels; the region is cut into tiles of about this size, each with a background plane
     * of its own */
    int background_tile;
    db_precision precision;
    /** relative error of the model's spots, added to the variance: real spots
     * deviate from any ideal shape by more than photon noise, and without it
     * the few strongest spots would dominate; NAN: 0.1 (free) or 0 (known) */
    double model_error;
    /** free: a weak prior keeps intensities J below this many times the
     * mean at their resolution, which reflections far from the Ewald sphere
     * would exceed; ten times this limit in stages without blur; 0: none */
    double intensity_limit;
    db_fit_starts starts;
    db_fit_joint joint;
    /** 1: for spots in closed form each stage chooses the number of sub-pixels so that errors of
     * pixels are below a tenth of the model error (db_spots_oversample), and those of a spot's
     * photons below 0.1 % (db_spots_oversample_for_sums); 0: as in the experiment */
    int choose_oversample;
    /** centring of the lattice: A, B, C, I, F or R of the given symmetry; 0: not given. The smaller cells that a
     * centring implies are no rivals in the verdict, and reflections that it forbids are not predicted */
    int centring;
    db_fit_curves curves;
    /** known: relative error of the intensities, as of coordinates that are not exact: each shoebox has a factor J of
     * its own with the prior 1 +- this error; 0: intensities are exact */
    double intensity_error;
    /** 1: a search has found the orientation, so that any equivalent one is as good: blocks with less symmetry
     * than the lattice are laid as pixels ask; 0: it is given */
    int orientation_found;
    int room;           /**< 0: for a new member */
    double reserved[1]; /**< 0: room for new members, see docs/decisions/public-structs.md */
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
