/* How far noise moves the counts of an image, from the image itself. */
#ifndef DB_FIT_PIXELS_IMAGE_NOISE_H
#define DB_FIT_PIXELS_IMAGE_NOISE_H

#include "fit/pixels/dark_levels.h"

/* Estimates a gain that is NAN. It is the image's own. Where most pixels have no photon, it is the step
 * between counts of the others. Where pixels scatter by more than twice the variance of photons at that
 * gain, gain and readout noise are estimated from the scatter (a given readout noise stays), and dark
 * levels that differ from place to place are subtracted from the image. */
db_status db_image_noise_estimate(db_context *context, db_measured_image *image,
                                  db_fit_settings *settings, db_image_noise *noise);

#endif
