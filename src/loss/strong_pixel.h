/* Strong pixels: the place of a spot, and whether the model explains them. */
#ifndef DB_LOSS_STRONG_PIXEL_H
#define DB_LOSS_STRONG_PIXEL_H

#include "ad/names.h"

/* Sums of a weight, and of the weight times fast and slow. */
typedef struct db_place_sums {
    double weight, fast, slow;
} db_place_sums;

AD_FN void db_place_add(double weight, int fast, int slow, db_place_sums *m) {
    m->weight += weight;
    m->fast += weight * fast;
    m->slow += weight * slow;
}

/* Does the model explain a strong pixel? Its Bragg part is between half and twice the excess over the background:
 * too bright is as wrong as too faint. */
AD_FN int db_pixel_explained(double bragg, double value, double background) {
    const double excess = value - background;
    return bragg > 0.5 * excess && bragg < 2 * excess;
}

#endif
