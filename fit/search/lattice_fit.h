/* Lattices fitted to points of reciprocal space: freely, or with the ties of a symmetry. */
#ifndef DB_FIT_SEARCH_LATTICE_FIT_H
#define DB_FIT_SEARCH_LATTICE_FIT_H

#include "fit/config/crystal_system.h"
#include "fit/search/agreement.h"

typedef struct db_lattice {
    double real[9];  /* rows a, b, c (angstrom, laboratory frame) */
    double beam[2];  /* pixels by which the direct beam is farther along fast and slow */
    double distance; /* fraction by which the detector is farther */
    double tilt[2];  /* the same for pixels that are 1000 farther along fast, slow */
} db_lattice;

/* Volume of the parallelepiped of three vectors (rows), negative if they are left-handed. */
double db_lattice_volume(const double real[9]);

/* Edges of a cell in the standard frame. */
void db_lattice_rows(const double cell[6], double real[9]);

/* Agreement of spots with nodes of a lattice, within the tolerance of an angle (degree). near: 1 for spots near a
 * node; may be NULL. */
db_agreement db_lattice_agreement(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count, unsigned char *near);

/* ln of the probability, 0 or below, that spots near rows of nodes are near nodes as often by chance; the largest
 * of the rows along a*, b* and c*. A lattice with only two right translations has many spots on rows. */
double db_lattice_row_probability(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count);

/* Tolerance of a crystal that was found, degree. */
#define DB_LATTICE_ANGLE 0.3

/* Moves lattice and beam so that nodes are nearest to their spots, with narrower and narrower tolerances. near:
 * room for `count`. */
void db_lattice_fit(db_lattice *lattice, const db_search_spot *spots, size_t count,
                    unsigned char *near);

/* What a fit holds of the detector's place, which it would fit otherwise. On a flat Ewald sphere spots do not tell the distance
 * from the size of the cell, and hardly tilts from the orientation. */
typedef enum db_lattice_held {
    DB_LATTICE_HOLDS_NOTHING,
    DB_LATTICE_HOLDS_DISTANCE,
    DB_LATTICE_HOLDS_TILTS /* and the distance */
} db_lattice_held;

/* As db_lattice_fit for a lattice whose rows, times integers, are the edges of a cell that keeps ties; also fits
 * the distance, unless it is held, because a free lattice would compensate for it. Then spots count by how well they
 * are known, in their places and in the turns of nodes to the Ewald sphere, and tilts are fitted, too, unless they are
 * held. Returns the spread of spots about nodes: the square of the width of places (pixels) times the width of turns
 * (degree); NAN: spots do not determine the lattice. */
double db_lattice_fit_tied(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                           db_lattice_held held, const db_search_spot *spots, size_t count,
                           unsigned char *near);

/* As db_lattice_fit_tied; returns the log likelihood of all spots about nodes, but for a constant. */
double db_lattice_likelihood(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                             db_lattice_held held, const db_search_spot *spots, size_t count,
                             unsigned char *near);

/* The rotation nearest to the map between two sets of rows; `turn` stays if the first are in a plane. */
void db_lattice_nearest_turn(const double from[9], const double to[9], double turn[9]);

enum { DB_LATTICE_PARTS = 4, DB_NO_LATTICE_PART = 255 };

/* Divides spots into quarters of neighbours on the detector. at: room for 2 `count`. */
void db_lattice_cut_parts(const db_search_spot *spots, size_t count, double *at,
                          unsigned char *part);

/* What spots say of a lattice that was not fitted to them. */
typedef struct db_lattice_evidence {
    double likelihood; /* log, but for a constant; NAN: spots do not determine the lattice */
    /* times by which it is more below that of fitted spots than independent errors explain; at least 1 */
    double excess;
} db_lattice_evidence;

/* Evidence of the spots of each part about the nodes of the lattice that is fitted to the other parts, as by
 * db_lattice_fit_tied. A fit of n numbers has a log likelihood that is higher by about n at the fitted spots than at others, if
 * errors are independent (Akaike). In a bent crystal, or on a detector that stands elsewhere, errors of neighbours are alike:
 * they count as fewer errors, by the factor `excess` (Takeuchi). part: of each spot, or DB_NO_LATTICE_PART, which is not judged.
 * others, near: room for `count`. */
db_lattice_evidence db_lattice_held_out(const db_lattice *from, const int integers[9],
                                        const db_cell_ties *ties, db_lattice_held held,
                                        const db_search_spot *spots, size_t count,
                                        const unsigned char *part, db_search_spot *others,
                                        unsigned char *near);

#endif
