/** @file
 * Refinement of a list of shots, one or many: sources of shots, processes, and results. */
#ifndef DUALBRAGG_FIT_RUN_H
#define DUALBRAGG_FIT_RUN_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_result.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Digests that identify a shot, so that an interrupted run resumes with the same shots. */
enum { DB_FIT_DIGEST_SIZE = 28 };
typedef struct db_fit_shot_identity {
    char image[DB_FIT_DIGEST_SIZE];         /**< of the image's file */
    char configuration[DB_FIT_DIGEST_SIZE]; /**< of all settings of the shot */
    char files[DB_FIT_DIGEST_SIZE];         /**< of other files that only this shot names */
} db_fit_shot_identity;

/** What is set to take a sweep of a series. */
typedef enum db_fit_setting {
    DB_FIT_SETTING_CRYSTAL, /**< the circles that carry the crystal */
    DB_FIT_SETTING_SPINDLE, /**< the axis about which it turns */
    DB_FIT_SETTING_DETECTOR,
    /** the orientation, which was found without the circles: its indices may be other, equivalent ones */
    DB_FIT_SETTING_INDEXING,
    DB_FIT_SETTINGS /**< their number */
} db_fit_setting;

/** A source of shots. Functions are called from
 * several threads, each with its own context. */
typedef struct db_fit_shot_source {
    size_t count;
    void *user;
    /** Loads the image of a shot, which the caller releases. start, unless NULL: receives
     * its starting model, which the caller clears. settings, unless NULL: settings of all
     * shots, which get the shot's bounds and gain. A failure excludes the shot. */
    db_status (*load)(void *user, db_context *context, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings);
    /** Name of a shot; valid as long as the source. */
    const char *(*name)(void *user, size_t shot);
    /** Digests of a shot; NULL: not known. */
    db_status (*identify)(void *user, db_context *context, size_t shot,
                          db_fit_shot_identity *identity);
    /** Configuration of all shots, which a checkpoint is
     * compared with; NULL: only the settings are known. */
    const db_fit_config *configuration;
    /** Number of the first shot with this image: such shots are lattices of
     * one image, whose light adds up. NULL: each shot has its own image. */
    size_t (*image)(void *user, size_t shot);
    /** Releases an image of load; NULL: it is cleared. */
    void (*release)(void *user, db_measured_image *image);
    /** 1: the result has all members of db_fit_result for each shot, which takes memory.
     * Shots are refined one by one, and a shot that cannot be refined fails the run. */
    int in_full;
    /** Number of the setting with which a frame of a series was taken, from 0 (see db_fit_parameter.shared).
     * NULL: there is one of each. */
    size_t (*setting)(void *user, size_t shot, db_fit_setting of);
} db_fit_shot_source;

/** An image in memory, and the model to start from. */
typedef struct db_fit_still {
    const db_experiment *start;
    const db_measured_image *image;
    const char *name; /**< its name; NULL: the image */
} db_fit_still;

/** A list of one shot, with results in full.
 *
 * @param still borrowed, with what it points to
 * @return the source; valid as long as the still */
DB_API db_fit_shot_source db_fit_still_source(const db_fit_still *still);

/** Processes that refine together. Each has all shots in its source
 * and works on some. All processes call the functions in one order.
 * Functions return 0, or another value if the team is broken. */
typedef struct db_fit_team {
    int rank, size;
    void *user;
    /** All processes get the bytes of rank 0. */
    int (*broadcast)(void *user, void *data, size_t bytes);
    /** Bytes to another process, and from it, which calls the other function. */
    int (*send)(void *user, int to, const void *data, size_t bytes);
    int (*receive)(void *user, int from, void *data, size_t bytes);
    /** Adds to a counter of the team and returns its former value. Unlike the other functions,
     * a single process may call it at any time, from one of its threads. NULL: none; then each process
     * gets an equal part of the shots, instead of the next shots when it is free. */
    int (*claim)(void *user, uint64_t add, uint64_t *before);
} db_fit_team;

/** Kinds of events. */
typedef enum db_fit_shots_event_kind {
    DB_SHOTS_DONE,      /**< some shots have been refined one by one, or read for a joint stage */
    DB_SHOTS_EVALUATED, /**< a stage of all shots, or of a shot in full, has evaluated its target */
    DB_SHOTS_EXCLUDED,  /**< a shot has been excluded */
    DB_SHOTS_RESUMED,   /**< the run continues from the checkpoint: some shots are done */
    DB_SHOTS_WORKING    /**< one more shot of a pass is done; called by one thread */
} db_fit_shots_event_kind;

/** An event in a refinement of many shots. */
typedef struct db_fit_shots_event {
    db_fit_shots_event_kind kind;
    int stage;          /**< index into the stages */
    size_t done, count; /**< DONE, RESUMED, WORKING: shots so far, and in all */
    size_t used;        /**< DONE: shots that are not excluded */
    int refined;        /**< DONE: 1: refined one by one; 0: only read */
    const char *what;   /**< WORKING: name of the pass: "reading shots", "errors" ... */
    const db_fit_history *entry;
    const char *shot;   /**< EXCLUDED: its name */
    const char *reason; /**< EXCLUDED: why */
} db_fit_shots_event;

/** Options of a refinement of many shots. */
typedef struct db_fit_shots_options {
    const db_fit_team *team; /**< NULL: this process alone */
    /** file that keeps the state, with files beside it that have its name, a number and the number of
     * a process; left for the caller to remove when the results are safe
     * (db_fit_checkpoint_remove); a file that is no checkpoint is refused; NULL: none */
    const char *checkpoint;
    /** 1: continues from that file, if it exists, to the result of an
     * uninterrupted run; a file of another refinement is refused */
    int resume;
    /** folder for the shots' pixels (a nameless file per process); NULL: the working directory */
    const char *scratch;
    /** outliers: shots with a chi2 per degree of freedom this many robust standard deviations (of its
     * logarithm) above the median are excluded between joint stages; 0: none */
    double outlier_sigma;
    void (*progress)(void *user, const db_fit_shots_event *event); /**< rank 0 only; may be NULL */
    /** Called often, by all threads of each process: 1 cancels the run,
     * whose result then has the best models so far. May be NULL. */
    int (*cancelled)(void *user);
    void *user;
    /** 1: shots are frames of one turning crystal in the order of time;
     * with free intensities the parts of a reflection on consecutive
     * frames have one intensity, scales are relative to the first frame,
     * and shared orientation and scale may vary along the series */
    int series;
    double
        knots; /**< frames between knots, between which shared orientation and scale are linear; 0: constant */
    /** An array of tasks: number of this task, from 1, and number of tasks; 0: no array. Each task
     * runs the single stages of its shots, and saves them in its checkpoint, which is required. */
    int array_task, array_tasks;
    const char *const *merge; /**< checkpoints of all tasks, in their order, to continue from */
    size_t merge_count;       /**< 0: none */
} db_fit_shots_options;
#define DB_FIT_SHOTS_OPTIONS_INIT                                                                  \
    { .outlier_sigma = 8 }

/** One passage of a reflection through the Ewald sphere, measured on all frames of a rotation series that show it. */
typedef struct db_fit_passage {
    int hkl[3];
    size_t first, last; /**< shots that show parts of it, from 0 */
    double recorded;    /**< part of the reflection that the frames show by the model, 0 to 1 */
    /** F^2: of the model's spots, times the scales of the frames; negative if counts are below the background */
    double square, square_sigma;
    double light, light_sigma; /**< counts above the background in its boxes, all frames together */
    double model;              /**< counts of the model's spots there, of the sign of F^2 */
    double photons;            /**< of the model's spots there for F^2 = 1 */
    double chi2;               /**< of its pixels */
    size_t pixels,
        strong;   /**< pixels in use, and how many of them stand out of their surroundings */
    size_t panel; /**< panel of the reflection */
    double position
        [3]; /**< of the model's light: pixels of the panel (fast, slow), shots from 0 (middle of the
                             first: 0.5) */
    double observed[3]; /**< centroid of its strong pixels, in the same form; NAN: there are none */
    double observed_variance
        [3];           /**< by the noise of their counts; along the shots also by their width */
    double background; /**< counts per pixel */
    int box
        [4]; /**< all its boxes: fast and slow pixels from, fast and slow pixels to, which are outside */
} db_fit_passage;

/** Result of a refinement of a list of shots. */
typedef struct db_fit_shots_result {
    /** DB_OK: converged; DB_NOT_CONVERGED; DB_ERROR_CANCELLED: the best models so far, without
     * errors and statistics of joint stages */
    db_status status;
    char reason[DB_FIT_REASON_SIZE];
    int in_full;                    /**< 1: results of shots are in full */
    db_fit_estimates estimates;     /**< of local parameters: only names and units */
    size_t pixels, shoeboxes, used; /**< used: shots not excluded */
    double chi2_reduced[2];         /**< of the starting and the refined models, all shots in use */
    db_fit_history *history;        /**< joint evaluations; values of local parameters are NAN */
    double *history_values;         /**< of its entries */
    size_t history_count;
    size_t shot_evaluations; /**< renderings of single shots, by this process */
    double seconds;
    size_t shot_count;
    /** Each shot. In full: all members. Else name, used, reason, verdict.usable,
     * estimates (errors by kind only of shared parameters), experiment (without
     * amplitudes), and before and after, with NAN for residuals and strong pixels. In other processes than
     * the first: all members only of shots that they work on. */
    db_fit_result *shot;
    db_fit_estimate *memory; /**< owned: the estimates of shots that are not in full */
    /** intensities that all shots share (db_fit_settings.joint), for the functions that write them;
     * NULL: none; owned */
    struct db_joint_intensities *intensities;
    /** of a rotation series with free intensities, in the order of h, k, l; NULL: no such series; owned */
    db_fit_passage *passages;
    size_t passage_count;
    /** passages of equivalent reflections, of all sweeps, on one scale and merged; NULL: none, or in another
     * process than the first; owned */
    struct db_joint_intensities *merged;
    /** of a series: parts of reflections on frames, with strong pixels, and the fraction whose
     * brightness in the model is right within a factor of 1.5; NAN: fewer than 20, or no series */
    size_t light_spots;
    double light_part;
    int intensities_usable; /**< 0: light_part is below 2/3 */
    /** points to check before using the result, and advice for each; in full: those of shots */
    char (*warnings)[DB_FIT_WARNING_SIZE];
    const char **advice;
    size_t warning_count;
    db_fit_curves curves; /**< settings of the curves, with the priors that the shots have chosen */
    /** as of a verdict (fit_verdict.h), by the spots of all shots together; in full, or in another process than the first: 0 */
    int centring;
    double centring_gain;
} db_fit_shots_result;

/** Refines all shots. settings: as for one shot; db_fit_parameter.shared selects shared
 * parameters. Stages without an active shared parameter refine each shot by itself; if a stage
 * is joint, the last one must be. Shots that cannot be read or refined are excluded, with the
 * reason; DB_ERROR_INPUT if fewer than two of several are left. The result does not depend on
 * the number of threads, and on the processes of a team only if their
 * arithmetic differs. While several starts of a shot in full are tried, the
 * context's progress gets the fraction of finished starts, and may cancel.
 *
 * @param context receives the message of a failure
 * @param source the shots; used by several threads at once
 * @param settings of the refinement; not changed
 * @param options NULL: defaults
 * @param result receives it; to be destroyed by the caller
 * @return DB_OK; DB_NOT_CONVERGED or DB_ERROR_CANCELLED with a result; else an error without one */
DB_API db_status db_fit_run(db_context *context, const db_fit_shot_source *source,
                            const db_fit_settings *settings, const db_fit_shots_options *options,
                            db_fit_shots_result **result);

/** Removes a checkpoint, if there is one, with all files that belong to it.
 *
 * @param context receives the message of a failure
 * @param path see db_fit_shots_options.checkpoint
 * @return DB_OK; DB_ERROR_USAGE if the file is no checkpoint, DB_ERROR_FILE if it cannot be removed; it then
 *     stays */
DB_API db_status db_fit_checkpoint_remove(db_context *context, const char *path);

/** Frees a result and sets the pointer to NULL. NULL and pointer to NULL are allowed.
 *
 * @param result to destroy */
DB_API void db_fit_shots_result_destroy(db_fit_shots_result **result);

#ifdef __cplusplus
}
#endif
#endif
