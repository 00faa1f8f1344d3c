/* Counts that no photon brought, where they differ from place to place. */
#ifndef DB_FIT_PIXELS_DARK_LEVELS_H
#define DB_FIT_PIXELS_DARK_LEVELS_H

#include <dualbragg/fit.h>

/* Background is looked at in squares; pixels that are compared lie so far from each other that they
 * share no photon, and so near that the background is the same. */
enum { DB_NOISE_SQUARE = 32, DB_NOISE_APART = 3, DB_NOISE_ENOUGH = 20 /* squares */ };

typedef struct db_image_noise {
    int measured;   /* gain and readout noise are measured */
    int by_steps;   /* the gain is the step of counts of which most are 0 */
    int has_dark;   /* dark levels were subtracted */
    double dark[2]; /* the least and the largest of them (counts) */
} db_image_noise;

/* Variance and mean of the background in squares of an image. Where one law, variance = gain mean +
 * readout_noise^2, describes them, gain and readout noise are those of the law. Where not, because
 * the dark level differs from place to place (panels of an integrating detector whose common mode
 * was not subtracted exactly), the gain is the step between counts, the scatter alone gives the
 * background's photons, and the rest of the mean is the dark level, which pixels lose.
 * noise->measured: gain and readout noise are to be set; a readout noise that is not 0 stays. */
db_status db_dark_levels_find(db_context *context, db_measured_image *image,
                              db_fit_settings *settings, db_image_noise *noise);

/* Adds what was subtracted to counts of the same pixels. */
void db_dark_levels_add(const db_measured_image *image, float *counts);

#endif
