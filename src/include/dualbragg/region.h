/** @file
 * Regions: pixels that a plan renders, and their places in memory. */
#ifndef DUALBRAGG_REGION_H
#define DUALBRAGG_REGION_H

#include <stddef.h>

/** Type of the elements of images. */
typedef enum db_pixel_type { DB_FLOAT32, DB_FLOAT64 } db_pixel_type;

/** A rectangle of pixels of one panel, and where its pixels go: pixel (fast, slow) is stored at
 * element offset + (slow - slow_start) * stride + (fast - fast_start) of the image and of each
 * derivative image. */
typedef struct db_region {
    size_t panel;
    int fast_start, slow_start, fast_count, slow_count;
    size_t offset, stride;
} db_region;

#endif
