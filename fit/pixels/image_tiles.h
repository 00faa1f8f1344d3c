/* A region of the image cut into tiles, each with a background plane of its own: the data of a
 * refinement with known structure factors. */
#ifndef DB_FIT_PIXELS_IMAGE_TILES_H
#define DB_FIT_PIXELS_IMAGE_TILES_H

#include "fit/pixels/fit_data.h"

/* Cuts the region of interest of the settings (or the whole image) into about square tiles, each on one panel.
 * Rows of the arrays are rows of the whole region. Trusted pixels between dmin and the settings' dmax get the
 * weight 1, in tiles with at least 30 % of them. */
db_status db_tiles_take(db_context *context, const db_experiment *experiment,
                        const db_fit_data *data, double dmin, db_fit_blocks *tiles);
void db_tiles_clear(db_fit_blocks *tiles);

#endif
