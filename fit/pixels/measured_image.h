/* Pixels of measured images: panels, one below the other; noise of their counts; hot pixels. */
#ifndef DB_FIT_PIXELS_MEASURED_IMAGE_H
#define DB_FIT_PIXELS_MEASURED_IMAGE_H

#include "base/measured_pixels.h"
#include "loss/count_variance.h"

#include <dualbragg/fit.h>

/* db_count_variance with the settings' gain and readout noise. */
static inline double db_pixel_variance(const db_fit_settings *settings, double counts) {
    return db_count_variance(settings->gain, settings->readout_noise, counts);
}

/* Bad pixels that were found hot. Where a model has a reflection, they may be spots of a single pixel. */
enum { DB_MASK_HOT = DB_MASK_BAD | 8 };

/* Masks hot pixels (DB_MASK_HOT): trusted pixels that exceed the median of the 24 around them by `sigma` standard
 * deviations, while none of the eight neighbours has more than 5 % of this excess plus three standard deviations.
 * (Light from a lens, a phosphor or a crystal falls on more than one pixel.) Returns their number. */
size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image);

/* db_fit_config_read_image, but an image that does not tell its gain gets that of photons, and a notice says why. */
db_status db_fit_config_read_any_gain(db_context *context, const db_fit_config *config,
                                      db_measured_image *image, db_notice_function notices,
                                      void *user);

#endif
