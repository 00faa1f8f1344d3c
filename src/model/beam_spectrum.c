/* Sources from a spectrum. */
#include <dualbragg/experiment.h>

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SOURCES = 100000000 };

db_status db_beam_set_spectrum(db_context *context, db_beam *beam, const double *wavelength,
                               const double *weight, size_t count, int keep_wavelength) {
    double total = 0, mean = 0;
    for (size_t k = 0; k < count; k++) {
        total += weight[k];
        mean += weight[k] * wavelength[k];
    }
    mean /= total;
    if (!(total > 0 && mean > 0 && isfinite(mean)))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum: expected wavelengths and weights with a positive sum, found a "
                       "mean of %g A in %zu lines",
                       mean, count);
    if (count > MOST_SOURCES / beam->source_count)
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum: %zu wavelengths for %zu directions are more than the supported "
                       "1e8 sources",
                       count, beam->source_count);
    db_source *const sources = malloc(beam->source_count * count * sizeof *sources);
    if (!sources) return db_fail_memory(context, "the list of sources");
    for (size_t j = 0; j < beam->source_count; j++)
        for (size_t k = 0; k < count; k++) {
            db_source *const source = &sources[j * count + k];
            *source = beam->sources[j];
            source->spread[2] = 0;
            source->wavelength_ratio *= wavelength[k] / mean;
            source->weight *= weight[k];
        }
    free(beam->sources);
    beam->sources = sources;
    beam->source_count *= count;
    beam->dispersion = 0;
    if (!keep_wavelength) beam->wavelength = mean;
    return DB_OK;
}
