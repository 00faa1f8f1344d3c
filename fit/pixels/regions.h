/* Regions of neighbouring places on the detector, of equal numbers of them. */
#ifndef DB_FIT_PIXELS_REGIONS_H
#define DB_FIT_PIXELS_REGIONS_H

#include "fit/pixels/geometry.h"

typedef struct db_place {
    double q[3]; /* scattering vector (db_fit_geometry_scattering) */
    double key;
    size_t number; /* of what is there */
} db_place;

/* Orders places by regions, as many as a power of 2: halves the list across its longest extent, and
 * its halves again. */
void db_regions_cut(db_place *list, size_t count, int regions);

/* The first of `count` places that is in a region; of the one after the last: count. */
static inline size_t db_region_start(size_t count, int regions, int region) {
    return count * (size_t)region / (size_t)regions;
}

#endif
