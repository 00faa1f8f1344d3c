/* What pixels of a row hold and read, with the bits of pixel_chain.h, which does one pixel after the
 * other. Here random numbers are drawn for a block of pixels at a time, in loops that compilers make
 * vectors of. */
#ifndef DB_NOISE_DEVIATES_H
#define DB_NOISE_DEVIATES_H

#include "noise/noise_work.h"

enum { NOISE_BLOCK = 256 }; /* pixels at a time, at most */

/* Photons in `count` pixels of a row of the panel, from column `fast` on. */
void noise_photons_of_row(const noise_chain *c, int fast, int slow, int count,
                          const float *expected, double *light);

/* Signals (ADU) of at most a block of pixels that hold this much light (photons). */
void noise_signals_of_block(const noise_chain *c, int fast, int slow, int count,
                            const double *light, double *signal);

#endif
