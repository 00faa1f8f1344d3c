/* Where measurements of a reflection agree, if some of them are wrong by far. */
#ifndef DB_FIT_MERGE_AGREEMENT_H
#define DB_FIT_MERGE_AGREEMENT_H

#include <stddef.h>

/* Some measurements of a reflection; more would hardly decide better which of them agree. */
enum { DB_AGREEMENT_MOST = 8 };
typedef struct db_agreement {
    int count;
    float value[DB_AGREEMENT_MOST], variance[DB_AGREEMENT_MOST];
    double middle,
        width; /* of intensities like this one: wrong measurements lie there, too, and far outside */
    double agreed; /* result: the likeliest intensity; middle without measurements */
} db_agreement;

void db_agreement_add(db_agreement *agreement, double value, double variance);

/* Finds the likeliest intensities, and with them the share of wrong measurements. */
void db_agreements_find(db_agreement *list, size_t count);

#endif
