/** @file
 * Measured images and their headers. */
#ifndef DUALBRAGG_MEASURED_IMAGE_H
#define DUALBRAGG_MEASURED_IMAGE_H

#include <dualbragg/context.h>
#include <dualbragg/experiment.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values of db_measured_image.mask: 0 for a trusted pixel, else why it is masked. A bad pixel that a refinement found hot
 * has 8 besides. */
enum { DB_MASK_TRUSTED = 0, DB_MASK_GAP = 1, DB_MASK_OVERLOAD = 2, DB_MASK_BAD = 4 };

/** A panel of a measured image: rows first_row to first_row + slow_pixels - 1. */
typedef struct db_image_panel {
    char name[64]; /**< "" */
    int first_row, slow_pixels;
} db_image_panel;

/** A measured image with the values of its header. */
typedef struct db_measured_image {
    int fast_pixels, slow_pixels; /**< with several panels: their width, and the rows of all */
    size_t panel_count;           /**< 0 and 1: the image is one panel */
    /** panel_count of them, one below the other; owned; NULL for one panel */
    db_image_panel *panels;
    /** counts, pedestal subtracted: fast_pixels * slow_pixels, fast index fastest; owned */
    float *value;
    uint8_t *mask;        /**< same shape; owned */
    char format[16];      /**< "SMV", "miniCBF", "CBF", "HDF5", "MarCCD", "TIFF", ... "float" */
    double wavelength;    /**< angstrom; NAN: not in the header */
    double distance;      /**< mm; NAN */
    double pixel_size[2]; /**< mm; NAN */
    /** pixels along fast, slow, from the outer corner of the first pixel; NAN */
    double beam_centre[2];
    double polarization;                /**< Kahn factor; NAN */
    double phi, osc_range;              /**< degree; osc_range < 0: turns backwards; NAN */
    double twotheta;                    /**< degree; NAN */
    double overload;                    /**< value at and above which pixels are masked; INFINITY */
    double pedestal;                    /**< already subtracted; 0 */
    double gain;                        /**< counts per photon; 1 */
    double exposure;                    /**< s; NAN */
    double sensor_thickness;            /**< um; NAN */
    double attenuation_depth;           /**< of the sensor (um); NAN */
    db_sensor_material sensor_material; /**< DB_SENSOR_UNKNOWN */
    char detector[64];                  /**< as named by the header, or "" */
    size_t masked;                      /**< number of pixels with mask != 0 */
    double readout_noise;               /**< counts, standard deviation of a pixel; 0 */
    /** counts of each pixel that were subtracted besides the pedestal; owned; NULL: none */
    float *dark;
    /** value below which pixels are masked, pedestal subtracted; 0: 0, or the file states none */
    double underload;
    double stated_gain; /**< counts per photon that the header states; 0: none */
    double reserved[4]; /**< 0: room for new members, see docs/decisions/public-structs.md */
} db_measured_image;

/** Reads an image, recognized by content: SMV, miniCBF (Pilatus, Eiger), full CBF (imgCIF; pixels
 * as byte offsets or packed, arrays cut into sections, each of which is a panel), HDF5 (NXmx, master
 * files of Dectris), where the build has libhdf5, TIFF, where it has libtiff, MarCCD and Rayonix,
 * mar345.
 *
 * @param context receives the message of a failure
 * @param path name of the file; FILE#N of a file with many images, from number 1
 * @param image overwritten; to be cleared by the caller
 * @return DB_OK; DB_ERROR_FILE, DB_ERROR_INPUT or DB_ERROR_MEMORY; DB_ERROR_UNSUPPORTED for
 *     formats that are known but not read */
DB_API db_status db_read_image(db_context *context, const char *path, db_measured_image *image);

/** Frees pixels, mask and panels and zeroes the struct. Safe on a zeroed struct.
 *
 * @param image to clear */
DB_API void db_measured_image_clear(db_measured_image *image);

#ifdef __cplusplus
}
#endif
#endif
