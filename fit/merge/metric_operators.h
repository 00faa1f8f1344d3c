/* Other ways to index a lattice: rotations that keep the metric of the cell, but are none of the
 * crystal's. Where intensities are not those of such a rotation, a shot by itself does not tell which
 * way it was indexed. */
#ifndef DB_FIT_MERGE_METRIC_OPERATORS_H
#define DB_FIT_MERGE_METRIC_OPERATORS_H

#include <dualbragg/experiment.h>
#include <dualbragg/reflections.h>

/* No lattice has more rotations. */
enum { DB_MOST_INDEXINGS = 24, DB_INDEXING_TEXT = 80 };

/* Indices become h' = P h / 24 (of centred lattices P may hold parts). */
typedef struct db_indexing {
    int matrix[9];
    double strain; /* what it changes of edges, relative, or of angles (radian): the largest */
} db_indexing;

/* One of each set that the crystal's rotations make equivalent; the first is the identity. */
typedef struct db_indexings {
    int count;
    db_indexing way[DB_MOST_INDEXINGS];
} db_indexings;

/* tolerance: largest strain. */
void db_indexings_find(const double cell[6], const db_space_group *group, double tolerance,
                       db_indexings *indexings);

/* 0: the new indices are not whole numbers, which of a reflection that the lattice has does not
 * happen. */
int db_indexing_apply(const db_indexing *way, const int hkl[3], int turned[3]);

/* Does the lattice have this rotation by its symmetry? Else edges or angles agree by chance. */
int db_indexing_is_exact(const db_indexing *way);

/* The same lattice, indexed this way: cell, orientation, and numbers of cells where axes trade
 * places. Turns of the laboratory on top of the orientation stay. */
db_status db_indexing_turn(db_context *context, const db_indexing *way, db_crystal *crystal);

/* Which way of the list is `first`, then `second`; -1: none. */
int db_indexings_product(const db_indexings *indexings, const db_space_group *group, int first,
                         int second);

/* "k,h,-l" */
const char *db_indexing_text(const db_indexing *way, char text[DB_INDEXING_TEXT]);

#endif
