#include "scene.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/noise.h>
#include <dualbragg/expert/fit_quantities.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double DEGREE = 0.017453292519943295769; /* radian */

/* A mixing function of 32 bits (Wang's hash). */
static uint32_t mix(uint32_t x) {
    x = (x ^ 61U) ^ (x >> 16);
    x *= 9U;
    x ^= x >> 4;
    x *= 0x27d4eb2dU;
    return x ^ (x >> 15);
}

double db_bench_uniform(uint32_t seed, uint32_t number) {
    return (mix(mix(seed * 2654435761U) + number) + 0.5) / 4294967296.0;
}

/* Squares of amplitudes are exponentially distributed; their mean falls with resolution (B = 20
 * A^2). */
static int make_amplitudes(const db_crystal *crystal, double finest, db_structure_factors *f) {
    size_t count = 1;
    for (int i = 0; i < 3; i++) {
        const int most = (int)ceil(crystal->cell[i] / finest);
        f->min[i] = -most;
        f->extent[i] = 2 * most + 1;
        count *= (size_t)f->extent[i];
    }
    f->amplitude = malloc(count * sizeof *f->amplitude);
    if (!f->amplitude) return 0;
    for (size_t n = 0; n < count; n++) {
        size_t rest = n;
        double square = 0;
        int origin = 1;
        for (int i = 3; i-- > 0;) {
            const int index = (int)(rest % (size_t)f->extent[i]) + f->min[i];
            rest /= (size_t)f->extent[i];
            square += pow(index / crystal->cell[i], 2);
            origin &= index == 0;
        }
        const double mean = exp(-20 * square / 2);
        f->amplitude[n] = origin ? 0 : sqrt(-mean * log(db_bench_uniform(7, (uint32_t)n)));
    }
    f->listed = count;
    return 1;
}

static void describe(int pixels, double cell, double size, double distance, int domains,
                     db_experiment *e) {
    static const double misset[3] = { 27, -41, 13 };
    db_crystal *const crystal = &e->crystal;
    for (int i = 0; i < 3; i++) {
        crystal->cell[i] = cell * (1 + 0.2 * i);
        crystal->cell[3 + i] = 90;
        crystal->Ncells[i] = size;
        crystal->misset[i] = misset[i];
    }
    crystal->shape = DB_SHAPE_GAUSS;
    crystal->mosaic_spread = 0.15;
    crystal->mosaic_domains = domains;
    e->beam.wavelength = 1;
    db_panel *const panel = &e->detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = pixels;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.172;
    e->detector.distance = distance;
    e->detector.centre[0] = (0.5 * pixels + 3.7) * 0.172;
    e->detector.centre[1] = (0.5 * pixels - 5.2) * 0.172;
    e->oversample = 1;
}

/* Renders the expected photons, scales the model to the brightest pixel wanted, adds noise. */
static db_status measure(db_context *context, uint32_t seed, double peak, double background,
                         db_bench_scene *scene) {
    db_measured_image *const image = &scene->image;
    const db_panel *const panel = &scene->truth.detector.panels[0];
    const size_t pixels = db_experiment_pixels(&scene->truth);
    image->fast_pixels = panel->fast_pixels;
    image->slow_pixels = panel->slow_pixels;
    image->gain = 1;
    image->overload = INFINITY;
    image->value = malloc(pixels * sizeof *image->value);
    image->mask = calloc(pixels, 1);
    float *const expected = malloc(pixels * sizeof *expected);
    db_plan *plan = NULL;
    db_status status = image->value && image->mask && expected ? DB_OK : DB_ERROR_MEMORY;
    if (status == DB_OK) status = db_plan_create(context, &scene->truth, NULL, &plan);
    if (status == DB_OK) status = db_plan_forward(plan, expected);
    db_plan_destroy(&plan);
    double most = 0;
    for (size_t i = 0; i < pixels && status == DB_OK; i++) most = fmax(most, (double)expected[i]);
    scene->truth.beam.fluence *= peak / most;
    for (size_t i = 0; i < pixels && status == DB_OK; i++)
        expected[i] = (float)((double)expected[i] * peak / most + background);
    db_noise_options options = DB_NOISE_OPTIONS_INIT;
    options.seed = seed;
    options.adc = 0;
    const db_noise_frame frame = { .fast_pixels = image->fast_pixels,
                                   .slow_pixels = image->slow_pixels,
                                   .expected = expected,
                                   .signal = image->value };
    if (status == DB_OK) status = db_noise_apply(context, &options, &frame, NULL);
    free(expected);
    return status;
}

static db_status refine(db_context *context, db_fit_settings *settings, const db_parameter *list,
                        size_t count) {
    db_status status = DB_OK;
    for (size_t i = 0; i < count && status == DB_OK; i++) {
        const db_fit_parameter p = db_fit_parameter_free(list[i]);
        status = db_fit_settings_add_parameter(context, settings, &p);
    }
    for (db_parameter p = DB_CELLS_B; p <= DB_CELLS_C && status == DB_OK; p++) {
        db_fit_parameter follower = db_fit_parameter_free(p);
        follower.follows = db_fit_quantity_make(DB_CELLS_A, -1);
        status = db_fit_settings_add_parameter(context, settings, &follower);
    }
    return status;
}

db_status db_bench_still(db_context *context, uint32_t seed, db_bench_scene *scene) {
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y,  DB_MISSET_Z,  DB_CELL_A,
                                         DB_CELL_B,   DB_CELL_C,    DB_CELLS_A,   DB_MOSAIC_SPREAD,
                                         DB_DISTANCE, DB_BEAM_FAST, DB_BEAM_SLOW, DB_SCALE };
    memset(scene, 0, sizeof *scene);
    db_status status = db_experiment_init(context, &scene->truth);
    if (status != DB_OK) return status;
    describe(512, 55, 6, 70, 10, &scene->truth);
    if (!make_amplitudes(&scene->truth.crystal, 1.2, &scene->truth.structure_factors))
        return DB_ERROR_MEMORY;
    db_fit_settings_init(&scene->settings);
    scene->settings.intensity = DB_FIT_KNOWN;
    scene->settings.shoebox_half_width = 4; /* spots are a few pixels apart */
    status = refine(context, &scene->settings, list, sizeof list / sizeof list[0]);
    if (status != DB_OK) return status;
    return measure(context, seed, 1000, 10, scene);
}

/* Free intensities: the refinement knows no structure factors. */
static db_status large_still(db_context *context, uint32_t seed, int pixels, int boxes, double peak,
                             db_bench_scene *scene) {
    static const db_parameter list[] = { DB_MISSET_X,  DB_MISSET_Y, DB_MISSET_Z, DB_CELL_A,
                                         DB_CELL_B,    DB_CELL_C,   DB_CELLS_A,  DB_MOSAIC_VARIANCE,
                                         DB_BEAM_FAST, DB_BEAM_SLOW };
    memset(scene, 0, sizeof *scene);
    db_status status = db_experiment_init(context, &scene->truth);
    if (status != DB_OK) return status;
    describe(pixels, 80, 25, 300, 1, &scene->truth);
    scene->truth.spread.spots = DB_SPOTS_CLOSED;
    scene->truth.spread.mosaic = pow(scene->truth.crystal.mosaic_spread, 2);
    if (!make_amplitudes(&scene->truth.crystal, 1.2, &scene->truth.structure_factors))
        return DB_ERROR_MEMORY;
    db_fit_settings_init(&scene->settings);
    scene->settings.max_shoeboxes = boxes;
    status = refine(context, &scene->settings, list, sizeof list / sizeof list[0]);
    if (status != DB_OK) return status;
    const db_status measured = measure(context, seed, peak, 10, scene);
    free(scene->truth.structure_factors.amplitude);
    scene->truth.structure_factors = (db_structure_factors){ .default_F = 1 };
    return measured;
}

db_status db_bench_large_still(db_context *context, uint32_t seed, db_bench_scene *scene) {
    return large_still(context, seed, 2048, 150, 1000, scene);
}

db_status db_bench_crowded_still(db_context *context, uint32_t seed, int pixels, int boxes,
                                 db_bench_scene *scene) {
    return large_still(context, seed, pixels, boxes, 50000, scene);
}

db_status db_bench_shot(db_context *context, uint32_t seed, db_bench_scene *scene) {
    memset(scene, 0, sizeof *scene);
    const db_status status = db_experiment_init(context, &scene->truth);
    if (status != DB_OK) return status;
    describe(512, 75, 12, 90, 1, &scene->truth);
    scene->truth.spread.spots = DB_SPOTS_CLOSED;
    scene->truth.spread.mosaic = pow(0.5 * scene->truth.crystal.mosaic_spread, 2);
    for (int i = 0; i < 3; i++)
        scene->truth.crystal.misset[i] =
            (i == 1 ? 60 : 180) * (2 * db_bench_uniform(seed, 30 + (uint32_t)i) - 1);
    scene->truth.structure_factors.default_F = 1;
    return measure(context, seed, 20000, 10, scene);
}

void db_bench_scene_clear(db_bench_scene *scene) {
    db_experiment_clear(&scene->truth);
    db_measured_image_clear(&scene->image);
    db_fit_settings_clear(&scene->settings);
}

static double sign(uint32_t seed, uint32_t number) {
    return db_bench_uniform(seed, number) < 0.5 ? -1 : 1;
}

/* Row-major rotation by an angle (degree) about a random axis, evenly distributed. */
static void random_turn(double angle, uint32_t seed, double r[9]) {
    const double z = 2 * db_bench_uniform(seed, 1) - 1, phi = 360 * db_bench_uniform(seed, 2);
    const double side = sqrt(1 - z * z), c = cos(angle * DEGREE), s = sin(angle * DEGREE);
    const double n[3] = { side * cos(phi * DEGREE), side * sin(phi * DEGREE), z };
    const double cross[9] = { 0, -n[2], n[1], n[2], 0, -n[0], -n[1], n[0], 0 };
    for (int i = 0; i < 9; i++)
        r[i] = (i % 4 == 0 ? c : 0) + (1 - c) * n[i / 3] * n[i % 3] + s * cross[i];
}

db_status db_bench_spoil(db_context *context, const db_experiment *truth,
                         const db_bench_error *error, uint32_t seed, db_experiment *start) {
    const db_status status = db_experiment_copy(context, truth, start);
    if (status != DB_OK) return status;
    static const double cubic[6] = { 1, 1, 1, 90, 90, 90 };
    db_crystal unit = truth->crystal;
    double turn[9], whole[9];
    memcpy(unit.cell, cubic, sizeof cubic);
    db_crystal_matrix(&unit, whole); /* the orientation, misset included */
    random_turn(error->turn, seed, turn);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            start->crystal.orientation[3 * i + j] = turn[3 * i] * whole[j] +
                                                    turn[3 * i + 1] * whole[3 + j] +
                                                    turn[3 * i + 2] * whole[6 + j];
    memset(start->crystal.misset, 0, sizeof start->crystal.misset);
    for (uint32_t i = 0; i < 3; i++) {
        start->crystal.cell[i] *= 1 + error->cell * sign(seed, 3 + i);
        start->crystal.Ncells[i] *= pow(error->size, sign(seed, 10));
    }
    start->beam.scale *= pow(error->scale, sign(seed, 6));
    const double way = 360 * DEGREE * db_bench_uniform(seed, 7);
    start->detector.centre[0] += 0.172 * error->beam * cos(way);
    start->detector.centre[1] += 0.172 * error->beam * sin(way);
    start->detector.distance += error->distance * sign(seed, 8);
    return DB_OK;
}

/* Row-major rotation that brings crystal a, misset included, to b. */
static void rotation_between(const db_crystal *a, const db_crystal *b, double r[9]) {
    static const double cubic[6] = { 1, 1, 1, 90, 90, 90 };
    const db_crystal *const both[2] = { a, b };
    double axes[2][9];
    for (int k = 0; k < 2; k++) {
        db_crystal unit = *both[k];
        memcpy(unit.cell, cubic, sizeof cubic);
        db_crystal_matrix(&unit, axes[k]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[3 * i + j] = axes[1][3 * i] * axes[0][3 * j] +
                           axes[1][3 * i + 1] * axes[0][3 * j + 1] +
                           axes[1][3 * i + 2] * axes[0][3 * j + 2];
}

void db_bench_turn(const db_crystal *a, const db_crystal *b, double turn[3]) {
    double r[9];
    rotation_between(a, b, r);
    const double skew[3] = { r[7] - r[5], r[2] - r[6], r[3] - r[1] };
    const double sine = sqrt(skew[0] * skew[0] + skew[1] * skew[1] + skew[2] * skew[2]);
    const double angle = atan2(sine, r[0] + r[4] + r[8] - 1) / DEGREE;
    for (int i = 0; i < 3; i++) turn[i] = sine > 0 ? angle * skew[i] / sine : 0;
}

double db_bench_angle(const db_crystal *a, const db_crystal *b) {
    double turn[3];
    db_bench_turn(a, b, turn);
    return sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
}
