/* Differences of whole images, extrapolated to step 0 (L. F. Richardson 1911), with an error
 * estimate.
 *
 * Central ones: D(h) = (I(p+h) - I(p-h))/2h = I' + c2 h^2 + c4 h^4 + ...; from steps h, h/8, h/64,
 * ... each column of the table removes one more power. One-sided ones, for parameters at their
 * limit: D(h) = (I(p+h) - I(p))/h = I' + c1 h + c2 h^2 + ... Where the image is smooth only within
 * a smaller step, the table begins there. */
#ifndef DB_ENGINE_DIFFERENCE_TABLE_H
#define DB_ENGINE_DIFFERENCE_TABLE_H

#include <stddef.h>

enum { DB_DIFFERENCE_LEVELS = 4, DB_DIFFERENCE_RATIO = 8 };

/* The powers of the step in a difference: all, or every second one. */
typedef enum db_difference_kind {
    DB_DIFFERENCE_ONE_SIDED = 1,
    DB_DIFFERENCE_CENTRAL
} db_difference_kind;

/* An entry of the table: made of the steps number level - order, ..., level; order >= 1. */
typedef struct db_table_entry {
    int level, order;
} db_table_entry;

/* An entry's value for one pixel, and its distance from the two entries that it was made from. difference[level]
 * is D(h/8^level). */
double db_difference_extrapolate(db_difference_kind kind,
                                 const double difference[DB_DIFFERENCE_LEVELS],
                                 db_table_entry entry, double *error);

/* The entry with the smallest largest error among those made of steps number `first` and up:
 * truncation spoils large steps, rounding small ones. Judged by the pixels that are smooth within
 * step number `first`, i.e. with smooth_from[pixel] <= first. difference[level][pixel]; first <=
 * DB_DIFFERENCE_LEVELS - 2. */
db_table_entry db_difference_best_entry(db_difference_kind kind,
                                        double *const difference[DB_DIFFERENCE_LEVELS],
                                        const unsigned char *smooth_from, size_t pixels, int first);

#endif
