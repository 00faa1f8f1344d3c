/* Agreement of points of reciprocal space with the nodes of a lattice, and the probability that chance brings as
 * many. */
#ifndef DB_FIT_SEARCH_AGREEMENT_H
#define DB_FIT_SEARCH_AGREEMENT_H

#include <dualbragg/fit.h>

/* A spot of a search. */
typedef struct db_search_spot {
    double q[3], length; /* 1/angstrom, laboratory frame */
    double blur;         /* 1/angstrom: possible error along the detector */
    double counts;
    double by_beam[2][3];  /* change of q if the direct beam is a pixel farther along fast, slow */
    double by_distance[3]; /* change of q if the detector is twice as far, to first order */
} db_search_spot;

/* A crystal as it is at the start: columns a*, b*, c*; rows a, b, c; volume of the cell. */
typedef struct db_search_lattice {
    double a_star[9], real[9], volume;
} db_search_lattice;

typedef struct db_search_pose {
    double turn[9]; /* rotation of the crystal from the start */
    double scale;   /* factor on scattering vectors, and so on the edges whose nodes meet them */
    /* parts by which edges are longer than that: of the lattice that spots meet */
    double longer[3];
    double beam[2];  /* pixels by which the direct beam is farther along fast and slow */
    double distance; /* fraction by which the detector is farther; its tilts are ignored */
} db_search_pose;

db_status db_search_lattice_make(db_context *context, const double a_star[9],
                                 db_search_lattice *lattice);

/* Makes edges longer by these parts. */
void db_search_lattice_stretch(const double longer[3], db_search_lattice *lattice);

/* The turned lattice, and its inverse, which gives indices of scattering vectors. */
void db_search_lattice_turn(const db_search_lattice *lattice, const double turn[9],
                            double a_star[9], double to_index[9]);

/* Possible distance (1/angstrom) of a spot from its node, if orientations are wrong by an angle (degree). */
double db_search_tolerance(const db_search_spot *spot, double angle);

/* Probability that a random point is within a distance of a node. */
double db_search_chance(const db_search_lattice *lattice, double distance);

/* The node nearest to a scattering vector, and its distance. */
double db_search_nearest(const double a_star[9], const double to_index[9], const double q[3],
                         double node[3]);

/* The scattering vector of a spot with the scale, the beam and the distance of a pose; moves spots to it. */
void db_search_spot_at(const db_search_pose *pose, const db_search_spot *spot, double q[3]);
void db_search_spots_move(const db_search_pose *pose, db_search_spot *spots, size_t count);

/* Right-handed unit vectors as columns: along u, and across u in the plane of u and v. */
void db_search_frame(const double u[3], const double v[3], double axes[9]);

/* Number of poses to refine, the best first. */
enum { DB_SEARCH_CANDIDATES = 64 };
typedef struct db_search_candidate {
    double score;
    db_search_pose pose;
} db_search_candidate;
typedef struct db_search_candidates {
    size_t most, count;
    db_search_candidate list[DB_SEARCH_CANDIDATES];
} db_search_candidates;

/* Inserts an item into a list with the highest scores first; the score is the first member of each item (double).
 * Returns the number of items, `most` at most. */
size_t db_search_keep(const void *item, size_t size, void *list, size_t count, size_t most);

/* Agreement of spots with nodes. A spot counts if chance would put it near a node less than half of the time. */
typedef struct db_agreement {
    size_t count, near; /* spots that count, and those near nodes */
    double by_chance;   /* expected `near` for a random orientation */
    double score;       /* sum of -ln(chance) over those near */
    double tried;       /* ln of the number of lattices that were tried, beside its turns */
} db_agreement;

/* Agreement of a pose: a spot agrees within `times` its tolerance, for an error of `angle` degree. near: 1 for
 * spots that agree, else 0; may be NULL. */
db_agreement db_search_agreement(const db_search_lattice *lattice, const db_search_pose *pose,
                                 double times, double angle, const db_search_spot *spots,
                                 size_t count, unsigned char *near);

/* ln of the probability that one of the tried lattices has as many spots near its nodes in a random orientation. */
double db_agreement_log_probability(const db_agreement *agreement);

/* Is one agreement less probable by chance than another, for the same spots? */
int db_agreement_is_better(const db_agreement *one, const db_agreement *other);

/* Is an agreement so good that no other turn can be much better? A weaker criterion would not suffice: turns that
 * put a row or a layer of nodes onto one of the crystal also have more spots than chance. */
int db_agreement_is_sure(const db_agreement *agreement);

/* Margin for each spot of a shot of many. Right models have at least 0.7 over rows and smaller cells
 * (docs/results/verdict.md). */
#define DB_MARGIN_PER_SPOT 0.25

/* Number of spots that confirm a right model by themselves: their margins then become significant. */
enum { DB_ENOUGH_JUDGED = 128 };

#endif
