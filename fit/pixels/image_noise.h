/* How far noise moves the counts of an image, from the image itself. */
#ifndef DB_FIT_PIXELS_IMAGE_NOISE_H
#define DB_FIT_PIXELS_IMAGE_NOISE_H

#include <dualbragg/fit.h>

/* Completes a gain that is NAN: that of the image or, where pixels scatter by more
 * than twice the variance that it says, gain and readout noise by which they do. Returns 1 if these
 * were measured. A readout noise that is given stays. */
int db_image_noise_settle(const db_measured_image *image, db_fit_settings *settings);

#endif
