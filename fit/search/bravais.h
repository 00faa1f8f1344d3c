/* Bravais lattices that describe a lattice exactly or nearly. */
#ifndef DB_FIT_SEARCH_BRAVAIS_H
#define DB_FIT_SEARCH_BRAVAIS_H

#include "fit/config/crystal_system.h"

#include <dualbragg/context.h>

typedef struct db_bravais {
    char symbol[3]; /* family and centring: "tP" */
    int order;      /* of its rotation group */
    int edges[9];   /* rows: its usual cell, in edges of the lattice */
    double cell[6]; /* angstrom, degree: with the symmetry's ties */
    const db_cell_ties *ties;
    double strain; /* largest change of an edge (fraction) or an angle (radian) to this symmetry */
} db_bravais;

enum { DB_MOST_BRAVAIS = 14 };

/* The Bravais lattices of a lattice with three edges (rows, angstrom), each at most once, the highest symmetry
 * first; the last one is triclinic, the reduced cell. Without gemmi only the triclinic lattice, not reduced, and
 * DB_ERROR_UNSUPPORTED. */
db_status db_bravais_find(db_context *context, const double real[9],
                          db_bravais list[DB_MOST_BRAVAIS], int *count);

/* Gives the first lattice of a list that a symmetry names the axes of this symmetry, which may not be the usual ones ("I 1 2 1",
 * "P 1 1 21", "A 2 2 2", "R 3 :R"). centring: letter that the symmetry names; 0: none. Returns the lattice's number; -1: it
 * names none. */
int db_bravais_take_named(db_bravais *list, int count, const char *symmetry, int centring);

#endif
