/* Sources on a grid over divergence and dispersion (docs/theory/beam.md, Grid of sources), and
 * sources of a spectrum. */
#include <dualbragg/experiment.h>
#include <dualbragg/expert/beam_sources.h>

#include "base/context_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double grid_point(double step, int k, double range) { return step * k - range / 2; }

/* A grid point as a fraction of the range; 0 for an empty range. */
static double place_in_range(double point, double range) { return range == 0 ? 0 : point / range; }

/* 0 for grid points that the elliptical cut leaves out: those whose cell centre is outside the ellipse. */
static int inside_ellipse(const db_beam_spread *s, double h, double v) {
    if (!s->round || s->horizontal_range == 0 || s->vertical_range == 0) return 1;
    const double h_even = s->horizontal_steps % 2 == 0 ? 1 : 0,
                 v_even = s->vertical_steps % 2 == 0 ? 1 : 0;
    const double q = (h * h - h_even * s->horizontal_step * s->horizontal_step / 4) /
                         (s->horizontal_range * s->horizontal_range) +
                     (v * v - v_even * s->vertical_step * s->vertical_step / 4) /
                         (s->vertical_range * s->vertical_range);
    return 4 * q <= 1.1;
}

db_status db_beam_set_spread(db_context *context, db_beam *beam, const db_beam_spread *s) {
    if (s->horizontal_steps < 1 || s->vertical_steps < 1 || s->dispersion_steps < 1)
        return db_fail(
            context, DB_ERROR_USAGE,
            "beam spread: expected at least one step in each direction, found %d x %d x %d",
            s->horizontal_steps, s->vertical_steps, s->dispersion_steps);
    const double grid = (double)s->horizontal_steps * s->vertical_steps * s->dispersion_steps;
    if (grid > 1e8)
        return db_fail(context, DB_ERROR_INPUT,
                       "beam spread: %g sources are more than the supported 1e8", grid);
    db_source *sources = malloc((size_t)grid * sizeof *sources);
    if (!sources) return db_fail_memory(context, "the list of sources");
    size_t count = 0;
    for (int i = 0; i < s->horizontal_steps; i++)
        for (int j = 0; j < s->vertical_steps; j++) {
            const double h = grid_point(s->horizontal_step, i, s->horizontal_range);
            const double v = grid_point(s->vertical_step, j, s->vertical_range);
            if (!inside_ellipse(s, h, v)) continue;
            for (int k = 0; k < s->dispersion_steps; k++) {
                db_source *source = &sources[count++];
                memcpy(source->direction, beam->direction, sizeof source->direction);
                source->spread[0] = place_in_range(h, s->horizontal_range);
                source->spread[1] = place_in_range(v, s->vertical_range);
                source->spread[2] =
                    place_in_range(grid_point(s->dispersion_step, k, s->dispersion), s->dispersion);
                source->wavelength_ratio = 1;
                source->weight = 1;
            }
        }
    if (count == 0) {
        free(sources);
        return db_fail(context, DB_ERROR_INPUT, "beam spread: the elliptical cut leaves no source");
    }
    free(beam->sources);
    beam->sources = sources;
    beam->source_count = count;
    beam->divergence[0] = 1e3 * s->horizontal_range;
    beam->divergence[1] = 1e3 * s->vertical_range;
    beam->dispersion = s->dispersion;
    return DB_OK;
}

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
