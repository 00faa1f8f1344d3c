/* Orientation of a lattice of known cell from points of reciprocal space. */
#ifndef DB_FIT_ORIENTATION_SEARCH_H
#define DB_FIT_ORIENTATION_SEARCH_H

#include <dualbragg/fit.h>
#include <math.h>

/* What one spot says. */
typedef struct db_search_spot {
    double q[3], length; /* 1/angstrom, laboratory frame */
    double blur;         /* 1/angstrom: by which it may be off along the detector */
    double counts;
} db_search_spot;

/* How well spots lie near nodes. A spot counts the more the less probable it is that it is near
 * one by chance; those of which that is an even chance do not count. */
typedef struct db_agreement {
    size_t count, near;           /* spots that count, and those near nodes */
    double by_chance;             /* of `near`, for a lattice turned at random */
    double score, mean, variance; /* sum of -ln(chance) over those near; of random turns */
} db_agreement;

/* Standard deviations above chance. */
static inline double db_agreement_excess(const db_agreement *a) {
    return a->variance > 0 ? (a->score - a->mean) / sqrt(a->variance) : 0;
}

/* Finds the turn (row-major rotation) that brings nodes of a* (columns, 1/angstrom) to most of the
 * spots, which go from low to high angles. The identity, and no agreement, if there are none. */
db_status db_orientation_search(db_context *context, const double a_star[9],
                                const db_search_spot *spots, size_t count, double turn[9],
                                db_agreement *agreement);

#endif
