/** @file
 * Images as bare arrays: floats without a header, masks, arrays that are cut into panels. */
#ifndef DUALBRAGG_EXPERT_IMAGE_ARRAYS_H
#define DUALBRAGG_EXPERT_IMAGE_ARRAYS_H

#include <dualbragg/image_files.h>
#include <dualbragg/measured_image.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Reads an image like db_read_image or, where the content has none of these formats, as raw
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

/** Writes raw little-endian 32-bit floats without a header.
 *
 * @param context receives the message of a failure
 * @param path name of the file
 * @param pixels `count` values
 * @param count their number
 * @return DB_OK; DB_ERROR_FILE or DB_ERROR_MEMORY; nothing is then left of the file */
DB_API db_status db_write_float_image(db_context *context, const char *path, const float *pixels,
                                      size_t count);

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

#ifdef __cplusplus
}
#endif
#endif
