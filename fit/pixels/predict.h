/* Prediction of reflections near the Ewald sphere, and their places.  The formula that renders spots in closed
 * form predicts them (dualbragg/spots.h); sampled spots are Gaussians of the same spread. */
#ifndef DB_FIT_PIXELS_PREDICT_H
#define DB_FIT_PIXELS_PREDICT_H

#include "fit/pixels/geometry.h"

#include <dualbragg/spots.h>

/* Order by h, k, l: less than, equal to or greater than 0. */
static inline int db_compare_hkl(const int a[3], const int b[3]) {
    for (int i = 0; i < 3; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* Order of two db_fit_spot by h, k, l, for qsort. */
static inline int db_spots_by_hkl(const void *a, const void *b) {
    return db_compare_hkl(((const db_fit_spot *)a)->hkl, ((const db_fit_spot *)b)->hkl);
}

typedef struct db_prediction_range {
    double dmin, dmax;       /* angstrom; dmin 0: all that the panels record; dmax 0: no limit */
    double excitation_angle; /* degree, beyond three standard deviations */
    int centring; /* of a named symmetry (db_fit_settings): forbids reflections; 0: none */
} db_prediction_range;

/* All reflections on the panels within the range that the centring allows, for structure factors of 1, in the order of h, k,
 * l. */
db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_predicted_spots *prediction);

/* Predicts listed reflections again, by another model of the image, e.g. the refined one. spot: in the order of db_predict;
 * recorded and photons of those that are no longer predicted within excitation_angle become 0. Two that are one now share
 * it. */
db_status db_predict_again(db_context *context, const db_experiment *experiment,
                           double excitation_angle, db_spot *spot, size_t count);

#endif
