/* The spots of an image by which a model is judged: in the resolution range, the strongest first. */
#include "fit/verdict/judged_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"

#include <stdlib.h>

static int stronger_first(const void *a, const void *b) {
    const double x = ((const db_observed_spot *)a)->counts,
                 y = ((const db_observed_spot *)b)->counts;
    return (x < y) - (x > y);
}

static int in_range(const db_fit_geometry *geometry, const db_fit_settings *settings,
                    const db_observed_spot *spot) {
    const int *const roi = settings->roi;
    const double *const at = spot->position;
    const double d = db_fit_geometry_resolution(geometry, spot->panel, at[0], at[1]);
    if (d < settings->dmin || (settings->dmax > 0 && d > settings->dmax)) return 0;
    return settings->intensity == DB_FIT_FREE ||
           ((roi[0] < 0 || at[0] >= roi[0]) && (roi[1] < 0 || at[0] <= roi[1] + 1) &&
            (roi[2] < 0 || at[1] >= roi[2]) && (roi[3] < 0 || at[1] <= roi[3] + 1));
}

db_status db_judged_spots_find(db_context *context, const db_experiment *model,
                               const db_fit_data *data, db_observed_spots *spots) {
    db_fit_geometry geometry;
    size_t count = 0;
    DB_TRY(db_observed_spots_divide(context, data->image, data->strong, data->settings, spots));
    const db_status status = db_fit_geometry_of(context, model, &geometry);
    if (status != DB_OK) {
        db_observed_spots_clear(spots);
        return status;
    }
    for (size_t i = 0; i < spots->count; i++)
        if (in_range(&geometry, data->settings, &spots->spot[i]))
            spots->spot[count++] = spots->spot[i];
    db_fit_geometry_clear(&geometry);
    qsort(spots->spot, count, sizeof *spots->spot, stronger_first);
    spots->count = count;
    return DB_OK;
}
