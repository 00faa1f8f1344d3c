/** @file
 * Results of a refinement as files. All are written atomically. */
#ifndef DUALBRAGG_FIT_OUTPUTS_H
#define DUALBRAGG_FIT_OUTPUTS_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Writes all results of one image or many shots as JSON (docs/reference/json.md).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_json(db_context *context, const char *path,
                                   const db_fit_config *config, const db_fit_shots_result *result);

/** Writes an HTML page of a result, as one file.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param image measured image; NULL: of many shots, whose page has none
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_html(db_context *context, const char *path,
                                   const db_fit_config *config, const db_measured_image *image,
                                   const db_fit_shots_result *result);

/** Writes the refined model as a configuration that db_fit_config_read reads as a starting model.
 * A model from an experiment list names a list with .expt in place
 * of .yaml, which the caller writes beside it (db_write_expt).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_yaml(db_context *context, const char *path,
                                   const db_fit_config *config, const db_fit_result *result);

#ifdef __cplusplus
}
#endif
#endif
