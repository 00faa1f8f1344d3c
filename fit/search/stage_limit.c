/* The resolution within which a share of the spots lies, nearest to the beam. */
#include "fit/search/stage_limit.h"

#include "base/context_internal.h"
#include "base/quantile.h"
#include "base/vector.h"
#include "fit/pixels/geometry.h"
#include "fit/pixels/observed_spots.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST = 100 };

/* Lengths of the spots' scattering vectors that the data have a use for (1/angstrom), the shortest first. */
static db_status list_lengths(db_context *context, const db_experiment *model,
                              const db_fit_settings *settings, const db_observed_spots *spots,
                              double *length, size_t *count) {
    db_fit_geometry geometry;
    *count = 0;
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    for (size_t i = 0; i < spots->count; i++) {
        double q[3];
        db_fit_geometry_scattering(&geometry, spots->spot[i].panel, spots->spot[i].position, q);
        const double own = db_length(q);
        if (own * settings->dmin <= 1 && !(settings->dmax > 0 && own * settings->dmax < 1))
            length[(*count)++] = own;
    }
    db_fit_geometry_clear(&geometry);
    db_sort_numbers(length, *count);
    return DB_OK;
}

/* Spots that a stage needs at least: three for each of its variables, and as many as leave no doubt of an
 * orientation. */
static size_t fewest_of(const db_fit_settings *settings, int stage) {
    size_t variables = 0;
    for (size_t i = 0; i < settings->parameter_count; i++)
        variables += db_fit_parameter_in_stage(&settings->parameters[i], (size_t)stage) &&
                     !db_fit_parameter_is_tied(&settings->parameters[i]);
    return 3 * variables > FEWEST ? 3 * variables : FEWEST;
}

db_status db_stage_limit(db_context *context, const db_experiment *model, const db_fit_data *data,
                         int number, double *dmin) {
    const db_fit_stage *const stage = &data->settings->stages[number];
    const size_t fewest = fewest_of(data->settings, number);
    db_observed_spots spots;
    size_t count = 0;
    *dmin = stage->dmin;
    if (!(stage->innermost > 0 && stage->innermost < 1) || data->settings->spots) return DB_OK;
    DB_TRY(db_observed_spots_find(context, data->image, data->strong, &spots));
    double *const length = malloc((spots.count + 1) * sizeof *length);
    const db_status status =
        length ? list_lengths(context, model, data->settings, &spots, length, &count)
               : db_fail_memory(context, "the resolution of spots");
    const size_t wanted = (size_t)(stage->innermost * (double)count),
                 last = wanted > fewest ? wanted : fewest;
    if (status == DB_OK && last < count) *dmin = fmax(*dmin, 1 / length[last]);
    free(length);
    db_observed_spots_clear(&spots);
    return status;
}
