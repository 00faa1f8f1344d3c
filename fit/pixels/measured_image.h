/* Pixels of measured images: those of several panels, which lie one below the other, how far
 * noise moves their counts, and which count what no photon brought. */
#ifndef DB_FIT_PIXELS_MEASURED_IMAGE_H
#define DB_FIT_PIXELS_MEASURED_IMAGE_H

#include "base/measured_pixels.h"
#include "loss/count_variance.h"

#include <dualbragg/fit.h>

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
