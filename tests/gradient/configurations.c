#include "support/unit_test.h"
#include "support/naive_sites.h"
#include "configurations.h"

#include <dualbragg/expert/beam_sources.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    e->crystal.b_factor = 23;
    set3(e->beam.direction, 0, 0, 1);
    set3(e->beam.sources[0].direction, 0, 0, 1);
    set3(e->beam.polarization_axis, 1, 0, 0);
    set3(e->goniometer.spindle_axis, 1, 0, 0);
    set3(e->detector.fast_axis, 1, 0, 0);
    set3(e->detector.slow_axis, 0, 1, 0);
    set3(e->detector.normal, 0, 0, 1);
    set3(e->detector.twotheta_axis, 1, 0, 0);
    e->detector.pivot = DB_PIVOT_SAMPLE;
    set3(e->crystal.position, 0.4, -1.3, 2.5);
}

static void tilted_detector(db_context *context, db_experiment *e) {
    (void)context;
    set3(e->detector.rotation, 8, -12, 5);
    e->detector.twotheta = 9;
    set3(e->detector.panel_turn, 3, -4, 2.5);
    set3(e->detector.panel_shift, 0.3, -0.2, 1.1);
    set3(e->crystal.misset_frame, 0, -25, 0);
    e->crystal.mosaic_spread = 0.4; /* of a single domain: no effect, and no derivative */
}

static void mosaic_phi(db_context *context, db_experiment *e) {
    (void)context;
    e->crystal.mosaic_spread = 1.3;
    e->crystal.b_factor = 4;
    e->crystal.mosaic_domains = 5;
    e->goniometer.phi = 12;
    e->goniometer.tilt[0] = 3;
    e->goniometer.tilt[1] = -2;
    e->goniometer.phi_step = 0.3;
    e->goniometer.phi_steps = 3;
    set3(e->crystal.misset_frame, 40, -25, 65);
}

/* The spreads differ, one is none, and the crystal turns between the steps. */
static void anisotropic_mosaic(db_context *context, db_experiment *e) {
    mosaic_phi(context, e);
    e->crystal.mosaic_anisotropic = 1;
    set3(e->crystal.mosaic_abc, 1.7, 0, 0.6);
    set3(e->crystal.misset_frame, 0, 0, 65);
    e->goniometer.phi_step = 4;
}

static void divergence_dispersion_weights(db_context *context, db_experiment *e) {
    const db_beam_spread spread = { 0.012, 0.02, 0.006, 0.01, 3, 3, 1, 0.02, 0.01, 3 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &spread), DB_OK);
    for (size_t j = 0; j < e->beam.source_count; j++)
        e->beam.sources[j].weight = 0.2 + 0.7 * (double)(j % 4);
    e->detector.distance_is_close = 1;
    set3(e->detector.rotation, 3, 4, -2);
}

/* Three directions with the same four wavelengths, stretched; weights of sources move the mean. */
static void spectrum(db_context *context, db_experiment *e) {
    static const double wavelength[4] = { 1.28, 1.3, 1.305, 1.33 }, weight[4] = { 0.4, 3, 2, 0.7 };
    const db_beam_spread spread = { 0.012, 0, 0.006, 1, 3, 1, 0, 0, 1, 1 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &spread), DB_OK);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 4, 1), DB_OK);
    e->beam.spectrum_stretch = 1.4;
    e->crystal.b_factor = 9;
}

/* Eight cells: the kink of the amplitude half way between nodes is below 1e-20. */
static void gauss(db_context *context, db_experiment *e) {
    (void)context;
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->crystal.fudge = 0.8;
    set3(e->crystal.Ncells, 8, 9.5, 8.25);
    e->crystal.b_factor = -1.7;
    e->crystal.mosaic_spread = 0.8;
    e->crystal.mosaic_domains = 4;
}

static void oversample3(db_context *context, db_experiment *e) {
    (void)context;
    e->oversample = 3;
    set3(e->crystal.misset_frame, 40, 0, 0);
    e->detector.pivot = DB_PIVOT_SAMPLE;
    e->detector.twotheta = -8;
}

/* A small cell around the direct beam, so that all pixels belong to the node 0 0 0 and no kink is
 * in sight. */
static void near_direct_beam(db_experiment *e) {
    resize(e, 20, 17, 0.25);
    set3(e->crystal.cell, 4.5, 5.5, 7);
    set3(e->crystal.Ncells, 4, 3.5, 5);
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
    set3(e->crystal.Ncells, 4, 6, 4);
}

/* A spectrum on both sides of the sites' edges, and rays in several directions. */
static void sites(db_context *context, db_experiment *e) {
    static const double wavelength[4] = { 1.28, 1.295, 1.304, 1.32 }, weight[4] = { 1, 3, 2, 1.5 };
    const db_beam_spread rays = { 0.004, 0.006, 0.004, 0.006, 2, 1, 0, 0, 0, 1 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &rays), DB_OK);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 4, 1), DB_OK);
    structure_factor_list(context, e);
    assert_int_equal(naive_give_sites(context, e, 0.06), DB_OK);
    e->crystal.b_factor = 9;
    e->crystal.mosaic_spread = 0.6;
    e->crystal.mosaic_domains = 3;
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
    set3(e->detector.panel_turn, -2, 1, 3);
    free(e->detector.panels);
    e->detector.panels = panels;
    e->detector.panel_count = 2;
    e->beam.polarized = 0;
}

static void point_pixel(db_context *context, db_experiment *e) {
    (void)context;
    e->point_pixel = 1;
    e->goniometer.phi = -20;
    set3(e->goniometer.spindle_axis, 1, 0, 0); /* along the beam */
}

/* Thick enough for the last layer to see a third of the photons; every value of the sensor moves
 * the spots, the solid angle and the absorption. */
static void sensor(db_context *context, db_experiment *e) {
    (void)context;
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->detector.sensor_layers = 3;
    e->oversample = 2;
    set3(e->detector.rotation, 8, -12, 5);
}

/* The reference's layers. */
static void sensor_at_front(db_context *context, db_experiment *e) {
    sensor(context, e);
    e->detector.layers_at_front = 1;
    e->detector.sensor_layers = 2;
}

/* One layer, at whose back few photons arrive: its mean depth is far from the middle. */
static void one_thick_layer(db_context *context, db_experiment *e) {
    two_panels_unpolarized(context, e);
    e->detector.sensor_thickness = 900;
    e->detector.attenuation_depth = 250;
    e->detector.sensor_layers = 1;
}

static void thin_sensor_point_pixel(db_context *context, db_experiment *e) {
    two_panels_unpolarized(context, e);
    e->detector.sensor_thickness = 30;
    e->detector.attenuation_depth = 3000;
    e->detector.sensor_layers = 2;
    e->point_pixel = 1;
}

static void curved(db_context *context, db_experiment *e) {
    (void)context;
    e->detector.curved = 1;
    e->detector.distance = 12; /* pixels up to half a quarter circle away */
    resize(e, 21, 17, 0.6);
    set3(e->crystal.Ncells, 2, 3, 2);
}

static void curved_and_tilted_with_sensor(db_context *context, db_experiment *e) {
    curved(context, e);
    set3(e->detector.rotation, 3, 14, -9);
    e->detector.sensor_thickness = 300;
    e->detector.attenuation_depth = 200;
    e->detector.sensor_layers = 2;
    e->background.water_size = 0.02;
}

/* The limit lies between two panels, so that no step of a finite difference crosses it. Water is
 * not subject to it. */
static void limited_resolution_and_water(db_context *context, db_experiment *e) {
    two_panels_unpolarized(context, e);
    set3(e->detector.panels[1].origin, 41, 0.2, 0.7);
    e->beam.polarized = 1;
    e->dmin = 4.2;
    e->crystal.b_factor = 31;
    e->background.water_size = 0.015;
    e->goniometer.phi_step = 0.4;
    e->goniometer.phi_steps = 2;
}

/* All pixels see the same cubic; the amplitude changes its sign inside, where its square's sign
 * follows smoothly. */
static void amorphous(db_context *context, db_experiment *e) {
    static const double stol[5] = { 0, 0.03, 0.4, 0.7, 0.9 }, amplitude[5] = { 9, 8.5, -6, 2, 3 };
    db_background *b = &e->background;
    divergence_dispersion_weights(context, e);
    b->count = 5;
    b->stol = malloc(sizeof stol);
    b->amplitude = malloc(sizeof amplitude);
    assert_true(b->stol && b->amplitude);
    memcpy(b->stol, stol, sizeof stol);
    memcpy(b->amplitude, amplitude, sizeof amplitude);
    b->thickness = 0.02;
    b->area = 1e-13;
    b->density = 1.1;
    b->molecular_weight = 20;
    e->detector.centre[0] = -14;
    e->detector.centre[1] = -11;
}

/* A small cell far enough from the direct beam for all pixels to lie between the same nodes: the
 * interpolation's slope jumps from one cell of nodes to the next. */
static void interpolation(db_context *context, db_experiment *e) {
    near_direct_beam(e);
    structure_factor_list(context, e);
    e->structure_factors.interpolate = 1;
    for (size_t i = 0; i < 13 * 13 * 13; i++)
        e->structure_factors.amplitude[i] *= 1 + 0.02 * (double)(i % 17);
    /* no node, hence no peak to which single precision could be compared: few factors */
    set3(e->crystal.Ncells, 1, 3, 1);
    resize(e, 20, 17, 0.1);
    e->detector.centre[0] = -52.5;
    e->detector.centre[1] = 34.8;
}

/* At the edge of the list: some of the 64 nodes are those of default_F. */
static void interpolation_at_the_edge(db_context *context, db_experiment *e) {
    interpolation(context, e);
    db_structure_factors *f = &e->structure_factors;
    f->extent[1] = 9; /* k up to 2 */
    f->min[2] = 2;
    f->extent[2] = 4;
    e->crystal.mosaic_spread = 0.2;
    e->crystal.mosaic_domains = 2;
}

/* Few pixels, which stay nearest to one node: there a halo jumps by what other nodes come in sight. */
static void within_a_node(db_experiment *e, double centre_fast, double centre_slow) {
    resize(e, 9, 7, 0.05);
    e->detector.centre[0] = centre_fast;
    e->detector.centre[1] = centre_slow;
}

/* Nodes in sight have quite different structure factors. */
static void diffuse_halo(db_context *context, db_experiment *e) {
    structure_factor_list(context, e);
    for (size_t i = 0; i < 13 * 13 * 13; i += 3) e->structure_factors.amplitude[i] *= 0.2;
    e->crystal.diffuse_sigma[0] = 0.5;
    e->crystal.diffuse_gamma[0] = 30;
    e->crystal.mosaic_spread = 0.4;
    e->crystal.mosaic_domains = 2;
    e->crystal.b_factor = 20;
    e->oversample = 2;
    within_a_node(e, -2.75, 6.5);
}

static void anisotropic_halo(db_context *context, db_experiment *e) {
    mosaic_phi(context, e);
    within_a_node(e, 5.25, 4.75);
    e->crystal.diffuse_anisotropic = 1;
    set3(e->crystal.diffuse_sigma, 0.4, 0.7, 0.2);
    set3(e->crystal.diffuse_gamma, 40, 15, 25);
    e->crystal.mosaic_anisotropic = 1;
    set3(e->crystal.mosaic_abc, 0.9, 0, 0.4);
    e->detector.sensor_thickness = 300;
    e->detector.attenuation_depth = 200;
    e->detector.sensor_layers = 2;
}

/* Without displacements along one axis, and hardly any along another. Lengths whose limits and basis are far from
 * others (docs/theory/halo.md): there the halo has kinks. */
static void dark_halo(db_context *context, db_experiment *e) {
    (void)context;
    within_a_node(e, -2.75, 6.5);
    e->crystal.diffuse_anisotropic = 1;
    set3(e->crystal.diffuse_sigma, 0, 1e-3, 0.3);
    set3(e->crystal.diffuse_gamma, 30, 25, 12);
}

/* What goes together, together: rays of two wavelengths, phi steps and domains, two bent panels with their own
 * motion, a sensor of two layers, parts of pixels that are no squares, listed amplitudes, water. */
static void everything_together(db_context *context, db_experiment *e) {
    static const double wavelength[2] = { 1.28, 1.33 }, weight[2] = { 2, 3 };
    const db_beam_spread rays = { 0.008, 0.006, 0.008, 0.006, 2, 2, 0, 0.01, 0.01, 2 };
    two_panels_unpolarized(context, e);
    assert_int_equal(db_beam_set_spread(context, &e->beam, &rays), DB_OK);
    e->beam.dispersion = 0;
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 2, 1), DB_OK);
    structure_factor_list(context, e);
    e->beam.polarized = 1;
    e->beam.spectrum_stretch = 0.8;
    e->crystal.b_factor = 12;
    e->crystal.mosaic_spread = 0.7;
    e->crystal.mosaic_domains = 2;
    set3(e->crystal.misset_frame, 20, 30, -40);
    set3(e->crystal.position, -1.2, 0.7, 1.9);
    e->goniometer.phi = 8;
    e->goniometer.phi_step = 0.5;
    e->goniometer.phi_steps = 2;
    e->goniometer.tilt[0] = 2;
    e->oversample = 2;
    e->background.water_size = 0.01;
    e->detector.sensor_thickness = 350;
    e->detector.attenuation_depth = 250;
    e->detector.sensor_layers = 2;
    e->detector.distance_is_close = 1;
    e->detector.twotheta = 5;
    set3(e->detector.rotation, 4, -6, 9);
    set3(e->detector.panel_shift, 0.2, -0.3, 0.7);
    for (int p = 0; p < 2; p++) {
        e->detector.panels[p].fast_pixels = 7;
        e->detector.panels[p].slow_pixels = 5;
        e->detector.panels[p].pixel_size[0] = 0.8;
        e->detector.panels[p].pixel_size[1] = 1.7;
    }
}

const configuration configurations[] = {
    { "triclinic, MOSFLM", triclinic_mosflm, 0.01, NULL },
    { "XDS, pivot sample", xds, 0.01, NULL },
    { "tilted detector", tilted_detector, 0.01, NULL },
    { "mosaic and phi", mosaic_phi, 0.01, NULL },
    { "anisotropic mosaic", anisotropic_mosaic, 0.01, NULL },
    { "divergence and dispersion with weights", divergence_dispersion_weights, 0.01,
      "source_weight:2 source_weight:0" },
    { "spectrum", spectrum, 0.01, "source_weight:1 source_weight:11" },
    { "gauss, mosaic", gauss, 0.01, NULL },
    { "oversample 3", oversample3, 0.01, NULL },
    { "round", round_crystal, 0.01, NULL },
    { "tophat", tophat, 0.01, NULL },
    { "structure factor list", structure_factor_list, 0.01, "F:0:0:0 F:-1:0:1" },
    { "sites", sites, 0.01, "fp:0:1 fp:0:2 fdp:0:2 fdp:0:3 fp:1:1 fp:1:3 fdp:1:2 source_weight:3" },
    { "two panels, no polarization", two_panels_unpolarized, 0.01, NULL },
    { "point pixel", point_pixel, 0.01, NULL },
    { "sensor", sensor, 0.01, NULL },
    { "sensor, layers at their front", sensor_at_front, 0.01, NULL },
    { "one thick layer", one_thick_layer, 0.01, NULL },
    { "thin sensor, point pixel", thin_sensor_point_pixel, 0.01, NULL },
    { "curved", curved, 0.01, NULL },
    { "curved and tilted, sensor, water", curved_and_tilted_with_sensor, 0.01, NULL },
    { "limited resolution, water", limited_resolution_and_water, 0.01, NULL },
    { "amorphous", amorphous, 0.01, "source_weight:4" },
    { "interpolation", interpolation, 0.01,
      "F:-2:2:2 F:-1:3:3 F:-3:1:4 F:0:4:1 F:5:5:5 source_weight:0" },
    { "diffuse halo", diffuse_halo, 0.03, "F:0:0:0 F:-1:0:1" },
    { "anisotropic halo", anisotropic_halo, 0.03, NULL },
    { "dark halo", dark_halo, 0.1, NULL },
    { "everything together", everything_together, 0.01, "F:0:0:0 F:-1:0:1 source_weight:5" },
    { "interpolation at the edge", interpolation_at_the_edge, 0.01, "F:-2:2:2 F:-1:2:3" },
};
const size_t configuration_count = sizeof configurations / sizeof configurations[0];

db_experiment configured(db_context *context, const configuration *which) {
    static const double cell[6] = { 45, 55, 70, 82, 97, 105 };
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    for (int i = 0; i < 6; i++) e.crystal.cell[i] = cell[i];
    set3(e.crystal.misset, 10, 20, 30);
    set3(e.crystal.Ncells, 3, 5, 4);
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

size_t parameters_of(const configuration *which, const db_experiment *e,
                     db_parameter parameters[]) {
    size_t count = 0;
    for (int p = 0; p < DB_PARAMETER_COUNT; p++)
        if (db_parameter_exists(e, (db_parameter)p)) parameters[count++] = (db_parameter)p;
    for (const char *next = which->more; next && *next;) {
        char name[32];
        int length = 0;
        assert_int_equal(sscanf(next, "%31s %n", name, &length), 1);
        assert_int_equal(db_parameter_find(NULL, name, &parameters[count++]), DB_OK);
        next += length;
    }
    return count;
}
