/* Pixels of measured images: those of several panels, which lie one below the other, how far
 * noise moves their counts, and which count what no photon brought. */
#ifndef DB_FIT_PIXELS_MEASURED_IMAGE_H
#define DB_FIT_PIXELS_MEASURED_IMAGE_H

#include "base/measured_panels.h"
#include "loss/count_variance.h"

#include <dualbragg/fit.h>

/* Where pixel (fast, slow), counted from a region's first one, is in the image. */
static inline size_t db_measured_index(const db_measured_image *image, const db_region *region,
                                       int fast, int slow) {
    const int row = db_measured_first_row(image, region->panel) + region->slow_start + slow;
    return (size_t)row * (size_t)image->fast_pixels + (size_t)(region->fast_start + fast);
}

/* db_count_variance with the settings' gain and readout noise. */
static inline double db_pixel_variance(const db_fit_settings *settings, double counts) {
    return db_count_variance(settings->gain, settings->readout_noise, counts);
}

/* Masks as bad every trusted pixel that exceeds the median of the 24 around it by `sigma` standard
 * deviations while none of its eight neighbours has more than 5 % of its excess plus three standard
 * deviations: light that a lens, a phosphor or a crystal brings falls on more than one pixel.
 * Returns how many. */
size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image);

#endif
