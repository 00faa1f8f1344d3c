/** @file
 * Results of a refinement as files, of one image and of many shots. All are written atomically. */
#ifndef DUALBRAGG_EXPERT_FIT_FILES_H
#define DUALBRAGG_EXPERT_FIT_FILES_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>
#include <dualbragg/fit_shots_outputs.h>
#include <stddef.h>

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

/** Renders the spots of a refined model on the whole detector, without background: each predicted
 * reflection with its own intensity (free), or all with the structure factors given (known).
 *
 * @param context receives the message of a failure
 * @param result model
 * @param image receives fast_pixels * slow_pixels counts
 * @return DB_OK or an error */
DB_API db_status db_fit_render_spots(db_context *context, const db_fit_result *result,
                                     float *image);

/** Writes db_fit_render_spots as 32-bit floats, as db_write_float_image does.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_spots(db_context *context, const char *path,
                                    const db_fit_result *result);

/** Writes the background of a result as 32-bit floats, as db_write_float_image does.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_fit_write_background(db_context *context, const char *path,
                                         const db_fit_result *result);

/** Writes free intensities as lines of text, which begin with h k l F.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result with intensities
 * @return DB_OK; DB_ERROR_USAGE without intensities; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_intensities(db_context *context, const char *path,
                                          const db_fit_result *result);

/** Writes free intensities as a reflection table of DIALS: as HDF5 if the configuration names a
 * reflection table of that form in its section data, else as MessagePack. The experiment has the
 * identifier that the configuration's experiment list gives it.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement; NULL: not known
 * @param result with intensities
 * @return DB_OK; DB_ERROR_USAGE without intensities; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_table(db_context *context, const char *path,
                                    const db_fit_config *config, const db_fit_result *result);

/** Writes measured and model image side by side, as PNG. DB_ERROR_UNSUPPORTED without libpng.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement
 * @param image measured image
 * @param result to write
 * @return DB_OK; DB_ERROR_UNSUPPORTED without libpng; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_write_png(db_context *context, const char *path,
                                  const db_fit_config *config, const db_measured_image *image,
                                  const db_fit_result *result);

/** Writes the joint intensities as a merged MTZ file: IMEAN, I(+), I(-), F, F(+), F(-), their
 * SIG..., multiplicities N, and intensities of the two halves of the shots. DB_ERROR_UNSUPPORTED in
 * builds without gemmi.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result with shared intensities (db_fit_settings.joint)
 * @return DB_OK; DB_ERROR_USAGE without such intensities; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is
 *     then left of the file */
DB_API db_status db_fit_shots_write_mtz(db_context *context, const char *path,
                                        const db_fit_shots_result *result);

/** Writes the joint intensities as lines h k l F sigma(F) I sigma(I) multiplicity and I of the two halves.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result with shared intensities
 * @return as db_fit_shots_write_mtz, but needs no library */
DB_API db_status db_fit_shots_write_hkl(db_context *context, const char *path,
                                        const db_fit_shots_result *result);

/** Writes the passages of a rotation series as text: one line for each reflection on consecutive frames.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result of a series with free intensities
 * @return DB_OK; DB_ERROR_USAGE without such intensities; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_fit_shots_write_passages(db_context *context, const char *path,
                                             const db_fit_shots_result *result);

/** Reads the models of a series' frames that other processes have refined; the writers of reflections need them.
 *
 * @param context receives the message of a failure
 * @param list experiment list of all (db_fit_shots_write_expt)
 * @param result of shots; shots in use without a model get the model of the list
 * @return DB_OK; an error of the list; DB_ERROR_MEMORY */
DB_API db_status db_fit_shots_take_models(db_context *context, const char *list,
                                          db_fit_shots_result *result);

/** Writes the passages of a rotation series as a reflection table of DIALS, a row for each, with places and
 * centroids (xyzcal, xyzobs) along the scan.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param list experiment list of all (db_fit_shots_write_expt), with the numbers of images
 * @param config of the refinement
 * @param result of a series with free intensities
 * @return DB_OK; DB_ERROR_USAGE without such intensities; an error of the list; as
 *     db_reflection_table_write */
DB_API db_status db_fit_shots_write_table(db_context *context, const char *path, const char *list,
                                          const db_fit_config *config,
                                          const db_fit_shots_result *result);

/** Writes the passages of a rotation series as an unmerged MTZ file whose batches are the frames: I (F^2) and SIGI, FRACTIONCALC
 * (part recorded), XDET, YDET (pixels), ROT (degree).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param config of the refinement; its symmetry, if it is a space group, becomes the file's
 * @param result of a series with free intensities
 * @return DB_OK; DB_ERROR_USAGE without such intensities; as db_mtz_write */
DB_API db_status db_fit_shots_write_passage_mtz(db_context *context, const char *path,
                                                const db_fit_config *config,
                                                const db_fit_shots_result *result);

/** Writes the intensities from each shot alone, with its model, as an unmerged MTZ file whose
 * batches are the shots: I, SIGI, FRACTIONCALC (partiality), SCALEUSED, FLAG (1: rejected).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param result with shared intensities
 * @return as db_fit_shots_write_mtz */
DB_API db_status db_fit_shots_write_unmerged(db_context *context, const char *path,
                                             const db_fit_shots_result *result);

/** Name of the files of db_fit_shots_write_model without ending: the number of the shot in the
 * list, and the image's name, in which '_' replaces characters with a meaning in lists.
 *
 * @param result of all shots
 * @param shot its number, from 0
 * @param name receives it */
DB_API void db_fit_shots_model_name(const db_fit_shots_result *result, size_t shot,
                                    char name[DB_FIT_PATH_SIZE]);

#ifdef __cplusplus
}
#endif
#endif
