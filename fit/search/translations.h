/* Translations of a crystal of unknown cell, from points of reciprocal space. */
#ifndef DB_FIT_SEARCH_TRANSLATIONS_H
#define DB_FIT_SEARCH_TRANSLATIONS_H

#include "fit/search/agreement.h"

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
