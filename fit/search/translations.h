/* Translations of a crystal of unknown cell, from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_TRANSLATIONS_H
#define DB_FIT_SEARCH_TRANSLATIONS_H

#include "fit/search/agreement.h"

typedef struct db_translation {
    double sum;  /* modulus of the sum of exp(2 pi i q.t) over the spots */
    double t[3]; /* angstrom */
    double
        phase; /* of that sum (cycles): by how much q.t of the spots are off whole numbers, as where the beam is elsewhere */
} db_translation;

enum { DB_MOST_TRANSLATIONS = 32 };

/* The highest sums within a length (angstrom), but for those that are sums of two others, of spots that go from low to high
 * angles: of as many of these as the work allows. points: how many translations were tried; 0: too many would have to be. */
db_status db_translations_find(db_context *context, const db_search_spot *spots, size_t count,
                               double longest, db_translation list[DB_MOST_TRANSLATIONS],
                               size_t *found, double *points);

#endif
