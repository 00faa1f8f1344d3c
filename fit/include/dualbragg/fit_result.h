/** @file
 * Results of a refinement. */
#ifndef DUALBRAGG_FIT_RESULT_H
#define DUALBRAGG_FIT_RESULT_H

#include <dualbragg/fit_estimates.h>
#include <dualbragg/fit_orientation.h>
#include <dualbragg/fit_settings.h>
#include <dualbragg/fit_verdict.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/** Intensity of a reflection on the image: the model's spot, fitted to its shoebox together with
 * a background. Intensities are not bounded by 0, and have no prior. Errors are by the variances,
 * for the refined model, and enlarged if the box's chi2 per degree of freedom exceeds 1. */
typedef struct db_fit_reflection {
    int hkl[3];
    double d_spacing;    /**< A */
    double position[2];  /**< predicted (pixels of the panel, fast, slow) */
    double observed[2];  /**< centroid of the strong pixels (pixels); NAN: there are none */
    db_region region;    /**< the shoebox */
    double counts;       /**< of the spot, in the pixels used */
    double counts_sigma; /**< its standard error */
    double square;       /**< F^2 of the whole reflection, for a fluence of DB_DEFAULT_FLUENCE
                            and a scale of 1; negative if counts are below the background */
    double square_sigma; /**< its standard error, with the error of partialities (db_fit_mates) */
    double F;            /**< amplitude in the model's image: not negative, with the prior on
                            intensities, equal for all spots of a reflection */
    double partiality;   /**< recorded fraction of the reflection, 0 to 1: db_spot.recorded;
                            for sampled spots by a Gaussian of the excitation */
    double background;   /**< counts per pixel */
    int pixels;          /**< used */
    int strong;          /**< strong pixels among them */
    double observed_variance
        [2];    /**< of the centroid (pixels^2, fast, slow), by the noise of its pixels */
    double sum; /**< counts above the background, over the pixels used */
    double
        sum_sigma; /**< its standard error, by the noise of the pixels; the plane's own is left out */
    /** wavelengths of the spot's photons (A): mean and standard deviation by the model (db_spot.wavelength) */
    double wavelength, wavelength_width;
} db_fit_reflection;

/** A pixel in a robust target. */
typedef struct db_fit_pixel {
    size_t panel;
    int fast, slow;       /**< of the panel, from 0 */
    double counts, model; /**< measured and expected */
    double z;             /**< (counts - model)/sigma */
    double trust;         /**< its weight, at most 1 */
} db_fit_pixel;

/** An evaluation of the target. */
typedef struct db_fit_history {
    int stage;      /**< index into the stages */
    int evaluation; /**< within the stage, from 1 */
    double target;  /**< chi2 per degree of freedom of the data in use; by moments: loss of spots */
    double gradient_norm; /**< in optimizer coordinates */
    double *value;        /**< of the fit's parameters, in their order; borrowed */
} db_fit_history;

/** Residual statistics of one model against the data. strong_explained includes
 * all strong pixels of the image in the resolution range and all reflections
 * that this model predicts; the rest is over the shoeboxes in use. */
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
typedef struct db_fit_region {
    size_t panel;
    int fast_start, slow_start, fast_count, slow_count;
    size_t spots;    /**< shoeboxes of which both centroids can be located */
    double shift[2]; /**< mean of their centroid_offset (pixels, fast, slow); NAN: none */
    db_fit_goodness before, after;
} db_fit_region;

/** The outcome of a start. */
typedef struct db_fit_start {
    int number;       /**< in the sequence, from 0, the given one */
    double turn[3];   /**< from the given one, about the laboratory's axes (degree) */
    double target;    /**< chi2 per degree of freedom after its first stage; INFINITY: none */
    double explained; /**< fraction of the strong pixels explained after its first stage */
    int evaluations;
    double refined_explained; /**< after all stages; NAN: not run */
    int chosen;               /**< 1: the result comes from this start */
} db_fit_start;

/** Least decrease of the loss of held-out spots, per spot, for which a stage is kept. Moments ignore faint ends of spots,
 *  which can lower it a little. */
#define DB_FIT_LEAST_GAIN 0.32

/** Largest fraction of the detector that a model's spots may cover: right models of thaumatin reach 0.06, a wrong one that
 *  explained all pixels reached 0.3 to 0.6. */
#define DB_FIT_MOST_COVERED 0.25

/** Result of a stage that runs under a condition. */
typedef struct db_fit_trial {
    int stage; /**< index into the stages */
    int kept;
    double misfit; /**< by pixels: chi2 per degree of freedom at its start; else 0 */
    /** loss of held-out spots without and with it, per spot; kept where it falls by more than DB_FIT_LEAST_GAIN; by pixels:
     * negative log likelihood of all spots, compared with random places; kept unless it rises by more than 32; 0: not asked */
    double before, after;
    size_t spots;
    /** for a stage that held-out spots confirm: fraction of the detector covered by
     * spots of its model, to two standard deviations; it is not kept above
     * DB_FIT_MOST_COVERED, nor if it has not converged */
    double covered;
} db_fit_trial;

/** Symmetry mates on an image, with Friedel mates, and the error of partialities by their scatter: a reflection of partiality
 * p has error^2 (1 + ln(p)^2) F^4 in the variance of F^2, beside the noise. Partialities below 0.05 are left out. */
typedef struct db_fit_mates {
    size_t pairs; /**< measurements, less one for each reflection that has any */
    double
        error; /**< 0: the mates show none, have unrelated intensities, or are fewer than ten pairs */
    double gain; /**< in log likelihood of the mates by the likeliest error; NAN: too few pairs */
    size_t strong_pairs; /**< neighbours in the list of mates, of which one is above 5 sigma */
    /** robust scatter of these, in sigmas by noise and in sigmas as given; NAN: none */
    double noise_scatter, scatter;
} db_fit_mates;

enum { DB_FIT_WARNING_SIZE = 320 };

enum { DB_FIT_REASON_SIZE = 512 };

/** Result of a shot. */
typedef struct db_fit_result {
    const char *name; /**< the source's; NULL: only rank 0 and another process know it */
    int used;         /**< 0: excluded, for `reason` */
    /** of a series of several crystals: number of the one that it shows, from 1; else 0 */
    size_t crystal;
    /** DB_OK converged; DB_NOT_CONVERGED; DB_ERROR_CANCELLED: the best model so far */
    db_status status;
    char reason[DB_FIT_REASON_SIZE]; /**< reason for its end, or why it may not be used */
    db_fit_verdict verdict; /**< on the refined model; a model that fails is DB_NOT_CONVERGED */
    db_fit_estimates estimates;
    /** refined; owned; empty except for the orientation if another
     * process has it, or the shot was excluded (oversample 0) */
    db_experiment experiment;
    /** shot of a list: rotation, row by row, before its refined misset */
    double reference[9];
    db_fit_statistics before, after; /**< same data, starting and refined model */
    int evaluations;
    double seconds; /**< all */
    /** time of the stages, without the search for
     * strong pixels, statistics and errors */
    double refining_seconds;
    db_fit_history *history;
    size_t history_count;
    double *history_values; /**< memory of history[].value */
    db_fit_shoebox *shoeboxes;
    size_t shoebox_count;
    int shoebox_half_width; /**< pixels; from the settings, or chosen by the program */
    db_fit_start *starts;   /**< the best first; NULL if there was one */
    size_t start_count;
    db_fit_trial *trials; /**< of stages with a condition; NULL: none */
    size_t trial_count;
    /** of the shoeboxes; the limit lies 5 robust standard deviations above the median */
    double sigma_z_median, sigma_z_limit;
    /** targets huber and student: pixels in use more than 5 standard deviations off the model; the
     * first of them, least trusted first */
    size_t distrusted_count, distrusted_listed;
    db_fit_pixel *distrusted;
    db_fit_shell *shells; /**< from low to high resolution */
    size_t shell_count;
    db_fit_region *regions;
    size_t region_count;
    char (*warnings)[DB_FIT_WARNING_SIZE]; /**< points to check before using the result */
    const char **advice;                   /**< advice for each warning */
    size_t warning_count;
    /** whole image of the refined model (counts), full detector; NULL if not rendered */
    float *model_image;
    int fast_pixels, slow_pixels;
    /** background in model_image: the local background, or planes (known) */
    float *background_image;
    /** known: factor of all spots of model_image, beside that of the experiment; free: 1 */
    double image_scale;
    db_fit_reflection *reflections; /**< free: of all predicted reflections, by h, k, l */
    size_t reflection_count;
    /** if edges of the cell are refined and the distance is held: change of the
     * distance (mm) for which the data ask, and its error; NAN: not tested.
     * distance_gain: gain in log likelihood of the spots with the changed distance */
    double distance_step, distance_error, distance_gain;
    /** all spots of the image in the resolution range; those at no
     * predicted reflection; if they are many, the result of a search
     * for another lattice of this cell among them (indexed 0: none), or among those that the start
     * left, if the model leaves few and is not to be used */
    size_t all_spots, left_spots;
    db_fit_orientation other_lattice;
    /** pixels found hot that count, since they are at reflections of the starting model, or of
     * the best of several starts: their numbers in the image; owned */
    size_t *spot_pixels;
    size_t spot_pixel_count;
    db_fit_mates mates; /**< free */
} db_fit_result;

#ifdef __cplusplus
}
#endif
#endif
