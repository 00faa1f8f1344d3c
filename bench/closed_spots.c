#include "bench/closed_spots.h"

#include "base/context_internal.h"
#include "bench/accuracy.h"
#include "bench/gaussian_samples.h"
#include "bench/shoeboxes.h"
#include "engine/spots.h"
#include "engine/plan_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const db_bench_scene_names[DB_BENCH_SCENES] = {
    "small crystal, 1024²", "thaumatin, 4096²", "400 shoeboxes of 17 x 17 of one shot"
};

#define PUBLISHED .scene = DB_BENCH_PUBLISHED
#define THAUMATIN .scene = DB_BENCH_THAUMATIN
#define SHOT .scene = DB_BENCH_SHOT
const db_bench_spots_call db_bench_spots_calls[DB_BENCH_SPOTS_CALLS] = {
    { PUBLISHED, .key = "image", .name = "image" },
    { PUBLISHED, .key = "exact_image", .name = "image, tolerance 0", .exact = 1 },
    { PUBLISHED, "derivatives_16", "16 derivative images", DB_BENCH_DERIVATIVES, 16, 0, 0, 0 },
    { PUBLISHED, "normal_16", "normal equations, 16 parameters", DB_BENCH_NORMAL, 16, 0, 0, 0 },
    { PUBLISHED, .key = "sampled_100", .name = "image, 100 domains", .domains = 100, .rays = 1 },
    { PUBLISHED, .key = "sampled_1000", .name = "image, 1000 domains", .domains = 1000, .rays = 1 },
    { THAUMATIN, .key = "image", .name = "image" },
    { THAUMATIN, .key = "exact_image", .name = "image, tolerance 0", .exact = 1 },
    { THAUMATIN, "derivatives_16", "16 derivative images", DB_BENCH_DERIVATIVES, 16, 0, 0, 0 },
    { THAUMATIN, "normal_16", "normal equations, 16 parameters", DB_BENCH_NORMAL, 16, 0, 0, 0 },
    { THAUMATIN, "normal_40", "normal equations, 40 parameters", DB_BENCH_NORMAL, 40, 0, 0, 0 },
    { THAUMATIN, .key = "sampled_100", .name = "image, 10 domains x 10 rays", .domains = 10,
      .rays = 10 },
    { THAUMATIN, .key = "sampled_1000", .name = "image, 50 domains x 20 rays", .domains = 50,
      .rays = 20 },
    { SHOT, .key = "image", .name = "image" },
    { SHOT, "normal_20", "normal equations, 20 parameters", DB_BENCH_NORMAL, 20, 0, 0, 0 },
    { SHOT, .key = "sampled_1000", .name = "image, 50 domains x 20 rays", .domains = 50,
      .rays = 20 },
};

/* 16 and, all of them, 40. */
static const db_parameter parameters[DB_BENCH_MOST_PARAMETERS] = {
    DB_CELL_A,
    DB_CELL_B,
    DB_CELL_C,
    DB_MISSET_X,
    DB_MISSET_Y,
    DB_MISSET_Z,
    DB_CELLS_A,
    DB_CELLS_B,
    DB_CELLS_C,
    DB_MOSAIC_VARIANCE,
    DB_BANDWIDTH_VARIANCE,
    DB_DIVERGENCE_HH,
    DB_FOOTPRINT_HH,
    DB_FOOTPRINT_VV,
    DB_DISTANCE,
    DB_BEAM_FAST,
    DB_BEAM_SLOW,
    DB_SCALE,
    DB_DIVERGENCE_VV,
    DB_WAVELENGTH,
    DB_CELL_ALPHA,
    DB_CELL_BETA,
    DB_CELL_GAMMA,
    DB_MOSAIC_XX,
    DB_MOSAIC_YY,
    DB_MOSAIC_ZZ,
    DB_MOSAIC_YZ,
    DB_MOSAIC_ZX,
    DB_MOSAIC_XY,
    DB_STRAIN_VARIANCE,
    DB_MODE1_XX,
    DB_MODE1_XY,
    DB_MODE1_XZ,
    DB_MODE1_YX,
    DB_MODE1_YY,
    DB_MODE1_YZ,
    DB_MODE1_ZX,
    DB_MODE1_ZY,
    DB_MODE1_ZZ,
    DB_DETECTOR_ROTX,
};
/* What is refined of one shot. */
static const db_parameter of_shot[20] = {
    DB_MISSET_X,      DB_MISSET_Y,      DB_MISSET_Z,     DB_CELL_A,          DB_CELL_C,
    DB_SCALE,         DB_CELLS_A,       DB_MOSAIC_XX,    DB_MOSAIC_YY,       DB_MOSAIC_ZZ,
    DB_MOSAIC_YZ,     DB_MOSAIC_ZX,     DB_MOSAIC_XY,    DB_STRAIN_VARIANCE, DB_BANDWIDTH_VARIANCE,
    DB_DIVERGENCE_HH, DB_DIVERGENCE_VV, DB_FOOTPRINT_HH, DB_FOOTPRINT_VV,    DB_POINT_SPREAD_FF,
};

/* Photons that a pixel may lack, in parts of the brightest. */
static const double TOLERANCE = 1e-6;

enum { SMALL_SIZE = 1024, LARGE_SIZE = 4096, QUICK_SHRINK = 8, BOXES = 400, BOX_SIZE = 17 };

static int scene_size(const db_bench_options *options, db_bench_scene scene) {
    const int size = scene == DB_BENCH_PUBLISHED ? SMALL_SIZE : LARGE_SIZE;
    return options->quick ? size / QUICK_SHRINK : size;
}

int db_bench_spots_size(const db_bench_options *options) {
    return options->spots ? scene_size(options, DB_BENCH_THAUMATIN) : 0;
}

/* Degree; and the cap of the engine's own mosaic domains with the same mean square, see
 * src/setup/spots.c. */
static const double SMALL_MOSAIC = 0.2, SMALL_CAP = 0.2 / 0.4963782696626771;

/* The first scene, sampled, as programs take it: cubic cell of 100 A at 100 mm, 5 cells, square. */
static db_bench_load published(int domains) {
    return (db_bench_load){ .key = "published",
                            .name = "published",
                            .wavelength = 1,
                            .mosaic_domains = domains,
                            .mosaic_spread = SMALL_CAP };
}

static db_status published_experiment(db_context *context, int size, db_experiment *e) {
    const db_bench_load load = published(0);
    const db_bench_workload workload = { .size = size, .load = &load };
    DB_TRY(db_bench_experiment(context, &workload, e));
    e->spread.mosaic = SMALL_MOSAIC * SMALL_MOSAIC;
    return DB_OK;
}

/* Cell in angstrom; 12.66 keV, 200 mm, pixels of 0.075 mm: 1.5 A at the edges. */
static db_status thaumatin_experiment(db_context *context, int size, db_experiment *e) {
    static const double cell[3] = { 58, 58, 152 }, misset[3] = { 0, 20, 30 }, PIXEL = 0.075;
    DB_TRY(db_experiment_init(context, e));
    for (int i = 0; i < 3; i++) {
        e->crystal.cell[i] = cell[i];
        e->crystal.misset[i] = misset[i];
        e->crystal.Ncells[i] = 200;
    }
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->structure_factors.default_F = 100;
    e->beam.wavelength = 0.9795;
    e->detector.distance = 200;
    for (int i = 0; i < 2; i++) {
        e->detector.panels[0].pixel_size[i] = PIXEL;
        e->detector.centre[i] = PIXEL * size / 2;
        e->spread.divergence[i] = 0.5 * 0.5;
        e->spread.footprint[i] = 0.1 * 0.1;
    }
    e->detector.panels[0].fast_pixels = e->detector.panels[0].slow_pixels = size;
    e->spread.mosaic = 0.1 * 0.1;
    e->spread.bandwidth = 1;
    return DB_OK;
}

/* Rotations about axes of their own, strain, one mode, point spread. */
static void more_spreads(db_spread *spread) {
    static const double tensor[6] = { 0.004, 0.002, 0.006, 0.001, 0, -0.001 },
                        mode[9] = { 0.2, 0.5, 0, -0.5, 0.1, 0.3, 0, -0.3, 0 };
    memcpy(spread->mosaic_tensor, tensor, sizeof tensor);
    memcpy(spread->mode[0], mode, sizeof mode);
    spread->strain = 0.25;
    spread->point_spread[0] = spread->point_spread[1] = 0.03 * 0.03;
}

static db_status experiment_of(const db_bench_spots *s, db_bench_scene scene, db_experiment *e) {
    const int size = scene_size(s->options, scene);
    DB_TRY(scene == DB_BENCH_PUBLISHED ? published_experiment(s->context, size, e)
                                       : thaumatin_experiment(s->context, size, e));
    e->spread.spots = DB_SPOTS_CLOSED;
    if (scene == DB_BENCH_SHOT) more_spreads(&e->spread);
    return DB_OK;
}

/* Fills a caller but for its plan. */
static db_status prepare(const db_bench_spots *s, const db_bench_spots_call *call,
                         db_precision precision, double tolerance, const db_bench_boxes *boxes,
                         db_bench_caller *caller) {
    *caller = (db_bench_caller){ .context = s->context,
                                 .precision = precision,
                                 .parameter = call->scene == DB_BENCH_SHOT ? of_shot : parameters,
                                 .parameters = call->parameters,
                                 .tolerance = call->exact ? 0 : tolerance };
    if (boxes->count) {
        caller->regions = malloc(boxes->count * sizeof *caller->regions);
        if (!caller->regions) return db_fail_memory(s->context, "shoeboxes");
        memcpy(caller->regions, boxes->region, boxes->count * sizeof *caller->regions);
        caller->region_count = boxes->count;
    }
    DB_TRY(experiment_of(s, call->scene, &caller->experiment));
    return call->domains
               ? db_bench_sample_spread(s->context, &caller->experiment, call->domains, call->rays)
               : DB_OK;
}

static db_status start(db_bench_caller *caller, const db_bench_spots_call *call) {
    DB_TRY(db_bench_caller_start(caller));
    if (call->domains) db_bench_gaussian_domains(caller->plan, DB_BENCH_RANDOM, 0);
    return DB_OK;
}

/* The closed image in double precision with tolerance 0. */
static db_status exact_image(const db_bench_spots *s, db_bench_scene scene,
                             const db_bench_boxes *boxes, float *image) {
    const db_bench_spots_call call = { .scene = scene, .exact = 1 };
    db_bench_caller caller;
    db_status status = prepare(s, &call, DB_PRECISION_DOUBLE, 0, boxes, &caller);
    if (status == DB_OK) status = start(&caller, &call);
    if (status == DB_OK) status = db_plan_forward(caller.plan, image);
    db_bench_caller_close(&caller);
    return status;
}

/* Of a warm call, after the first, which may allocate. */
static db_status heap_of(const db_bench_spots *s, db_bench_caller *caller,
                         db_bench_spots_row *row) {
    const db_bench_heap before = db_bench_heap_now();
    DB_TRY(db_bench_call_warm(caller, row->call->output, s->images));
    const db_bench_heap after = db_bench_heap_now();
    row->heap.calls = after.calls - before.calls;
    row->heap.bytes = after.bytes > before.bytes ? after.bytes - before.bytes : 0;
    return DB_OK;
}

static double overlap(const int32_t reach[2], int start, int size) {
    const double from = fmax(reach[0], start), to = fmin(reach[1], start + size);
    return fmax(0, to - from);
}

/* After a call. */
static db_status count_spots(db_plan *plan, db_bench_spots_row *row) {
    const db_kernel_spots *spots = &plan->job.spots;
    DB_TRY(db_spots_fill(plan)); /* a device makes its own */
    row->spots = (double)spots->count;
    for (size_t r = 0; spots->first && r < plan->tiles.region_count; r++) {
        const db_region *region = &plan->tiles.regions[r];
        for (uint32_t i = spots->first[r]; i < spots->first[r + 1]; i++) {
            const db_kernel_spot *spot = &spots->spot[spots->number[i]];
            row->reached += overlap(spot->fast, region->fast_start, region->fast_count) *
                            overlap(spot->slow, region->slow_start, region->slow_count);
        }
    }
    return DB_OK;
}

static db_status open_row(db_bench_spots *s, int number, const float *exact, double tolerance,
                          const db_bench_boxes *boxes) {
    db_bench_spots_row *row = &s->results->row[number];
    db_bench_caller *caller = &s->caller[number];
    DB_TRY(prepare(s, row->call, row->precision, tolerance, boxes, caller));
    DB_TRY(start(caller, row->call));
    row->pixels = (double)db_plan_pixels(caller->plan);
    row->difference = NAN;
    if (row->call->output == DB_BENCH_IMAGE && !row->call->domains) {
        DB_TRY(db_bench_render(caller, s->images->image));
        row->difference = db_bench_compare(s->images->image, exact, db_plan_pixels(caller->plan))
                              .largest_difference;
    }
    DB_TRY(db_bench_choose_calls(caller, row->call->output, s->images, &row->time));
    if (!row->call->domains) DB_TRY(count_spots(caller->plan, row));
    return heap_of(s, caller, row);
}

static double largest(const float *image, size_t count) {
    double most = 0;
    for (size_t i = 0; i < count; i++) most = fmax(most, (double)image[i]);
    return most;
}

static db_status find_boxes(db_bench_spots *s, db_bench_boxes *boxes) {
    db_experiment experiment;
    DB_TRY(experiment_of(s, DB_BENCH_SHOT, &experiment));
    const db_status status =
        db_bench_boxes_predict(s->context, &experiment, BOX_SIZE, BOXES, boxes);
    s->results->boxes = (int)boxes->count;
    s->results->box_size = BOX_SIZE;
    db_experiment_clear(&experiment);
    return status;
}

static db_status open_scene(db_bench_spots *s, db_bench_scene scene, float *exact) {
    const int size = scene_size(s->options, scene);
    db_bench_boxes boxes = { 0 };
    DB_TRY(exact_image(s, scene, &boxes, exact));
    const double tolerance = TOLERANCE * largest(exact, (size_t)size * (size_t)size);
    db_status status = DB_OK;
    if (scene == DB_BENCH_SHOT) {
        status = find_boxes(s, &boxes);
        if (status == DB_OK) status = exact_image(s, scene, &boxes, exact);
    }
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS && status == DB_OK; i++)
        if (s->results->row[i].call->scene == scene)
            status = open_row(s, i, exact, tolerance, &boxes);
    free(boxes.region);
    return status;
}

db_status db_bench_spots_open(db_bench_spots *s) {
    const size_t size = (size_t)db_bench_spots_size(s->options);
    memset(s->caller, 0, sizeof s->caller);
    if (!size) return DB_OK;
    float *exact = malloc(size * size * sizeof *exact);
    if (!exact) return db_fail_memory(s->context, "an image");
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS; i++) {
        s->results->row[i].call = &db_bench_spots_calls[i / DB_BENCH_PRECISIONS];
        s->results->row[i].precision =
            i % DB_BENCH_PRECISIONS ? DB_PRECISION_MIXED : DB_PRECISION_DOUBLE;
    }
    s->results->run[0].domains = 100;
    s->results->run[1].domains = 1000;
    db_status status = DB_OK;
    for (db_bench_scene scene = 0; scene < DB_BENCH_SCENES && status == DB_OK; scene++)
        status = open_scene(s, scene, exact);
    free(exact);
    s->results->measured = status == DB_OK;
    return status;
}

/* All threads write, a megabyte at a time. */
static void fill(const db_bench_spots *s, size_t bytes, db_bench_series *series) {
    enum { BLOCK = 1 << 20 };
    char *const memory = (char *)s->images->image;
    const int threads = db_context_threads(s->context);
    const double begin = db_bench_seconds();
#pragma omp parallel for num_threads(threads)
    for (size_t at = 0; at < bytes; at += BLOCK)
        memset(memory + at, 1, bytes - at < BLOCK ? bytes - at : BLOCK);
    series->seconds[series->count++] = db_bench_seconds() - begin;
    (void)threads;
}

static db_status visit_programs(const db_bench_spots *s, db_bench_spots_run *run) {
    const db_bench_load load = published(run->domains);
    const db_bench_workload workload = { .size = scene_size(s->options, DB_BENCH_PUBLISHED),
                                         .load = &load };
    if (!*s->programs->reference ||
        db_bench_workload_samples(&workload) > s->options->reference_limit)
        return DB_OK;
    DB_TRY(db_bench_run_reference(s->context, s->programs, &workload,
                                  &run->reference.seconds[run->reference.count++], NULL));
    if (!*s->programs->ours) return DB_OK;
    return db_bench_run_ours(s->context, s->programs, &workload, DB_PRECISION_MIXED,
                             &run->program.seconds[run->program.count++], NULL);
}

db_status db_bench_spots_visit(db_bench_spots *s) {
    const size_t size = (size_t)db_bench_spots_size(s->options),
                 bytes = size * size * sizeof(float);
    if (!size) return DB_OK;
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS; i++) {
        db_bench_spots_row *row = &s->results->row[i];
        DB_TRY(db_bench_visit(&s->caller[i], row->call->output, s->images, &row->time));
        if (!s->device->plan) continue;
        row->there.calls = row->time.calls;
        DB_TRY(db_bench_visit(&s->caller[i], row->call->output, &s->device->images, &row->there));
    }
    fill(s, bytes, &s->results->fill[0]);
    fill(s, bytes * (1 + DB_BENCH_PARAMETERS), &s->results->fill[1]);
    for (int i = 0; i < DB_BENCH_SPOTS_RUNS; i++) DB_TRY(visit_programs(s, &s->results->run[i]));
    return DB_OK;
}

void db_bench_spots_close(db_bench_spots *s) {
    for (int i = 0; i < DB_BENCH_SPOTS_ROWS; i++) db_bench_caller_close(&s->caller[i]);
}

const db_bench_spots_row *db_bench_spots_find(const db_bench_spots_results *results,
                                              db_bench_scene scene, const char *key,
                                              db_precision precision) {
    for (int i = 0; results->measured && i < DB_BENCH_SPOTS_ROWS; i++) {
        const db_bench_spots_row *row = &results->row[i];
        if (row->call->scene == scene && row->precision == precision &&
            strcmp(row->call->key, key) == 0)
            return row;
    }
    return NULL;
}
