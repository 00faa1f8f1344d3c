/* Background and strong pixels of a measured image, independent of any model. */
#ifndef DB_FIT_PIXELS_STRONG_PIXELS_H
#define DB_FIT_PIXELS_STRONG_PIXELS_H

#include <dualbragg/fit.h>
#include <stdint.h>

/* Strong pixels are counted in squares of so many pixels. */
enum { DB_STRONG_SQUARE = 16 };

typedef struct db_strong_pixels {
    float *background;   /* counts: mean of the surroundings without outliers above, or the smooth
                            surface that settings.background asks for */
    uint8_t *strong;     /* 1: exceeds the background by strong_sigma, among at least two others */
    size_t count;        /* strong pixels */
    size_t spots;        /* groups of touching strong pixels */
    uint16_t *in_square; /* strong pixels in each square of the sheet, row by row */
    size_t squares[2];   /* along fast, slow */
} db_strong_pixels;

/* settings: gain, readout_noise, strong_sigma, shoebox_half_width, background. */
db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong);
void db_strong_pixels_clear(db_strong_pixels *strong);

/* No more strong pixels than this are in a part of the sheet: those of the squares that it touches,
 * which is far less work than to count pixels. Inclusive limits, in pixels of the sheet. */
size_t db_strong_pixels_at_most(const db_strong_pixels *strong, const int fast[2],
                                const int slow[2]);

/* Variance (counts squared) that photons and readout give a pixel of so many expected counts. Half
 * a photon at least: an empty surrounding does not make one count significant. */
static inline double db_count_variance(double gain, double readout_noise, double counts) {
    const double least = 0.5 * gain;
    return gain * (counts > least ? counts : least) + readout_noise * readout_noise;
}
static inline double db_pixel_variance(const db_fit_settings *settings, double counts) {
    return db_count_variance(settings->gain, settings->readout_noise, counts);
}

#endif
