/* How many sub-pixels the shape of a pixel asks for. */
#include <dualbragg/spots.h>

#include "base/context_internal.h"
#include "base/given.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 4 };
static const double CUMULANT = 960; /* docs/theory/spots.md, Limits */

static int compare_numbers(const void *first, const void *second) {
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* Standard deviation (pixels) along the short axis. */
static double narrow_width(const db_spot *spot) {
    const double *const v = spot->covariance;
    return sqrt(fmax(0.5 * (v[0] + v[1]) - hypot(0.5 * (v[0] - v[1]), v[2]), 0));
}

db_status db_spots_oversample(db_context *context, const db_predicted_spots *spots, double error,
                              int *oversample, double *width) {
    *oversample = 1;
    *width = INFINITY;
    if (!(error > 0) || !isfinite(error))
        return db_fail(context, DB_ERROR_USAGE,
                       "sub-pixels of spots: expected an error above 0, found %g", error);
    DB_TRY(db_need_list(context, "spots", spots->spot, spots->count));
    if (spots->count == 0) return DB_OK;
    double *const widths = malloc(spots->count * sizeof *widths);
    if (!widths) return db_fail_memory(context, "the widths of spots");
    for (size_t i = 0; i < spots->count; i++) widths[i] = narrow_width(&spots->spot[i]);
    qsort(widths, spots->count, sizeof *widths, compare_numbers);
    *width = widths[spots->count / 10];
    free(widths);
    const double enough = pow(CUMULANT * error, -0.25); /* sub-pixels */
    *oversample = enough < MOST * *width ? (int)fmax(1, ceil(enough / *width)) : MOST;
    return DB_OK;
}
