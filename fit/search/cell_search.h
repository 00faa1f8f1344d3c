/* A lattice of unknown cell from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_CELL_SEARCH_H
#define DB_FIT_SEARCH_CELL_SEARCH_H

#include "fit/search/agreement.h"
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

/* Translations of a crystal of unknown cell, from points of reciprocal space. */

typedef struct db_translation {
    double sum;   /* modulus of the sum of exp(2 pi i q.t) over the spots */
    double t[3];  /* angstrom */
    double phase; /* cycles: common distance of q.t from whole numbers */
} db_translation;

enum { DB_MOST_TRANSLATIONS = 32 };

/* The highest sums within a length (angstrom), without sums of two other translations, for as many of the spots as
 * the work allows; spots are sorted from low to high angles. points: number of translations tried; 0: too many. */
db_status db_translations_find(db_context *context, const db_search_spot *spots, size_t count,
                               double longest, db_translation list[DB_MOST_TRANSLATIONS],
                               size_t *found, double *points);

#endif
