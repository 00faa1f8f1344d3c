#include "fit/rendered_image.h"

#include "fit/config/orientation.h"
#include "base/vector.h"

#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void describe(db_experiment *e, int pixels) {
    const double cell[6] = { 58.4, 58.4, 152.2, 90, 90, 90 }, misset[3] = { 27, -41, 13 };
    memcpy(e->crystal.cell, cell, sizeof cell);
    memcpy(e->crystal.misset, misset, sizeof misset);
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->crystal.Ncells[0] = e->crystal.Ncells[1] = 0.01 * pixels; /* spots of about a pixel */
    e->crystal.Ncells[2] = 0.0045 * pixels;
    e->crystal.mosaic_spread = 0.1;
    e->crystal.mosaic_domains = 20;
    e->spread.spots = DB_SPOTS_CLOSED;
    e->spread.mosaic = 0.0025; /* degree^2: that of the cap */
    e->beam.wavelength = 0.96859;
    db_panel *const panel = &e->detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = pixels;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.172;
    e->detector.distance = 1.6 * 0.172 * pixels; /* 3.2 A at the middle of the edges */
    e->detector.centre[0] = (0.5 * pixels + 11.3) * 0.172;
    e->detector.centre[1] = (0.5 * pixels - 8.8) * 0.172;
    e->oversample = 1;
}

/* Amplitudes squared are exponentially distributed; their mean falls with resolution (B = 20 A^2).
 */
static db_status make_amplitudes(db_experiment *e, double average) {
    db_structure_factors *const f = &e->structure_factors;
    const int largest[3] = { 34, 34, 88 };
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
        f->min[i] = -largest[i];
        f->extent[i] = 2 * largest[i] + 1;
        count *= (size_t)f->extent[i];
    }
    f->amplitude = malloc(count * sizeof *f->amplitude);
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    if (!f->amplitude || !random) return DB_ERROR_MEMORY;
    for (size_t n = 0; n < count; n++) {
        const int l = (int)(n % (size_t)f->extent[2]) - largest[2];
        const int k = (int)(n / (size_t)f->extent[2] % (size_t)f->extent[1]) - largest[1];
        const int h = (int)(n / (size_t)f->extent[2] / (size_t)f->extent[1]) - largest[0];
        const double s2 = (h * h + k * k) / (58.4 * 58.4) + l * l / (152.2 * 152.2);
        const double mean = average * exp(-20 * s2 / 2);
        f->amplitude[n] = h || k || l ? sqrt(gsl_ran_exponential(random, mean)) : 0;
    }
    gsl_rng_free(random);
    return DB_OK;
}

static db_status brightest(db_context *context, const db_experiment *e, double *peak) {
    const size_t pixels = db_experiment_pixels(e);
    float *const image = malloc(pixels * sizeof *image);
    db_plan *plan;
    db_status status = image ? db_plan_create(context, e, NULL, &plan) : DB_ERROR_MEMORY;
    if (status == DB_OK) {
        status = db_plan_forward(plan, image);
        db_plan_destroy(&plan);
    }
    *peak = 0;
    for (size_t i = 0; i < pixels && status == DB_OK; i++) *peak = fmax(*peak, (double)image[i]);
    free(image);
    return status;
}

db_status rendered_experiment(db_context *context, int pixels, double peak, db_experiment *e) {
    double first;
    db_status status = db_experiment_init(context, e);
    if (status != DB_OK) return status;
    describe(e, pixels);
    status = make_amplitudes(e, 1);
    if (status == DB_OK) status = brightest(context, e, &first);
    const db_structure_factors *const f = &e->structure_factors;
    const size_t count = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    for (size_t n = 0; n < count && status == DB_OK; n++) f->amplitude[n] *= sqrt(peak / first);
    return status;
}

db_status rendered_pink_beam(db_context *context, db_experiment *e) {
    enum { LINES = 25 };
    double wavelength[LINES], weight[LINES];
    for (int i = 0; i < LINES; i++) {
        const double x = 2.0 * i / (LINES - 1) - 1;
        wavelength[i] = e->beam.wavelength * (1 + 0.015 * x);
        weight[i] = exp(-40 * (x + 0.5) * (x + 0.5)) + 0.6 * exp(-40 * (x - 0.4) * (x - 0.4));
    }
    return db_beam_set_spectrum(context, &e->beam, wavelength, weight, LINES, 1);
}

static double background(int fast, int slow, int pixels) {
    const double r = hypot(fast - 0.5 * pixels, slow - 0.5 * pixels) / pixels;
    return 2 + 10 * exp(-20 * r * r) + 5 * exp(-200 * (r - 0.28) * (r - 0.28));
}

db_status rendered_light(db_context *context, const db_experiment *e, const db_crystal *crystal,
                         float *image) {
    const size_t pixels = db_experiment_pixels(e);
    db_experiment one = *e; /* borrows */
    float *const own = malloc(pixels * sizeof *own);
    db_plan *plan;
    one.crystal = *crystal;
    db_status status = own ? db_plan_create(context, &one, NULL, &plan) : DB_ERROR_MEMORY;
    if (status == DB_OK) {
        status = db_plan_forward(plan, own);
        db_plan_destroy(&plan);
    }
    for (size_t i = 0; i < pixels && status == DB_OK; i++) image[i] += own[i];
    free(own);
    return status;
}

db_status rendered_lattices(db_context *context, const db_experiment *e, const db_crystal *crystals,
                            size_t count, unsigned long seed, db_measured_image *image) {
    const int n = e->detector.panels[0].fast_pixels, middle = n / 2 + 40;
    const size_t pixels = (size_t)n * (size_t)n;
    memset(image, 0, sizeof *image);
    image->fast_pixels = image->slow_pixels = n;
    image->gain = 1;
    image->overload = INFINITY;
    image->value = calloc(pixels, sizeof *image->value);
    image->mask = calloc(pixels, 1);
    gsl_rng *const random = gsl_rng_alloc(gsl_rng_mt19937);
    if (!image->value || !image->mask || !random) return DB_ERROR_MEMORY;
    db_status status = DB_OK;
    for (size_t c = 0; c < count && status == DB_OK; c++)
        status = rendered_light(context, e, &crystals[c], image->value);
    gsl_rng_set(random, seed);
    for (size_t i = 0; i < pixels && status == DB_OK; i++) {
        const int fast = (int)(i % (size_t)n), slow = (int)(i / (size_t)n);
        const double expected = (double)image->value[i] + background(fast, slow, n);
        image->value[i] = (float)(seed ? gsl_ran_poisson(random, expected) : expected);
        if (abs(fast - middle) > 3 && abs(slow - middle) > 3) continue;
        image->mask[i] = DB_MASK_GAP;
        image->value[i] = -1;
        image->masked++;
    }
    gsl_rng_free(random);
    return status;
}

db_status rendered_image(db_context *context, const db_experiment *e, unsigned long seed,
                         db_measured_image *image) {
    return rendered_lattices(context, e, &e->crystal, 1, seed, image);
}

/* A turn by a random unit quaternion. */
void turn_at_random(gsl_rng *chance, db_crystal *crystal) {
    double q[4], square = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = gsl_ran_gaussian(chance, 1);
        square += q[i] * q[i];
    }
    const double size = sqrt(square), axis_size = sqrt(square - q[0] * q[0]);
    const double axis[3] = { q[1] / axis_size, q[2] / axis_size, q[3] / axis_size };
    const double angle = 2 * acos(q[0] / size);
    db_orientation_fold(crystal);
    for (int k = 0; k < 3; k++) {
        double column[3] = { k == 0, k == 1, k == 2 };
        db_turn(axis, angle, column);
        for (int i = 0; i < 3; i++) crystal->orientation[3 * i + k] = column[i];
    }
}

void random_crystals(const db_crystal *like, unsigned long seed, size_t count,
                     db_crystal *crystals) {
    gsl_rng *const chance = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(chance, seed);
    for (size_t c = 0; c < count; c++) {
        crystals[c] = *like;
        turn_at_random(chance, &crystals[c]);
    }
    gsl_rng_free(chance);
}

double rendered_draw(size_t shot, int number) {
    const double x = sin(12.9898 * (double)(shot + 1) + 78.233 * number) * 43758.5453;
    return x - floor(x) - 0.5;
}

db_status rendered_shot(db_context *context, const db_experiment *e, size_t shot,
                        db_experiment *own) {
    const db_status status = db_experiment_copy(context, e, own);
    for (int i = 0; i < 3 && status == DB_OK; i++)
        own->crystal.misset[i] += 40 * rendered_draw(shot, i) * (i == 1 ? 0.3 : 1);
    return status;
}

void refine_parameter(db_fit_settings *settings, db_parameter parameter, int follows) {
    db_fit_parameter p = db_fit_parameter_free(parameter);
    p.follows.number = follows;
    if (db_fit_settings_add_parameter(NULL, settings, &p) != DB_OK) abort();
}

void copy_stage(db_fit_settings *settings, size_t from, size_t to) {
    settings->stages[to] = settings->stages[from];
    for (size_t i = 0; i < settings->parameter_count; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        db_fit_parameter_set_stage(p, to, db_fit_parameter_in_stage(p, from));
    }
}

/* Unit vectors along a*, b*, c* as columns. */
static void axes_of(const db_crystal *crystal, double axes[9]) {
    db_crystal_matrix(crystal, axes);
    for (int column = 0; column < 3; column++) {
        const double length =
            sqrt(axes[column] * axes[column] + axes[3 + column] * axes[3 + column] +
                 axes[6 + column] * axes[6 + column]);
        for (int i = 0; i < 3; i++) axes[3 * i + column] /= length;
    }
}

double misorientation(const db_crystal *a, const db_crystal *b) {
    double from[9], to[9], r[9];
    axes_of(a, from);
    axes_of(b, to);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = to[3 * i] * from[3 * j] + to[3 * i + 1] * from[3 * j + 1] +
                           to[3 * i + 2] * from[3 * j + 2];
    return asin(fmin(1, 0.5 * hypot(hypot(r[7] - r[5], r[2] - r[6]), r[3] - r[1]))) * 180 /
           3.14159265358979323846;
}

/* Turns of the lattice onto itself: by 90 degree about c, by 180 about a. */
double tetragonal_misorientation(const db_crystal *a, const db_crystal *b) {
    static const double z[3] = { 0, 0, 1 }, x[3] = { 1, 0, 0 }, right = 1.57079632679489661923;
    db_crystal from = *a, to = *b;
    double smallest = INFINITY;
    db_orientation_fold(&from);
    db_orientation_fold(&to);
    for (int s = 0; s < 8; s++) {
        double trace = 0;
        for (int k = 0; k < 3; k++) {
            double column[3] = { k == 0, k == 1, k == 2 };
            db_turn(z, right * (s % 4), column);
            if (s >= 4) db_turn(x, 2 * right, column);
            db_apply(to.orientation, column, column);
            for (int i = 0; i < 3; i++) trace += from.orientation[3 * i + k] * column[i];
        }
        smallest = fmin(smallest, acos(fmax(-1, fmin(1, 0.5 * (trace - 1)))));
    }
    return smallest * 90 / right;
}

int rendered_begin(int pixels, double peak, unsigned long seed, db_context **context,
                   db_experiment *e, db_measured_image *image) {
    return db_context_create(context) == DB_OK &&
                   rendered_experiment(*context, pixels, peak, e) == DB_OK &&
                   rendered_image(*context, e, seed, image) == DB_OK
               ? 0
               : -1;
}

int rendered_end(db_context **context, db_experiment *e, db_measured_image *image) {
    db_measured_image_clear(image);
    db_experiment_clear(e);
    db_context_destroy(context);
    return 0;
}
