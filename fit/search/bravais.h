/* Bravais lattices that describe a lattice exactly or nearly. */
#ifndef DB_FIT_SEARCH_BRAVAIS_H
#define DB_FIT_SEARCH_BRAVAIS_H

#include <dualbragg/context.h>

typedef struct db_bravais {
    char symbol[3]; /* family and centring: "tP" */
    int order;      /* of its rotation group */
    int edges[9];   /* rows: its usual cell, in edges of the lattice */
    double cell[6]; /* angstrom, degree: with the symmetry's ties */
    double strain;  /* largest change of an edge (fraction) or an angle (radian) to this symmetry */
} db_bravais;

enum { DB_MOST_BRAVAIS = 14 };

/* The Bravais lattices of a lattice with three edges (rows, angstrom), each at most once, the highest symmetry
 * first; the last one is triclinic, the reduced cell. Without gemmi only the triclinic lattice, not reduced, and
 * DB_ERROR_UNSUPPORTED. */
db_status db_bravais_find(db_context *context, const double real[9],
                          db_bravais list[DB_MOST_BRAVAIS], int *count);

#endif
