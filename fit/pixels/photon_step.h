/* Counts of a photon, from single photons of the background. */
#ifndef DB_FIT_PIXELS_PHOTON_STEP_H
#define DB_FIT_PIXELS_PHOTON_STEP_H

#include <dualbragg/fit.h>

/* Squares of background. Compared pixels are so far from each other that they share no photon, and so near that
 * they have the same background. */
enum { DB_NOISE_SQUARE = 32, DB_NOISE_APART = 3, DB_NOISE_ENOUGH = 20 /* squares */ };
enum { DB_NOISE_LEAST_PART = 4 }; /* fraction of a square's pixels that must be trusted: one of */
#define DB_NOISE_MORE 2.          /* factor on the variance that photons would have */

/* Distance between first pixels of squares of which an image has about a given number. */
int db_noise_squares_apart(const db_measured_image *image, int squares);

typedef struct db_photon_step {
    double counts; /* of a photon; 0: single photons cannot be told from noise */
    double error;  /* standard error, from the scatter between squares of the image (counts) */
    int is_sharp;  /* photons are all alike, as spots of single pixels never are */
} db_photon_step;

/* Finds the counts of a photon (1 to some 1700) whatever the dark level and the readout noise, if the background has few
 * enough photons, and enough of them. */
db_status db_photon_step_find(db_context *context, const db_measured_image *image,
                              db_photon_step *step);

/* Finds the counts of a photon, many of which overlap, from the skewness of background pixels. readout: standard deviation of
 * readout noise; 0: not known. Leaves 0 counts if spots stand in most squares of the image. */
db_status db_third_moment_find(db_context *context, const db_measured_image *image, double readout,
                               db_photon_step *step);

#endif
