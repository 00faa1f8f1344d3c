/* Pixels of measured images: those of several panels, which lie one below the other, how far
 * noise moves their counts, and which count what no photon brought. */
#ifndef DB_FIT_PIXELS_MEASURED_IMAGE_H
#define DB_FIT_PIXELS_MEASURED_IMAGE_H

#include <dualbragg/fit.h>

static inline size_t db_measured_panels(const db_measured_image *image) {
    return image->panel_count > 1 ? image->panel_count : 1;
}

/* First row of a panel, and how many it has. */
static inline int db_measured_first_row(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].first_row : 0;
}
static inline int db_measured_rows(const db_measured_image *image, size_t panel) {
    return image->panel_count > 1 ? image->panels[panel].slow_pixels : image->slow_pixels;
}

/* Where pixel (fast, slow), counted from a region's first one, is in the image. */
static inline size_t db_measured_index(const db_measured_image *image, const db_region *region,
                                       int fast, int slow) {
    const int row = db_measured_first_row(image, region->panel) + region->slow_start + slow;
    return (size_t)row * (size_t)image->fast_pixels + (size_t)(region->fast_start + fast);
}

/* One panel as an image of its own; borrows the pixels. */
static inline db_measured_image db_measured_panel(const db_measured_image *image, size_t panel) {
    const size_t first = (size_t)db_measured_first_row(image, panel) * (size_t)image->fast_pixels;
    db_measured_image one = *image;
    one.slow_pixels = db_measured_rows(image, panel);
    one.value += first;
    one.mask += first;
    one.panel_count = 0;
    one.panels = NULL;
    return one;
}

/* Variance (counts squared) that photons and readout give a pixel of so many expected counts. Half
 * a photon at least: an empty surrounding does not make one count significant. */
static inline double db_count_variance(double gain, double readout_noise, double counts) {
    const double least = 0.5 * gain;
    return gain * (counts > least ? counts : least) + readout_noise * readout_noise;
}
static inline float db_count_variance_float(float gain, float readout_variance, float counts) {
    const float least = 0.5F * gain;
    return gain * (counts > least ? counts : least) + readout_variance;
}
static inline double db_pixel_variance(const db_fit_settings *settings, double counts) {
    return db_count_variance(settings->gain, settings->readout_noise, counts);
}

/* Masks as bad every trusted pixel that exceeds the median of the 24 around it by `sigma` standard
 * deviations while none of its eight neighbours has more than 5 % of its excess plus three standard
 * deviations: light that a lens, a phosphor or a crystal brings falls on more than one pixel.
 * Returns how many. */
size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image);

#endif
