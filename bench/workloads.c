#include "bench/workloads.h"

#include "base/context_internal.h"

#include <dualbragg/setup.h>
#include <stdio.h>
#include <stdlib.h>

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
        setup->cells[i] = cells_of(l);
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
        /* by steps that have no small factor in common with the detector's size */
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
