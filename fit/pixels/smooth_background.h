/* Background of an image as one smooth surface, known before any model. */
#ifndef DB_FIT_PIXELS_SMOOTH_BACKGROUND_H
#define DB_FIT_PIXELS_SMOOTH_BACKGROUND_H

#include <dualbragg/fit.h>
#include <stdint.h>

enum { DB_SMOOTH_KNOTS = 64 };

/* Fits a surface of bicubic splines, whose knots are DB_SMOOTH_KNOTS pixels apart, to the
 * trusted pixels of a panel that are neither near strong ones (1 in `strong`) nor more than three
 * standard deviations off the surface, again and again. background: on entry a first guess, then
 * the surface, never negative. Where no pixels are, the surface goes on evenly; with none at all
 * the guess stays. */
db_status db_smooth_background(db_context *context, const db_measured_image *image,
                               const db_fit_settings *settings, const uint8_t *strong,
                               float *background);

#endif
