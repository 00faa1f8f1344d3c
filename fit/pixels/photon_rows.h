/* Rows of a square of pixels, whose differences tell the counts of a photon (fit/pixels/photon_step.c): sums of cosines,
 * compiled for each instruction set. */
#ifndef DB_FIT_PIXELS_PHOTON_ROWS_H
#define DB_FIT_PIXELS_PHOTON_ROWS_H

#include "base/compiled_isas.h"
#include "base/context_internal.h"

enum {
    DB_PHOTON_PAIRS = 32,  /* of a row, some of which are unknown */
    DB_PHOTON_POINTS = 32, /* at which cosines are taken */
    DB_PHOTON_SERIES = 2 /* of angles: each point has twice the angle of the one this many before */
};

typedef struct db_photon_row {
    double difference[DB_PHOTON_PAIRS];                /* of pairs of pixels (counts) */
    double known[DB_PHOTON_PAIRS];                     /* 1: both pixels are trusted; 0 */
    double both[DB_PHOTON_PAIRS];                      /* 1: known here and in the row above; 0 */
    double versine[DB_PHOTON_SERIES][DB_PHOTON_PAIRS]; /* 1 - cosine at the next points */
    double cosine[DB_PHOTON_POINTS][DB_PHOTON_PAIRS];  /* filled */
} db_photon_row;

/* Adds, at each point, the sum of the cosines of known pairs, and the sum of their products with those above. */
typedef void (*db_photon_row_adder)(db_photon_row *row, const db_photon_row *above,
                                    double value[DB_PHOTON_POINTS],
                                    double together[DB_PHOTON_POINTS]);

/* The same bits with any instruction set. */
db_photon_row_adder db_photon_row_adder_of(db_isa isa);

#endif
