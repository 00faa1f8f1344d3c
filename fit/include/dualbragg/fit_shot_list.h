/** @file
 * Lists of shots, each with a configuration of its own. */
#ifndef DUALBRAGG_FIT_SHOT_LIST_H
#define DUALBRAGG_FIT_SHOT_LIST_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The shots that a configuration lists (shots.list): each with a configuration of its own, that of
 * all with what the list says of it. */
typedef struct db_fit_shot_list db_fit_shot_list;

/** Reads the list of shots that a configuration names. overrides: those with which the
 * configuration was read; they hold for every shot. The configuration is copied. Errors name the
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

/** Looks for the lattices of a configuration's image, as many as its find_orientation says, and lists
 * each as a shot. The configuration of the list has no image then, and shares between lattices what
 * is not said to be local and is not a crystal's own: cell, beam and detector, but not orientation,
 * size, spreads and scale.
 *
 * @param context receives the message of a failure
 * @param config that names the image; copied
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param list receives the list; to be destroyed by the caller
 * @return DB_OK; DB_ERROR_INPUT if there is no lattice; other errors */
DB_API db_status db_fit_shot_list_find(db_context *context, const db_fit_config *config,
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

/** The configuration of all shots, whose settings db_fit_run takes: with the stages that are usual where
 * it names none, with the amplitudes of intensities.reference, which belong to the list, and with ties
 * as its symmetry asks, which depends on the cell of the first shot that can be read: angles that are
 * fixed are no longer refined, equal edges follow each other. If none can be read nothing is tied.
 *
 * @param context receives the message of a failure
 * @param list the shots
 * @param config overwritten; to be cleared by the caller, before the list
 * @return DB_OK or an error */
DB_API db_status db_fit_shot_list_complete(db_context *context, db_fit_shot_list *list,
                                           db_fit_config *config);

#ifdef __cplusplus
}
#endif
#endif
