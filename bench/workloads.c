#include "bench/workloads.h"
#include "base/context_internal.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/text_file.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 25 domains within 1 degree, 4 steps of the spindle. Sweeps do not start at 0 degree: at an angle
 * of exactly 0 some programs that understand these flags repeat the orientation of another step. */
#define HUNDRED_SAMPLES                                                                            \
    .mosaic_domains = 25, .mosaic_spread = 1, .phi_steps = 4, .phi = 0.1, .osc = 1
#define SHAPE(key_, name_, shape_, cells_)                                                         \
    { .key = key_, .name = name_, .size = 256, .shape = shape_, .cells = cells_, HUNDRED_SAMPLES }

const db_bench_load db_bench_loads[DB_BENCH_LOADS] = {
    { .key = "still", .name = "a perfect crystal, a still" },
    { .key = "mosaic", .name = "25 mosaic domains, 4 phi steps", HUNDRED_SAMPLES },
    { .key = "sources",
      .name = "2000 sources: 10 x 10 directions, 20 wavelengths",
      .size = 128,
      .divergence_steps = 10,
      .dispersion_steps = 20 },
    { .key = "domains",
      .name = "100 mosaic domains",
      .size = 512,
      .mosaic_domains = 100,
      .mosaic_spread = 1 },
    { .key = "oversample", .name = "4 x 4 sub-pixels", .size = 1024, .oversample = 4 },
    { .key = "phi", .name = "100 phi steps", .size = 512, .phi_steps = 100, .phi = 0.1, .osc = 1 },
    { .key = "list",
      .name = "list of a million structure factors, 100 phi steps over 90 degrees",
      .size = 256,
      .phi_steps = 100,
      .phi = 0.1,
      .osc = 90,
      .wavelength = 0.7,
      .table = 50 },
    { .key = "interpolate",
      .name = "the same list interpolated, 10 phi steps",
      .size = 256,
      .phi_steps = 10,
      .phi = 0.1,
      .osc = 90,
      .wavelength = 0.7,
      .table = 50,
      .interpolate = 1 },
    SHAPE("square30", "square crystal, N = 30, 100 samples", DB_SHAPE_SQUARE, 30),
    SHAPE("square200", "square crystal, N = 200, 100 samples", DB_SHAPE_SQUARE, 200),
    SHAPE("round5", "round crystal, N = 5, 100 samples", DB_SHAPE_ROUND, 5),
    SHAPE("round30", "round crystal, N = 30, 100 samples", DB_SHAPE_ROUND, 30),
    SHAPE("round200", "round crystal, N = 200, 100 samples", DB_SHAPE_ROUND, 200),
    SHAPE("gauss5", "Gaussian crystal, N = 5, 100 samples", DB_SHAPE_GAUSS, 5),
    SHAPE("gauss30", "Gaussian crystal, N = 30, 100 samples", DB_SHAPE_GAUSS, 30),
    SHAPE("gauss200", "Gaussian crystal, N = 200, 100 samples", DB_SHAPE_GAUSS, 200),
    { .key = "large",
      .name = "cell of 250 A, N = 100, wavelength 0.9 A, 100 samples",
      .size = 256,
      .cell = 250,
      .cells = 100,
      .wavelength = 0.9,
      HUNDRED_SAMPLES },
    { .key = "layers", .name = "sensor with 3 layers", .size = 1024, .sensor_layers = 3 },
    { .key = "curved", .name = "curved detector", .size = 1024, .curved = 1 },
    { .key = "water", .name = "water behind the crystal", .size = 1024, .water = 20 },
    { .key = "everything",
      .name = "100 samples, sensor, water: a scene with 32 parameters",
      .size = 256,
      HUNDRED_SAMPLES,
      .sensor_layers = 1,
      .water = 20 },
    { .key = "boxes",
      .name = "200 shoeboxes of 20 x 20 pixels, 100 samples",
      .size = 1024,
      HUNDRED_SAMPLES,
      .boxes = 200,
      .box_fast = 20,
      .box_slow = 20 },
    { .key = "block",
      .name = "one block of 400 x 200 pixels, 100 samples",
      .size = 1024,
      HUNDRED_SAMPLES,
      .boxes = 1,
      .box_fast = 400,
      .box_slow = 200 },
};

const db_bench_load *db_bench_find_load(const char *key, size_t length) {
    for (int i = 0; i < DB_BENCH_LOADS; i++) {
        const char *own = db_bench_loads[i].key;
        if (strlen(own) == length && memcmp(own, key, length) == 0) return &db_bench_loads[i];
    }
    return NULL;
}

static double at_least_one(int count) { return count > 1 ? count : 1; }

double db_bench_load_samples(const db_bench_load *load) {
    const double divergence = at_least_one(load->divergence_steps),
                 sub_pixels = at_least_one(load->oversample);
    return divergence * divergence * at_least_one(load->dispersion_steps) *
           at_least_one(load->mosaic_domains) * at_least_one(load->phi_steps) * sub_pixels *
           sub_pixels * at_least_one(load->sensor_layers);
}

/* Crystal and detector: cubic cell (A), wavelength (A), crystal size (cells), structure factor,
 * distance and pixel size (mm). */
static const double CELL = 100, WAVELENGTH = 6.2, CELLS = 5, AMPLITUDE = 100, DISTANCE = 100,
                    PIXEL = 0.1;
/* Ranges of the sources (mrad, percent); sensor and its attenuation depth (um). */
static const double DIVERGENCE = 2, DISPERSION = 1, SENSOR = 450, ATTENUATION_DEPTH = 300;

const db_parameter db_bench_parameters[DB_BENCH_MORE_PARAMETERS] = {
    DB_CELL_A,
    DB_CELL_B,
    DB_CELL_C,
    DB_CELL_ALPHA,
    DB_CELL_BETA,
    DB_CELL_GAMMA,
    DB_MISSET_X,
    DB_MISSET_Y,
    DB_MISSET_Z,
    DB_WAVELENGTH,
    DB_DISTANCE,
    DB_BEAM_FAST,
    DB_BEAM_SLOW,
    DB_DETECTOR_ROTX,
    DB_DETECTOR_ROTY,
    DB_SCALE,
    DB_CELLS_A,
    DB_CELLS_B,
    DB_CELLS_C,
    DB_MOSAIC_SPREAD,
    DB_PHI,
    DB_BEAM_HORIZONTAL,
    DB_BEAM_VERTICAL,
    DB_DIVERGENCE_HORIZONTAL,
    DB_DIVERGENCE_VERTICAL,
    DB_DISPERSION,
    DB_POLARIZATION,
    DB_DETECTOR_ROTZ,
    DB_TWOTHETA,
    DB_SENSOR_THICKNESS,
    DB_ATTENUATION_DEPTH,
    DB_WATER_SIZE,
};

const char *db_bench_precision_name(db_precision precision) {
    return precision == DB_PRECISION_DOUBLE ? "double" : "mixed";
}

double db_bench_workload_pixels(const db_bench_workload *workload) {
    const db_bench_load *l = workload->load;
    return l->boxes ? (double)l->boxes * l->box_fast * l->box_slow
                    : (double)workload->size * workload->size;
}

double db_bench_workload_samples(const db_bench_workload *workload) {
    return db_bench_workload_pixels(workload) * db_bench_load_samples(workload->load);
}

static double cells_of(const db_bench_load *l) { return l->cells ? l->cells : CELLS; }
static double cell_of(const db_bench_load *l) { return l->cell > 0 ? l->cell : CELL; }
static double wavelength_of(const db_bench_load *l) {
    return l->wavelength > 0 ? l->wavelength : WAVELENGTH;
}

static void set_crystal(const db_bench_workload *workload, db_setup *setup) {
    const db_bench_load *l = workload->load;
    for (int i = 0; i < 3; i++) {
        setup->cell[i] = cell_of(l);
        setup->cell[i + 3] = 90;
        setup->Ncells[i] = cells_of(l);
    }
    setup->shape = l->shape;
    setup->default_F = AMPLITUDE;
    setup->interpolate = l->interpolate;
    if (l->table) setup->hkl_file = workload->list;
    setup->water_size = l->water;
    if (l->mosaic_domains) {
        setup->mosaic_spread = l->mosaic_spread;
        setup->mosaic_domains = l->mosaic_domains;
    }
    if (l->phi_steps) {
        setup->phi = l->phi;
        setup->osc = l->osc;
        setup->phi_steps = l->phi_steps;
    }
}

static void set_beam_and_detector(const db_bench_workload *workload, db_setup *setup) {
    const db_bench_load *l = workload->load;
    setup->wavelength = wavelength_of(l);
    if (l->divergence_steps) {
        for (int i = 0; i < 2; i++) {
            setup->divergence_range[i] = DIVERGENCE * 1e-3;
            setup->divergence_steps[i] = l->divergence_steps;
        }
        setup->round_divergence = 0;
        setup->dispersion = DISPERSION * 1e-2;
        setup->dispersion_steps = l->dispersion_steps;
    }
    setup->distance = DISTANCE;
    setup->pixel_size = PIXEL;
    setup->detector_pixels[0] = setup->detector_pixels[1] = workload->size;
    setup->oversample = l->oversample ? l->oversample : 1;
    setup->curved = l->curved;
    if (l->sensor_layers) {
        setup->sensor_thickness = SENSOR;
        setup->attenuation_depth = ATTENUATION_DEPTH;
        setup->sensor_layers = l->sensor_layers;
    }
}

db_status db_bench_experiment(db_context *context, const db_bench_workload *workload,
                              db_experiment *experiment) {
    db_setup setup;
    db_setup_init(&setup);
    set_crystal(workload, &setup);
    set_beam_and_detector(workload, &setup);
    return db_setup_resolve(context, &setup, experiment, NULL, NULL);
}

db_status db_bench_regions(db_context *context, const db_bench_workload *workload,
                           db_region **regions) {
    const db_bench_load *l = workload->load;
    *regions = NULL;
    if (!l->boxes) return DB_OK;
    db_region *made = calloc((size_t)l->boxes, sizeof *made);
    if (!made) return db_fail_memory(context, "regions");
    const int wide = workload->size - l->box_fast + 1, high = workload->size - l->box_slow + 1;
    for (int i = 0; i < l->boxes; i++) {
        /* in steps that have no small factor in common with the detector's size */
        made[i].fast_start = i * 389 % wide;
        made[i].slow_start = i * 613 % high;
        made[i].fast_count = l->box_fast;
        made[i].slow_count = l->box_slow;
        made[i].stride = (size_t)l->box_fast;
        made[i].offset = (size_t)i * (size_t)l->box_fast * (size_t)l->box_slow;
    }
    *regions = made;
    return DB_OK;
}

static void word(db_bench_flags *flags, const char *text) { flags->word[flags->count++] = text; }

static void value(db_bench_flags *flags, double number) {
    char *text = flags->number[flags->numbers++];
    snprintf(text, sizeof flags->number[0], "%.10g", number);
    word(flags, text);
}

static void number(db_bench_flags *flags, const char *flag, double its_value) {
    word(flags, flag);
    value(flags, its_value);
}

static void crystal_flags(const db_bench_workload *workload, db_bench_flags *flags) {
    static const char *const shape[] = { "-square_xtal", "-round_xtal", "-gauss_xtal",
                                         "-tophat_xtal" };
    const db_bench_load *l = workload->load;
    word(flags, "-cell");
    for (int i = 0; i < 6; i++) value(flags, i < 3 ? cell_of(l) : 90);
    number(flags, "-N", cells_of(l));
    word(flags, shape[l->shape]);
    number(flags, "-default_F", AMPLITUDE);
    word(flags, l->interpolate ? "-interpolate" : "-nointerpolate");
    if (l->table) {
        word(flags, "-hkl");
        word(flags, workload->list);
    }
    if (l->water > 0) number(flags, "-water", l->water);
    if (l->mosaic_domains) {
        number(flags, "-mosaic", l->mosaic_spread);
        number(flags, "-mosaic_domains", l->mosaic_domains);
    }
    if (l->phi_steps) {
        number(flags, "-phi", l->phi);
        number(flags, "-osc", l->osc);
        number(flags, "-phisteps", l->phi_steps);
    }
}

static void beam_and_detector_flags(const db_bench_workload *workload, db_bench_flags *flags) {
    const db_bench_load *l = workload->load;
    number(flags, "-lambda", wavelength_of(l));
    if (l->divergence_steps) {
        number(flags, "-hdivrange", DIVERGENCE);
        number(flags, "-vdivrange", DIVERGENCE);
        number(flags, "-hdivsteps", l->divergence_steps);
        number(flags, "-vdivsteps", l->divergence_steps);
        word(flags, "-square_div");
        number(flags, "-dispersion", DISPERSION);
        number(flags, "-dispsteps", l->dispersion_steps);
    }
    number(flags, "-distance", DISTANCE);
    number(flags, "-pixel", PIXEL);
    number(flags, "-detpixels", workload->size);
    number(flags, "-oversample", l->oversample ? l->oversample : 1);
    if (l->curved) word(flags, "-curved_det");
    if (l->sensor_layers) {
        number(flags, "-detector_thick", SENSOR);
        number(flags, "-detector_abs", ATTENUATION_DEPTH);
        number(flags, "-thicksteps", l->sensor_layers);
    }
}

void db_bench_workload_flags(const db_bench_workload *workload, db_bench_flags *flags) {
    flags->count = flags->numbers = 0;
    crystal_flags(workload, flags);
    beam_and_detector_flags(workload, flags);
    word(flags, "-nonoise");
    word(flags, "-nopgm");
}

/* "-50 -50 -50 150\n" */
enum { LINE = 32 };

db_status db_bench_write_list(db_context *context, const char *path, int largest) {
    const size_t side = 2 * (size_t)largest + 1;
    char *text = malloc(side * side * side * LINE);
    if (!text) return db_fail_memory(context, "a list of structure factors");
    size_t length = 0;
    unsigned state = 1; /* of a linear congruential generator: any F will do */
    for (int h = -largest; h <= largest; h++)
        for (int k = -largest; k <= largest; k++)
            for (int l = -largest; l <= largest; l++) {
                state = 1664525 * state + 1013904223;
                length += (size_t)snprintf(text + length, LINE, "%d %d %d %u\n", h, k, l,
                                           50 + (state >> 16) % 101);
            }
    const db_status status = db_write_text(context, path, text, length);
    free(text);
    return status;
}
