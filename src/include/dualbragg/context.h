/** @file
 * The context: error message, threads, instruction set, progress. One context per thread of
 * control. */
#ifndef DUALBRAGG_CONTEXT_H
#define DUALBRAGG_CONTEXT_H

#include <dualbragg/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct db_context db_context;

/** Called from time to time during long work with the finished fraction (0 to 1). A non-zero return
 * cancels the work, which then ends with DB_ERROR_CANCELLED. Always called from the thread that
 * started the work. */
typedef int (*db_progress_function)(void *user, double fraction);

/** Creates a context. *context is NULL on failure (out of memory).
 *
 * @param context receives it; to be destroyed by the caller
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_context_create(db_context **context);

/** Frees the context and sets the caller's pointer to NULL. NULL and pointer to NULL are allowed.
 *
 * @param context to destroy */
DB_API void db_context_destroy(db_context **context);

/** Message of the last failed call: names the input, the line or flag, what was expected and what
 * was found. Empty after success. Owned by the context, valid until the next call with it.
 *
 * @param context of the call; NULL: ""
 * @return the text; valid until the next call with this context */
DB_API const char *db_context_message(const db_context *context);

/** Threads used by plans executed with this context; 0 (default) means all available.
 *
 * @param context to change
 * @param threads their number; 0: all available
 * @return DB_OK; DB_ERROR_USAGE for a negative number */
DB_API db_status db_context_set_threads(db_context *context, int threads);

/** Threads in effect.
 *
 * @param context to ask
 * @return the number set by db_context_set_threads, or all available */
DB_API int db_context_threads(const db_context *context);

/** Sets the function that is called with the progress of long work; NULL (default): none.
 *
 * @param context to change
 * @param function called by the thread that called the library; NULL: none
 * @param user handed to the function */
DB_API void db_context_set_progress(db_context *context, db_progress_function function, void *user);

/** Called with a line about content of a file that is doubtful or not used, by
 * the thread that called the library. The line is valid during the call. */
typedef void (*db_notice_function)(void *user, const char *line);

/** Sets the function for such lines while files are
 * read; NULL (default): none. Each line comes once.
 *
 * @param context to change
 * @param function called by the thread that called the library; NULL: none
 * @param user handed to the function */
DB_API void db_context_set_notices(db_context *context, db_notice_function function, void *user);

#ifdef __cplusplus
}
#endif
#endif
