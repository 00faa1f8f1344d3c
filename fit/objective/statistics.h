/* Agreement of a model with the data. */
#ifndef DB_FIT_OBJECTIVE_STATISTICS_H
#define DB_FIT_OBJECTIVE_STATISTICS_H

#include "fit/pixels/shoeboxes.h"
#include "fit/objective/objective.h"
#include "loss/strong_pixel.h"

#include <math.h>

/* Sums over pixels for the agreement of model and data. bragg: model without background; excess: measured minus
 * background. */
typedef struct db_residual_sums {
    size_t pixels;
    double chi2, square, absolute, absolute_excess, bragg, excess, bragg2, excess2, product;
} db_residual_sums;

static inline void db_residual_add(db_residual_sums *m, double weight, double excess,
                                   double bragg) {
    const double residual = excess - bragg;
    m->pixels++;
    m->chi2 += weight * residual * residual;
    m->square += residual * residual;
    m->absolute += fabs(residual);
    m->absolute_excess += fabs(excess);
    m->bragg += bragg;
    m->excess += excess;
    m->bragg2 += bragg * bragg;
    m->excess2 += excess * excess;
    m->product += bragg * excess;
}

/* Correlation of Bragg part and excess; NAN if one of them does not vary. */
static inline double db_residual_correlation(const db_residual_sums *m) {
    const double n = (double)m->pixels;
    const double variances =
        (m->bragg2 - m->bragg * m->bragg / n) * (m->excess2 - m->excess * m->excess / n);
    return variances > 0 ? (m->product - m->bragg * m->excess / n) / sqrt(variances) : (double)NAN;
}

/* Fills pixels, chi2, chi2_reduced, rms_residual and correlation from the last evaluation. Outliers of robust
 * targets count with their weight. */
void db_statistics_residuals(const db_objective *objective, db_fit_statistics *statistics);

/* centroid_rms over the boxes with both centroids; NAN if there are none. The blocks are the boxes. */
void db_statistics_centroids(const db_objective *objective, const db_shoeboxes *boxes,
                             db_fit_statistics *statistics);

/* Observed minus model centroid of a box (pixels, fast, slow); 0 if one of them cannot be located.
 */
int db_statistics_centroid_offset(const db_objective *objective, const db_shoeboxes *boxes,
                                  size_t b, double offset[2]);

/* Strong pixels in use that the model explains. */
size_t db_statistics_explained(const db_objective *objective, const db_fit_data *data);

/* Strong pixels of the image, or of the region of interest, in the resolution range of the
 * settings. */
db_status db_statistics_strong_pixels(db_context *context, const db_experiment *experiment,
                                      const db_fit_data *data, size_t *count);

#endif
