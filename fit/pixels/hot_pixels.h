/* Pixels that count what no photon brought. */
#ifndef DB_FIT_PIXELS_HOT_PIXELS_H
#define DB_FIT_PIXELS_HOT_PIXELS_H

#include <dualbragg/fit.h>

/* Masks as bad every trusted pixel that exceeds the median of the 24 around it by `sigma` standard
 * deviations while none of its eight neighbours has more than 5 % of its excess plus three standard
 * deviations: light that a lens, a phosphor or a crystal brings falls on more than one pixel.
 * Returns how many. */
size_t db_mask_hot_pixels(const db_fit_settings *settings, double sigma, db_measured_image *image);

#endif
