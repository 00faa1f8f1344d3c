#include "configurations.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void set3(double v[3], double x, double y, double z) {
    v[0] = x;
    v[1] = y;
    v[2] = z;
}

static void resize(db_experiment *e, int fast, int slow, double pixel) {
    db_panel *panel = &e->detector.panels[0];
    panel->fast_pixels = fast;
    panel->slow_pixels = slow;
    panel->pixel_size[0] = panel->pixel_size[1] = pixel;
}

/* Fast z, slow -y, beam x: the MOSFLM frame, off centre. */
static void triclinic_mosflm(db_context *context, db_experiment *e) {
    (void)context;
    (void)e;
}

static void xds(db_context *context, db_experiment *e) {
    (void)context;
    set3(e->beam.direction, 0, 0, 1);
    set3(e->beam.sources[0].direction, 0, 0, 1);
    set3(e->beam.polarization_axis, 1, 0, 0);
    set3(e->goniometer.spindle_axis, 1, 0, 0);
    set3(e->detector.fast_axis, 1, 0, 0);
    set3(e->detector.slow_axis, 0, 1, 0);
    set3(e->detector.normal, 0, 0, 1);
    set3(e->detector.twotheta_axis, 1, 0, 0);
    e->detector.pivot = DB_PIVOT_SAMPLE;
}

static void tilted_detector(db_context *context, db_experiment *e) {
    (void)context;
    set3(e->detector.rotation, 8, -12, 5);
    e->detector.twotheta = 9;
    e->crystal.mosaic_spread = 0.4; /* of a single domain: no effect, and no derivative */
}

static void mosaic_phi(db_context *context, db_experiment *e) {
    (void)context;
    e->crystal.mosaic_spread = 1.3;
    e->crystal.mosaic_domains = 5;
    e->goniometer.phi = 12;
    e->goniometer.phi_step = 0.3;
    e->goniometer.phi_steps = 3;
}

static void divergence_dispersion_weights(db_context *context, db_experiment *e) {
    const db_beam_spread spread = { 0.012, 0.02, 0.006, 0.01, 3, 3, 1, 0.02, 0.01, 3 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &spread), DB_OK);
    for (size_t j = 0; j < e->beam.source_count; j++)
        e->beam.sources[j].weight = 0.2 + 0.7 * (double)(j % 4);
    e->detector.distance_is_close = 1;
    set3(e->detector.rotation, 3, 4, -2);
}

/* Eight cells: the kink of the amplitude half way between nodes is below 1e-20. */
static void gauss(db_context *context, db_experiment *e) {
    (void)context;
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->crystal.fudge = 0.8;
    set3(e->crystal.cells, 8, 9.5, 8.25);
    e->crystal.mosaic_spread = 0.8;
    e->crystal.mosaic_domains = 4;
}

static void oversample3(db_context *context, db_experiment *e) {
    (void)context;
    e->oversample = 3;
    e->detector.pivot = DB_PIVOT_SAMPLE;
    e->detector.twotheta = -8;
}

/* A small cell around the direct beam, so that all pixels belong to the node 0 0 0 and no kink is
 * in sight. */
static void near_direct_beam(db_experiment *e) {
    resize(e, 20, 17, 0.25);
    set3(e->crystal.cell, 4.5, 5.5, 7);
    set3(e->crystal.cells, 4, 3.5, 5);
    e->detector.centre[0] = -1.2;
    e->detector.centre[1] = -0.9;
    set3(e->detector.rotation, 2, -3, 4);
}

static void round_crystal(db_context *context, db_experiment *e) {
    (void)context;
    near_direct_beam(e);
    e->crystal.shape = DB_SHAPE_ROUND;
    e->crystal.fudge = 1.1;
}

/* Inside the flat top: what is left is geometry, polarization and N^2. */
static void tophat(db_context *context, db_experiment *e) {
    (void)context;
    near_direct_beam(e);
    e->crystal.shape = DB_SHAPE_TOPHAT;
    e->crystal.fudge = 0.02;
}

/* Even cell counts: F_latt^2 vanishes to second order half way between nodes, where F_c jumps (a
 * little: central differences that straddle such a point are off by the jump times the square of
 * their step). */
static void structure_factor_list(db_context *context, db_experiment *e) {
    (void)context;
    db_structure_factors *f = &e->structure_factors;
    const int half = 6;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -half;
        f->extent[j] = 2 * half + 1;
    }
    const size_t count = 13 * 13 * 13;
    f->amplitude = malloc(count * sizeof(double));
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < count; i++) f->amplitude[i] = 60 + (double)((i * 7919) % 11);
    f->default_F = 63;
    set3(e->crystal.cells, 4, 6, 4);
}

static void two_panels_unpolarized(db_context *context, db_experiment *e) {
    (void)context;
    db_panel *panels = calloc(2, sizeof *panels);
    assert_non_null(panels);
    panels[0] = panels[1] = e->detector.panels[0];
    panels[0].fast_pixels = panels[1].fast_pixels = 11;
    set3(panels[1].origin, 6.1, 0.2, 0.7);
    /* turned about the plate's normal and bent towards the sample */
    set3(panels[1].fast_axis, 0.96, 0.28 * 0.8, -0.28 * 0.6);
    set3(panels[1].slow_axis, -0.28, 0.96 * 0.8, -0.96 * 0.6);
    set3(panels[1].normal, 0, 0.6, 0.8);
    free(e->detector.panels);
    e->detector.panels = panels;
    e->detector.panel_count = 2;
    e->beam.polarized = 0;
}

static void point_pixel(db_context *context, db_experiment *e) {
    (void)context;
    e->point_pixel = 1;
    e->goniometer.phi = -20;
}

const configuration configurations[] = {
    { "triclinic, MOSFLM", triclinic_mosflm, 0.01 },
    { "XDS, pivot sample", xds, 0.01 },
    { "tilted detector", tilted_detector, 0.01 },
    { "mosaic and phi", mosaic_phi, 0.01 },
    { "divergence and dispersion with weights", divergence_dispersion_weights, 0.01 },
    { "gauss, mosaic", gauss, 0.01 },
    { "oversample 3", oversample3, 0.01 },
    { "round", round_crystal, 0.01 },
    { "tophat", tophat, 0.01 },
    { "structure factor list", structure_factor_list, 0.01 },
    { "two panels, no polarization", two_panels_unpolarized, 0.01 },
    { "point pixel", point_pixel, 0.01 },
};
const size_t configuration_count = sizeof configurations / sizeof configurations[0];

db_experiment configured(db_context *context, const configuration *which) {
    static const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 6; i++) e.crystal.cell[i] = cell[i];
    set3(e.crystal.misset, 10, 20, 30);
    set3(e.crystal.cells, 3, 5, 4);
    e.structure_factors.default_F = 100;
    e.beam.wavelength = 1.3;
    e.beam.polarization = 0.7;
    e.beam.tilt[0] = 2;
    e.beam.tilt[1] = -3;
    e.detector.distance = 70;
    e.detector.centre[0] = 9.3;
    e.detector.centre[1] = 4.1;
    resize(&e, 21, 17, 0.5); /* no multiple of any lane count */
    which->arrange(context, &e);
    return e;
}

const db_parameter *all_parameters(void) {
    static db_parameter all[DB_PARAMETER_COUNT];
    for (int p = 0; p < DB_PARAMETER_COUNT; p++) all[p] = (db_parameter)p;
    return all;
}
