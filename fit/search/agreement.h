/* How well points of reciprocal space agree with the nodes of a lattice, and whether chance may bring as many. */
#ifndef DB_FIT_SEARCH_AGREEMENT_H
#define DB_FIT_SEARCH_AGREEMENT_H

#include <dualbragg/fit.h>

/* What one spot says. */
typedef struct db_search_spot {
    double q[3], length; /* 1/angstrom, laboratory frame */
    double blur;         /* 1/angstrom: by which it may be off along the detector */
    double counts;
    double by_beam
        [2][3]; /* change of q for each pixel that the direct beam lies farther along fast, slow */
    double by_distance[3]; /* the same for a detector that is twice as far, at first order */
} db_search_spot;

/* Of a crystal as it stands at the start: columns a*, b*, c*; rows a, b, c; volume of the cell. */
typedef struct db_search_lattice {
    double a_star[9], real[9], volume;
} db_search_lattice;

typedef struct db_search_pose {
    double turn[9];  /* of the crystal, from where it stands at the start */
    double scale;    /* of scattering vectors, and so of the edges with which nodes meet them */
    double beam[2];  /* pixels that the direct beam lies farther along fast and slow */
    double distance; /* part that the detector is farther; its tilts are left out */
} db_search_pose;

db_status db_search_lattice_make(db_context *context, const double a_star[9],
                                 db_search_lattice *lattice);

/* The turned lattice, and what makes indices of scattering vectors. */
void db_search_lattice_turn(const db_search_lattice *lattice, const double turn[9],
                            double a_star[9], double to_index[9]);

/* How far (1/angstrom) a spot is from a node that made it, if orientations are off by an angle (degree). */
double db_search_tolerance(const db_search_spot *spot, double angle);

/* How probable it is that a random point is within a distance of a node. */
double db_search_chance(const db_search_lattice *lattice, double distance);

/* The node nearest to a scattering vector, and how far it is. */
double db_search_nearest(const double a_star[9], const double to_index[9], const double q[3],
                         double node[3]);

/* The scattering vector of a spot with the scale, the beam and the distance of a pose; moves spots there. */
void db_search_spot_at(const db_search_pose *pose, const db_search_spot *spot, double q[3]);
void db_search_spots_move(const db_search_pose *pose, db_search_spot *spots, size_t count);

/* Right-handed unit vectors: along u, and across it in its plane with v, as columns. */
void db_search_frame(const double u[3], const double v[3], double axes[9]);

/* Poses that are worth refining, the best first. */
enum { DB_SEARCH_CANDIDATES = 64 };
typedef struct db_search_candidate {
    double score;
    db_search_pose pose;
} db_search_candidate;
typedef struct db_search_candidates {
    size_t most, count;
    db_search_candidate list[DB_SEARCH_CANDIDATES];
} db_search_candidates;

/* Puts an item into a list of the highest scores, which are the first member of each (double), the highest first. Returns how
 * many there are then: `most` at most. */
size_t db_search_keep(const void *item, size_t size, void *list, size_t count, size_t most);

/* How well spots lie near nodes. Only spots count that chance would put near a node less than half
 * of the time. */
typedef struct db_agreement {
    size_t count, near; /* spots that count, and those near nodes */
    double by_chance;   /* of `near`, for a lattice turned at random */
    double score;       /* sum of -ln(chance) over those near */
    double tried;       /* ln of how many lattices beside its turns were tried */
} db_agreement;

/* Of a pose: a spot agrees within `times` its tolerance, with an error of `angle` degree. near: 1 for spots that agree,
 * else 0; may be NULL. */
db_agreement db_search_agreement(const db_search_lattice *lattice, const db_search_pose *pose,
                                 double times, double angle, const db_search_spot *spots,
                                 size_t count, unsigned char *near);

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

/* Of a shot of many not so much: of right models rows and smaller cells leave a margin of 0.7 at least for each spot
 * (docs/results/verdict.md), of which so much is asked. */
#define DB_MARGIN_PER_SPOT 0.25

#endif
