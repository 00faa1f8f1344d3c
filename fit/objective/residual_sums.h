/* Sums over pixels that tell how well a model describes them. */
#ifndef DB_FIT_OBJECTIVE_RESIDUAL_SUMS_H
#define DB_FIT_OBJECTIVE_RESIDUAL_SUMS_H

#include <math.h>
#include <stddef.h>

/* bragg: the model's; excess: measured minus background. */
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

#endif
