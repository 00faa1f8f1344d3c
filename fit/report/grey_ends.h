/* Ends of a grey scale that shows spots and background of a diffraction image. */
#ifndef DB_FIT_REPORT_GREY_ENDS_H
#define DB_FIT_REPORT_GREY_ENDS_H

#include "base/quantile.h"

#include <dualbragg/context.h>
#include <math.h>

/* From below the median to the strongest half percent, or farther, so that the background of an image with few
 * spots stays light. */
static inline db_status db_grey_ends(db_context *context, const float *values, size_t count,
                                     double *low, double *high) {
    float least, most, median;
    db_status status = db_quantiles(context, values, count, 0.05, 0.995, &least, &most);
    if (status == DB_OK) status = db_quantiles(context, values, count, 0.5, 0.5, &median, &median);
    if (status != DB_OK) return status;
    *low = (double)least;
    *high = fmax((double)most, (double)least + fmax(1, 6 * (double)(median - least)));
    return DB_OK;
}

#endif
