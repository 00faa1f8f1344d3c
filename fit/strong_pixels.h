/* Background and strong pixels of a measured image, independent of any model. */
#ifndef DB_FIT_STRONG_PIXELS_H
#define DB_FIT_STRONG_PIXELS_H

#include <dualbragg/fit.h>
#include <stdint.h>

typedef struct db_strong_pixels {
    float *background; /* counts: mean of the surroundings without outliers above */
    uint8_t *strong;   /* 1: exceeds the background by strong_sigma, among at least two others */
    size_t count;      /* strong pixels */
    size_t spots;      /* groups of touching strong pixels */
} db_strong_pixels;

/* settings: gain, readout_noise, strong_sigma, shoebox_half_width. */
db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong);
void db_strong_pixels_clear(db_strong_pixels *strong);

/* Variance (counts squared) that photons and readout give a pixel of so many expected counts. */
double db_pixel_variance(const db_fit_settings *settings, double counts);

#endif
