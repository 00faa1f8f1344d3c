/* Quantiles and medians. */
#ifndef DB_BASE_QUANTILE_H
#define DB_BASE_QUANTILE_H

#include <dualbragg/context.h>
#include <stddef.h>

/* Values below which the fractions low_share <= high_share (0 to 1) of all finite values lie; both 0 if none is
 * finite. Exact, in time proportional to count. */
DB_API db_status db_quantiles(db_context *context, const float *values, size_t count,
                              double low_share, double high_share, float *low, float *high);

/* Sorts numbers, the smallest first. */
DB_API void db_sort_numbers(double *values, size_t count);

/* The number that would stand at this place if the values were sorted; rank < count. NAN if there are none. Orders them in
 * place so that none before that place is larger, and none behind it smaller. In time proportional to count. */
DB_API double db_ranked(double *values, size_t count, size_t rank);

/* The median of values, which are ordered in place; NAN if there are none. */
DB_API double db_median(double *values, size_t count);

#endif
