/* Bravais lattices that a lattice is, or nearly is. */
#ifndef DB_FIT_SEARCH_BRAVAIS_H
#define DB_FIT_SEARCH_BRAVAIS_H

#include <dualbragg/context.h>

typedef struct db_bravais {
    char symbol[3]; /* family and centring: "tP" */
    int order;      /* of its rotations */
    int edges[9];   /* rows: of its usual cell, in those of the lattice */
    double cell[6]; /* angstrom, degree: as its symmetry has it */
    double
        strain; /* largest change of an edge (a part) or an angle (radian) that brings it there */
} db_bravais;

enum { DB_MOST_BRAVAIS = 14 };

/* The Bravais lattices of a lattice of three edges (rows, angstrom), each at most once, the highest symmetry first; triclinic,
 * the last one, is the reduced cell. Without gemmi that alone, as it is, and DB_ERROR_UNSUPPORTED. */
db_status db_bravais_find(db_context *context, const double real[9],
                          db_bravais list[DB_MOST_BRAVAIS], int *count);

#endif
