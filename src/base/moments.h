/* Mean, spread and correlation of values that come one by one, without cancellation: B. P. Welford, Technometrics
 * 4 (1962) 419. */
#ifndef DB_BASE_MOMENTS_H
#define DB_BASE_MOMENTS_H

#include <math.h>
#include <stddef.h>

typedef struct db_moments {
    size_t count;
    double mean, deviation; /* sum of squared deviations from the mean */
    double smallest, largest;
} db_moments;

static inline void db_moments_add(db_moments *m, double x) {
    const double delta = x - m->mean;
    if (!m->count || x < m->smallest) m->smallest = x;
    if (!m->count || x > m->largest) m->largest = x;
    m->count++;
    m->mean += delta / (double)m->count;
    m->deviation += delta * (x - m->mean);
}

/* Root mean square deviation from the mean; NAN without values. */
static inline double db_moments_rmsd(const db_moments *m) {
    return m->count ? sqrt(m->deviation / (double)m->count) : NAN;
}

static inline double db_moments_rms(const db_moments *m) {
    return hypot(m->count ? m->mean : NAN, db_moments_rmsd(m));
}

/* Moments of pairs. */
typedef struct db_co_moments {
    db_moments x, y;
    double product; /* sum of products of the deviations */
} db_co_moments;

static inline void db_co_moments_add(db_co_moments *m, double x, double y) {
    const double delta = x - m->x.mean;
    db_moments_add(&m->x, x);
    db_moments_add(&m->y, y);
    m->product += delta * (y - m->y.mean);
}

/* Pearson's coefficient; NAN if one of the two does not vary. */
static inline double db_co_moments_correlation(const db_co_moments *m) {
    return m->product / sqrt(m->x.deviation * m->y.deviation);
}

#endif
