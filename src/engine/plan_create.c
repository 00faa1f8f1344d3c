/* Creating, updating and destroying plans. */
#include "engine/plan_create.h"

#include "base/given.h"
#include "engine/device_plan.h"
#include "engine/plan_amplitudes.h"
#include "engine/plan_background.h"
#include "engine/plan_cut.h"
#include "engine/plan_normal.h"
#include "engine/spots.h"
#include "model/halo_samples.h"
#include "model/site_kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LARGER_THAN_CACHES =
        1 << 26 /* bytes; results of this size leave the caches before anybody reads them */
};

/* Fills the job from the experiment's values. Allocates nothing. */
static void fill_values(db_plan *plan) {
    db_enter_stage(plan->context, "model");
    db_plan_values_fill(&plan->experiment, &plan->parameters, &plan->table, &plan->values,
                        &plan->job);
    plan->job.region = plan->tiles.regions;
    /* regions show one reflection each */
    if (plan->tiles.region_node) plan->job.halo.number = NULL;
    if (plan->spots)
        db_spots_outdate(plan);
    else if (plan->experiment.spread.spots != DB_SPOTS_CLOSED)
        db_plan_fill_cut(plan);
    plan->slopes.current = 0;
    db_leave_stage(plan->context, "model");
}

/* renders: 0: the plan only has the model's values. */
static db_status build_plan(db_plan *plan, const db_experiment *experiment,
                            const db_plan_options *options, int renders) {
    db_experiment *const own = &plan->experiment;
    DB_TRY(db_experiment_copy(plan->context, experiment, own));
    db_spots_one_of_each(own);
    plan->precision = options->precision;
    plan->tolerance = options->tolerance;
    DB_TRY(db_plan_parameters_create(plan->context, own, options, &plan->parameters));
    DB_TRY(db_plan_tiles_create(plan->context, own, options, &plan->tiles));
    DB_TRY(db_plan_values_create(plan->context, own, &plan->parameters, &plan->values));
    DB_TRY(db_plan_table_create(plan->context, &own->structure_factors, plan->precision,
                                &plan->table));
    if (renders && own->spread.spots == DB_SPOTS_CLOSED)
        DB_TRY(db_spots_create(plan));
    else
        plan->job.region_node = plan->tiles.region_node;
    if (plan->parameters.count)
        DB_TRY(db_plan_slopes_create(plan->context, &plan->parameters, plan->values.sample_count,
                                     &plan->slopes, &plan->job));
    plan->job.pixel_type = options->pixel_type;
    plan->job.streaming =
        (double)plan->tiles.pixels * (double)(plan->parameters.count + 1) * sizeof(float) >
        LARGER_THAN_CACHES;
    db_plan_values_draw(own, &plan->values);
    db_plan_table_fill(&own->structure_factors, plan->tolerance, &plan->table);
    db_amorphous_curve_fill(&plan->values.curve, &own->background);
    fill_values(plan);
    return DB_OK;
}

db_status db_plan_options_check(db_context *context, const db_plan_options *options) {
    if (options->size != sizeof *options)
        return db_fail(context, DB_ERROR_USAGE,
                       "plan options: size is %zu, expected %zu (use DB_PLAN_OPTIONS_INIT)",
                       options->size, sizeof *options);
    DB_TRY(db_need_choice(context, "precision of a plan", (int)options->precision,
                          DB_PRECISION_MIXED));
    DB_TRY(db_need_choice(context, "pixel type of a plan", (int)options->pixel_type, DB_FLOAT64));
    DB_TRY(db_need_list(context, "parameters of a plan", options->parameters,
                        options->parameter_count));
    DB_TRY(db_need_list(context, "regions of a plan", options->regions, options->region_count));
    return DB_NEED_ZEROS(context, "plan options", options);
}

static db_status make_plan(db_context *context, const db_experiment *experiment,
                           const db_plan_options *options, int renders, db_plan **plan) {
    *plan = NULL;
    DB_TRY(db_experiment_check(context, experiment));
    db_plan *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "a plan");
    made->context = context;
    db_enter_stage(context, "plan");
    const db_status status = build_plan(made, experiment, options, renders);
    db_leave_stage(context, "plan");
    if (status != DB_OK) {
        db_plan_destroy(&made);
        return status;
    }
    *plan = made;
    return DB_OK;
}

db_status db_plan_create_on_processor(db_context *context, const db_experiment *experiment,
                                      const db_plan_options *options, db_plan **plan) {
    const db_plan_options defaults = DB_PLAN_OPTIONS_INIT;
    *plan = NULL;
    if (!options) options = &defaults;
    DB_TRY(db_plan_options_check(context, options));
    if (!(options->tolerance >= 0 && isfinite(options->tolerance)))
        return db_fail(context, DB_ERROR_USAGE,
                       "tolerance: expected a finite number of photons of at least 0, found %g",
                       options->tolerance);
    return make_plan(context, experiment, options, 1, plan);
}

db_status db_plan_create_to_place(db_context *context, const db_experiment *experiment,
                                  db_plan **plan) {
    const db_region corner = { .fast_count = 1, .slow_count = 1, .stride = 1 };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.regions = &corner;
    options.region_count = 1;
    return make_plan(context, experiment, &options, 0, plan);
}

db_status db_plan_create(db_context *context, const db_experiment *experiment,
                         const db_plan_options *options, db_plan **plan) {
    DB_TRY(db_plan_create_on_processor(context, experiment, options, plan));
    const db_status status = db_plan_attach_device(*plan);
    if (status != DB_OK) db_plan_destroy(plan);
    return status;
}

static db_status check_same_shape(const db_plan *plan, const db_experiment *e) {
    const db_experiment *own = &plan->experiment;
    int same = e->beam.source_count == own->beam.source_count &&
               e->crystal.mosaic_domains == own->crystal.mosaic_domains &&
               !e->crystal.mosaic_anisotropic == !own->crystal.mosaic_anisotropic &&
               e->goniometer.phi_steps == own->goniometer.phi_steps &&
               e->detector.panel_count == own->detector.panel_count &&
               e->oversample == own->oversample &&
               db_table_entries(&e->structure_factors) == plan->table.count &&
               (!plan->table.count ||
                e->structure_factors.interpolate == own->structure_factors.interpolate) &&
               memcmp(e->structure_factors.extent, own->structure_factors.extent,
                      sizeof own->structure_factors.extent) == 0 &&
               db_site_kinds_alike(e->structure_factors.sites, own->structure_factors.sites) &&
               e->background.count == own->background.count &&
               e->detector.sensor_layers == own->detector.sensor_layers &&
               e->reference.on == own->reference.on && e->spread.spots == own->spread.spots &&
               e->spread.tails == own->spread.tails &&
               db_has_halo(&e->crystal) == db_has_halo(&own->crystal) &&
               !e->crystal.diffuse_anisotropic == !own->crystal.diffuse_anisotropic &&
               db_sample_count(e) == plan->values.sample_count;
    for (size_t p = 0; same && p < e->detector.panel_count; p++)
        same = e->detector.panels[p].fast_pixels == own->detector.panels[p].fast_pixels &&
               e->detector.panels[p].slow_pixels == own->detector.panels[p].slow_pixels;
    if (same) return DB_OK;
    return db_fail(
        plan->context, DB_ERROR_USAGE,
        "plan update: numbers of sources, domains (and whether their spread is "
        "anisotropic), phi steps, tails, sub-pixels, sensor layers, "
        "panels, pixels, structure factors, kinds and points of sites' curves and "
        "amorphous amplitudes, and whether there is a diffuse halo, an anisotropic one or "
        "one of a crystal that turns, must be those the plan was created with");
}

/* Copies kinds of sites. Returns 1 if the table has to be filled again: its bound of the amplitudes depends on the
 * curves, too. */
static int take_sites(db_plan *plan, const db_site_kinds *from) {
    db_site_kinds *const own = plan->experiment.structure_factors.sites;
    if (!own || from == own) return 0;
    const size_t count = plan->table.count * db_site_part(own->count);
    db_site_kinds_take_curves(from, own);
    const int changed = db_tables_differ(plan->context, own->part, from->part, count);
    if (changed) memcpy(own->part, from->part, count * sizeof *own->part);
    return changed || plan->tolerance > 0;
}

/* Copies values into the plan's own lists. */
static void take_values(db_plan *plan, const db_experiment *e) {
    db_experiment *own = &plan->experiment;
    db_source *const sources = own->beam.sources;
    db_panel *const panels = own->detector.panels;
    double *const amplitude = own->structure_factors.amplitude;
    db_site_kinds *const sites = own->structure_factors.sites;
    double *const stol = own->background.stol;
    double *const amorphous_amplitude = own->background.amplitude;
    memcpy(sources, e->beam.sources, e->beam.source_count * sizeof *sources);
    memcpy(panels, e->detector.panels, e->detector.panel_count * sizeof *panels);
    const size_t table_bytes = plan->table.count * sizeof *amplitude;
    int table_changed = own->structure_factors.default_F != e->structure_factors.default_F ||
                        (table_bytes && e->structure_factors.amplitude != amplitude &&
                         db_tables_differ(plan->context, amplitude, e->structure_factors.amplitude,
                                          plan->table.count));
    const int seed_changed = own->crystal.mosaic_seed != e->crystal.mosaic_seed;
    if (table_bytes && table_changed)
        memcpy(amplitude, e->structure_factors.amplitude, table_bytes);
    table_changed |= take_sites(plan, e->structure_factors.sites);
    const size_t curve_bytes = own->background.count * sizeof *stol;
    if (curve_bytes) {
        memcpy(stol, e->background.stol, curve_bytes);
        memcpy(amorphous_amplitude, e->background.amplitude, curve_bytes);
    }
    *own = *e;
    own->background.stol = stol;
    own->background.amplitude = amorphous_amplitude;
    own->beam.sources = sources;
    own->detector.panels = panels;
    own->structure_factors.amplitude = amplitude;
    own->structure_factors.sites = sites;
    if (seed_changed) db_plan_values_draw(own, &plan->values);
    if (table_changed) db_plan_table_fill(&own->structure_factors, plan->tolerance, &plan->table);
    db_amorphous_curve_fill(&plan->values.curve, &own->background);
}

db_status db_plan_update(db_plan *plan, const db_experiment *experiment) {
    db_experiment given =
        *experiment; /* a copy whose lists belong to *experiment and stay as they are */
    db_spots_one_of_each(&given);
    DB_TRY(check_same_shape(plan, &given));
    DB_TRY(db_experiment_check(plan->context, &given));
    take_values(plan, &given);
    plan->versions.values++;
    fill_values(plan);
    return DB_OK;
}

db_status db_plan_change_precision(db_plan *plan, db_precision precision) {
    const db_structure_factors *const f = &plan->experiment.structure_factors;
    plan->precision = precision;
    DB_TRY(db_plan_table_create(plan->context, f, precision, &plan->table));
    db_plan_table_fill(f, plan->tolerance, &plan->table);
    fill_values(plan);
    return DB_OK;
}

void db_plan_destroy(db_plan **plan) {
    if (!plan || !*plan) return;
    db_plan *p = *plan;
    *plan = NULL;
    db_plan_detach_device(p);
    db_normal_destroy(p->normal);
    db_spots_destroy(p->spots);
    db_plan_amplitudes_destroy(p->amplitudes);
    db_plan_background_destroy(p->background);
    db_plan_room_clear(&p->room);
    db_plan_slopes_clear(&p->slopes);
    db_plan_values_clear(&p->values);
    db_plan_table_clear(&p->table);
    db_plan_tiles_clear(&p->tiles);
    db_plan_parameters_clear(&p->parameters);
    db_experiment_clear(&p->experiment);
    free(p->device.ordinary);
    free(p);
}
