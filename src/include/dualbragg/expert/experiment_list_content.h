/** @file
 * Contents of experiment lists of DIALS, and lists written like another list. */
#ifndef DUALBRAGG_EXPERT_EXPERIMENT_LIST_CONTENT_H
#define DUALBRAGG_EXPERT_EXPERIMENT_LIST_CONTENT_H

#include <dualbragg/experiment_list.h>
#include <dualbragg/measured_image.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Completes a list of one experiment that db_write_expt wrote, from the list `from` that the experiment came
 * from: identifier; names, masks, trusted ranges and groups of panels (groups stay in their places, panels
 * move in them); all entries of beam and crystal that are not refined and fit the cell; images, scan and
 * goniometer of a still. If the experiment showed another image, the written list gets only the entries of
 * instrument and crystal: panels, beam, crystal.
 *
 * @param context receives the message of a failure
 * @param path name of the list that was written; written again
 * @param from name of the list that the experiment came from, in the same frame
 * @param number of the experiment there, from 0
 * @param other_image 1: the experiment there shows another image than the list that was written
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list is then unchanged */
DB_API db_status db_expt_keep(db_context *context, const char *path, const char *from,
                              size_t number, int other_image);

/** Selection of an experiment of a list. */
typedef struct db_expt_selection {
    long number; /**< counted from 0; -1: open */
    /** an image of the experiment (only the last part of the path is
     * compared), which also selects its place in the scan; NULL: open */
    const char *image;
    /** number of an image of its scan, as the scan counts, before
     * any named image; 0: open, the first image if none is named */
    long frame;
} db_expt_selection;

/** Values of a list for one panel, besides its place. */
enum { DB_EXPT_MOST_LEVELS = 8 };
typedef struct db_expt_panel {
    char name[64];
    /** The groups of the list's hierarchy that hold it, from the whole detector (level 0) inwards:
     * number of each among those of its level, as they stand in the list. */
    int level_count, group[DB_EXPT_MOST_LEVELS];
    /** least and largest trusted value, as stored: with the pedestal; -INFINITY, INFINITY where not said */
    double trusted[2];
    double gain;       /**< counts per photon; 1 */
    double pedestal;   /**< counts without photons; 0 */
    size_t mask_count; /**< rectangles to leave out */
    int (*mask)[4];    /**< fast, slow of the first pixel, fast, slow behind the last one; owned */
} db_expt_panel;

/** Files with a value for each pixel, which the images of an experiment go with: a mask (0: pixels to
 * leave out), counts per photon, counts without photons, displacements (pixels). */
typedef enum db_expt_map {
    DB_EXPT_MASK,
    DB_EXPT_GAIN,
    DB_EXPT_PEDESTAL,
    DB_EXPT_DX,
    DB_EXPT_DY,
    DB_EXPT_MAP_COUNT
} db_expt_map;

/** Fraction of polarized light of a list that does not state it, as in dxtbx. */
#define DB_LISTED_POLARIZATION 0.999

/** Contents of a list that a db_experiment does not hold. */
typedef struct db_expt_content {
    long number;          /**< of the experiment taken, from 0 */
    char identifier[256]; /**< of the experiment, by which reflection tables name it; "" */
    /** first image of the experiment, if the
     * selected image is not one of its images; "" */
    char other_image[128];
    int has_crystal; /**< 0: cell and orientation are as they were */
    int varies;      /**< 1: the crystal varies along the scan; the values at the image are used */
    /** of the image (degree); osc_range negative: it turns backwards; 0: a still; NAN: not stated */
    double phi, osc_range;
    /** rotation (row-major) of the crystal by the circles of the goniometer that stand still, in the frame of the
     * experiment: with the turning axis at 0, the crystal stands as on a goniometer with all circles at 0, turned by
     * this. Identity: they are at 0, or the file does not place them, or the image does not turn */
    double circles[9];
    int polarization_unknown; /**< 1: not stated; the experiment's beam is unpolarized */
    char space_group[96];     /**< Hall symbol, after a space or "-", or number; "" */
    double mosaicity;         /**< full width (degree); NAN */
    double domain_size;       /**< angstrom; NAN */
    double sensor_thickness;  /**< um; 0: none, or not said */
    double attenuation_depth; /**< um; NAN: not said */
    db_sensor_material sensor_material;
    size_t panel_count;
    db_expt_panel *panel; /**< owned */
    /** parts of a file's arrays that are panels; owned; NULL: by the file itself */
    struct db_image_layout *layout;
    int has_frame; /**< 1: the experiment has a scan */
    long frame;    /**< number of the image in the scan */
    /** names of the files with a value for each pixel, by db_expt_map; NULL: the list names none; owned */
    char *map[DB_EXPT_MAP_COUNT];
} db_expt_content;

/** Writes an experiment in the form and the frame of the file that it came from. Other entries of that
 * file stay (image numbers, space group, masks, groups ...). For geometries of CrystFEL and
 * XPARM.XDS.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param source the file that it came from
 * @param selection which experiment of the source
 * @param experiment to write; as many panels as the source has, of the same sizes
 * @return DB_OK; DB_ERROR_USAGE; DB_ERROR_UNSUPPORTED; DB_ERROR_FILE, DB_ERROR_INPUT or
 *     DB_ERROR_MEMORY */
DB_API db_status db_write_expt_like(db_context *context, const char *path, const char *source,
                                    const db_expt_selection *selection,
                                    const db_experiment *experiment);

/** Reads one experiment of a DIALS experiment list (.expt, or experiments.json of dxtbx): beam,
 * panels, goniometer, crystal. They stay in the list's frame, in which the beam usually travels
 * along -z and the spindle is x. XPARM.XDS and GXPARM.XDS of XDS and geometries of CrystFEL
 * (.geom) are read as well, recognized by content, as lists of one experiment; they are turned into
 * such a frame.
 *
 * The experiment must have been initialized; its beam direction, polarization and wavelength (of
 * all sources: there is one afterwards), spindle, detector plate and panels are replaced, and cell
 * and orientation if the list has a crystal. A crystal of a scan is the one at phi = 0, with the
 * settings of the goniometer in it; the scan's range becomes one phi step. Models that
 * vary along a scan (A_at_scan_points, s0_at_scan_points, setting_rotation_at_scan_points)
 * are the mean of the two points of the image. The sensor stays as it
 * was. If several experiments fit the selection: DB_ERROR_INPUT, with their numbers.
 * DB_ERROR_UNSUPPORTED without jansson. *content is to be cleared in any case.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param selection which experiment of the list
 * @param experiment initialized; changed
 * @param content overwritten; to be cleared in any case
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     jansson */
DB_API db_status db_read_expt(db_context *context, const char *path,
                              const db_expt_selection *selection, db_experiment *experiment,
                              db_expt_content *content);

/** Reads an image like db_read_image, of a file in which the panels of an experiment are parts of
 * arrays; they lie one below the other then.
 *
 * @param context receives the message of a failure
 * @param path name of the file; FILE#N
 * @param content of the experiment, as db_read_expt gives it
 * @param image overwritten; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED for
 *     formats that are known but not read */
DB_API db_status db_read_listed_image(db_context *context, const char *path,
                                      const db_expt_content *content, db_measured_image *image);

/** The key of a list that names such a file: "mask", "gain" ...
 *
 * @param map kind of the values
 * @return a static text; "" for others */
DB_API const char *db_expt_map_name(db_expt_map map);

/** Reads the values of the pixels of an image that an experiment list names (content->map), one panel
 * below the other: pickled arrays of flex, one for each panel, as DIALS writes them (no code of theirs is
 * run), or an image, whose bad pixels are NAN.
 *
 * @param context receives the message of a failure
 * @param content of the experiment, as db_read_expt gives it
 * @param map which of the files
 * @param image with the shapes of the panels
 * @param value receives fast_pixels * slow_pixels numbers
 * @return DB_OK; DB_ERROR_USAGE where the list names no such file; DB_ERROR_FILE, DB_ERROR_INPUT,
 *     DB_ERROR_UNSUPPORTED or DB_ERROR_MEMORY */
DB_API db_status db_read_listed_map(db_context *context, const db_expt_content *content,
                                    db_expt_map map, const db_measured_image *image, float *value);

/** Frees the lists and zeroes the struct. Safe on a zeroed struct.
 *
 * @param content to clear */
DB_API void db_expt_content_clear(db_expt_content *content);

#ifdef __cplusplus
}
#endif
#endif
