#include "bench/workloads.h"

#include <dualbragg/setup.h>

#include <stdio.h>

/* Crystal and detector: cubic cell (A), wavelength (A), crystal size (cells), structure factor,
 * distance and pixel size (mm). */
static const double CELL = 100, WAVELENGTH = 6.2, CELLS = 5, AMPLITUDE = 100, DISTANCE = 100,
                    PIXEL = 0.1;

/* The sweep does not start at 0 degree: at an angle of exactly 0 some programs that understand
 * these flags repeat the orientation of another step. */
const db_bench_sampling db_bench_samplings[DB_BENCH_SAMPLINGS] = {
    { .samples = 1, .mosaic_domains = 1, .phi_steps = 1 },
    { .samples = 100,
      .mosaic_domains = 25,
      .mosaic_spread = 1,
      .phi_steps = 4,
      .phi = 0.1,
      .osc = 1 },
};

const db_parameter db_bench_parameters[DB_BENCH_PARAMETERS] = {
    DB_CELL_A,    DB_CELL_B,        DB_CELL_C,        DB_CELL_ALPHA, DB_CELL_BETA, DB_CELL_GAMMA,
    DB_MISSET_X,  DB_MISSET_Y,      DB_MISSET_Z,      DB_WAVELENGTH, DB_DISTANCE,  DB_BEAM_FAST,
    DB_BEAM_SLOW, DB_DETECTOR_ROTX, DB_DETECTOR_ROTY, DB_SCALE,
};

const char *db_bench_precision_name(db_precision precision) {
    return precision == DB_PRECISION_DOUBLE ? "double" : "mixed";
}

double db_bench_workload_samples(const db_bench_workload *workload) {
    return (double)workload->size * workload->size * workload->sampling->samples;
}

db_status db_bench_experiment(db_context *context, const db_bench_workload *workload,
                              db_experiment *experiment) {
    const db_bench_sampling *s = workload->sampling;
    db_setup setup;
    db_setup_init(&setup);
    for (int i = 0; i < 3; i++) {
        setup.cell[i] = CELL;
        setup.cell[i + 3] = 90;
        setup.cells[i] = CELLS;
    }
    setup.default_F = AMPLITUDE;
    setup.interpolate = 0;
    setup.wavelength = WAVELENGTH;
    setup.distance = DISTANCE;
    setup.pixel_size = PIXEL;
    setup.detector_pixels[0] = setup.detector_pixels[1] = workload->size;
    setup.oversample = 1;
    if (s->mosaic_domains > 1) {
        setup.mosaic_spread = s->mosaic_spread;
        setup.mosaic_domains = s->mosaic_domains;
    }
    if (s->phi_steps > 1) {
        setup.phi = s->phi;
        setup.osc = s->osc;
        setup.phi_steps = s->phi_steps;
    }
    return db_setup_resolve(context, &setup, experiment, NULL, NULL);
}

static void word(db_bench_flags *flags, const char *text) {
    snprintf(flags->text[flags->count++], sizeof flags->text[0], "%s", text);
}

static void number(db_bench_flags *flags, const char *flag, double value) {
    word(flags, flag);
    snprintf(flags->text[flags->count++], sizeof flags->text[0], "%.10g", value);
}

void db_bench_workload_flags(const db_bench_workload *workload, db_bench_flags *flags) {
    const db_bench_sampling *s = workload->sampling;
    char cell[24];
    flags->count = 0;
    snprintf(cell, sizeof cell, "%.10g", CELL);
    number(flags, "-cell", CELL);
    word(flags, cell);
    word(flags, cell);
    for (int i = 0; i < 3; i++) word(flags, "90");
    number(flags, "-N", CELLS);
    number(flags, "-default_F", AMPLITUDE);
    word(flags, "-nointerpolate");
    number(flags, "-lambda", WAVELENGTH);
    number(flags, "-distance", DISTANCE);
    number(flags, "-pixel", PIXEL);
    number(flags, "-detpixels", workload->size);
    number(flags, "-oversample", 1);
    if (s->mosaic_domains > 1) {
        number(flags, "-mosaic", s->mosaic_spread);
        number(flags, "-mosaic_domains", s->mosaic_domains);
    }
    if (s->phi_steps > 1) {
        number(flags, "-phi", s->phi);
        number(flags, "-osc", s->osc);
        number(flags, "-phisteps", s->phi_steps);
    }
    word(flags, "-nonoise");
    word(flags, "-nopgm");
}
