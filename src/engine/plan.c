/* Creating, updating and destroying plans. */
#include "engine/device_plan.h"
#include "engine/plan_amplitudes.h"
#include "engine/plan_background.h"
#include "engine/spots.h"

#include "base/given.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TILE_WORK = 1 << 15,         /* samples per tile, roughly: a fraction of a millisecond */
    LARGER_THAN_CACHES = 1 << 26 /* bytes of results that no cache will hold until they are read */
};

static const double MOST_PIXELS = 1e15; /* their bytes, times parameters, fit into 64 bits */

static db_status check_region(db_context *context, const db_experiment *e, const db_region *r,
                              size_t i) {
    if (r->panel >= e->detector.panel_count)
        return db_fail(context, DB_ERROR_USAGE, "region %zu: panel %zu of %zu does not exist", i,
                       r->panel, e->detector.panel_count);
    const db_panel *panel = &e->detector.panels[r->panel];
    if (r->fast_start < 0 || r->slow_start < 0 || r->fast_count < 1 || r->slow_count < 1 ||
        r->fast_count > panel->fast_pixels - r->fast_start ||
        r->slow_count > panel->slow_pixels - r->slow_start || r->stride < (size_t)r->fast_count)
        return db_fail(context, DB_ERROR_USAGE,
                       "region %zu: start (%d, %d), size %d x %d, stride %zu does not fit the "
                       "panel of %d x %d pixels",
                       i, r->fast_start, r->slow_start, r->fast_count, r->slow_count, r->stride,
                       panel->fast_pixels, panel->slow_pixels);
    const double end = (double)r->offset + (double)r->slow_count * (double)r->stride;
    if (end > MOST_PIXELS)
        return db_fail(
            context, DB_ERROR_USAGE,
            "region %zu: offset %zu and stride %zu of %d rows end at pixel %g, more than "
            "the supported %g",
            i, r->offset, r->stride, r->slow_count, end, MOST_PIXELS);
    return DB_OK;
}

db_status db_regions_check(db_context *context, const db_experiment *experiment,
                           const db_region *regions, size_t count) {
    if (count < 1)
        return db_fail(context, DB_ERROR_USAGE, "regions: expected at least one, found none");
    for (size_t i = 0; i < count; i++) DB_TRY(check_region(context, experiment, &regions[i], i));
    return DB_OK;
}

db_region *db_whole_panels(const db_detector *d) {
    db_region *regions = calloc(d->panel_count, sizeof *regions);
    size_t offset = 0;
    for (size_t p = 0; regions && p < d->panel_count; p++) {
        db_region *r = &regions[p];
        r->panel = p;
        r->fast_count = d->panels[p].fast_pixels;
        r->slow_count = d->panels[p].slow_pixels;
        r->offset = offset;
        r->stride = (size_t)r->fast_count;
        offset += (size_t)r->fast_count * (size_t)r->slow_count;
    }
    return regions;
}

static db_status take_regions(db_plan *plan, const db_plan_options *options) {
    if (!options->regions) {
        plan->region_count = plan->experiment.detector.panel_count;
        plan->regions = db_whole_panels(&plan->experiment.detector);
        if (!plan->regions) return db_fail_memory(plan->context, "the regions of a plan");
    } else {
        DB_TRY(db_regions_check(plan->context, &plan->experiment, options->regions,
                                options->region_count));
        plan->region_count = options->region_count;
        plan->regions = malloc(plan->region_count * sizeof *plan->regions);
        if (!plan->regions) return db_fail_memory(plan->context, "the regions of a plan");
        memcpy(plan->regions, options->regions, plan->region_count * sizeof *plan->regions);
    }
    for (size_t i = 0; i < plan->region_count; i++) {
        const db_region *r = &plan->regions[i];
        const size_t end =
            r->offset + (size_t)(r->slow_count - 1) * r->stride + (size_t)r->fast_count;
        if (end > plan->pixels) plan->pixels = end;
    }
    plan->given_count = plan->region_count;
    plan->given = malloc(plan->given_count * sizeof *plan->given);
    if (!plan->given) return db_fail_memory(plan->context, "the regions of a plan");
    memcpy(plan->given, plan->regions, plan->given_count * sizeof *plan->given);
    return DB_OK;
}

static const char *what_is_missing(db_parameter parameter, unsigned moves) {
    return parameter == DB_SPECTRUM_STRETCH ? "sources of several wavelengths"
           : parameter == DB_MOSAIC_SPREAD  ? "mosaic spread of all axes, but one about each"
           : moves & DB_MOVES_SPREAD        ? "spots in closed form"
           : moves & DB_MOVES_ROTATIONS     ? "anisotropic mosaic spread"
           : moves & DB_MOVES_SENSOR
               ? "sensor, and without one the image does not depend on it smoothly"
           : moves & DB_MOVES_BACKGROUND ? "such background"
           : moves & DB_MOVES_SOURCES    ? "such source"
                                         : "such reflection in its list";
}

static db_status take_parameter(db_plan *plan, size_t k) {
    const db_parameter p = plan->parameters[k];
    const db_parameter_info *info = db_parameter_describe(p);
    char name[64];
    if (!info)
        return db_fail(plan->context, DB_ERROR_USAGE, "parameter number %d does not exist", (int)p);
    db_parameter_name(p, name, sizeof name);
    for (size_t i = 0; i < k; i++)
        if (plan->parameters[i] == p)
            return db_fail(plan->context, DB_ERROR_USAGE, "parameter %s is asked for twice", name);
    if (!db_parameter_exists(&plan->experiment, p))
        return db_fail(plan->context, DB_ERROR_USAGE, "parameter %s: the experiment has no %s",
                       name, what_is_missing(p, info->facts->moves));
    if ((unsigned)p < DB_PARAMETER_COUNT) return DB_OK;
    if (plan->beyond_table == DB_PARAMETER_SLOTS)
        return db_fail(plan->context, DB_ERROR_USAGE,
                       "parameter %s: at most %d source weights and structure factors fit one plan",
                       name, DB_PARAMETER_SLOTS);
    plan->beyond_table++;
    return DB_OK;
}

static db_status take_parameters(db_plan *plan, const db_plan_options *options) {
    plan->parameter_count = options->parameter_count;
    plan->parameters = calloc(plan->parameter_count + 1, sizeof *plan->parameters);
    if (!plan->parameters) return db_fail_memory(plan->context, "the parameters of a plan");
    for (size_t k = 0; k < plan->parameter_count; k++) {
        plan->parameters[k] = options->parameters[k];
        DB_TRY(take_parameter(plan, k));
    }
    return DB_OK;
}

/* Cuts regions into tiles of about the same size. A small region is not cut: every tile costs some
 * work at its start. */
static int rows_per_tile(const db_plan *plan, const db_region *region) {
    if (plan->experiment.spread.spots == DB_SPOTS_CLOSED) return region->slow_count;
    const double samples = (double)plan->sample_count * (double)plan->experiment.beam.source_count *
                           plan->experiment.oversample * plan->experiment.oversample *
                           plan->experiment.detector.sensor_layers;
    const double tiles = rint(samples * region->fast_count * region->slow_count / TILE_WORK);
    if (tiles < 2) return region->slow_count;
    return tiles > region->slow_count ? 1 : (int)ceil(region->slow_count / tiles);
}

static db_status cut_tiles(db_plan *plan) {
    for (int pass = 0; pass < 2; pass++) {
        plan->tile_count = 0;
        for (size_t i = 0; i < plan->region_count; i++) {
            const db_region *r = &plan->regions[i];
            const int rows = rows_per_tile(plan, r);
            for (int row = 0; row < r->slow_count; row += rows) {
                if (pass == 1) {
                    const int end = r->slow_count - row < rows ? r->slow_count : row + rows;
                    plan->tiles[plan->tile_count] = (db_tile){ i, row, end };
                }
                plan->tile_count++;
            }
        }
        if (pass == 0) {
            plan->tiles = malloc(plan->tile_count * sizeof *plan->tiles);
            if (!plan->tiles) return db_fail_memory(plan->context, "the tiles of a plan");
        }
    }
    return DB_OK;
}

static size_t table_entries(const db_structure_factors *f) {
    return f->amplitude ? (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2] : 0;
}

static db_status allocate_values(db_plan *plan) {
    const db_experiment *e = &plan->experiment;
    plan->table_count = table_entries(&e->structure_factors);
    plan->directions = malloc((size_t)e->crystal.mosaic_domains * sizeof *plan->directions);
    plan->plain.rotation = malloc(plan->sample_count * sizeof *plan->plain.rotation);
    plan->plain.panel = malloc(e->detector.panel_count * sizeof *plan->plain.panel);
    plan->plain.source = malloc(e->beam.source_count * sizeof *plan->plain.source);
    plan->panel = malloc(e->detector.panel_count * sizeof *plan->panel);
    plan->source_double = malloc(e->beam.source_count * sizeof *plan->source_double);
    plan->source_float = malloc(e->beam.source_count * sizeof *plan->source_float);
    plan->sample_double = malloc(plan->sample_count * sizeof *plan->sample_double);
    plan->sample_float = malloc(plan->sample_count * sizeof *plan->sample_float);
    if (!plan->directions || !plan->plain.rotation || !plan->plain.panel || !plan->plain.source ||
        !plan->panel || !plan->source_double || !plan->source_float || !plan->sample_double ||
        !plan->sample_float)
        return db_fail_memory(plan->context, "a plan");
    DB_TRY(db_amorphous_curve_create(plan->context, e->background.count, &plan->curve));
    DB_TRY(db_plan_allocate_reference(plan));
    return db_plan_allocate_table(plan);
}

static db_status build(db_plan *plan, const db_experiment *experiment,
                       const db_plan_options *options) {
    const int closed = experiment->spread.spots == DB_SPOTS_CLOSED;
    DB_TRY(db_experiment_copy(plan->context, experiment, &plan->experiment));
    db_spots_one_of_each(&plan->experiment);
    experiment = &plan->experiment;
    plan->precision = options->precision;
    plan->tolerance = options->tolerance;
    plan->sample_count =
        (size_t)experiment->goniometer.phi_steps * (size_t)experiment->crystal.mosaic_domains;
    DB_TRY(take_parameters(plan, options));
    DB_TRY(take_regions(plan, options));
    DB_TRY(db_plan_take_reflections(plan, options));
    if (closed) DB_TRY(db_spots_cut_regions(plan));
    DB_TRY(cut_tiles(plan));
    DB_TRY(allocate_values(plan));
    if (closed) DB_TRY(db_spots_create(plan));
    if (plan->parameter_count) DB_TRY(db_plan_allocate_dual(plan));
    plan->job.pixel_type = options->pixel_type;
    plan->job.streaming =
        (double)plan->pixels * (double)(plan->parameter_count + 1) * sizeof(float) >
        LARGER_THAN_CACHES;
    db_mosaic_directions(experiment->crystal.mosaic_seed, experiment->crystal.mosaic_spread,
                         experiment->crystal.mosaic_domains, plan->directions);
    db_plan_fill_table(plan);
    db_amorphous_curve_fill(&plan->curve, &plan->experiment.background);
    db_plan_fill_values(plan);
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
    DB_TRY(db_experiment_check(context, experiment));
    db_plan *made = calloc(1, sizeof *made);
    if (!made) return db_fail_memory(context, "a plan");
    made->context = context;
    db_enter_stage(context, "plan");
    const db_status status = build(made, experiment, options);
    db_leave_stage(context, "plan");
    if (status != DB_OK) {
        db_plan_destroy(&made);
        return status;
    }
    *plan = made;
    return DB_OK;
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
               table_entries(&e->structure_factors) == plan->table_count &&
               (!plan->table_count ||
                e->structure_factors.interpolate == own->structure_factors.interpolate) &&
               memcmp(e->structure_factors.extent, own->structure_factors.extent,
                      sizeof own->structure_factors.extent) == 0 &&
               e->background.count == own->background.count &&
               e->detector.sensor_layers == own->detector.sensor_layers &&
               e->reference.on == own->reference.on && e->spread.spots == own->spread.spots &&
               e->spread.tails == own->spread.tails;
    for (size_t p = 0; same && p < e->detector.panel_count; p++)
        same = e->detector.panels[p].fast_pixels == own->detector.panels[p].fast_pixels &&
               e->detector.panels[p].slow_pixels == own->detector.panels[p].slow_pixels;
    if (same) return DB_OK;
    return db_fail(plan->context, DB_ERROR_USAGE,
                   "plan update: numbers of sources, domains (and whether their spread is "
                   "anisotropic), phi steps, tails, sub-pixels, sensor layers, "
                   "panels, pixels, structure factors and amorphous amplitudes must be those the "
                   "plan was created with");
}

/* Copies values into the plan's own lists. */
static void take_values(db_plan *plan, const db_experiment *e) {
    db_experiment *own = &plan->experiment;
    db_source *const sources = own->beam.sources;
    db_panel *const panels = own->detector.panels;
    double *const amplitude = own->structure_factors.amplitude;
    double *const stol = own->background.stol;
    double *const amorphous_amplitude = own->background.amplitude;
    memcpy(sources, e->beam.sources, e->beam.source_count * sizeof *sources);
    memcpy(panels, e->detector.panels, e->detector.panel_count * sizeof *panels);
    const size_t table_bytes = plan->table_count * sizeof *amplitude;
    const int table_changed = own->structure_factors.default_F != e->structure_factors.default_F ||
                              (table_bytes && e->structure_factors.amplitude != amplitude &&
                               memcmp(amplitude, e->structure_factors.amplitude, table_bytes) != 0);
    const int seed_changed = own->crystal.mosaic_seed != e->crystal.mosaic_seed;
    if (table_bytes && table_changed)
        memcpy(amplitude, e->structure_factors.amplitude, table_bytes);
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
    if (seed_changed)
        db_mosaic_directions(e->crystal.mosaic_seed, e->crystal.mosaic_spread,
                             e->crystal.mosaic_domains, plan->directions);
    if (table_changed) db_plan_fill_table(plan);
    db_amorphous_curve_fill(&plan->curve, &own->background);
}

db_status db_plan_update(db_plan *plan, const db_experiment *experiment) {
    db_experiment given = *experiment; /* its lists are not changed */
    db_spots_one_of_each(&given);
    DB_TRY(check_same_shape(plan, &given));
    DB_TRY(db_experiment_check(plan->context, &given));
    take_values(plan, &given);
    plan->updates++;
    db_plan_fill_values(plan);
    plan->slopes_current = 0;
    return DB_OK;
}

void db_plan_destroy(db_plan **plan) {
    if (!plan || !*plan) return;
    db_plan *p = *plan;
    db_plan_detach_device(p);
    db_experiment_clear(&p->experiment);
    db_amorphous_curve_clear(&p->curve);
    db_normal_destroy(p->normal);
    db_spots_destroy(p->spots);
    db_plan_amplitudes_destroy(p->amplitudes);
    db_plan_background_destroy(p->background);
    void *const owned[] = { p->parameters,
                            p->regions,
                            p->given,
                            p->reflection,
                            p->region_node,
                            p->tiles,
                            p->directions,
                            p->plain.rotation,
                            p->plain.panel,
                            p->plain.source,
                            p->dual.rotation,
                            p->dual.panel,
                            p->dual.source,
                            p->panel,
                            p->source_double,
                            p->source_float,
                            p->source_slope_double,
                            p->source_slope_float,
                            p->sample_double,
                            p->sample_float,
                            p->lattice_slope_double,
                            p->lattice_slope_float,
                            p->intensity_double,
                            p->amplitude_table,
                            p->reference_phi_step,
                            p->intensity_float,
                            p->contraction,
                            p->position,
                            p->derivative,
                            p->ordinary,
                            p->room,
                            p };
    *plan = NULL;
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) free(owned[i]);
}
