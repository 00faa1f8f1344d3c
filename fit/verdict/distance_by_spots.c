/* The distance that places and widths of spots ask for (docs/theory/verdict.md, A distance that is held). */
#include "fit/verdict/distance_by_spots.h"

#include "base/context_internal.h"
#include "fit/config/config_refine.h"
#include "fit/pixels/geometry.h"
#include "fit/result/covariance.h"
#include "fit/search/automatic.h"
#include "fit/search/moment_stage.h"

#include <dualbragg/expert/fit_configurations.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_status add_missing(db_context *context, db_parameter parameter, db_fit_settings *own) {
    const db_fit_parameter p = db_fit_parameter_free(parameter);
    return db_fit_parameter_index(own, db_fit_quantity_of(&p)) < own->parameter_count
               ? DB_OK
               : db_fit_settings_add_parameter(context, own, &p);
}

/* One stage of what was refined of the geometry, of the tilts of the detector, and of its distance: a detector that is tilted a
 * little asks for another distance as long as nobody tilts the model. */
static db_status settings_of_places(db_context *context, const db_fit_settings *settings,
                                    const db_experiment *model, db_fit_settings *own) {
    DB_TRY(db_fit_settings_copy(context, settings, own));
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        const int was_refined = p->stages != DB_FIT_NOT_EARNED;
        p->stages =
            was_refined && db_facts_of(p->parameter)->settling <= DB_SETTLING_GEOMETRY ? 1 : 0;
    }
    db_status status = add_missing(context, DB_DISTANCE, own);
    for (int p = DB_DETECTOR_ROTX; p <= (int)DB_DETECTOR_ROTZ && status == DB_OK; p++)
        if (!db_turns_about_beam(model, (db_parameter)p))
            status = add_missing(context, (db_parameter)p, own);
    for (size_t i = 0; i < own->parameter_count; i++) {
        db_fit_parameter *const p = &own->parameters[i];
        if (p->parameter == DB_DISTANCE || db_facts_of(p->parameter)->kind == DB_KIND_DETECTOR_TURN)
            p->stages = 1;
    }
    own->stage_count = 1;
    own->stages[0] = (db_fit_stage){ .kind = DB_STAGE_MOMENTS,
                                     .blur = 1,
                                     .target = DB_FIT_WEIGHTED,
                                     .tolerance = 1e-5,
                                     .step = 0.1,
                                     .max_evaluations = 50,
                                     .name = "distance" };
    if (status != DB_OK) db_fit_settings_clear(own);
    return status;
}

static void hold_distance(db_fit_settings *own, int held) {
    for (size_t i = 0; i < own->parameter_count; i++)
        if (own->parameters[i].parameter == DB_DISTANCE) own->parameters[i].stages = !held;
}

/* Puts spots into regions of neighbours. */
static db_status order_spots(db_context *context, int regions, db_moments *m) {
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
    }
    free(place);
    free(spot);
    free(observed);
    db_fit_geometry_clear(&geometry);
    return missing ? db_fail_memory(context, "the regions of spots") : DB_OK;
}

/* Products of half the slopes of regions. slope: room for the variables. */
static db_status scatter_regions(db_moments *m, const double *x, int regions, double *slope,
                                 double *scatter) {
    const size_t n = m->variables->count, all = m->count;
    db_status status = DB_OK;
    for (int r = 0; r < regions && status == DB_OK; r++) {
        double loss;
        m->from = db_region_start(all, regions, r);
        m->to = db_region_start(all, regions, r + 1);
        status = db_moments_slopes(m, x, NULL, n, &loss, slope);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++) scatter[k * n + l] += 0.25 * slope[k] * slope[l];
    }
    m->from = 0;
    m->to = all;
    return status;
}

/* Two spots for each region, or one if otherwise there were no more regions than variables. */
static int count_regions(size_t spots, size_t variables) {
    int regions = 64;
    while (spots < 2 * (size_t)regions && (size_t)regions / 2 > variables) regions /= 2;
    return regions;
}

/* What is left of the regions' slopes at a minimum has as many degrees of freedom fewer as there are variables. */
static db_status error_by_regions(db_context *context, db_moments *m, const double *x,
                                  double *numbers, size_t distance, double *error) {
    const size_t n = m->variables->count;
    double *const normal = numbers, *const scatter = numbers + n * n,
                  *const slope = numbers + 2 * n * n;
    int used[DB_FIT_MOST_PARAMETERS];
    const int regions = count_regions(m->count, n);
    double loss;
    for (size_t k = 0; k < n; k++) used[k] = 1;
    *error = INFINITY;
    if ((size_t)regions <= n || (size_t)regions > m->count) return DB_OK;
    DB_TRY(order_spots(context, regions, m));
    DB_TRY(scatter_regions(m, x, regions, slope, scatter));
    DB_TRY(db_moments_evaluate(m, x, &loss, slope, normal));
    db_covariance c = { .error = NULL };
    const db_status status = db_covariance_estimate(context, normal, n, used, &c);
    if (status == DB_OK && isfinite(c.error[distance]))
        *error = db_covariance_sandwich(&c, scatter, distance) *
                 sqrt((double)regions / (double)((size_t)regions - n));
    db_covariance_clear(&c);
    return status;
}

/* Of the free distance, at the minimum. */
static db_status find_error(db_refinement *r, double *error) {
    const db_fit_settings *const settings = r->data.settings;
    db_moments m;
    size_t distance = 0;
    db_variables *const v = malloc(sizeof *v); /* large: stacks are small */
    if (!v) return db_fail_memory(r->context, "the error of a distance");
    db_variables_make(settings, 1, &r->given, &r->result->experiment, &r->placement, v);
    while (settings->parameters[v->index[distance]].parameter != DB_DISTANCE) distance++;
    double *const numbers = calloc(v->count * (2 * v->count + 1) + 1, sizeof *numbers);
    db_status status = numbers ? db_moment_stage_take(r, 0, v, &m)
                               : db_fail_memory(r->context, "the error of a distance");
    if (status == DB_OK) {
        status = error_by_regions(r->context, &m, v->start, numbers, distance, error);
        db_moments_clear(&m);
    }
    free(numbers);
    free(v);
    return status;
}

/* error: NULL: not wanted. */
static db_status fit_places(db_context *context, const db_fit_data *data,
                            const db_experiment *refined, double *error, db_experiment *model) {
    db_fit_result *const result = calloc(1, sizeof *result);
    db_stage_result end;
    if (!result) return db_fail_memory(context, "the places of spots");
    db_refinement r = { .context = context, .data = *data, .result = result };
    db_status status = db_refinement_begin(&r, refined);
    if (status == DB_OK) status = db_stage_run(&r, 0, &end);
    if (status == DB_OK && error) status = find_error(&r, error);
    if (status == DB_OK) status = db_experiment_copy(context, &result->experiment, model);
    db_panel_placement_clear(&r.placement);
    db_fit_course_clear(&r.course);
    db_experiment_clear(&result->experiment);
    free(result->estimates.memory);
    free(result);
    return status;
}

db_status db_distance_by_spots(db_context *context, const db_fit_data *data,
                               const db_experiment *refined, db_experiment models[2],
                               double *error) {
    db_fit_settings own;
    memset(models, 0, 2 * sizeof *models);
    DB_TRY(settings_of_places(context, data->settings, refined, &own));
    const db_fit_data places = { data->image, data->strong, &own };
    db_status status = DB_OK;
    for (int m = 0; m < 2 && status == DB_OK; m++) {
        hold_distance(&own, m == 0);
        status = fit_places(context, &places, refined, m ? error : NULL, &models[m]);
    }
    db_fit_settings_clear(&own);
    for (int m = 0; m < 2 && status != DB_OK; m++) db_experiment_clear(&models[m]);
    return status;
}
