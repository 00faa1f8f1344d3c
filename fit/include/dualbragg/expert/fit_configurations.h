/** @file
 * Configurations and settings of refinements in parts: copies, starting values, stages, and the shots of a list. */
#ifndef DUALBRAGG_EXPERT_FIT_CONFIGURATIONS_H
#define DUALBRAGG_EXPERT_FIT_CONFIGURATIONS_H

#include <dualbragg/fit_config.h>
#include <dualbragg/fit_run.h>
#include <dualbragg/fit_shot_list.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A copy with lists of its own. *copy is overwritten; its setup borrows the names of the original.
 *
 * @param context receives the message of a failure
 * @param config to copy
 * @param copy overwritten
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_config_copy(db_context *context, const db_fit_config *config,
                                    db_fit_config *copy);

/** All defaults: header geometry, free intensities, no parameters.
 *
 * @param config overwritten; what it owned is not freed */
DB_API void db_fit_config_init(db_fit_config *config);

/** Masks an image in memory as the configuration says: pixels outside the
 * trusted range, pixels of the mask file and of the list of hot pixels, and
 * pixels found hot. Gain and readout noise are measured if they were not given,
 * as for an image from a file. Masks of an experiment list are not used.
 *
 * @param context receives the message of a failure
 * @param config names the masks
 * @param image its counts (dark levels are subtracted, and then kept in `dark`), its mask and its
 *     noise are changed
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_mask_image(db_context *context, const db_fit_config *config,
                                          db_measured_image *image, db_notice_function notices,
                                          void *user);

/** db_fit_config_start for a given starting model: parameters, ties by
 * symmetry, bounds, stages, and the search for the orientation. Of the section
 * model of the configuration only symmetry and find_orientation are used.
 *
 * @param context receives the message of a failure
 * @param config completed
 * @param image that is to be refined against
 * @param start the model; changed as the configuration asks, also if the call fails
 * @param notices as for db_fit_config_start
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_start_at(db_context *context, db_fit_config *config,
                                        const db_measured_image *image, db_experiment *start,
                                        db_notice_function notices, void *user);

/** A copy with lists of its own. *copy is overwritten, and owns nothing after a failure. The list
 * of reflections (spots) stays borrowed.
 *
 * @param context receives the message of a failure
 * @param settings to copy
 * @param copy overwritten
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_settings_copy(db_context *context, const db_fit_settings *settings,
                                      db_fit_settings *copy);

/** The configuration of all shots, completed for db_fit_run: with the usual stages if it names none, with the
 * amplitudes of intensities.reference, which belong to the list, and with the ties of its symmetry (fixed
 * angles are not refined, equal edges follow each other). The ties depend on the cell of the first
 * readable shot; if no shot can be read, nothing is tied.
 *
 * @param context receives the message of a failure
 * @param list the shots
 * @param config overwritten; to be cleared by the caller, before the list
 * @return DB_OK or an error */
DB_API db_status db_fit_shot_list_complete(db_context *context, db_fit_shot_list *list,
                                           db_fit_config *config);

/** Takes a file that a refinement reads.
 *
 * @param user as given to the caller of this function
 * @param key that names the file, for messages: "model.expt", "shots.list", "the configuration"
 * @param file its name, as opened; of an image FILE#N without #N */
typedef void (*db_fit_input_function)(void *user, const char *key, const char *file);

/** Names a configuration's own file and all files that it names as inputs.
 *
 * @param config names the files
 * @param known files that this configuration has under the same key are left out; NULL: none are
 * @param each is called with each file
 * @param user is handed to it */
DB_API void db_fit_config_each_input(const db_fit_config *config, const db_fit_config *known,
                                     db_fit_input_function each, void *user);

/** Names all files that the refinement of a list reads: those of the configuration, and those of each shot. A file may
 * be named repeatedly; files of shots whose configuration cannot be read are not named.
 *
 * @param context receives the message of a failure
 * @param list the shots
 * @param each is called with each file
 * @param user is handed to it
 * @return DB_OK; DB_ERROR_MEMORY */
DB_API db_status db_fit_shot_list_inputs(db_context *context, const db_fit_shot_list *list,
                                         db_fit_input_function each, void *user);

/** Whether a configuration is refined as a list of shots: a list that it names, the lattices of its image, or its
 * image alone with joint intensities.
 *
 * @param config that was read
 * @return 1 if so */
DB_API int db_fit_config_has_many(const db_fit_config *config);

/** Looks for lattices on a configuration's image, up to the number in find_orientation, and lists each as
 * a shot. If this number is at most one, the image itself is the only shot. The configuration of the list
 * then has no image. Lattices share cell, beam and detector, unless an entry is local; orientation,
 * size, spreads and scale belong to each lattice.
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

#ifdef __cplusplus
}
#endif
#endif
