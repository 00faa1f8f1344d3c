/* Photons and signals of pixels of a row, with the bits of pixel_chain.h, which does one pixel after the other.
 * Here random numbers are drawn for a block of pixels, in loops that compilers vectorize. */
#ifndef DB_NOISE_DEVIATES_H
#define DB_NOISE_DEVIATES_H

#include "noise/noise_work.h"

enum { NOISE_BLOCK = 256 }; /* most pixels of a block */

/* Photons in `count` pixels of a row of the panel, from column `fast` on. */
void noise_photons_of_row(const noise_chain *c, int fast, int slow, int count,
                          const float *expected, double *light);

/* Signals (ADU) of pixels of at most a block, with this light (photons). */
void noise_signals_of_block(const noise_chain *c, int fast, int slow, int count,
                            const double *light, double *signal);

#endif
