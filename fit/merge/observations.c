/* Room for measured and merged intensities. */
#include "fit/merge/observations.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_merged_make(db_context *context, size_t count, db_merged *merged) {
    enum { VALUES = 6, COUNTS = 3 };
    const size_t room = count + 1;
    double *value = calloc(VALUES * room, sizeof *value);
    uint32_t *counts = calloc(COUNTS * room, sizeof *counts);
    memset(merged, 0, sizeof *merged);
    if (!value || !counts) {
        free(value);
        free(counts);
        return db_fail_memory(context, "the merged intensities");
    }
    for (size_t i = 0; i < VALUES * room; i++) value[i] = NAN;
    merged->count = count;
    merged->intensity = value;
    merged->sigma = value + room;
    merged->multiplicity = counts;
    for (size_t h = 0; h < 2; h++) {
        merged->half[h] = value + (2 + 2 * h) * room;
        merged->half_sigma[h] = value + (3 + 2 * h) * room;
        merged->half_multiplicity[h] = counts + (1 + h) * room;
    }
    return DB_OK;
}

void db_merged_scale(db_merged *merged, double factor) {
    double *const values[] = { merged->intensity,     merged->sigma,   merged->half[0],
                               merged->half_sigma[0], merged->half[1], merged->half_sigma[1] };
    for (size_t v = 0; v < sizeof values / sizeof *values; v++)
        for (size_t h = 0; h < merged->count; h++) values[v][h] *= factor;
}

void db_merged_clear(db_merged *merged) {
    free(merged->intensity);
    free(merged->multiplicity);
    memset(merged, 0, sizeof *merged);
}

db_status db_observations_make(db_context *context, size_t shots, size_t count,
                               db_observations *observations) {
    observations->shots = shots;
    observations->first = calloc(shots + 1, sizeof *observations->first);
    observations->list = calloc(count + 1, sizeof *observations->list);
    if (observations->first && observations->list) return DB_OK;
    db_observations_clear(observations);
    return db_fail_memory(context, "the intensities of the shots");
}

void db_observations_clear(db_observations *observations) {
    free(observations->first);
    free(observations->list);
    memset(observations, 0, sizeof *observations);
}
