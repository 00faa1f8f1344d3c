/** @file
 * Colour maps: from pixel values to the colours of a picture. */
#ifndef DUALBRAGG_EXPERT_COLOUR_H
#define DUALBRAGG_EXPERT_COLOUR_H

#include <dualbragg/context.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Colour maps of pictures. */
typedef enum db_colour_map {
    /** black on white by the square root of the value, as diffraction images are shown */
    DB_COLOUR_GREY,
    DB_COLOUR_SIGNED, /**< blue - white - red, symmetric around 0 */
    DB_COLOUR_HEAT    /**< dark to bright */
} db_colour_map;

enum { DB_COLOUR_LEVELS = 1024 };

/** The scale of one picture. */
typedef struct db_colour_scale {
    uint8_t level[DB_COLOUR_LEVELS][3]; /**< red, green, blue from the low to the high end */
    uint8_t missing[3];                 /**< of pixels that are NAN */
    float low;                          /**< value at the low end */
    float high;                         /**< value at the high end; above low */
} db_colour_scale;

/** Builds the scale of a picture.
 *
 * @param context receives the message of a failure
 * @param map colours
 * @param pixels `count` values, for ends that are left open
 * @param count number of pixels
 * @param low value at the low end; NAN: a robust quantile of the pixels
 * @param high value at the high end; NAN: a robust quantile of the pixels
 * @param scale filled
 * @return DB_ERROR_USAGE for an unknown map or ends that are not finite or in the wrong order */
DB_API db_status db_colour_scale_make(db_context *context, db_colour_map map, const float *pixels,
                                      size_t count, double low, double high,
                                      db_colour_scale *scale);

/** The colour of a value: red, green, blue, within the scale.
 *
 * @param scale of the picture
 * @param value of the pixel; NAN: missing
 * @return three bytes of the scale; valid as long as it */
DB_API const uint8_t *db_colour_of(const db_colour_scale *scale, float value);

#ifdef __cplusplus
}
#endif
#endif
