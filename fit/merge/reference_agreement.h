/* Are intensities those of a reference? */
#ifndef DB_FIT_MERGE_REFERENCE_AGREEMENT_H
#define DB_FIT_MERGE_REFERENCE_AGREEMENT_H

#include "fit/merge/asymmetric_unit.h"

#include <stddef.h>

typedef struct db_reference_agreement {
    double
        correlation; /* of intensities relative to the mean of their resolution, without the errors of those
                           that were measured; near 1: the same crystal */
    double error; /* of the correlation, by the number of reflections */
    size_t count; /* reflections that both have; 0: nothing is known */
} db_reference_agreement;

/* reference, intensity, sigma: [list->count], NAN where there is none. */
db_reference_agreement db_reference_agreement_find(const db_asu_list *list, const double *reference,
                                                   const double *intensity, const double *sigma);

/* Is the correlation surely (by 2.5 errors) below 0.5, so that it is another crystal, another
 * indexing, or the intensities are hardly measured? */
int db_reference_is_doubtful(const db_reference_agreement *agreement);

#endif
