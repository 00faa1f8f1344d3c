/* Numbers about an image that are printed. */
#ifndef DB_CLI_STATISTICS_H
#define DB_CLI_STATISTICS_H

#include <dualbragg/plan.h>

/* Of the rendered pixels of an image of the whole panel. */
typedef struct db_image_statistics {
    double largest, mean, rms, rmsd;
    int fast, slow; /* pixel of the largest value, the first one of equals */
} db_image_statistics;

db_image_statistics db_image_statistics_of(const float *image, const db_region *region);

/* Largest |pixel|. */
double db_image_largest_magnitude(const float *image, size_t count);

#endif
