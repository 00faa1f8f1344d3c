/* A region of the image cut into tiles, each with a background plane of its own: the data of a
 * refinement with known structure factors. */
#ifndef DB_FIT_PIXELS_IMAGE_TILES_H
#define DB_FIT_PIXELS_IMAGE_TILES_H

#include "fit/pixels/fit_data.h"

typedef struct db_tiles {
    db_region region; /* all of it, in the image of all panels; rows of the arrays are its rows */
    size_t count;
    db_region *tile;       /* [count]; offsets into the arrays */
    float *value, *weight; /* counts; 1/variance, 0: not used */
    float *background;     /* local background (counts) */
    float *shape_variance; /* part of the variance that is the spots' shape error (counts^2) */
} db_tiles;

/* Cuts the region of interest of the settings (or the whole image) into about square tiles, each of
 * one panel. Used are trusted pixels between dmin and the settings' dmax, in tiles where they are
 * at least 30 %. */
db_status db_tiles_take(db_context *context, const db_experiment *experiment,
                        const db_fit_data *data, double dmin, db_tiles *tiles);
void db_tiles_clear(db_tiles *tiles);

/* The tiles as blocks of pixels; the arrays stay theirs. */
db_fit_blocks db_tiles_blocks(const db_tiles *tiles);

#endif
