/* One image whose background and strong pixels are wanted, as a device is handed it. */
#ifndef DB_SURROUNDINGS_WORK_H
#define DB_SURROUNDINGS_WORK_H

#include "surroundings/band.h"

#include <dualbragg/measured_image.h>

/* The first with all trusted pixels, the others without what exceeds the means of the last one. */
enum { DB_SURROUNDINGS_PASSES = 5 };

typedef struct db_surroundings_work {
    const db_measured_image *image;
    int half_width; /* at most DB_SURROUNDINGS_WIDEST */
    double gain, readout_noise;
    double limit; /* of strong pixels: variances */
    float *background;
    uint8_t *strong;
    const db_background_rows *rows; /* which packs pixels for the device, and unpacks them */
    float most; /* counts: whole numbers of at most so many have sums that no order changes */
} db_surroundings_work;

#endif
