/* How far noise moves the counts of an image, from the image itself. */
#ifndef DB_FIT_PIXELS_IMAGE_NOISE_H
#define DB_FIT_PIXELS_IMAGE_NOISE_H

#include "fit/pixels/dark_levels.h"

/* Completes a gain that is NAN: that of the image or, where pixels scatter by more
 * than twice the variance that it says, gain and readout noise by which they do. A readout noise
 * that is given stays. Where most pixels have no photon, the gain is the step of the others' counts. Where pixels scatter so, and their mean does not say by how much, the dark
 * levels that differ are subtracted from the image. */
db_status db_image_noise_settle(db_context *context, db_measured_image *image,
                                db_fit_settings *settings, db_image_noise *noise);

#endif
