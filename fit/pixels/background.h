/* Background of an image, known before any model: pixel by pixel from the pixels around
 * (local_background.c), or as one smooth surface (smooth_background.c). */
#ifndef DB_FIT_PIXELS_BACKGROUND_H
#define DB_FIT_PIXELS_BACKGROUND_H

#include <dualbragg/fit.h>
#include <stdint.h>

/* Mean of the trusted pixels within half_width pixels in each direction. Those that exceed it by
 * more than three standard deviations (photons and readout noise) are left out, again and again
 * until spots are gone; masked pixels never count. half_width: 127 at most (more count as 127).
 * background: fast_pixels x slow_pixels. */
db_status db_local_background(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings, int half_width, float *background);

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
