#include "fit/shots/spread.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const double *sorted, size_t count, double part) {
    const double place = part * (double)(count - 1);
    const size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (place - (double)below) * (sorted[above] - sorted[below]);
}

int db_spread_make(double *values, size_t count, db_spread *spread) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) values[kept++] = values[i];
    spread->count = kept;
    if (kept == 0) return 0;
    qsort(values, kept, sizeof *values, ascending);
    spread->least = values[0];
    spread->low = quantile(values, kept, 0.1);
    spread->median = quantile(values, kept, 0.5);
    spread->high = quantile(values, kept, 0.9);
    spread->most = values[kept - 1];
    return 1;
}

int db_shots_spread(const db_fit_shots_result *result, size_t parameter, db_spread_of of,
                    db_spread *spread) {
    double *const values = malloc((result->shot_count + 1) * sizeof *values);
    size_t count = 0;
    if (!values) return 0;
    for (size_t s = 0; s < result->shot_count; s++) {
        const db_fit_shot_result *const shot = &result->shot[s];
        if (!shot->used) continue;
        values[count++] = (of == DB_SPREAD_ERROR ? shot->error : shot->refined)[parameter];
    }
    const int any = db_spread_make(values, count, spread);
    free(values);
    return any;
}
