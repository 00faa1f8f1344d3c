/* Spectra that are made: pulses of a free-electron laser, Gaussian bands. */
#include <dualbragg/expert/beam_sources.h>

#include "base/context_internal.h"
#include "model/beam_spectrum.h"
#include "model/shot_chance.h"

#include <math.h>
#include <stdlib.h>

/* Sources of 2 half + 1 lines, `step` of the relative energy apart, of each direction of the beam. */
static db_status set_lines(db_context *context, db_experiment *experiment, const double *weight,
                           long half, double step) {
    const db_beam *const beam = &experiment->beam;
    if (db_beam_has_spectrum(beam))
        return db_fail(context, DB_ERROR_INPUT,
                       "a spectrum to be made: expected a beam of one wavelength, found one with a "
                       "spectrum");
    const size_t directions = beam->source_count, count = 2 * (size_t)half + 1,
                 all = directions * count;
    db_source *const source = malloc(all * sizeof *source);
    if (!source) return db_fail_memory(context, "a spectrum");
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < directions; j++) {
            db_source *const one = &source[i * directions + j];
            *one = beam->sources[j];
            one->wavelength_ratio /= 1 + ((double)i - (double)half) * step;
            one->weight *= weight[i];
        }
    const db_status status = db_experiment_set_sources(context, experiment, source, all);
    free(source);
    return status;
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
    const double y = DB_WIDTH_IN_SIGMA * at / width;
    return (re * re + im * im) * exp(-y * y / 2);
}

db_status db_experiment_set_sase(db_context *context, db_experiment *experiment, double width,
                                 double spike, long seed, size_t shot) {
    if (!(width > 0 && width < 0.2 && spike > width / 300))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum: expected a relative width above 0 and below 0.2, and one of a "
                       "spike of more than 1/300 of it, found %g %g",
                       width, spike);
    /* of the field's correlation: the intensity's spikes are as wide as asked for */
    const double sigma = sqrt(2) * spike / DB_WIDTH_IN_SIGMA, step = spike / 3;
    const long half = (long)ceil(1.3 * width / step), count = 2 * half + 1;
    double *const weight = malloc((size_t)count * sizeof *weight);
    if (!weight) return db_fail_memory(context, "a spectrum");
    for (long i = 0; i < count; i++)
        weight[i] =
            spectral_intensity((double)(i - half) * step, width, sigma, sigma / 2, seed, shot);
    const db_status status = set_lines(context, experiment, weight, half, step);
    free(weight);
    return status;
}

/* Sources of a Gaussian band, where spots are sums over samples: 0.4 of its standard deviation apart. */
static db_status set_gaussian(db_context *context, db_experiment *experiment, double sigma) {
    enum { HALF = 8 };
    double weight[2 * HALF + 1];
    for (int i = -HALF; i <= HALF; i++) weight[i + HALF] = exp(-0.08 * i * i);
    return set_lines(context, experiment, weight, HALF, 0.4 * sigma);
}

db_status db_experiment_set_band(db_context *context, db_experiment *experiment, double width) {
    if (!(width > 0 && width < 0.2))
        return db_fail(context, DB_ERROR_INPUT,
                       "spectrum: expected a relative width above 0 and below 0.2, found %g",
                       width);
    const double sigma = width / DB_WIDTH_IN_SIGMA;
    if (experiment->spread.spots != DB_SPOTS_CLOSED)
        return set_gaussian(context, experiment, sigma);
    experiment->spread.bandwidth = 1e6 * sigma * sigma;
    return DB_OK;
}

const db_band *db_bands(size_t *count) {
    /* Intrinsic widths of Bragg reflections at any energy; typical ones of the others. */
    static const db_band bands[] = {
        { "Si(311)", 2.9e-5 },
        { "Si(111)", 1.33e-4 },
        { "multilayer", 1e-2 },
        { "undulator", 2e-2 },
    };
    *count = sizeof bands / sizeof *bands;
    return bands;
}
