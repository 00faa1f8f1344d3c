/** @file
 * Lists of shots, each with its own configuration. */
#ifndef DUALBRAGG_FIT_SHOT_LIST_H
#define DUALBRAGG_FIT_SHOT_LIST_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shots of a configuration's list (shots.list). Each has its
 * own configuration: the common one with the keys of the list. */
typedef struct db_fit_shot_list db_fit_shot_list;

/** Reads the list of shots that a configuration names. overrides: the overrides of the
 * configuration; they hold for every shot. The configuration is copied. Errors name the
 * list and the line.
 *
 * @param context receives the message of a failure
 * @param config that names the list; copied
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param list receives the list; to be destroyed by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_fit_shot_list_read(db_context *context, const db_fit_config *config,
                                       const char *const *overrides, size_t override_count,
                                       db_fit_shot_list **list);

/** Frees a list and sets the pointer to NULL. NULL and pointer to NULL are allowed.
 *
 * @param list to destroy */
DB_API void db_fit_shot_list_destroy(db_fit_shot_list **list);

/** The list as a source of shots, which borrows it. Reflection lists of shots belong to it.
 *
 * @param list borrowed
 * @return the source; valid as long as the list */
DB_API db_fit_shot_source db_fit_shot_list_source(db_fit_shot_list *list);

#ifdef __cplusplus
}
#endif
#endif
