/* Images in memory: memory for them, and printed statistics (docs/theory/pixel.md, Statistics of an image). */
#ifndef DB_CLI_IMAGES_H
#define DB_CLI_IMAGES_H

#include <dualbragg/plan.h>

/* Statistics of the rendered pixels of an image of the whole panel. Masked pixels do not count in largest, mean
 * and rms; in rmsd they count as 0. */
typedef struct db_image_statistics {
    double largest, mean, rms, rmsd;
    int fast, slow; /* pixel of the largest value, the first one of equals; -1: that is 0 */
} db_image_statistics;

/* mask: 0 for pixels that do not count, of the panel's shape; NULL: all count. */
db_image_statistics db_image_statistics_of(const float *image, const db_region *region,
                                           const unsigned char *mask);

/* Largest |pixel|; not finite if a pixel is not. */
double db_image_largest_magnitude(const float *image, size_t count);

/* Complains about pixels beyond 32-bit floats. what: "image", or the parameter of a derivative. magnitude: the
 * largest |pixel|, or any number that is not finite if a pixel is not. */
db_status db_image_check_finite(const char *command, const char *what, double magnitude);

/* An image of the panel for rendering, 0 outside the region; free() it. NULL without memory. In huge pages, if the
 * system has them: first touch of small ones takes longer than rendering. */
float *db_image_buffer(const db_panel *panel, const db_region *region);

#endif
