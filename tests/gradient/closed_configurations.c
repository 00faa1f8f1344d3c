/* Spots in closed form: every kind of spread alone, and all of them with what else there is. */
#include "support/unit_test.h"
#include "support/naive_sites.h"
#include "configurations.h"

#include <dualbragg/expert/beam_sources.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set(double *v, size_t count, const double *values) {
    memcpy(v, values, count * sizeof *v);
}

/* All spreads are 0: a start that a refinement has to be able to leave. */
static void size_alone(db_context *context, db_experiment *e) {
    (void)context;
    e->spread.spots = DB_SPOTS_CLOSED;
    set(e->crystal.Ncells, 3, (double[]){ 6, 9, 8 });
    e->dmin = 3;                            /* far from all pixels: fewer nodes to look at */
    e->detector.panels[0].fast_pixels = 19; /* no multiple of any lane count */
    e->detector.panels[0].slow_pixels = 13;
}

static void sizes_with_correlation(db_context *context, db_experiment *e) {
    size_alone(context, e);
    e->crystal.shape = DB_SHAPE_GAUSS;
    e->crystal.fudge = 0.8;
    e->oversample = 2;
    set(e->spread.size_correlation, 3, (double[]){ 0.3, -0.2, 0.4 });
}

static void rotations(db_context *context, db_experiment *e) {
    size_alone(context, e);
    e->spread.mosaic = 0.3;
    set(e->spread.mosaic_tensor, 6, (double[]){ 0.2, 0.45, 0.2, 0.05, -0.07, 0.1 });
}

static void strains(db_context *context, db_experiment *e) {
    size_alone(context, e);
    e->spread.strain = 60;
    set(e->spread.strain_tensor, 6, (double[]){ 90, 40, 120, 30, 55, 25 });
}

static void tied_strains(db_context *context, db_experiment *e, db_strain_ties ties) {
    strains(context, e);
    e->spread.strain_ties = ties;
    e->spread.mosaic = 0.1;
    for (int i = 0; i < 6; i++)
        if (!db_parameter_exists(e, (db_parameter)((int)DB_STRAIN_XX + i)))
            e->spread.strain_tensor[i] = 0;
}

static void uniaxial(db_context *context, db_experiment *e) {
    tied_strains(context, e, DB_STRAIN_UNIAXIAL);
}

static void isotropic(db_context *context, db_experiment *e) {
    tied_strains(context, e, DB_STRAIN_ISOTROPIC);
}

static void one_shear(db_context *context, db_experiment *e) {
    tied_strains(context, e, DB_STRAIN_SHEAR_ZX);
}

static void modes(db_context *context, db_experiment *e) {
    size_alone(context, e);
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        for (int i = 0; i < 9; i++) e->spread.mode[k][i] = 3 * sin(3 * i + 1.7 * k);
}

static void beam_and_places(db_context *context, db_experiment *e) {
    size_alone(context, e);
    e->spread.bandwidth = 80;
    set(e->spread.divergence, 3, (double[]){ 4, 2, -1 });
    set(e->spread.footprint, 3, (double[]){ 0.03, 0.05, 0.01 });
    set(e->spread.point_spread, 3, (double[]){ 0.04, 0.02, -0.01 });
    set(e->detector.rotation, 3, (double[]){ 8, -12, 5 });
}

static void everything(db_context *context, db_experiment *e) {
    size_alone(context, e);
    rotations(context, e);
    strains(context, e);
    modes(context, e);
    beam_and_places(context, e);
    e->spread.mosaic = 0.05;
    e->spread.strain = 10;
    for (int i = 0; i < 6; i++) {
        e->spread.mosaic_tensor[i] /= 10;
        e->spread.strain_tensor[i] /= 10;
    }
    for (int k = 0; k < DB_SPREAD_MODES; k++)
        for (int i = 0; i < 9; i++) e->spread.mode[k][i] /= 1.5;
    e->spread.tails = 2;
    set(e->spread.tail_fraction, 2, (double[]){ 0.2, 0.1 });
    set(e->spread.tail_width, 2, (double[]){ 1.5, 2 });
    e->crystal.b_factor = 12;
}

static void tails(db_context *context, db_experiment *e) {
    rotations(context, e);
    e->spread.tails = 1;
    e->spread.tail_fraction[0] = 0.3;
    e->spread.tail_width[0] = 2;
}

static void one_degree(db_context *context, db_experiment *e) {
    everything(context, e);
    e->goniometer.phi_step = 0.5;
    e->goniometer.phi_steps = 2;
    e->goniometer.phi = 12;
    set(e->goniometer.tilt, 2, (double[]){ 3, -2 });
    set(e->crystal.position, 3, (double[]){ 1.4, -0.8, 2.1 });
}

/* So short a range that it is integrated by points, backwards. */
static void short_rotation(db_context *context, db_experiment *e) {
    rotations(context, e);
    e->goniometer.phi_step = -0.1;
    e->background.water_size = 0.02;
}

static void long_rotation(db_context *context, db_experiment *e) {
    rotations(context, e);
    e->spread.tails = 1;
    e->spread.tail_fraction[0] = 0.3;
    e->spread.tail_width[0] = 2;
    e->goniometer.phi_step = 190;
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->dmin = 7;
    e->detector.panels[0].fast_pixels = 11;
    e->detector.panels[0].slow_pixels = 9;
}

static void sources(db_context *context, db_experiment *e) {
    const db_beam_spread ranges = { 0.012, 0, 0.012, 1, 2, 1, 0, 0, 1, 1 };
    static const double wavelength[2] = { 1.28, 1.33 }, weight[2] = { 0.4, 3 };
    rotations(context, e);
    assert_int_equal(db_beam_set_spread(context, &e->beam, &ranges), DB_OK);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 2, 1), DB_OK);
    for (size_t j = 0; j < e->beam.source_count; j++)
        e->beam.sources[j].weight *= 0.5 + 0.3 * (double)(j % 3);
    e->beam.dispersion = 0.01;
    e->beam.divergence[1] = 2;
    e->beam.spectrum_stretch = 1.4;
    e->spread.bandwidth = 10;
    e->spread.divergence[0] = 1;
    e->goniometer.phi_step = 0.3;
}

static void one_direction(db_context *context, db_experiment *e) {
    static const double wavelength[3] = { 1.28, 1.3, 1.33 }, weight[3] = { 0.4, 3, 1 };
    size_alone(context, e);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 3, 1), DB_OK);
    e->spread.bandwidth = 40;
}

static void sensor(db_context *context, db_experiment *e) {
    beam_and_places(context, e);
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->detector.twotheta = 9;
    e->oversample = 2;
    e->detector.pivot = DB_PIVOT_SAMPLE;
}

static void panels(db_context *context, db_experiment *e) {
    db_panel two[2];
    beam_and_places(context, e);
    two[0] = two[1] = e->detector.panels[0];
    two[0].fast_pixels = two[1].fast_pixels = 11;
    set(two[1].origin, 3, (double[]){ 6.1, 0.2, 0.7 });
    /* turned about the plate's normal and bent towards the sample */
    set(two[1].fast_axis, 3, (double[]){ 0.96, 0.28 * 0.8, -0.28 * 0.6 });
    set(two[1].slow_axis, 3, (double[]){ -0.28, 0.96 * 0.8, -0.96 * 0.6 });
    set(two[1].normal, 3, (double[]){ 0, 0.6, 0.8 });
    set(e->detector.panel_turn, 3, (double[]){ -2, 1, 3 });
    assert_int_equal(db_experiment_set_panels(context, e, two, 2), DB_OK);
    e->beam.polarized = 0;
    e->point_pixel = 1;
}

/* Panels, sensor and spindle of a crystal off the origin. */
static void off_origin(db_context *context, db_experiment *e) {
    panels(context, e);
    set(e->crystal.position, 3, (double[]){ 2.3, -1.1, 0.7 });
    e->goniometer.phi = 25;
    e->goniometer.phi_step = 1;
    e->point_pixel = 0;
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->crystal.b_factor = 20;
}

static void structure_factors(db_context *context, db_experiment *e) {
    const int min[3] = { -5, -5, -5 }, extent[3] = { 11, 11, 11 };
    double amplitude[11 * 11 * 11];
    rotations(context, e);
    for (size_t i = 0; i < sizeof amplitude / sizeof *amplitude; i++)
        amplitude[i] = 60 + (double)((i * 7919) % 31);
    amplitude[0] = 0;
    assert_int_equal(db_experiment_set_amplitudes(context, e, min, extent, amplitude), DB_OK);
    e->structure_factors.default_F = 40;
}

static void sites(db_context *context, db_experiment *e) {
    static const double wavelength[3] = { 1.28, 1.3, 1.33 }, weight[3] = { 0.4, 3, 1 };
    structure_factors(context, e);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 3, 1), DB_OK);
    assert_int_equal(naive_give_sites(context, e, 0.06), DB_OK);
    e->spread.bandwidth = 40;
}

static void backgrounds(db_context *context, db_experiment *e) {
    static const double stol[5] = { 0, 0.03, 0.4, 0.7, 0.9 }, amplitude[5] = { 9, 8.5, -6, 2, 3 };
    db_background *b = &e->background;
    rotations(context, e);
    assert_int_equal(db_experiment_set_amorphous(context, e, stol, amplitude, 5), DB_OK);
    b->thickness = 0.02;
    b->area = 1e-13;
    b->density = 1.1;
    b->molecular_weight = 20;
    b->water_size = 0.02;
    e->crystal.b_factor = 20;
    /* the interval of the amplitudes is the same for all pixels, and not that of the beam */
    e->detector.centre[0] = -14;
    e->detector.centre[1] = -11;
}

/* Few pixels, which stay nearest to one node. */
static void near_one_node(db_experiment *e, double centre_fast, double centre_slow) {
    db_panel *panel = &e->detector.panels[0];
    panel->fast_pixels = 9;
    panel->slow_pixels = 7;
    panel->pixel_size[0] = panel->pixel_size[1] = 0.05;
    e->detector.centre[0] = centre_fast;
    e->detector.centre[1] = centre_slow;
}

static void halo_of_sources(db_context *context, db_experiment *e) {
    static const double wavelength[2] = { 1.28, 1.33 }, weight[2] = { 0.4, 3 };
    structure_factors(context, e);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 2, 1), DB_OK);
    e->crystal.diffuse_sigma[0] = 0.5;
    e->crystal.diffuse_gamma[0] = 30;
    e->crystal.b_factor = 12;
    e->background.water_size = 0.02;
    set(e->crystal.position, 3, (double[]){ 0.6, 0.2, -0.3 });
    near_one_node(e, 1.5, 7.75);
}

static void halo_of_a_rotation(db_context *context, db_experiment *e) {
    one_degree(context, e);
    set(e->crystal.position, 3, (double[]){ 0, 0, 0 }); /* no derivatives by the spindle else */
    e->crystal.diffuse_anisotropic = 1;
    set(e->crystal.diffuse_sigma, 3, (double[]){ 0, 0.7, 0.2 });
    set(e->crystal.diffuse_gamma, 3, (double[]){ 30, 25, 12 });
    near_one_node(e, 7.75, 1.25);
}

const configuration closed_configurations[] = {
    { "closed: size alone", size_alone, 0.2, NULL },
    { "closed: size with correlation", sizes_with_correlation, 0.2, NULL },
    { "closed: rotations", rotations, 0.2, NULL },
    { "closed: strains", strains, 0.2, NULL },
    { "closed: uniaxial strains", uniaxial, 0.2, NULL },
    { "closed: isotropic strains", isotropic, 0.2, NULL },
    { "closed: one shear", one_shear, 0.2, NULL },
    { "closed: modes", modes, 0.2, NULL },
    { "closed: beam and places", beam_and_places, 0.2, NULL },
    { "closed: tails", tails, 0.2, NULL },
    { "closed: everything", everything, 0.25, NULL },
    { "closed: one degree", one_degree, 0.25, NULL },
    { "closed: short rotation", short_rotation, 0.4, NULL },
    { "closed: long rotation, slow", long_rotation, 0.2, NULL },
    { "closed: sources", sources, 0.2, "source_weight:1 source_weight:3" },
    { "closed: one direction", one_direction, 0.2, "source_weight:1" },
    { "closed: sensor", sensor, 0.2, NULL },
    { "closed: panels", panels, 0.2, NULL },
    { "closed: off the origin", off_origin, 0.2, NULL },
    { "closed: structure factors", structure_factors, 0.2, "F:0:-1:0 F:1:-1:1" },
    { "closed: sites", sites, 0.2,
      "fp:0:1 fp:0:2 fdp:0:2 fdp:0:3 fp:1:1 fp:1:3 fdp:1:2 source_weight:0" },
    { "closed: backgrounds", backgrounds, 0.2, NULL },
    { "closed: diffuse halo", halo_of_sources, 0.5, "F:0:-1:0 F:1:-1:1 source_weight:0" },
    { "closed: halo of a rotation", halo_of_a_rotation, 0.5, NULL },
};
const size_t closed_configuration_count =
    sizeof closed_configurations / sizeof closed_configurations[0];

const configuration *configuration_or_closed(size_t number) {
    return number < configuration_count ? &configurations[number]
                                        : &closed_configurations[number - configuration_count];
}

size_t configurations_and_closed(void) { return configuration_count + closed_configuration_count; }
