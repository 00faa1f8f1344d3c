/* Renders a still image in place of a measured one: a thaumatin-like crystal with made-up structure
 * factors, a smooth background and photon noise. The answer is known, so that a refinement can be
 * checked against it.
 *
 *     stand_in PREFIX     writes PREFIX.img (SMV, counts) and PREFIX.mat (the true orientation)
 *
 * Uses the public interface of libdualbragg only. The same numbers come out on every machine: all
 * random numbers are functions of a counter. */
#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/mosflm_matrix.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIXELS = 1200, PEDESTAL = 10 };

/* Streams of random numbers, one for each purpose. */
enum { STREAM_AMPLITUDES = 1, STREAM_PHOTONS = 2 };

/* Uniform in the open interval (0, 1): number `draw` of counter `counter` (the finalizer of
 * MurmurHash3, twice). */
static double uniform(uint64_t stream, uint64_t counter, uint64_t draw) {
    uint64_t x = stream << 56 ^ counter << 20 ^ draw;
    for (int round = 0; round < 2; round++) {
        x += 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
        x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
        x ^= x >> 33;
    }
    return ((double)(x >> 12) + 0.5) / 4503599627370496.0; /* 2^52 */
}

/* A Poisson deviate: by inversion, in portions small enough for exp(-mean). */
static double photons(uint64_t pixel, double mean) {
    const double portion = 50;
    double sum = 0;
    for (uint64_t draw = 0; mean > 0; draw++, mean -= portion) {
        const double m = mean < portion ? mean : portion, u = uniform(STREAM_PHOTONS, pixel, draw);
        double probability = exp(-m), total = probability;
        int n = 0;
        while (u > total && n < 1000) {
            probability *= m / ++n;
            total += probability;
        }
        sum += n;
    }
    return sum;
}

static void describe(db_experiment *e) {
    const double cell[6] = { 58.4, 58.4, 152.2, 90, 90, 90 }, misset[3] = { 27, -41, 13 };
    for (int i = 0; i < 6; i++) e->crystal.cell[i] = cell[i];
    for (int i = 0; i < 3; i++) e->crystal.misset[i] = misset[i];
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->crystal.Ncells[0] = e->crystal.Ncells[1] = 16;
    e->crystal.Ncells[2] = 8;
    e->beam.wavelength = 0.96859;
    e->detector.distance = 180;
    db_panel *const panel = &e->detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.172;
    e->detector.centre[0] = 611.3 * 0.172;
    e->detector.centre[1] = 588.8 * 0.172;
    e->oversample = 2;
}

/* Amplitudes of a crystal of randomly placed atoms: intensities fall exponentially, and faster with
 * resolution. average: mean amplitude squared at low resolution. */
static int make_structure_factors(db_experiment *e, double average) {
    db_structure_factors *const f = &e->structure_factors;
    const int largest[3] = { 32, 32, 84 };
    const double displacement = 20; /* A^2, the temperature factor */
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
        f->min[i] = -largest[i];
        f->extent[i] = 2 * largest[i] + 1;
        count *= (size_t)f->extent[i];
    }
    f->amplitude = malloc(count * sizeof *f->amplitude);
    if (!f->amplitude) return 0;
    const double *const cell = e->crystal.cell;
    for (size_t n = 0; n < count; n++) {
        const int l = (int)(n % (size_t)f->extent[2]) - largest[2];
        const int k = (int)(n / (size_t)f->extent[2] % (size_t)f->extent[1]) - largest[1];
        const int h = (int)(n / (size_t)f->extent[2] / (size_t)f->extent[1]) - largest[0];
        const double s2 =
            h * h / (cell[0] * cell[0]) + k * k / (cell[1] * cell[1]) + l * l / (cell[2] * cell[2]);
        const double intensity =
            -log(uniform(STREAM_AMPLITUDES, n, 0)) * average * exp(-displacement * s2 / 2);
        f->amplitude[n] = h || k || l ? sqrt(intensity) : 0;
    }
    return 1;
}

/* Air and solvent scattering: photons per pixel, by distance from the beam in pixels. */
static double background(double fast, double slow) {
    const double r = hypot(fast - 611.3, slow - 588.8);
    return 2 + 12 * exp(-r * r / (2 * 250.0 * 250.0)) +
           5 * exp(-(r - 330) * (r - 330) / (2 * 60.0 * 60.0));
}

static db_status render(db_context *context, const char *prefix, db_experiment *e) {
    char path[1024];
    db_plan *plan = NULL;
    float *const image = malloc(sizeof(float) * PIXELS * PIXELS);
    db_status status = image ? db_plan_create(context, e, NULL, &plan) : DB_ERROR_MEMORY;
    if (status == DB_OK) status = db_plan_forward(plan, image);
    if (status == DB_OK) {
        for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) {
            const size_t fast = i % PIXELS, slow = i / PIXELS;
            image[i] = (float)photons(i, (double)image[i] +
                                             background((double)fast + 0.5, (double)slow + 0.5));
        }
        /* a header knows the beam centre no better than this */
        e->detector.centre[0] += 0.5 * 0.172;
        e->detector.centre[1] -= 0.4 * 0.172;
        snprintf(path, sizeof path, "%s.img", prefix);
        status = db_write_smv(context, path, e, image, 1, PEDESTAL, NULL);
    }
    if (status == DB_OK) {
        snprintf(path, sizeof path, "%s.mat", prefix);
        status = db_write_mosflm_matrix(context, path, e);
    }
    db_plan_destroy(&plan);
    free(image);
    return status;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: stand_in PREFIX\n");
        return db_status_exit_code(DB_ERROR_USAGE);
    }
    db_context *context = NULL;
    db_experiment experiment = { 0 };
    db_status status = db_context_create(&context);
    if (status == DB_OK) status = db_experiment_init(context, &experiment);
    if (status == DB_OK) {
        describe(&experiment);
        status = make_structure_factors(&experiment, 1e3) ? render(context, argv[1], &experiment)
                                                          : DB_ERROR_MEMORY;
    }
    if (status != DB_OK)
        fprintf(stderr, "stand_in: %s\n",
                context && *db_context_message(context) ? db_context_message(context)
                                                        : db_status_text(status));
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return db_status_exit_code(status);
}
