/** @file
 * Refinement of a list of shots, one or many: where they come from, who works on them, and what is found. */
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
    char configuration[DB_FIT_DIGEST_SIZE]; /**< of all that is said of the shot */
    char files[DB_FIT_DIGEST_SIZE];         /**< of other files that only this shot names */
} db_fit_shot_identity;

/** Where shots come from. Functions are called from several threads, each with a context of its
 * own. */
typedef struct db_fit_shot_source {
    size_t count;
    void *user;
    /** The image of a shot, to be let go by the caller. start, unless NULL: receives its
     * starting model, to be cleared by the caller. settings, unless NULL: those of all shots, into
     * which its own bounds and gain are to be put. A failure excludes the shot. */
    db_status (*load)(void *user, db_context *context, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings);
    /** What people call it; valid as long as the source. */
    const char *(*name)(void *user, size_t shot);
    /** What the shot is; NULL: not known. */
    db_status (*identify)(void *user, db_context *context, size_t shot,
                          db_fit_shot_identity *identity);
    /** How all shots are modelled, for a checkpoint to be compared with; NULL: not known, but for
     * the settings. */
    const db_fit_config *configuration;
    /** Number of the first shot that has the same image: they are lattices of it, whose light adds
     * up. NULL: each shot has an image of its own. */
    size_t (*image)(void *user, size_t shot);
    /** Lets go of an image that load has filled; NULL: it is cleared. */
    void (*release)(void *user, db_measured_image *image);
    /** 1: the result has everything that is found of a shot, as db_fit_result says, which takes memory;
     * each is refined by itself, and one that cannot be fails the run. */
    int in_full;
} db_fit_shot_source;

/** An image in memory, and the model to start from. */
typedef struct db_fit_still {
    const db_experiment *start;
    const db_measured_image *image;
    const char *name; /**< what people call it; NULL: the image */
} db_fit_still;

/** A list of one shot, of which all is told.
 *
 * @param still borrowed, with what it points to
 * @return the source; valid as long as the still */
DB_API db_fit_shot_source db_fit_still_source(const db_fit_still *still);

/** Processes that refine together. Each has all shots in its source and works on some. Functions
 * are called by all of them in the same order, and return 0, or something else if the team is
 * broken. */
typedef struct db_fit_team {
    int rank, size;
    void *user;
    /** Everybody gets what rank 0 has. */
    int (*broadcast)(void *user, void *data, size_t bytes);
    /** Bytes to another process, and from it, which calls the other function. */
    int (*send)(void *user, int to, const void *data, size_t bytes);
    int (*receive)(void *user, int from, void *data, size_t bytes);
    /** Adds to a counter of the team and tells what it was before. Unlike the others it is called by
     * one process at any time, by one of its threads. NULL: there is none; then shots are shared
     * out equally, instead of when a process has done one. */
    int (*claim)(void *user, uint64_t add, uint64_t *before);
} db_fit_team;

/** What has happened. */
typedef enum db_fit_shots_event_kind {
    DB_SHOTS_DONE, /**< some shots have been refined by themselves, or read for a joint stage */
    DB_SHOTS_EVALUATED, /**< a stage of all shots, or of one told in full, has evaluated its target */
    DB_SHOTS_EXCLUDED, /**< a shot has been excluded */
    DB_SHOTS_RESUMED,  /**< the run goes on from the checkpoint: some shots are done */
    DB_SHOTS_WORKING   /**< one more shot of a pass over them is done; told by one thread */
} db_fit_shots_event_kind;

/** Something that has happened in a refinement of many shots. */
typedef struct db_fit_shots_event {
    db_fit_shots_event_kind kind;
    int stage;          /**< index into the stages */
    size_t done, count; /**< DONE, RESUMED, WORKING: shots so far, and in all */
    size_t used;        /**< DONE: of them, not excluded */
    int refined;        /**< DONE: 1: by themselves; 0: only read */
    const char *what;   /**< WORKING: what the pass does: "reading shots", "errors" ... */
    const db_fit_history *entry;
    const char *shot;   /**< EXCLUDED: its name */
    const char *reason; /**< EXCLUDED: why */
} db_fit_shots_event;

/** Options of a refinement of many shots. */
typedef struct db_fit_shots_options {
    const db_fit_team *team; /**< NULL: this process alone */
    /** file that keeps the state, with files beside it that have its name, a number and the number of
     * a process; left for the caller to remove when the results are safe
     * (db_fit_checkpoint_remove); NULL: none */
    const char *checkpoint;
    /** 1: goes on from that file, if there is one, to the same result; one of another refinement is
     * refused */
    int resume;
    /** folder for the shots' pixels (a nameless file per process); NULL: the working directory */
    const char *scratch;
    /** outliers: shots with a chi2 per degree of freedom this many robust standard deviations (of its
     * logarithm) above the median are excluded between joint stages; 0: none */
    double outlier_sigma;
    void (*progress)(void *user, const db_fit_shots_event *event); /**< rank 0 only; may be NULL */
    /** Asked often, by all threads of each process: 1 cancels the run, which then has the best
     * models so far as its result. May be NULL. */
    int (*cancelled)(void *user);
    void *user;
    /** 1: shots are frames of one turning crystal in the order of time; with free intensities parts
     * of a reflection on neighbouring frames have one intensity, a scale is relative to that of the
     * first frame, and the crystal's orientation and the scale, if they are shared, may vary along the
     * series */
    int series;
    double knots; /**< these are linear between knots this many frames apart; 0: constant */
    /** An array of tasks: number of this task, from 1, and of all; 0: no array. Each task runs the own
     * stages of its shots, and leaves them in its checkpoint, which is needed. */
    int array_task, array_tasks;
    const char *const *merge; /**< checkpoints of all tasks, in their order, to go on from */
    size_t merge_count;       /**< 0: none */
} db_fit_shots_options;
#define DB_FIT_SHOTS_OPTIONS_INIT                                                                  \
    { .outlier_sigma = 8 }

/** What a refinement of a list of shots has found. */
typedef struct db_fit_shots_result {
    /** DB_OK: converged; DB_NOT_CONVERGED; DB_ERROR_CANCELLED: the best models so far, without
     * errors and statistics of joint stages */
    db_status status;
    char reason[DB_FIT_REASON_SIZE];
    int in_full;                    /**< 1: everything is told of the shot */
    db_fit_estimates estimates;     /**< of local parameters: only names and units */
    size_t pixels, shoeboxes, used; /**< used: shots not excluded */
    double chi2_reduced[2];         /**< of the starting and the refined models, all shots in use */
    db_fit_history *history;        /**< joint evaluations; values of local parameters are NAN */
    double *history_values;         /**< of its entries */
    size_t history_count;
    size_t shot_evaluations; /**< renderings of single shots, by this process */
    double seconds;
    size_t shot_count;
    /** Each shot. Of one in full everything; of others name, used, reason, verdict.usable, estimates (errors
     * by kind of shared parameters alone), experiment (without amplitudes), and before and after; what these
     * have of residuals and strong pixels is NAN. */
    db_fit_result *shot;
    db_fit_estimate *memory; /**< owned: the estimates of shots that are not in full */
    /** intensities that all shots share (db_fit_settings.joint), for the functions that write them;
     * NULL: none; owned */
    struct db_joint_intensities *intensities;
} db_fit_shots_result;

/** Refines all shots. settings: as for one; which parameters are shared is said by
 * db_fit_parameter.shared. Stages in which no shared parameter is active refine each shot by
 * itself; the last one must be joint if any is. Shots that cannot be read or refined are excluded,
 * with the reason; DB_ERROR_INPUT if fewer than two are left of several. The result does not depend
 * on the number of threads, and that of a team only as far as its processes' arithmetic differs. While
 * several starts of a shot in full are tried the context's progress is told how many are done, and may
 * cancel, too.
 *
 * @param context receives the message of a failure
 * @param source the shots; used by several threads at once
 * @param settings what is refined and how; not changed
 * @param options NULL: defaults
 * @param result receives it; to be destroyed by the caller
 * @return DB_OK; DB_NOT_CONVERGED or DB_ERROR_CANCELLED with a result; else an error without one */
DB_API db_status db_fit_run(db_context *context, const db_fit_shot_source *source,
                            const db_fit_settings *settings, const db_fit_shots_options *options,
                            db_fit_shots_result **result);

/** Removes a checkpoint with all files that belong to it.
 *
 * @param path see db_fit_shots_options.checkpoint */
DB_API void db_fit_checkpoint_remove(const char *path);

/** Frees a result and sets the pointer to NULL. NULL and pointer to NULL are allowed.
 *
 * @param result to destroy */
DB_API void db_fit_shots_result_destroy(db_fit_shots_result **result);

#ifdef __cplusplus
}
#endif
#endif
