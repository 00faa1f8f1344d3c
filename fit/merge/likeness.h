/* Correlation of two lists of relative intensities, corrected for their errors. */
#ifndef DB_FIT_MERGE_LIKENESS_H
#define DB_FIT_MERGE_LIKENESS_H

#include <math.h>

/* Sums over pairs. A pair is weighted by its errors and the spread of intensities, whose variance is 1 by Wilson. */
typedef struct db_likeness {
    double n, x, y, xx, yy, xy;
} db_likeness;

/* Adds two intensities relative to the mean of their resolution, less 1, with the variances of their
 * errors. */
static inline void db_likeness_add(db_likeness *c, double a, double a_variance, double b,
                                   double b_variance) {
    const double weight = 1 / ((1 + a_variance) * (1 + b_variance));
    c->n += weight;
    c->x += weight * a;
    c->y += weight * b;
    c->xx += weight * (a * a - a_variance);
    c->yy += weight * (b * b - b_variance);
    c->xy += weight * a * b;
}

/* The correlation, 0 without pairs, and its standard error. */
static inline double db_likeness_value(const db_likeness *c, double *error) {
    /* of the variance of either list: below it the correlation means nothing */
    const double least = 0.2;
    const double n = c->n, xx = fmax(least, n > 0 ? c->xx / n - c->x * c->x / (n * n) : 0),
                 yy = fmax(least, n > 0 ? c->yy / n - c->y * c->y / (n * n) : 0);
    *error = n > 0 ? 1 / sqrt(n) : INFINITY;
    return n > 0 ? fmax(-1, fmin(1, (c->xy / n - c->x * c->y / (n * n)) / sqrt(xx * yy))) : 0;
}

#endif
