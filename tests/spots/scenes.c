#include "support/unit_test.h"
#include "scenes.h"
#include "support/naive_geometry.h"

#include <dualbragg/dualbragg.h>

#include <stdlib.h>

/* A node in the standard frame (1/angstrom). */
static void node_of(const db_experiment *e, const int index[3], double node[3]) {
    double cell[3][3], reciprocal[3];
    naive_cell_vectors(e->crystal.cell, cell);
    naive_cross(cell[1], cell[2], reciprocal);
    const double volume = naive_dot(cell[0], reciprocal);
    for (int i = 0; i < 3; i++) node[i] = 0;
    for (int i = 0; i < 3; i++) {
        naive_cross(cell[(i + 1) % 3], cell[(i + 2) % 3], reciprocal);
        naive_add(node, index[i] / volume, reciprocal);
    }
}

/* The direction (unit) that is aimed at. */
static void direction_of(const db_experiment *e, aim at, double d[3]) {
    const db_beam *b = &e->beam;
    double side[3], up[3], node[3];
    node_of(e, at.node, node);
    memcpy(side, b->polarization_axis, sizeof side);
    naive_turn(b->direction, at.azimuth, side);
    naive_cross(side, b->direction, up);
    naive_unit(up);
    memcpy(d, b->direction, 3 * sizeof *d);
    naive_turn(up, -360 / NAIVE_PI * asin(b->wavelength * sqrt(naive_dot(node, node)) / 2), d);
}

/* Three axes at right angles, the first along v; rows. */
static void frame_along(const double v[3], double out[3][3]) {
    const double far[3] = { 0.3, -0.5, 0.81 };
    memcpy(out[0], v, sizeof out[0]);
    naive_unit(out[0]);
    naive_cross(out[0], far, out[1]);
    naive_unit(out[1]);
    naive_cross(out[0], out[1], out[2]);
}

void aim_crystal(db_experiment *e, aim at) {
    double d[3], node[3], from[3][3], to[3][3], across[3];
    const double *const beam = e->beam.direction;
    direction_of(e, at, d);
    node_of(e, at.node, node);
    const double target[3] = { d[0] - beam[0], d[1] - beam[1], d[2] - beam[2] };
    frame_along(node, from);
    frame_along(target, to);
    naive_cross(beam, d, across);
    naive_unit(across);
    for (int k = 1; k < 3; k++) naive_turn(to[0], at.roll, to[k]);
    for (int k = 0; k < 3; k++) naive_turn(across, at.off, to[k]);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e->crystal.orientation[3 * i + k] =
                to[0][i] * from[0][k] + to[1][i] * from[1][k] + to[2][i] * from[2][k];
}

naive_region region_aimed_at(const db_experiment *e, aim at, int size) {
    const db_panel *p = &e->detector.panels[0];
    const naive_place corner = naive_place_of(e, 0, 0, 0, 0), along = naive_place_of(e, 0, 1, 0, 0),
                      down = naive_place_of(e, 0, 0, 1, 0);
    double d[3], fast[3], slow[3], hit[3];
    direction_of(e, at, d);
    const double distance = corner.along_normal / naive_dot(d, corner.normal);
    for (int i = 0; i < 3; i++) {
        hit[i] = d[i] * distance - corner.x[i];
        fast[i] = 1e6 * (along.x[i] - corner.x[i]);
        slow[i] = 1e6 * (down.x[i] - corner.x[i]);
    }
    const double *pixel = p->pixel_size;
    const naive_region region = {
        .fast = (int)floor(naive_dot(hit, fast) / pixel[0] - 0.5 * size),
        .slow = (int)floor(naive_dot(hit, slow) / pixel[1] - 0.5 * size),
        .fast_size = size,
        .slow_size = size,
        .reach = 0.71 * size * pixel[0] / e->detector.distance + 0.004,
    };
    return region;
}

db_experiment scene_start(db_context *context) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    static const double cell[6] = { 60, 70, 90, 90, 90, 90 }, cells[3] = { 12, 11, 9 };
    memcpy(e.crystal.cell, cell, sizeof cell);
    memcpy(e.crystal.Ncells, cells, sizeof cells);
    e.crystal.shape = DB_SHAPE_GAUSS;
    e.beam.wavelength = 1;
    e.structure_factors.default_F = 100;
    e.detector.distance = 200;
    e.detector.panels[0].fast_pixels = e.detector.panels[0].slow_pixels = 4096;
    e.detector.centre[0] = e.detector.centre[1] = 204.8;
    e.dmin = 2;
    e.oversample = 2;
    e.spread.spots = DB_SPOTS_CLOSED;
    return e;
}

db_experiment scene_experiment(db_context *context, const spot_scene *scene, naive_region *region) {
    db_experiment e = scene_start(context);
    if (scene->arrange) scene->arrange(&e);
    aim_crystal(&e, scene->at);
    *region = region_aimed_at(&e, scene->at, scene->size);
    return e;
}

void rendered(db_context *context, const db_experiment *e, naive_region region, double *image) {
    const db_region rectangle = { region.panel,
                                  region.fast,
                                  region.slow,
                                  region.fast_size,
                                  region.slow_size,
                                  0,
                                  (size_t)region.fast_size };
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan = NULL;
    options.pixel_type = DB_FLOAT64;
    options.regions = &rectangle;
    options.region_count = 1;
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
}

static void set(double *v, int count, const double *values) {
    memcpy(v, values, (size_t)count * sizeof *v);
}

static void isotropic(db_experiment *e) { e->spread.mosaic = 0.1 * 0.1; }

static void anisotropic(db_experiment *e) {
    set(e->spread.mosaic_tensor, 6, (double[]){ 0.02, 0.006, 0.011, 0.003, -0.004, 0.005 });
    set(e->spread.strain_tensor, 6, (double[]){ 1, 0.5, 2, 0.3, 0.7, 0.4 });
    e->spread.strain = 0.5;
    set(e->spread.size_correlation, 3, (double[]){ 0.3, -0.2, 0.4 });
}

/* One mode: rotation and strain together; with a little of a second one. */
static void bent(db_experiment *e) {
    set(e->spread.mode[0], 9, (double[]){ 0.4, -1.9, 0.7, 1.5, -0.3, -1.1, -1.2, 0.8, 0.5 });
    set(e->spread.mode[1], 9, (double[]){ -0.2, 0.3, 0.1, -0.6, 0.1, 0.4, 0.2, 0.5, -0.4 });
    e->spread.mosaic = 0.04 * 0.04;
}

static void pink(db_experiment *e) {
    e->spread.bandwidth = 1e2; /* 1 % */
    e->spread.mosaic = 0.05 * 0.05;
    set(e->spread.divergence, 3, (double[]){ 0.3, 0.1, 0.05 });
}

/* The same bandwidth as a sum of nine narrow Gaussians. */
static void pink_components(db_experiment *e) {
    enum { COMPONENTS = 9 };
    const double own = 0.0025, step = 0.0045, rest = 0.01 * 0.01 - own * own;
    db_source *source = calloc(COMPONENTS, sizeof *source);
    assert_non_null(source);
    for (int j = 0; j < COMPONENTS; j++) {
        const double off = step * (j - COMPONENTS / 2);
        source[j] = e->beam.sources[0];
        source[j].wavelength_ratio = 1 + off;
        source[j].weight = exp(-off * off / rest / 2);
    }
    free(e->beam.sources);
    e->beam.sources = source;
    e->beam.source_count = COMPONENTS;
    pink(e);
    e->spread.bandwidth = own * own * 1e6;
}

static void rotation(db_experiment *e) {
    e->spread.mosaic = 0.05 * 0.05;
    e->goniometer.phi_step = 1;
    e->spread.tails = 1;
    e->spread.tail_fraction[0] = 0.3;
    e->spread.tail_width[0] = 1.8;
}

static void overlapping(db_experiment *e) {
    set(e->crystal.cell, 3, (double[]){ 800, 700, 600 });
    set(e->crystal.Ncells, 3, (double[]){ 2, 2, 2 });
    e->detector.distance = 400;
    e->dmin = 2.5;
    e->spread.mosaic = 0.05 * 0.05;
}

static void wide_detector(db_experiment *e) {
    e->spread.mosaic = 0.04 * 0.04;
    set(e->spread.footprint, 3, (double[]){ 0.04, 0.01, 0.005 });
    set(e->spread.point_spread, 3, (double[]){ 0.01, 0.02, 0.004 });
    set(e->spread.divergence, 3, (double[]){ 0.05, 0.02, 0.01 });
    e->detector.sensor_thickness = 320;
    e->detector.attenuation_depth = 250;
    e->detector.rotation[0] = 5;
    e->detector.rotation[1] = -7;
}

const spot_scene spot_scenes[] = {
    { "isotropic mosaic", isotropic, { { 9, 7, 11 }, 35, 20, 0.05 }, 20, 1e-3 },
    { "tensors of rotations and strains", anisotropic, { { 12, -5, 9 }, 130, 50, 0.05 }, 20, 1e-3 },
    { "bent crystal", bent, { { 7, 9, -12 }, 220, 80, 0.04 }, 20, 1e-3 },
    { "pink beam", pink, { { 10, 8, 3 }, 300, -30, 0.05 }, 24, 1.2e-2 },
    { "pink beam in nine components", pink_components, { { 10, 8, 3 }, 300, -30, 0.05 }, 20, 1e-3 },
    { "rotation by one degree", rotation, { { 5, 12, 8 }, 15, 110, 0.5 }, 20, 1e-3 },
    { "overlapping spots", overlapping, { { 170, 115, 140 }, 75, 35, 0.05 }, 20, 1e-3 },
    { "beam, detector and sensor", wide_detector, { { 9, 7, 11 }, 160, 70, 0.02 }, 20, 1e-3 },
};
const size_t spot_scene_count = sizeof spot_scenes / sizeof spot_scenes[0];
