/** @file
 * Pictures of an image, for people: PGM and PNG. */
#ifndef DUALBRAGG_EXPERT_PICTURE_FILES_H
#define DUALBRAGG_EXPERT_PICTURE_FILES_H

#include <dualbragg/expert/colour.h>
#include <dualbragg/context.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
