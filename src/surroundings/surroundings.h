/* Background and strong pixels of a measured image, from the surroundings of each pixel, without a model. */
#ifndef DB_SURROUNDINGS_SURROUNDINGS_H
#define DB_SURROUNDINGS_SURROUNDINGS_H

#include <dualbragg/measured_image.h>

/* Widest surroundings whose pixels can be counted with 16 bits. */
enum { DB_SURROUNDINGS_WIDEST = 127 };

typedef struct db_surroundings_options {
    int half_width;             /* pixels; more than DB_SURROUNDINGS_WIDEST count as that */
    double gain, readout_noise; /* counts */
    double strong_sigma;
} db_surroundings_options;

/* Mean of the trusted pixels within half_width pixels in each direction, on the pixel's own panel. Pixels that
 * exceed it by more than three standard deviations (photons and readout noise) are left out, repeatedly until
 * spots are gone; masked pixels never count. strong: 1 for trusted pixels that exceed this mean by strong_sigma, else 0.
 * background: such a mean without pixels that exceed it by more than noise does (db_surroundings_lit), and without the
 * eight around each, which have tails of its spot. Both are laid out like the image's pixels. */
DB_API db_status db_surroundings_find(db_context *context, const db_measured_image *image,
                                      const db_surroundings_options *options, float *background,
                                      uint8_t *strong);

#endif
