/* Regions of neighbouring spots, whose slopes at a minimum tell errors. */
#include "fit/verdict/spot_regions.h"

#include "base/context_internal.h"
#include "fit/pixels/geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

db_status db_spot_regions_order(db_context *context, int regions, db_moments *m) {
    db_fit_geometry geometry;
    DB_TRY(db_fit_geometry_of(context, &m->experiment, &geometry));
    db_place *const place = malloc((m->count + 1) * sizeof *place);
    db_spot *const spot = malloc((m->count + 1) * sizeof *spot);
    db_observed_moments *const observed = malloc((m->count + 1) * sizeof *observed);
    const int missing = !place || !spot || !observed;
    for (size_t i = 0; i < m->count && !missing; i++) {
        db_fit_geometry_scattering(&geometry, m->spot[i].panel, m->observed[i].place, place[i].q);
        place[i].number = i;
    }
    if (!missing) {
        db_regions_cut(place, m->count, regions);
        for (size_t i = 0; i < m->count; i++) {
            spot[i] = m->spot[place[i].number];
            observed[i] = m->observed[place[i].number];
        }
        memcpy(m->spot, spot, m->count * sizeof *spot);
        memcpy(m->observed, observed, m->count * sizeof *observed);
        m->has_last = 0; /* of the former order */
    }
    free(place);
    free(spot);
    free(observed);
    db_fit_geometry_clear(&geometry);
    return db_need_memory(context, !missing, "the regions of spots");
}

db_status db_spot_regions_scatter(db_context *context, db_moments *m, const double *x, int regions,
                                  double *slope, double *normal, double *scatter) {
    const size_t n = m->variables->count;
    double loss, *const of_region = calloc((size_t)regions * n + 1, sizeof *of_region);
    if (!of_region) return db_fail_memory(context, "the regions of spots");
    m->of_region = of_region;
    m->regions = regions;
    const db_status status = db_moments_evaluate(m, x, &loss, slope, normal);
    m->of_region = NULL;
    for (int r = 0; r < regions && status == DB_OK; r++) {
        const double *const own = of_region + (size_t)r * n;
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++) scatter[k * n + l] += 0.25 * own[k] * own[l];
    }
    free(of_region);
    return status;
}

db_status db_spot_regions_curve(db_context *context, db_moments *m, const double *x,
                                double *normal) {
    const double part =
        0.1; /* of the error that a variable would have alone: steps for differences */
    const size_t n = m->variables->count;
    double *const rows = malloc((n * n + 2 * n + 1) * sizeof *rows);
    db_status status = DB_OK;
    if (!rows) return db_fail_memory(context, "the curvature of moments");
    double *const slope = rows + n * n;
    double *const at = slope + n;
    for (size_t k = 0; k < n && status == DB_OK; k++) {
        const double step = part / sqrt(normal[k * n + k]);
        int possible = isfinite(step);
        memset(rows + k * n, 0, n * sizeof *rows);
        for (int side = -1; side <= 1 && status == DB_OK && possible; side += 2) {
            double loss;
            memcpy(at, x, n * sizeof *at);
            at[k] += side * step;
            status = db_moments_slopes(m, at, NULL, n, &loss, slope);
            possible = isfinite(loss);
            for (size_t l = 0; l < n; l++) rows[k * n + l] += side * 0.25 * slope[l] / step;
        }
        if (!possible) memcpy(rows + k * n, normal + k * n, n * sizeof *rows);
    }
    for (size_t k = 0; k < n && status == DB_OK; k++)
        for (size_t l = 0; l < n; l++)
            normal[k * n + l] = 0.5 * (rows[k * n + l] + rows[l * n + k]);
    free(rows);
    return status;
}

int db_spot_regions_count(size_t spots, size_t variables) {
    int regions = 64;
    while (spots < 2 * (size_t)regions && (size_t)regions / 2 > variables) regions /= 2;
    return regions;
}
