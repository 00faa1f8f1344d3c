/** @file
 * Configurations of refinements: settings, the starting model, and the files of both. */
#ifndef DUALBRAGG_FIT_CONFIG_H
#define DUALBRAGG_FIT_CONFIG_H

#include <dualbragg/fit_settings.h>
#include <dualbragg/measured_image.h>
#include <dualbragg/setup.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DB_FIT_PATH_SIZE = 1024 };

/** A fit configuration as read from YAML: settings, and the starting model as a db_setup with
 * additional members. File names in the file are relative to its folder; here they are relative
 * to the working directory. setup borrows the names kept here, so the struct must not be
 * copied while setup is in use. */
typedef struct db_fit_config {
    db_fit_settings settings; /**< bounds given as a range are open until db_fit_config_start */
    db_setup setup;
    char config_file[DB_FIT_PATH_SIZE]; /**< the file read; "" for defaults */
    char image_file[DB_FIT_PATH_SIZE];
    char spectrum_file[DB_FIT_PATH_SIZE]; /**< "": none */
    char output_prefix[DB_FIT_PATH_SIZE]; /**< outputs: prefix.yaml, .mat, .json, .html, .log */
    char matrix_file[DB_FIT_PATH_SIZE], hkl_file[DB_FIT_PATH_SIZE];
    /** amplitudes that joint intensities are compared with, and their column; "": none, open */
    char reference_file[DB_FIT_PATH_SIZE], reference_columns[DB_FIT_NAME_SIZE];
    char symmetry[DB_FIT_NAME_SIZE]; /**< crystal system, lattice or space group; "": none */
    int group_of_list; /**< 1: without a symmetry, the space group of the experiment list counts */
    char sites[DB_FIT_PATH_SIZE]; /**< db_setup.sites; "": none */
    char hkl_columns[DB_FIT_NAME_SIZE], hkl_space_group[DB_FIT_NAME_SIZE]; /**< "": open */
    char expt_file[DB_FIT_PATH_SIZE]; /**< experiment list that the model comes from; "" */
    char mask_file[DB_FIT_PATH_SIZE], hot_pixel_file[DB_FIT_PATH_SIZE];
    char reflection_file[DB_FIT_PATH_SIZE], spot_file[DB_FIT_PATH_SIZE],
        box_file[DB_FIT_PATH_SIZE]; /**< see db_fit_spots_read */
    double trusted[2];              /**< least and largest trusted count; NAN: not given */
    /** hot pixels: single pixels this many standard deviations
     * above their surroundings are left out; 0: none */
    double hot_sigma;
    char shot_list[DB_FIT_PATH_SIZE]; /**< many shots instead of one image (fit_shots.h); "": one */
    double shot_outlier_sigma;        /**< see db_fit_shots_options.outlier_sigma */
    /** 1: the shots are frames of one crystal on a turning spindle, whose angles come from the
     * images' headers */
    int series;
    double series_knots;                /**< see db_fit_shots_options.knots */
    char command[2 * DB_FIT_PATH_SIZE]; /**< command line, for the record; "" */
    /** 1: wavelength, distance, pixels, beam centre come from the image header unless given */
    int header_geometry;
    /** replaces the setup's orientation (row-major rotation from the standard frame); first
     * component NAN: not given */
    double orientation[9];
    /** 1: the orientation is found from the image's spots, and the cell if none
     * is given; N > 1: up to N lattices are found (db_fit_shot_list_find) */
    int find_orientation;
    int automatic; /**< 1: the parameters are open; db_fit_config_start chooses them */
    int phi_given; /**< 1: the spindle angle was given */
    /** modules of a detector with one panel, for groups of
     * panels: pixels of a module along fast, slow, and of
     * the gaps between them; 0: by the detector's size */
    int modules[4];
    struct db_fit_found_cell
        *found_cell;      /**< owned: found for a model without a cell; NULL: the cell was given */
    double energy;        /**< of photons (eV), instead of setup.wavelength; NAN: not given */
    size_t series_frames; /**< of a series: number of its frames; db_fit_shot_list_config sets it */
    size_t listed;      /**< shots in its list; 0: it is of none; db_fit_shot_list_config sets it */
    double reserved[8]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_fit_config;

/** Frees the memory of a configuration. Safe on a zeroed configuration.
 *
 * @param config to clear */
DB_API void db_fit_config_clear(db_fit_config *config);

/** A configuration for an image without a file:
 * defaults, open parameters, with overrides as below.
 *
 * @param context receives the message of a failure
 * @param image name of the measured image; "": none is named, or overrides name it or a list of shots
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param config replaced
 * @return as db_fit_config_read */
DB_API db_status db_fit_config_make(db_context *context, const char *image,
                                    const char *const *overrides, size_t override_count,
                                    db_fit_config *config);

/** Reads a YAML fit configuration. overrides: "key.path=value" strings applied after the file;
 * their file names are relative to the working directory. *config is initialized or all zeros
 * before; its memory is freed first. Clear it with db_fit_config_clear, also after a failure. Errors
 * name file, line, key, what was expected and the nearest known key, if one is near.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param overrides `override_count` texts "key.path=value"
 * @param override_count their number
 * @param config replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_USAGE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_fit_config_read(db_context *context, const char *path,
                                    const char *const *overrides, size_t override_count,
                                    db_fit_config *config);

/** Reads the configuration's image and masks pixels: outside the trusted range (of the configuration,
 * else of the experiment list's panels), in rectangles that the list masks, 0 in the mask file, in the
 * list of hot pixels (lines "fast slow [panel]"), and found hot. Notices have the number of each
 * kind.
 * DB_ERROR_INPUT if the list's panels do not match the image.
 *
 * @param context receives the message of a failure
 * @param config names the image and its masks
 * @param image overwritten; to be cleared by the caller
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_read_image(db_context *context, const db_fit_config *config,
                                          db_measured_image *image, db_notice_function notices,
                                          void *user);

/** Reads the list of reflections that the configuration names (spots->count is 0 if it names none).
 * From a reflection table it takes the reflections of the model's experiment. Clear it with
 * db_fit_spots_clear.
 *
 * @param context receives the message of a failure
 * @param config names the list
 * @param spots overwritten
 * @return DB_OK or an error */
DB_API db_status db_fit_config_read_spots(db_context *context, const db_fit_config *config,
                                          db_fit_spots *spots);

/** The starting model of a configuration for an image. Completes config->setup from the header
 * (header_geometry), turns ranges into bounds, adds default stages, takes the gain from the header
 * if it was not given, and refuses starting values outside their bounds and detectors of another
 * shape than the image. *start is overwritten; clear it with db_experiment_clear.
 *
 * @param context receives the message of a failure
 * @param config completed
 * @param image that is to be refined against
 * @param start overwritten
 * @param notices told each automatic choice or warning, as a line that is valid during the call;
 *     may be NULL
 * @param user handed to the function
 * @return DB_OK or an error */
DB_API db_status db_fit_config_start(db_context *context, db_fit_config *config,
                                     const db_measured_image *image, db_experiment *start,
                                     db_notice_function notices, void *user);

#ifdef __cplusplus
}
#endif
#endif
