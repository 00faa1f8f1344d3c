/* Dark levels: counts without photons, which differ from place to place. */
#ifndef DB_FIT_PIXELS_DARK_LEVELS_H
#define DB_FIT_PIXELS_DARK_LEVELS_H

#include "fit/pixels/photon_step.h"

#include <dualbragg/fit.h>

typedef struct db_image_noise {
    int measured;   /* gain and readout noise are measured */
    int stated;     /* the gain is that of the file, as the background does not tell it */
    int by_steps;   /* the gain is the step between counts, of which most are 0 */
    int has_dark;   /* dark levels were subtracted */
    double dark[2]; /* least and largest of them (counts) */
} db_image_noise;

/* Variance and mean of the background in squares of an image. If one law, variance = gain mean + readout_noise^2,
 * describes them, it gives gain and readout noise. If not, because the dark level differs from place to place
 * (panels of an integrating detector whose common mode was not subtracted exactly), the gain is the step between
 * counts, the scatter gives the photons of the background, and the rest of the mean is the dark level, which is
 * subtracted. noise->measured: gain and readout noise are to be set; a readout noise other than 0 stays. */
db_status db_dark_levels_find(db_context *context, db_measured_image *image,
                              const db_photon_step *step, db_fit_settings *settings,
                              db_image_noise *noise);

/* Adds the subtracted dark levels to counts of the same pixels. */
void db_dark_levels_add(const db_measured_image *image, float *counts);

/* Estimates an open gain (NAN). It is the image's own; if most pixels have no photon, it is the step between
 * counts of the others. If pixels scatter by more than twice the variance of photons at this gain, the scatter
 * gives gain and readout noise (a given readout noise stays), and dark levels that differ from place to place are
 * subtracted from the image. */
db_status db_image_noise_estimate(db_context *context, db_measured_image *image,
                                  db_fit_settings *settings, db_image_noise *noise);

#endif
