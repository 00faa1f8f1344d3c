/* Background of an image, pixel by pixel, from the pixels around. */
#ifndef DB_FIT_PIXELS_LOCAL_BACKGROUND_H
#define DB_FIT_PIXELS_LOCAL_BACKGROUND_H

#include <dualbragg/fit.h>

/* Mean of the trusted pixels within half_width pixels in each direction. Those that exceed it by
 * more than three standard deviations (photons and readout noise) are left out, again and again
 * until spots are gone; masked pixels never count. background: fast_pixels x slow_pixels. */
db_status db_local_background(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings, int half_width, float *background);

#endif
