/* Orientation of a lattice of known cell from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_ORIENTATION_SEARCH_H
#define DB_FIT_SEARCH_ORIENTATION_SEARCH_H

#include <dualbragg/fit.h>

/* What one spot says. */
typedef struct db_search_spot {
    double q[3], length; /* 1/angstrom, laboratory frame */
    double blur;         /* 1/angstrom: by which it may be off along the detector */
    double counts;
    double by_beam
        [2][3]; /* change of q for each pixel that the direct beam lies farther along fast, slow */
} db_search_spot;

/* How well spots lie near nodes. Only spots count that chance would put near a node less than half
 * of the time. */
typedef struct db_agreement {
    size_t count, near; /* spots that count, and those near nodes */
    double by_chance;   /* of `near`, for a lattice turned at random */
    double score;       /* sum of -ln(chance) over those near */
    double tried;       /* ln of how many lattices beside its turns were tried */
} db_agreement;

/* ln of the probability that one lattice turned at random, of those that were tried with its turn, has as many spots
 * near its nodes. */
double db_agreement_log_probability(const db_agreement *agreement);

/* Whether chance explains one less well than another, of the same spots. */
int db_agreement_is_better(const db_agreement *one, const db_agreement *other);

/* Is a candidate so good that no other turn can be much better? A weaker criterion would not do:
 * turns that put a row or a layer of nodes onto that of the crystal also have more spots than
 * chance. */
int db_agreement_is_sure(const db_agreement *agreement);

/* A search tries millions of turns; an agreement less probable than this is not one that chance
 * finds. */
#define DB_AGREEMENT_SIGNIFICANT (-32.0)

/* Finds the turn (row-major rotation) that brings nodes of a* (columns, 1/angstrom) to most of the
 * spots, which go from low to high angles. lattices: how many crystals there may be, of which this finds one.
 * effort: 1, or a part of the work that may be spent. The identity, and no agreement, if there are none. */
db_status db_orientation_search(db_context *context, const double a_star[9],
                                const db_search_spot *spots, size_t count, size_t lattices,
                                double effort, double turn[9], db_agreement *agreement);

/* How spots agree with nodes of a* turned by `turn`, within so many of the tolerances of a crystal
 * that was found. near: 1 for those that are near a node, and else 0; spots that chance would put so
 * near half of the time do not count. */
db_agreement db_orientation_agreement(const double a_star[9], const double turn[9], double times,
                                      const db_search_spot *spots, size_t count,
                                      unsigned char *near);

#endif
