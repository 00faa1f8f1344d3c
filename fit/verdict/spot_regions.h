/* Regions of neighbouring spots: their slopes at a minimum scatter by what the model misses, so that they tell errors
 * (docs/theory/verdict.md, A distance that is held). */
#ifndef DB_FIT_VERDICT_SPOT_REGIONS_H
#define DB_FIT_VERDICT_SPOT_REGIONS_H

#include "fit/search/moments.h"

/* Number of regions for a number of spots: two spots a region; one spot if regions were no more than variables. */
int db_spot_regions_count(size_t spots, size_t variables);

/* Puts spots into the order of regions. */
db_status db_spot_regions_order(db_context *context, int regions, db_moments *m);

/* Slopes and normal matrix as db_moments_evaluate; and the sum over regions of the products of half their slopes,
 * [variables][variables], added to `scatter`. */
db_status db_spot_regions_scatter(db_context *context, db_moments *m, const double *x, int regions,
                                  double *slope, double *normal, double *scatter);

/* Half the second derivatives of the loss, [variables][variables], by differences of its slopes, in place of the normal
 * matrix of moments. That one takes the trust in a spot as given; but trust falls with the distance of a spot from its
 * place, so the loss is less curved, and errors are larger. */
db_status db_spot_regions_curve(db_context *context, db_moments *m, const double *x,
                                double *normal);

#endif
