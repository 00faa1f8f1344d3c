/** @file
 * Files that are written whole or not at all. */
#ifndef DUALBRAGG_EXPERT_OUTPUT_FILES_H
#define DUALBRAGG_EXPERT_OUTPUT_FILES_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Removes the temporary files of all unfinished writers, of this and other threads; their targets
 * are then not written. For handlers of signals that end the program: async-signal-safe. The
 * library installs no handlers. */
DB_API void db_remove_unfinished_files(void);

#ifdef __cplusplus
}
#endif
#endif
