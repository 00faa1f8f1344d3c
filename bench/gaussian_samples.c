#include "bench/gaussian_samples.h"
#include "engine/plan_state.h"

#include "base/context_internal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586477;

/* The generator splitmix64, as a function of its state. */
static uint64_t scrambled(uint64_t state) {
    uint64_t z = state * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static double random_number(uint64_t state) {
    return ((double)(scrambled(state) >> 11) + 0.5) * 0x1p-53;
}

/* Number k of 4 of point i, uniform in (0, 1). */
static double uniform(db_bench_draw draw, unsigned seed, int i, int k) {
    static const double root = 1.1673039782614187; /* of x^5 = x + 1 */
    const uint64_t first = ((uint64_t)seed + 1) << 40;
    if (draw == DB_BENCH_RANDOM) return random_number(first + 4 * (uint64_t)i + (uint64_t)k);
    const double x = random_number(first + (uint64_t)k) + (i + 1) * pow(root, -(k + 1));
    return fmin(fmax(x - floor(x), 1e-15), 1 - 1e-15);
}

/* Four normal deviates, by the transformation of Box and Muller. */
static void normal(db_bench_draw draw, unsigned seed, int i, double deviate[4]) {
    for (int k = 0; k < 4; k += 2) {
        const double radius = sqrt(-2 * log(uniform(draw, seed, i, k))),
                     angle = TWO_PI * uniform(draw, seed, i, k + 1);
        deviate[k] = radius * cos(angle);
        deviate[k + 1] = radius * sin(angle);
    }
}

void db_bench_gaussian_domains(db_plan *plan, db_bench_draw draw, unsigned seed) {
    for (int m = 0; m < plan->experiment.crystal.mosaic_domains; m++) {
        db_mosaic_direction *to = &plan->values.directions[m];
        double g[4];
        normal(draw, seed, m, g);
        to->fraction = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
        for (int i = 0; i < 3; i++) to->axis[i] = g[i] / to->fraction;
    }
}

/* A ray whose direction and wavelength deviate. */
static db_source ray(const db_beam *beam, const db_spread *spread, const double deviate[4]) {
    const double *b = beam->direction, *e = beam->polarization_axis;
    const double vertical[3] = { e[1] * b[2] - e[2] * b[1], e[2] * b[0] - e[0] * b[2],
                                 e[0] * b[1] - e[1] * b[0] };
    db_source made = { .wavelength_ratio = 1 + 1e-3 * sqrt(spread->bandwidth) * deviate[2],
                       .weight = 1 };
    double square = 0;
    for (int i = 0; i < 3; i++) {
        made.direction[i] = b[i] + 1e-3 * (sqrt(spread->divergence[0]) * deviate[0] * e[i] +
                                           sqrt(spread->divergence[1]) * deviate[1] * vertical[i]);
        square += made.direction[i] * made.direction[i];
    }
    for (int i = 0; i < 3; i++) made.direction[i] /= sqrt(square);
    return made;
}

db_status db_bench_sample_spread(db_context *context, db_experiment *experiment, int domains,
                                 int rays) {
    db_source *sources = calloc((size_t)rays, sizeof *sources);
    if (!sources) return db_fail_memory(context, "rays");
    for (int i = 0; i < rays; i++) {
        double deviate[4];
        normal(DB_BENCH_RANDOM, 0, i, deviate);
        sources[i] = ray(&experiment->beam, &experiment->spread, deviate);
    }
    free(experiment->beam.sources);
    experiment->beam.sources = sources;
    experiment->beam.source_count = (size_t)rays;
    experiment->crystal.mosaic_domains = domains;
    experiment->crystal.mosaic_spread = sqrt(experiment->spread.mosaic);
    memset(&experiment->spread, 0, sizeof experiment->spread);
    return DB_OK;
}
