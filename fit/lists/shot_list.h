/* A list of shots as a source of shots. */
#ifndef DB_FIT_LISTS_SHOT_LIST_H
#define DB_FIT_LISTS_SHOT_LIST_H

#include "fit/lists/shot_entries.h"

/* Configuration of a shot, completed by its image. DB_ERROR_USAGE if the image has not been read. */
db_status db_shot_list_completed(db_context *context, const db_fit_shot_list *list, size_t shot,
                                 db_fit_config *config);

/* If the list names no symmetry, it gets the one that its shots' own configurations name. */
db_status db_shot_list_take_symmetry(db_context *context, db_fit_shot_list *list);

/* Ties the parameters of the configuration of all shots (db_fit_shot_list_complete). Fails with the last shot's
 * message if no shot can be read. */
db_status db_shot_list_tie(db_context *context, const db_fit_shot_list *list,
                           db_fit_config *config);

/* Shares parameters by default: of frames of one crystal, and of lattices of one image. */
void db_shot_list_share(const db_fit_shot_list *list, db_fit_settings *settings);

/* As db_fit_shots_model_name, for a shot whose image is `image`, one of `count`. */
void db_shots_model_name(const char *image, size_t shot, size_t count, char name[DB_FIT_PATH_SIZE]);

/* FOLDER/NAME with an ending, for a file of a shot. */
db_status db_shots_path(db_context *context, const char *folder, const db_fit_shots_result *result,
                        size_t shot, const char *ending, char path[DB_FIT_PATH_SIZE]);

#endif
