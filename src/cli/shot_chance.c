#include "cli/shot_chance.h"

#include "base/context_internal.h"
#include "model/beam_spectrum.h"

#include <math.h>
#include <stdlib.h>

static const double TURN = 6.2831853071795864769;
static const double WIDTH_IN_SIGMA = 2.3548200450309493; /* full width at half maximum */
static const long SEEDS = 2147483646;

/* The mixing function of splitmix64. */
static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

uint64_t db_chance_bits(long seed, size_t shot, db_chance purpose, uint64_t index) {
    return mix(mix(mix(mix((uint64_t)seed) ^ (uint64_t)purpose) ^ (uint64_t)shot) ^ index);
}

long db_chance_seed(long seed, size_t shot, db_chance purpose) {
    return 1 + (long)(db_chance_bits(seed, shot, purpose, 0) % (uint64_t)SEEDS);
}

/* Within 0 and 1, neither of them. */
static double uniform(uint64_t bits) { return ((double)(bits >> 12) + 0.5) * 0x1p-52; }

double db_chance_normal(long seed, size_t shot, db_chance purpose, uint64_t index) {
    const double radius = uniform(db_chance_bits(seed, shot, purpose, 2 * index)),
                 angle = uniform(db_chance_bits(seed, shot, purpose, 2 * index + 1));
    return sqrt(-2 * log(radius)) * cos(TURN * angle);
}

/* Field at relative energy `at`: a smooth sum of random phasors, which makes spikes. */
static double spectral_intensity(double at, double width, double sigma, double apart, long seed,
                                 size_t shot) {
    enum { REACH = 8 };
    const double middle = floor(at / apart);
    double re = 0, im = 0;
    for (int k = -REACH; k <= REACH; k++) {
        const double node = middle + k, x = (at - node * apart) / sigma, height = exp(-x * x / 2);
        const uint64_t index = (uint64_t)(int64_t)node * 2;
        re += height * db_chance_normal(seed, shot, DB_CHANCE_SPECTRUM, index);
        im += height * db_chance_normal(seed, shot, DB_CHANCE_SPECTRUM, index + 1);
    }
    const double y = WIDTH_IN_SIGMA * at / width;
    return (re * re + im * im) * exp(-y * y / 2);
}

db_status db_sase_spectrum(db_context *context, db_experiment *experiment, double width,
                           double spike, long seed, size_t shot) {
    /* of the field's correlation: the intensity's spikes are as wide as asked for */
    const double sigma = sqrt(2) * spike / WIDTH_IN_SIGMA, step = spike / 3;
    const long half = (long)ceil(1.3 * width / step), count = 2 * half + 1;
    const db_beam *const beam = &experiment->beam;
    if (db_beam_has_spectrum(beam))
        return db_fail(
            context, DB_ERROR_INPUT,
            "-sase makes the spectrum: expected a beam of one wavelength, found one with "
            "a spectrum");
    const size_t directions = beam->source_count, all = directions * (size_t)count;
    db_source *const source = malloc(all * sizeof *source);
    if (!source) return db_fail_memory(context, "a spectrum");
    for (long i = 0; i < count; i++) {
        const double at = (double)(i - half) * step,
                     weight = spectral_intensity(at, width, sigma, sigma / 2, seed, shot);
        for (size_t j = 0; j < directions; j++) {
            db_source *const one = &source[(size_t)i * directions + j];
            *one = beam->sources[j];
            one->wavelength_ratio /= 1 + at;
            one->weight *= weight;
        }
    }
    const db_status status = db_experiment_set_sources(context, experiment, source, all);
    free(source);
    return status;
}
