/* Gain of a detector in light that hardly varies, from the skewness of background pixels. */
#ifndef DB_FIT_PIXELS_THIRD_MOMENT_H
#define DB_FIT_PIXELS_THIRD_MOMENT_H

#include "fit/pixels/photon_step.h"

/* Finds the counts of a photon, many of which overlap. readout: standard deviation of readout noise; 0: not known. Leaves 0
 * counts if spots stand in most squares of the image. */
db_status db_third_moment_find(db_context *context, const db_measured_image *image, double readout,
                               db_photon_step *step);

#endif
