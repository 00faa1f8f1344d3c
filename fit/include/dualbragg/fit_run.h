/** @file
 * Refinement of a model against one image. */
#ifndef DUALBRAGG_FIT_RUN_H
#define DUALBRAGG_FIT_RUN_H

#include <dualbragg/fit_result.h>
#include <dualbragg/fit_settings.h>
#include <dualbragg/measured_image.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
