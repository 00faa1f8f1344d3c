/* Lattices fitted to points of reciprocal space: freely, or with the cell that a symmetry leaves. */
#ifndef DB_FIT_SEARCH_LATTICE_FIT_H
#define DB_FIT_SEARCH_LATTICE_FIT_H

#include "fit/config/crystal_system.h"
#include "fit/search/agreement.h"

typedef struct db_lattice {
    double real[9];  /* rows a, b, c (angstrom, laboratory frame) */
    double beam[2];  /* pixels that the direct beam lies farther along fast and slow */
    double distance; /* part that the detector is farther; its tilts are left out */
    double misfit; /* mean square of distances from nodes, in tolerances, of the spots near them */
} db_lattice;

/* Of the parallelepiped of three vectors, which are rows; its sign is their hand. */
double db_lattice_volume(const double real[9]);

/* Edges of a cell that stands as a model's does without orientation. */
void db_lattice_rows(const double cell[6], double real[9]);

/* How spots agree with the nodes of a lattice, within the tolerance of an angle (degree). near: 1 for
 * those near a node; may be NULL. */
db_agreement db_lattice_agreement(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count, unsigned char *near);

/* ln of the probability that spots which lie near rows of nodes are as often near nodes by chance, where it is the
 * largest of the rows along a*, b* and c*: 0 and below. A lattice of which two translations are right has many spots on
 * rows. */
double db_lattice_row_probability(const db_lattice *lattice, double angle,
                                  const db_search_spot *spots, size_t count);

/* The tolerance of a crystal that was found. */
#define DB_LATTICE_ANGLE 0.3

/* Moves lattice and beam so that nodes lie nearest to their spots, with narrower and narrower tolerances. near: room
 * for `count`. */
void db_lattice_fit(db_lattice *lattice, const db_search_spot *spots, size_t count,
                    unsigned char *near);

/* The same for a lattice whose rows, times integers, are the edges of a cell that keeps ties; with the distance, which a
 * free lattice would make up for, if it is not known. */
void db_lattice_fit_tied(db_lattice *lattice, const int integers[9], const db_cell_ties *ties,
                         int distance_known, const db_search_spot *spots, size_t count,
                         unsigned char *near);

#endif
