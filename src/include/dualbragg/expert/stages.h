/** @file
 * Stages of a context's work, for profiles and progress. */
#ifndef DUALBRAGG_EXPERT_STAGES_H
#define DUALBRAGG_EXPERT_STAGES_H

#include <dualbragg/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A stage of the library's work begins or ends. Stages nest; a stage belongs to one thread. */
typedef struct db_stage {
    const char *name; /**< static storage; see docs/howto/profile.md for the names */
    int begins;       /**< 1: it begins; 0: the stage that this thread began last ends */
    /** 0: the thread that called the library; below the number of the context's threads */
    int thread;
    double pixels;  /**< at the end of stages that render: how many were rendered, else 0 */
    double samples; /**< number of samples: sub-pixel x layer x source x phi step x domain */
} db_stage;

/** Called by each thread for its own stages, hence by several at once. */
typedef void (*db_stage_function)(void *user, const db_stage *stage);

/** Sets the function that is called at stages; NULL (default): none, which
 * costs one test per tile. Must not be called from within that function.
 *
 * @param context to change
 * @param function called by several threads at once; NULL: none
 * @param user handed to the function */
DB_API void db_context_set_stages(db_context *context, db_stage_function function, void *user);

#ifdef __cplusplus
}
#endif
#endif
