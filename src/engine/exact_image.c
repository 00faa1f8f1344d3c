/* The image in long double, model included. */
#include "engine/exact_image.h"

#include "base/context_internal.h"
#include "engine/amorphous_curve.h"
#include "engine/spots.h"
#include "engine/plan_create.h"
#include "engine/plan_state.h"
#include "base/threads.h"
#include "kernel/job.h"
#include "model/halo_samples.h"
#include "model/mosaic_directions.h"

#define LANES 1
#define REAL longdouble
#define DIRS 0
#include "ad/lane.h"
#include "model/interface.h"
#include "model/model_body.h"
#include "kernel/lattice.h"
#include "kernel/radiometry.h"
#include "kernel/scattering.h"
#include "kernel/structure_factor.h"
#include "kernel/one_sample.h"
#include "kernel/one_pixel.h"
#include "kernel/spot.h"
#include "kernel/spot_shape.h"
#include "kernel/spot_one_pixel.h"

#include <stdlib.h>

typedef struct {
    db_mosaic_direction *directions;
    interface_values interface;
    db_amorphous_curve curve;
} exact_model;

static db_status allocate_exact(db_context *context, const db_experiment *e, exact_model *m) {
    const size_t domains = (size_t)e->crystal.mosaic_domains, samples = db_sample_count(e);
    m->directions = malloc(domains * sizeof *m->directions);
    m->interface.rotation = malloc(samples * sizeof *m->interface.rotation);
    m->interface.panel = malloc(e->detector.panel_count * sizeof *m->interface.panel);
    m->interface.source = malloc(e->beam.source_count * sizeof *m->interface.source);
    m->interface.site_curve =
        malloc((2 * e->beam.source_count * (size_t)db_site_count(&e->structure_factors) + 1) *
               sizeof *m->interface.site_curve);
    if (!m->directions || !m->interface.rotation || !m->interface.panel || !m->interface.source ||
        !m->interface.site_curve)
        return db_fail_memory(context, "an exact image");
    return db_amorphous_curve_create(context, e->background.count, &m->curve);
}

static void clear_exact(exact_model *m) {
    free(m->directions);
    free(m->interface.rotation);
    free(m->interface.panel);
    free(m->interface.source);
    free(m->interface.site_curve);
    db_amorphous_curve_clear(&m->curve);
}

static void render_exact(const pixel_inputs *inputs, const db_region *r, long double *image) {
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            image[r->offset + (size_t)slow * r->stride + (size_t)fast] =
                pixel_intensity(inputs, r->panel, r->fast_start + fast, r->slow_start + slow).v;
}

/* Renders a region of a plan in closed form; 0: out of memory. */
static int render_spots(const pixel_inputs *inputs, const db_plan *plan, size_t region,
                        long double *image) {
    const db_region *r = &plan->tiles.regions[region];
    const db_kernel_spots *spots = &plan->job.spots;
    const uint32_t first = spots->first[region];
    const size_t count = spots->first[region + 1] - first;
    spot_shown *shown = malloc((count + 1) * sizeof *shown);
    if (!shown) return 0;
    for (size_t i = 0; i < count; i++) {
        shown[i].entry = &plan->job.spots.entry[spots->number[first + i]];
        shown[i].value =
            spot_at(inputs->experiment, inputs->interface, NULL, &shown[i].entry->name);
    }
    for (int slow = 0; slow < r->slow_count; slow++)
        for (int fast = 0; fast < r->fast_count; fast++)
            image[r->offset + (size_t)slow * r->stride + (size_t)fast] =
                spots_pixel(inputs, shown, count, r->panel, r->fast_start + fast,
                            r->slow_start + slow)
                    .v;
    free(shown);
    return 1;
}

/* Closed form: the list of spots is found in double, by an ordinary plan. */
static db_status render_closed(db_context *context, const pixel_inputs *inputs,
                               const db_region *regions, size_t region_count, long double *image) {
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.regions = regions;
    options.region_count = region_count;
    DB_TRY(db_plan_create_on_processor(context, inputs->experiment, &options, &plan));
    db_status status = db_spots_fill(plan);
    if (status == DB_OK) {
        const long count = (long)plan->tiles.region_count;
        int failed = 0;
#if defined(_OPENMP)
        const int threads = db_threads_for(context, count);
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
        for (long i = 0; i < count; i++) {
            if (render_spots(inputs, plan, (size_t)i, image)) continue;
#if defined(_OPENMP)
#pragma omp atomic write
#endif
            failed = 1;
        }
        if (failed) status = db_fail_memory(context, "an exact image");
    }
    db_plan_destroy(&plan);
    return status;
}

static void render_sampled(db_context *context, const pixel_inputs *inputs,
                           const db_region *regions, size_t region_count, long double *image) {
    const long count = (long)region_count;
    const int threads = db_threads_for(context, count);
    (void)threads; /* without OpenMP */
#if defined(_OPENMP)
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (threads > 1)
#endif
    for (long i = 0; i < count; i++) render_exact(inputs, &regions[i], image);
}

db_status db_exact_image(db_context *context, const db_experiment *experiment,
                         const db_mosaic_direction *directions, const db_region *regions,
                         size_t region_count, long double *image) {
    exact_model m = { 0 };
    DB_TRY(db_experiment_check(context, experiment));
    db_experiment e =
        *experiment; /* a copy whose lists belong to *experiment and stay as they are */
    db_spots_one_of_each(&e);
    db_status status = allocate_exact(context, &e, &m);
    if (status == DB_OK) {
        const pixel_inputs inputs = { &e, &m.interface, NULL, &m.curve.job };
        db_mosaic_directions(e.crystal.mosaic_seed, e.crystal.mosaic_spread,
                             e.crystal.mosaic_domains, m.directions);
        db_amorphous_curve_fill(&m.curve, &e.background);
        model_interface(&e, directions ? directions : m.directions, NULL, &m.interface);
        if (e.spread.spots == DB_SPOTS_CLOSED)
            status = render_closed(context, &inputs, regions, region_count, image);
        else
            render_sampled(context, &inputs, regions, region_count, image);
    }
    clear_exact(&m);
    return status;
}
