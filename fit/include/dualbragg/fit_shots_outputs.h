/** @file
 * Results of many shots as files. All are written atomically. */
#ifndef DUALBRAGG_FIT_SHOTS_OUTPUTS_H
#define DUALBRAGG_FIT_SHOTS_OUTPUTS_H

#include <dualbragg/fit_shot_list.h>
#include <dualbragg/fit_run.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes the refined model of a shot, if the result has it, as a configuration for it alone
 * (FOLDER/NAME.yaml, read by db_fit_config_read) and as an experiment list (FOLDER/NAME.expt).
 *
 * @param context receives the message of a failure
 * @param folder where the files go; it exists
 * @param list the shots
 * @param result has the model
 * @param shot its number, from 0
 * @return DB_OK or an error */
DB_API db_status db_fit_shots_write_model(db_context *context, const char *folder,
                                          const db_fit_shot_list *list,
                                          const db_fit_shots_result *result, size_t shot);
/** Writes the files of db_fit_write_spots, _background, _intensities and _table for a shot:
 * FOLDER/NAME_model.bin, NAME_background.bin, NAME.hkl and NAME.refl. Intensities are free.
 * If several lattices share an image, the background contains the light of the others.
 *
 * @param context receives the message of a failure
 * @param folder where the files go; it exists
 * @param list the shots, from which the image is read again
 * @param result has the models
 * @param shot its number, from 0
 * @return DB_OK or an error */
DB_API db_status db_fit_shots_write_images(db_context *context, const char *folder,
                                           db_fit_shot_list *list,
                                           const db_fit_shots_result *result, size_t shot);

/** Writes a list of the configurations that db_fit_shots_write_model has written, for shots.list.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param folder where the models are
 * @param result of all shots
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_shots_write_list(db_context *context, const char *path, const char *folder,
                                         const db_fit_shots_result *result);

/** Writes the experiment lists of all models as one list.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param folder where the models are
 * @param result of all shots
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_shots_write_expt(db_context *context, const char *path, const char *folder,
                                         const db_fit_shots_result *result);
/** Writes the configuration of all shots with the refined list, and refined curves of f' and f'', which it names, beside it
 * (NAME_curve1.tsv ...).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param list name of the refined list
 * @param config of all shots
 * @param result of all shots
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_shots_write_yaml(db_context *context, const char *path, const char *list,
                                         const db_fit_config *config,
                                         const db_fit_shots_result *result);

#ifdef __cplusplus
}
#endif
#endif
