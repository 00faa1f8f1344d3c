/* Noise of the counts of an image, measured in the image. */
#ifndef DB_FIT_PIXELS_IMAGE_NOISE_H
#define DB_FIT_PIXELS_IMAGE_NOISE_H

#include "fit/pixels/dark_levels.h"

/* Estimates an open gain (NAN). It is the image's own; if most pixels have no photon, it is the step between
 * counts of the others. If pixels scatter by more than twice the variance of photons at this gain, the scatter
 * gives gain and readout noise (a given readout noise stays), and dark levels that differ from place to place are
 * subtracted from the image. */
db_status db_image_noise_estimate(db_context *context, db_measured_image *image,
                                  db_fit_settings *settings, db_image_noise *noise);

#endif
