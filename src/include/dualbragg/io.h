/** @file
 * Files: structure factors, matrices, sources, measured images in; simulated images out.
 *
 * Readers report DB_ERROR_FILE (cannot open, read) or DB_ERROR_INPUT (contents) with file, line,
 * what was expected and what was found. Writers write to a temporary name beside the target and
 * rename it, so that no half-written file is ever left behind. */
#ifndef DUALBRAGG_IO_H
#define DUALBRAGG_IO_H

#include <dualbragg/colour.h>
#include <dualbragg/reflections.h>
#include <dualbragg/setup.h>
#include <dualbragg/spots.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads "h k l F" lines ('#' comments, blank lines and columns after the fourth ignored; malformed
 * lines are errors; the last of repeated entries wins; entries of the box not listed get
 * default_F). Replaces the list; keeps default_F. Miller indices must be whole numbers and F
 * finite.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors its list is replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_hkl(db_context *context, const char *path, db_structure_factors *factors);

/** How to read structure factors. The last five are for a model's coordinates. */
typedef struct db_structure_factor_options {
    /** labels of an MTZ file (one, or two of Friedel mates with a comma between), item of an mmCIF
     * file; NULL: chosen */
    const char *columns;
    /** number or symbol by whose operators a text list (or an mmCIF file) is expanded; NULL: a text
     * list is taken as it stands */
    const char *space_group;
    double d_min;      /**< A: resolution to which structure factors are calculated */
    double wavelength; /**< A: of the anomalous scattering; 0: none, Friedel mates are equal */
    double k_sol;      /**< e/A^3: density of the bulk solvent; 0: none */
    double b_sol;      /**< A^2: its B factor */
    const double
        *cell; /**< A, degree: six constants that the model's must be close to; NULL: any */
} db_structure_factor_options;

/** Reads structure factors from an MTZ file, an mmCIF file of reflections, or lines as db_read_hkl,
 * or calculates them from coordinates in a PDB or mmCIF file; recognized by content. All but lines
 * take gemmi, and so do lines with a space group.
 *
 * Lists of reflections are expanded to the whole sphere (lines with a space group only): by the
 * operators, and to Friedel mates where the file has no values for them (an MTZ pair X(+), X(-)
 * has). Without columns the first amplitudes with sigmas are taken, else the first that are no map
 * coefficients, else a pair of mates, else intensities, of which the square root is taken, 0 for
 * negative ones; of mmCIF F_meas_au, F_meas, F_calc_au, F_calc, intensity_meas.
 *
 * Of coordinates (docs/theory/pixel.md, Structure factors of coordinates): |F| of all reflections to d_min, 0 0 0 left
 * out, in electrons per unit cell; needs options->d_min > 0.
 *
 * Replaces the list; keeps default_F; listed counts what was expanded, repetitions included.
 * options may be NULL. chosen (may be NULL): what was taken, such as "FP" or "F(+), F(-)", or what
 * was calculated; "" for text.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param options NULL: defaults
 * @param factors its list is replaced
 * @param chosen receives what was taken; may be NULL
 * @param chosen_size room there, in bytes
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     gemmi; DB_ERROR_USAGE for options that the file has no room for; the list then stays */
DB_API db_status db_read_structure_factors(db_context *context, const char *path,
                                           const db_structure_factor_options *options,
                                           db_structure_factors *factors, char *chosen,
                                           size_t chosen_size);

/** Writes a list as a binary file, which is read much faster, in the layout of nanoBragg's
 * Fdump.bin: a box of amplitudes.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors with a list
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_structure_factor_cache(db_context *context, const char *path,
                                                 const db_structure_factors *factors);

/** Reads a file of db_write_structure_factor_cache or nanoBragg: replaces the list; keeps
 * default_F, which entries of the box not listed had when the file was written. A file whose size
 * does not match its own limits, or with amplitudes that are not finite, is DB_ERROR_INPUT.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param factors its list is replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_structure_factor_cache(db_context *context, const char *path,
                                                db_structure_factors *factors);

/** Reads the nine numbers of a MOSFLM orientation matrix (wavelength in angstrom times A*, row by
 * row).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param matrix receives it, row-major
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_mosflm_matrix(db_context *context, const char *path, double matrix[9]);

/** Bytes that are ample for db_format_mosflm_matrix with any matrix that MOSFLM could read. */
enum { DB_MATRIX_TEXT_SIZE = 1024 };

/** Writes the text of a MOSFLM matrix file (db_write_mosflm_matrix) to memory.
 *
 * @param context receives the message of a failure
 * @param experiment with crystal and wavelength
 * @param text receives it
 * @param size room there, in bytes; DB_MATRIX_TEXT_SIZE are ample for any matrix that MOSFLM could
 *     read
 * @return DB_OK; DB_ERROR_USAGE where there is too little room */
DB_API db_status db_format_mosflm_matrix(db_context *context, const db_experiment *experiment,
                                         char *text, size_t size);

/** Writes a MOSFLM matrix file: wavelength * A*, misset 0, the U matrix and the cell, as MOSFLM
 * does.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment with crystal and wavelength
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_mosflm_matrix(db_context *context, const char *path,
                                        const db_experiment *experiment);

/** Reads a source file (columns x y z weight wavelength; docs/theory/beam.md, Source file) into
 * beam->sources. Wavelengths are in metres; '#' starts a comment. Missing columns take the defaults
 * of the beam.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param beam its sources are replaced
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then stays */
DB_API db_status db_read_sources(db_context *context, const char *path, db_beam *beam);

/** A spectrum: wavelengths and their weights, > 0. */
typedef struct db_spectrum {
    size_t count;
    double *wavelength; /**< angstrom; owned */
    double *weight;     /**< any unit; owned */
} db_spectrum;

/** Reads two columns: wavelength (angstrom, below 100 in all lines) or photon energy (eV, at least
 * 100 in all lines), and weight; lines of weight 0 are left out. Separated by white space, commas
 * or semicolons; '#' starts a comment. The caller clears *spectrum, which is overwritten; it owns
 * nothing after a failure.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param spectrum overwritten
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_spectrum(db_context *context, const char *path, db_spectrum *spectrum);

/** Frees the lists and zeroes the struct. Safe on a zeroed struct.
 *
 * @param spectrum to clear */
DB_API void db_spectrum_clear(db_spectrum *spectrum);

/** Reads amplitudes of amorphous matter into background->stol and amplitude, replacing those there:
 * lines of two columns, sin(theta)/lambda (1/angstrom, or what `abscissa` says) and F of one
 * molecule (electrons; may be negative). '#' comments, blank lines and columns after the second are
 * ignored; commas and semicolons separate too. The first column is 0 or more, each value once;
 * lines are sorted by it. There must be at least two. *out_of_order (may be NULL): number of lines
 * that stood below a larger one.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param abscissa what the first column is
 * @param background its lists are replaced
 * @param out_of_order receives the number of lines that stood below a larger one; may be NULL
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the lists then stay */
DB_API db_status db_read_stol(db_context *context, const char *path, db_stol_abscissa abscissa,
                              db_background *background, size_t *out_of_order);

/** What a file may hold. */
enum {
    DB_HOLDS_IMAGES = 1,
    DB_HOLDS_GEOMETRY = 2,   /**< frame, detector, beam: db_read_expt */
    DB_HOLDS_CRYSTALS = 4,   /**< orientation: db_read_mosflm_matrix, db_read_expt */
    DB_HOLDS_SPOTS = 8,      /**< places or boxes of reflections on an image */
    DB_HOLDS_AMPLITUDES = 16 /**< db_read_structure_factors */
};

/** What a file is. */
typedef struct db_file_kind {
    char label[16]; /**< "SMV"; "": it is none of the formats that are known */
    char name[64];  /**< "an SMV image" */
    unsigned holds; /**< of DB_HOLDS_*; 0: known, but not read */
    int uncertain;  /**< 1: text that could be something else, too */
} db_file_kind;

/** Tells what a file is by its content; its name does not matter. All readers of this library go by
 * the same signs.
 *
 * @param context receives the message of a failure
 * @param path name of the file, or FILE#N of an image in one
 * @param kind filled
 * @return DB_OK, also where the file is of no known kind; DB_ERROR_FILE where it cannot be read */
DB_API db_status db_recognize_file(db_context *context, const char *path, db_file_kind *kind);

/** Values of db_measured_image.mask: 0 for a trusted pixel, else why it is masked. */
enum { DB_MASK_TRUSTED = 0, DB_MASK_GAP = 1, DB_MASK_OVERLOAD = 2, DB_MASK_BAD = 4 };

/** One panel of a measured image: rows of it, from the first to before first + slow_pixels. */
typedef struct db_image_panel {
    char name[64]; /**< "" */
    int first_row, slow_pixels;
} db_image_panel;

/** A measured image with what its header says. */
typedef struct db_measured_image {
    int fast_pixels, slow_pixels; /**< of several panels: their width, and all their rows */
    size_t panel_count;           /**< 0 and 1: the image is one panel */
    /** panel_count of them, one below the other; owned; NULL for one panel */
    db_image_panel *panels;
    /** counts, pedestal subtracted: fast_pixels * slow_pixels, fast index fastest; owned */
    float *value;
    uint8_t *mask;        /**< same shape; owned */
    char format[16];      /**< "SMV", "miniCBF", "CBF", "HDF5", "MarCCD", "TIFF", ... "float" */
    double wavelength;    /**< angstrom; NAN where the header does not say */
    double distance;      /**< mm; NAN */
    double pixel_size[2]; /**< mm; NAN */
    /** pixels along fast, slow, from the outer corner of the first pixel; NAN */
    double beam_centre[2];
    double polarization;                /**< Kahn factor; NAN */
    double phi, osc_range;              /**< degree; NAN */
    double twotheta;                    /**< degree; NAN */
    double overload;                    /**< value at and above which pixels are masked; INFINITY */
    double pedestal;                    /**< already subtracted; 0 */
    double gain;                        /**< counts per photon; 1 */
    double exposure;                    /**< s; NAN */
    double sensor_thickness;            /**< um; NAN */
    double attenuation_depth;           /**< of it (um); NAN */
    db_sensor_material sensor_material; /**< DB_SENSOR_UNKNOWN */
    char detector[64];                  /**< as named by the header, or "" */
    size_t masked;                      /**< number of pixels with mask != 0 */
    double readout_noise;               /**< counts, standard deviation of a pixel; 0 */
    /** counts of each pixel that were subtracted besides the pedestal; owned; NULL: none */
    float *dark;
    double reserved[6]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_measured_image;

/** Reads an image, recognized by content: SMV, miniCBF (Pilatus, Eiger), full CBF (imgCIF; pixels
 * as byte offsets or packed, arrays cut into sections, each of which is a panel), HDF5 (NXmx, master
 * files of Dectris), where the build has libhdf5, TIFF, where it has libtiff, MarCCD and Rayonix,
 * mar345.
 *
 * @param context receives the message of a failure
 * @param path name of the file; of one that holds many images FILE#N, the first being number 1
 * @param image overwritten; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED for
 *     formats that are known but not read */
DB_API db_status db_read_image(db_context *context, const char *path, db_measured_image *image);

/** Reads an image like db_read_image or, where the content is none of these formats, as raw
 * little-endian 32-bit floats, all pixels trusted. Their shape is fast_pixels x slow_pixels; both
 * 0: one row of all there are.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param fast_pixels width; 0
 * @param slow_pixels height; 0
 * @param image overwritten; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_image_or_floats(db_context *context, const char *path, int fast_pixels,
                                         int slow_pixels, db_measured_image *image);

/** Reads raw little-endian 32-bit floats of a known shape (as db_write_float_image writes them).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param fast_pixels width
 * @param slow_pixels height
 * @param pixels receives fast_pixels * slow_pixels values
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_float_image(db_context *context, const char *path, int fast_pixels,
                                     int slow_pixels, float *pixels);

/** Frees pixels, mask and panels and zeroes the struct. Safe on a zeroed struct.
 *
 * @param image to clear */
DB_API void db_measured_image_clear(db_measured_image *image);

/** Cuts an image of one panel into the panels of a detector, which lie where their image_offset says
 * and have the same width. Pixels outside of them are left out.
 *
 * @param context receives the message of a failure
 * @param path name of the image, for messages
 * @param detector with the panels
 * @param image replaced
 * @return DB_OK; DB_ERROR_INPUT for panels beyond the image or over one another; DB_ERROR_USAGE for
 *     an image of several panels; DB_ERROR_UNSUPPORTED for panels of several widths;
 *     DB_ERROR_MEMORY; the image then stays */
DB_API db_status db_measured_image_cut(db_context *context, const char *path,
                                       const db_detector *detector, db_measured_image *image);

/** Reads a mask: an SMV image of fast_pixels x slow_pixels, any pixel type. mask (caller's, of that
 * shape): 0 where the stored number is 0, pixels to leave out, else 1.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param fast_pixels width
 * @param slow_pixels height
 * @param mask receives fast_pixels * slow_pixels values
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_mask(db_context *context, const char *path, int fast_pixels,
                              int slow_pixels, uint8_t *mask);

/** Writes raw little-endian 32-bit floats without a header.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param pixels `count` values
 * @param count their number
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_float_image(db_context *context, const char *path, const float *pixels,
                                      size_t count);

/** Writes a list of spots as text, a line of columns for each after a header whose lines begin with
 * #, or as JSON where the file's name ends in .json.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param list to write
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_spots(db_context *context, const char *path,
                                const db_predicted_spots *list);

/** Options of an SMV image besides scale and offset. All 0 (or no style at all): counts are
 * rounded, and no convention is stated. */
typedef struct db_smv_style {
    /** name of the laboratory frame's convention, stated for readers who want to set up the same
     * experiment; NULL */
    const char *convention;
    /** the reference's header only: X, Y of the direct beam in that convention's meaning (mm), see
     * db_setup_beam_centre */
    double beam_centre[2];
    int truncate; /**< 1: counts are truncated instead of rounded */
} db_smv_style;

/** One image of a sum: contributes factor * pixel + offset. */
typedef struct db_summand {
    const char *path; /**< borrowed */
    double factor, offset;
} db_summand;

/** How images are added. */
typedef struct db_sum_options {
    size_t header;       /**< bytes before the pixels of each file; those of the first are kept */
    double scale;        /**< of the sum; 1 */
    double offset;       /**< added after that */
    const float *ignore; /**< values that mark bad pixels: they stay what they are; borrowed */
    size_t ignore_count; /**< at most 255 */
} db_sum_options;
#define DB_SUM_OPTIONS_INIT                                                                        \
    { 0, 1, 0, NULL, 0 }

/** Statistics of the pixels of a sum that are neither ignored nor infinite or NAN. */
typedef struct db_sum_statistics {
    size_t pixels;                             /**< of the image */
    size_t ignored;                            /**< pixels with one of the marks */
    size_t not_finite;                         /**< infinite or NAN in the sum */
    double smallest, largest, mean, rms, rmsd; /**< NAN without pixels */
    double correlation; /**< between the first two images; NAN with one image, or a constant one */
} db_sum_statistics;

/** Adds images of raw little-endian 32-bit floats, all of the same size, pixel by pixel in double
 * precision, and writes the sum in the same form. Takes the same small memory for any number and
 * size of images; the path may be that of an image. options, statistics: may be NULL.
 * DB_ERROR_INPUT if sizes differ.
 *
 * @param context receives the message of a failure
 * @param summands `count` of them
 * @param count number of images
 * @param options NULL: defaults
 * @param path name of the file
 * @param statistics filled; may be NULL
 * @return DB_OK; DB_ERROR_USAGE, DB_ERROR_INPUT, DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then
 *     left of the file */
DB_API db_status db_add_float_images(db_context *context, const db_summand *summands, size_t count,
                                     const db_sum_options *options, const char *path,
                                     db_sum_statistics *statistics);

/** Writes an SMV image: unsigned 16-bit, value = floor(x*scale + adc + 0.5) clipped to 0..65535;
 * scale <= 0: 55000/max. Pixels that are NAN (outside the region of interest) become 0. For a
 * detector of one flat panel with square pixels. The header grows in blocks of 512 bytes;
 * BEAM_CENTER_X/Y are along slow and fast, in mm from the outer corner of the first pixel, and all
 * values those of the final detector placement. With experiment->reference.on the header is the
 * reference's, key by key. style may be NULL.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment for the header
 * @param pixels photons, fast index fastest
 * @param scale counts per photon; 0 or less: chosen
 * @param adc counts added
 * @param style NULL: none
 * @return DB_OK; DB_ERROR_UNSUPPORTED for other detectors; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_smv(db_context *context, const char *path,
                              const db_experiment *experiment, const float *pixels, double scale,
                              double adc, const db_smv_style *style);

/** Writes an SMV image of numbers as a detector gives them (db_noise_apply): unsigned 16-bit,
 * limited to 0..65535, or signed 32-bit. gain (ADU per photon) and adc (ADU) are for the header.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment for the header
 * @param numbers counts, fast index fastest
 * @param bits 16 or 32
 * @param gain counts per photon, for the header
 * @param adc counts, for the header
 * @param style NULL: none
 * @return DB_OK; DB_ERROR_UNSUPPORTED for other detectors; DB_ERROR_USAGE, DB_ERROR_FILE or
 *     DB_ERROR_MEMORY */
DB_API db_status db_write_smv_numbers(db_context *context, const char *path,
                                      const db_experiment *experiment, const int32_t *numbers,
                                      int bits, double gain, double adc, const db_smv_style *style);

/** Writes a PGM image: 8-bit grey, byte = x*scale truncated, at most 255 (0 for NAN and negative
 * pixels); the scale (> 0) stands in a comment.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param pixels fast_pixels * slow_pixels values
 * @param fast_pixels width
 * @param slow_pixels height
 * @param scale grey levels per unit
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_pgm(db_context *context, const char *path, const float *pixels,
                              int fast_pixels, int slow_pixels, double scale);

/** The image an experiment list speaks of. */
typedef struct db_expt_image {
    const char *path; /**< as the list is to name it: absolute, or relative to the list's folder */
    double pedestal, gain; /**< stored counts = pedestal + gain * photons */
    /** least and largest trusted count, pedestal subtracted; both 0: that of 16-bit images */
    double trusted[2];
} db_expt_image;

/** Writes a DIALS experiment list (.expt, JSON): beam, panels with exact origin and axes,
 * goniometer, crystal, a scan if the goniometer moves, and the image (may be NULL; left out if
 * dxtbx finds no number in its name, without which it reads no SMV file). A crystal that stands
 * still is described as it stands in the beam, one that turns as it is at phi = 0; in the frame of
 * dxtbx: x along the spindle, z against the beam. DB_ERROR_UNSUPPORTED for a curved detector, and
 * without jansson.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param experiment to write
 * @param image that the list speaks of; may be NULL
 * @return DB_OK; DB_ERROR_UNSUPPORTED; DB_ERROR_FILE or DB_ERROR_MEMORY */
DB_API db_status db_write_expt(db_context *context, const char *path,
                               const db_experiment *experiment, const db_expt_image *image);

/** Gives the only experiment of a list that db_write_expt wrote what the list says that it came from:
 * identifier; names, masks, trusted ranges and groups of panels, which stay where they were, while
 * panels move in them; all of beam and crystal that is not refined, without what belongs to other
 * cells; images, scan and goniometer of a still.
 *
 * @param context receives the message of a failure
 * @param path name of the list that was written; written again
 * @param from name of the list that the experiment came from, in the same frame
 * @param number of the experiment there, from 0
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; the list then is as it was */
DB_API db_status db_expt_keep(db_context *context, const char *path, const char *from,
                              size_t number);

/** The number by which experiment lists call an image that turns, as dxtbx finds it: of
 * image_0017.cbf and of image.h5#17 it is 17, of names without a number 1.
 *
 * @param context receives the message of a failure
 * @param image its name
 * @param number receives it
 * @return DB_OK or DB_ERROR_MEMORY */
DB_API db_status db_dials_image_number(db_context *context, const char *image, int *number);

/** A place on a panel in millimetres along its axes, as DIALS has it: where the ray through it met the
 * panel's front, by the parallax of the sensor that dxtbx takes off.
 *
 * @param experiment detector and sensor
 * @param panel from 0
 * @param pixels fast, slow, from the outer corner of the first pixel
 * @param millimetres receives fast, slow */
DB_API void db_dials_millimetres(const db_experiment *experiment, size_t panel,
                                 const double pixels[2], double millimetres[2]);

/** The laboratory frame that dxtbx gives simulated images, in which lists are written: x along the
 * spindle (or along the electric field where the spindle is along the beam), z against the beam. An
 * experiment whose beam is within 10 degree of -z stands in such a frame already, that of the list
 * it came from, and stays there.
 *
 * @param experiment laboratory
 * @param frame rows: unit vectors x, y = z x x, and z in the laboratory */
DB_API void db_dials_frame(const db_experiment *experiment, double frame[3][3]);

/** Which experiment of a list. */
typedef struct db_expt_selection {
    long number; /**< counted from 0; -1: open */
    /** the one whose images include this one (only the last part of the path counts), and the place
     * of that image in its scan; NULL: open */
    const char *image;
    /** number of an image of its scan, as the scan counts them, whatever is named; 0: open, the first
     * one if none is named */
    long frame;
} db_expt_selection;

/** What a list says of one panel beyond its place. */
enum { DB_EXPT_MOST_LEVELS = 8 };
typedef struct db_expt_panel {
    char name[64];
    /** The groups of the list's hierarchy that hold it, from the whole detector (level 0) inwards:
     * number of each among those of its level, as they stand in the list. */
    int level_count, group[DB_EXPT_MOST_LEVELS];
    double trusted[2]; /**< least and largest trusted value; -INFINITY, INFINITY where not said */
    double gain;       /**< counts per photon; 1 */
    double pedestal;   /**< counts; 0 */
    size_t mask_count; /**< rectangles to leave out */
    int (*mask)[4];    /**< fast, slow of the first pixel, fast, slow behind the last one; owned */
} db_expt_panel;

/** What a list says beyond what a db_experiment holds. */
typedef struct db_expt_content {
    long number;          /**< of the experiment taken, from 0 */
    char identifier[256]; /**< of the experiment, by which reflection tables name it; "" */
    /** the selection names an image that the experiment does not show: the first one that it does;
     * "" */
    char other_image[128];
    int has_crystal;       /**< 0: cell and orientation are as they were */
    int varies;            /**< 1: the crystal varies along the scan; taken as it is at the image */
    double phi, osc_range; /**< of the image (degree); osc_range 0: a still */
    char space_group[96];  /**< Hall symbol; "" */
    double mosaicity;      /**< full width (degree); NAN */
    double domain_size;    /**< angstrom; NAN */
    double sensor_thickness;  /**< um; 0: none, or not said */
    double attenuation_depth; /**< um; NAN: not said */
    db_sensor_material sensor_material;
    size_t panel_count;
    db_expt_panel *panel; /**< owned */
    /** which parts of a file's arrays are the panels; owned; NULL: what the file says itself */
    struct db_image_layout *layout;
    int has_frame; /**< 1: the experiment has a scan */
    long frame;    /**< number of the image there, as the scan counts them */
} db_expt_content;

/** Writes an experiment in the form and the frame of the file that it came from: what that file says
 * beyond the experiment stays (image numbers, space group, masks, groups ...). For geometries of CrystFEL and
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
 * settings of the goniometer in it; the scan's range becomes one phi step. What varies along a scan
 * (A_at_scan_points, s0_at_scan_points, setting_rotation_at_scan_points) is the mean of the two points
 * beside the image. The sensor stays as it
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

/** An image of an experiment. */
typedef struct db_listed_shot {
    long number; /**< of the experiment in its list, from 0; -1: the image has none */
    char *image; /**< as the list names it: FILE, FILE#N, FILE#EVENT; owned */
} db_listed_shot;

/** The shots of a list. */
typedef struct db_listed_shots {
    size_t count;
    db_listed_shot *shot; /**< owned */
} db_listed_shots;

/** Lists all images of all experiments of a DIALS experiment list, in its order: those of a scan one
 * by one, and of a set that experiments share those that each of them has. Of a stream of CrystFEL:
 * the image of each crystal. Names of images are not looked for.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param shots overwritten; to be cleared by the caller; empty after a failure
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED without
 *     jansson */
DB_API db_status db_list_shots(db_context *context, const char *path, db_listed_shots *shots);

/** Frees the shots and zeroes the struct. Safe on a zeroed struct.
 *
 * @param shots to clear */
DB_API void db_listed_shots_clear(db_listed_shots *shots);

/** Reads where CrystFEL saw spots on an image: the peaks of a stream, in pixels of the panels of its
 * geometry.
 *
 * @param context receives the message of a failure
 * @param path name of the stream
 * @param selection the number of a crystal on the image, or the image
 * @param table overwritten: positions and panels; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY */
DB_API db_status db_read_stream_spots(db_context *context, const char *path,
                                      const db_expt_selection *selection,
                                      db_reflection_table *table);

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

/** Frees the lists and zeroes the struct. Safe on a zeroed struct.
 *
 * @param content to clear */
DB_API void db_expt_content_clear(db_expt_content *content);

/** Writes an 8-bit RGB PNG. low/high: values at the ends of the scale; NAN: chosen from the data
 * (robust quantiles). Pixels that are NAN are drawn in a neutral colour. DB_ERROR_UNSUPPORTED
 * without libpng.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param pixels fast_pixels * slow_pixels values, fast index fastest
 * @param fast_pixels width
 * @param slow_pixels height
 * @param map colours
 * @param low value at the low end; NAN: chosen
 * @param high value at the high end; NAN: chosen
 * @return DB_OK; DB_ERROR_UNSUPPORTED without libpng; DB_ERROR_USAGE, DB_ERROR_FILE or
 *     DB_ERROR_MEMORY */
DB_API db_status db_write_png(db_context *context, const char *path, const float *pixels,
                              int fast_pixels, int slow_pixels, db_colour_map map, double low,
                              double high);

/** Encodes the picture of db_write_png into memory (for reports). *bytes is to be freed with
 * free().
 *
 * @param context receives the message of a failure
 * @param pixels fast_pixels * slow_pixels values, fast index fastest
 * @param fast_pixels width
 * @param slow_pixels height
 * @param map colours
 * @param low value at the low end; NAN: chosen
 * @param high value at the high end; NAN: chosen
 * @param bytes receives the picture; the caller frees it
 * @param byte_count receives its size
 * @return DB_OK; DB_ERROR_UNSUPPORTED without libpng; DB_ERROR_USAGE or DB_ERROR_MEMORY */
DB_API db_status db_encode_png(db_context *context, const float *pixels, int fast_pixels,
                               int slow_pixels, db_colour_map map, double low, double high,
                               unsigned char **bytes, size_t *byte_count);

/** Writes an 8-bit RGB PNG of colours that are known already.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param rgb fast_pixels * slow_pixels times red, green, blue, fast index fastest
 * @param fast_pixels width
 * @param slow_pixels height
 * @return as db_write_png */
DB_API db_status db_write_png_rgb(db_context *context, const char *path, const uint8_t *rgb,
                                  int fast_pixels, int slow_pixels);

/** Writes a text file as a whole (atomically).
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param text `length` bytes
 * @param length their number
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_text(db_context *context, const char *path, const char *text,
                               size_t length);

/** Removes the temporary files of all unfinished writers, of this and other threads; their targets
 * are then not written. For handlers of signals that end the program: async-signal-safe. The
 * library installs no handlers. */
DB_API void db_remove_unfinished_files(void);

#ifdef __cplusplus
}
#endif
#endif
