/* Background of an image as one smooth surface, without a model. */
#ifndef DB_FIT_PIXELS_SMOOTH_BACKGROUND_H
#define DB_FIT_PIXELS_SMOOTH_BACKGROUND_H

#include <dualbragg/fit.h>
#include <stdint.h>

enum { DB_SMOOTH_KNOTS = 64 };

/* Fits a surface of bicubic splines, with knots DB_SMOOTH_KNOTS pixels apart, to trusted pixels of a panel,
 * repeatedly. It leaves out pixels near strong ones (1 in `strong`), and pixels further off the surface than
 * photons and readout noise make likely (db_surroundings_lit). background: first guess, then the surface, never
 * negative. The surface continues smoothly where there are no pixels; without any pixels the guess stays.
 * coefficient: [db_smooth_coefficients] gets what makes the surface, the first one NAN if the guess stays; NULL: not wanted. */
db_status db_smooth_background(db_context *context, const db_measured_image *image,
                               const db_fit_settings *settings, const uint8_t *strong,
                               float *background, double *coefficient);

size_t db_smooth_coefficients(const db_measured_image *image);

/* The same surface again. */
db_status db_smooth_background_again(db_context *context, const db_measured_image *image,
                                     const double *coefficient, float *background);

#endif
