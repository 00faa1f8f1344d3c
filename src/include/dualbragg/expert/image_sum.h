/** @file
 * Sums of images in files. */
#ifndef DUALBRAGG_EXPERT_IMAGE_SUM_H
#define DUALBRAGG_EXPERT_IMAGE_SUM_H

#include <dualbragg/context.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

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
    const float *ignore; /**< values that mark bad pixels and stay unchanged; borrowed */
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

/** Adds images of raw little-endian 32-bit floats, all of one size, pixel by pixel in
 * double precision, and writes the sum in this form. Memory does not grow with number
 * and size of images; the output may replace an image. options, statistics: may be NULL.
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

#ifdef __cplusplus
}
#endif
#endif
