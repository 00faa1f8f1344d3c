/* Prediction of reflections near the Ewald sphere, and their places.  The formula that renders spots in closed
 * form predicts them (dualbragg/spots.h); sampled spots are Gaussians of the same spread. */
#ifndef DB_FIT_PIXELS_PREDICT_H
#define DB_FIT_PIXELS_PREDICT_H

#include "fit/pixels/geometry.h"

typedef struct db_reflection {
    int hkl[3];
    double d_spacing;     /* angstrom */
    double excitation;    /* rotation that would bring it onto the Ewald sphere (degree, signed) */
    size_t panel;         /* panel on which it would then appear ... */
    double position[2];   /* ... and place (pixels of the panel, fast, slow) */
    double apart;         /* distance to the sphere in standard deviations */
    double recorded;      /* recorded fraction of its intensity, 0 to 1 */
    double covariance[3]; /* pixels^2: fast, slow, mixed */
    double wavelength[2]; /* of its photons (A): mean and standard deviation */
} db_reflection;

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

typedef struct db_prediction {
    size_t count;
    db_reflection *reflection; /* owned */
} db_prediction;

typedef struct db_prediction_range {
    double dmin, dmax;       /* angstrom; dmin 0: all that the panels record; dmax 0: no limit */
    double excitation_angle; /* degree, beyond three standard deviations */
} db_prediction_range;

/* All reflections on the panels within the range, in the order of h, k, l. */
db_status db_predict(db_context *context, const db_experiment *experiment,
                     const db_prediction_range *range, db_prediction *prediction);
void db_prediction_clear(db_prediction *prediction);

#endif
