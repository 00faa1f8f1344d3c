/* A lattice of unknown cell from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_CELL_SEARCH_H
#define DB_FIT_SEARCH_CELL_SEARCH_H

#include "fit/search/lattice_fit.h"

enum { DB_CELL_FEWEST_SPOTS = 10 };

typedef struct db_cell_found {
    db_lattice lattice; /* three shortest translations that span it, right-handed */
    db_agreement agreement;
    double rows; /* db_lattice_row_probability, for all tried translations */
} db_cell_found;

/* Is this lattice no chance, with three right translations? */
int db_cell_is_significant(const db_cell_found *found);

/* Finds the lattice that has most of the spots, which are sorted from low to high angles. The probability of its
 * agreement counts all lattices that could have been found. No agreement if there is none. */
db_status db_cell_search(db_context *context, const db_search_spot *spots, size_t count,
                         db_cell_found *found);

#endif
