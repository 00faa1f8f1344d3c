/* How values of single shots are spread. */
#ifndef DB_FIT_SHOTS_SPREAD_H
#define DB_FIT_SHOTS_SPREAD_H

#include <dualbragg/fit_shots.h>

typedef struct db_spread {
    double least, low, median, high, most; /* low, high: deciles */
    size_t count;
} db_spread;

typedef enum db_spread_of { DB_SPREAD_REFINED, DB_SPREAD_ERROR } db_spread_of;

/* Of a parameter's values, or errors, over the shots in use that have one; 0: none has, or there is
 * no memory. */
int db_shots_spread(const db_fit_shots_result *result, size_t parameter, db_spread_of of,
                    db_spread *spread);

/* Of any numbers, which are put in order; those that are not finite do not count. */
int db_spread_make(double *values, size_t count, db_spread *spread);

#endif
