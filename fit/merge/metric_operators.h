/* Other ways to index a lattice: rotations that keep the metric of the cell, but are no symmetry of the crystal.
 * If intensities differ under such a rotation, a single shot does not show the way in which it was indexed. */
#ifndef DB_FIT_MERGE_METRIC_OPERATORS_H
#define DB_FIT_MERGE_METRIC_OPERATORS_H

#include <dualbragg/experiment.h>
#include <dualbragg/reflections.h>

/* No lattice has more rotations. */
enum { DB_MOST_INDEXINGS = 24, DB_INDEXING_PARTS = 24, DB_INDEXING_TEXT = 80 };

/* Changes indices, and edges, to h' = P h / 24 (P of centred lattices may contain fractions). */
typedef struct db_indexing {
    int matrix[9];
    double strain; /* largest change of an edge (relative) or an angle (radian) */
} db_indexing;

/* One of each set of ways that the crystal's rotations make equivalent; the first is the identity. */
typedef struct db_indexings {
    int count;
    db_indexing way[DB_MOST_INDEXINGS];
} db_indexings;

/* tolerance: largest strain. */
void db_indexings_find(const double cell[6], const db_space_group *group, double tolerance,
                       db_indexings *indexings);

/* Ways to index a cell of which each forbids other reflections by a centring (R in hexagonal axes: as it is, and turned to
 * reverse or back). The first is the identity, and the only one if all rotations of the cell keep the centring. */
void db_indexings_of_centring(const double cell[6], int centring, double tolerance,
                              db_indexings *indexings);

/* Ways to index a lattice of a centring whose cell then has other edges or angles, though little else; the first is the
 * identity. */
void db_indexings_of_lattice(const double cell[6], int centring, double tolerance,
                             db_indexings *indexings);

/* 0: the new indices are not whole numbers, which does not happen for reflections of the lattice. */
int db_indexing_apply(const db_indexing *way, const int hkl[3], int turned[3]);

/* Does the lattice have this rotation by its symmetry? Otherwise edges or angles agree by chance. */
int db_indexing_is_exact(const db_indexing *way);

/* The same lattice, indexed this way: cell, orientation, and numbers of cells if axes are exchanged. Turns of the
 * laboratory after the orientation stay. */
db_status db_indexing_turn(db_context *context, const db_indexing *way, db_crystal *crystal);

/* Number of the way `first`, then `second`, in the list; -1: none. */
int db_indexings_product(const db_indexings *indexings, const db_space_group *group, int first,
                         int second);

/* Text of a way: "k,h,-l" */
const char *db_indexing_text(const db_indexing *way, char text[DB_INDEXING_TEXT]);

#endif
