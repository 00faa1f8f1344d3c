/* Which spots lie at the reflections of a lattice, and which beside them. */
#include "fit/verdict/spot_pattern.h"

#include "base/context_internal.h"

#include "fit/pixels/regions.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REACHES = 3 }; /* widths of the rings that are tried, each half of the one before */

void db_spot_pattern_clear(db_spot_pattern *p) {
    free(p->reach);
    if (p->grid.start) db_reflection_grid_clear(&p->grid);
    db_prediction_clear(&p->prediction);
}

/* Half the distance to the nearest other reflection, or half a shoebox. */
static db_status measure_reaches(db_context *context, double most, db_spot_pattern *p) {
    p->reach = malloc((p->prediction.count + 1) * sizeof *p->reach);
    if (!p->reach) return db_fail_memory(context, "the surroundings of reflections");
    for (size_t i = 0; i < p->prediction.count; i++) {
        const db_reflection *const r = &p->prediction.reflection[i];
        double distance = 2 * most;
        db_reflection_grid_nearest(&p->grid, r->panel, r->position, i, &distance);
        p->reach[i] = 0.5 * distance;
    }
    return DB_OK;
}

db_status db_spot_pattern_make(db_context *context, const db_experiment *model,
                               const db_fit_data *data, double excitation, db_spot_pattern *p) {
    const db_fit_settings *const settings = data->settings;
    const db_prediction_range range = { settings->dmin, settings->dmax, excitation };
    const double most = settings->shoebox_half_width;
    memset(p, 0, sizeof *p);
    DB_TRY(db_predict(context, model, &range, &p->prediction));
    db_status status =
        db_reflection_grid_make(context, &p->prediction, &model->detector, 2 * most, &p->grid);
    if (status == DB_OK) status = measure_reaches(context, most, p);
    if (status != DB_OK) db_spot_pattern_clear(p);
    return status;
}

size_t db_spot_pattern_around(const db_spot_pattern *p, const db_observed_spot *spot,
                              double *distance) {
    *distance = 2 * p->grid.cell;
    const size_t nearest = db_reflection_grid_nearest(&p->grid, spot->panel, spot->position,
                                                      p->prediction.count, distance);
    return nearest < p->prediction.count && *distance < p->reach[nearest] ? nearest
                                                                          : p->prediction.count;
}

db_spot_places db_spot_places_look(const db_spot_pattern *p, const db_spot_choice *choice) {
    db_spot_places found = { 0 };
    for (size_t i = 0; i < choice->count; i++) {
        double distance;
        const size_t n = db_spot_pattern_around(p, &choice->spot[i], &distance);
        if (n == p->prediction.count || distance >= choice->part * p->reach[n]) continue;
        const int *const hkl = p->prediction.reflection[n].hkl;
        if (choice->axis >= 0 && hkl[choice->axis] % choice->divisor == 0) continue;
        if (distance >= 0.5 * choice->part * p->reach[n]) {
            found.outer++;
            continue;
        }
        found.inner++;
        found.square += distance * distance;
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < DB_SPOT_MULTIPLES; m++)
                found.multiple[k][m] += hkl[k] % (m + 2) == 0;
    }
    const unsigned n = (unsigned)(found.inner + found.outer);
    const double chance = found.inner ? gsl_cdf_binomial_Q((unsigned)found.inner - 1, 0.5, n) : 1;
    found.log_chance = chance > 0 ? log(chance) : -700;
    return found;
}

db_spot_places db_spot_places_best(const db_spot_pattern *p, const db_spot_choice *choice) {
    db_spot_choice narrower = *choice;
    db_spot_places best = db_spot_places_look(p, choice);
    for (int i = 1; i < REACHES; i++) {
        narrower.part *= 0.5;
        const db_spot_places other = db_spot_places_look(p, &narrower);
        if (other.log_chance < best.log_chance) best = other;
    }
    return best;
}

double db_spot_places_contrast(const db_spot_places *found) {
    return (double)found->inner / fmax(1, (double)found->outer);
}

/* Spots in any ring, in places; returns how many. */
static size_t spots_in_rings(const db_fit_geometry *geometry, const db_spot_pattern *p,
                             const db_spot_choice *choice, db_place *list) {
    size_t count = 0;
    for (size_t i = 0; i < choice->count; i++) {
        const db_observed_spot *const spot = &choice->spot[i];
        double distance;
        if (db_spot_pattern_around(p, spot, &distance) == p->prediction.count) continue;
        list[count].number = i;
        db_fit_geometry_scattering(geometry, spot->panel, spot->position, list[count++].q);
    }
    return count;
}

static void find_worst(const db_spot_pattern *p, const db_spot_choice *choice, db_place *list,
                       size_t count, db_observed_spot *spot, db_spot_places *worst) {
    db_regions_cut(list, count, DB_QUARTERS);
    for (int r = 0; r < DB_QUARTERS; r++) {
        const size_t first = db_region_start(count, DB_QUARTERS, r),
                     end = db_region_start(count, DB_QUARTERS, r + 1);
        db_spot_choice some = *choice;
        some.spot = spot;
        some.count = end - first;
        for (size_t i = first; i < end; i++) spot[i - first] = choice->spot[list[i].number];
        const db_spot_places found = db_spot_places_look(p, &some);
        if (r == 0 || db_spot_places_contrast(&found) < db_spot_places_contrast(worst))
            *worst = found;
    }
}

db_status db_spot_places_worst(db_context *context, const db_experiment *model,
                               const db_spot_pattern *p, const db_spot_choice *choice,
                               db_spot_places *worst, int *made) {
    const size_t fewest = 20; /* of a quarter */
    db_fit_geometry geometry;
    *worst = (db_spot_places){ 0 };
    *made = 0;
    DB_TRY(db_fit_geometry_of(context, model, &geometry));
    db_place *const list = malloc((choice->count + 1) * sizeof *list);
    db_observed_spot *const spot = malloc((choice->count + 1) * sizeof *spot);
    const size_t count = list && spot ? spots_in_rings(&geometry, p, choice, list) : 0;
    *made = count >= fewest * DB_QUARTERS;
    if (*made) find_worst(p, choice, list, count, spot, worst);
    const db_status status =
        list && spot ? DB_OK : db_fail_memory(context, "the spots of a quarter");
    free(list);
    free(spot);
    db_fit_geometry_clear(&geometry);
    return status;
}
