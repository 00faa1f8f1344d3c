/* Images of spots in closed form are those of a naive implementation from the formulas alone, which
 * leaves out no reflection anywhere. */
#include "support/context.h"
#include "support/naive_sites.h"
#include "scenes.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set(double *v, int count, const double *values) {
    memcpy(v, values, (size_t)count * sizeof *v);
}

/* A triclinic cell whose spots cover a good part of few large pixels. */
static db_experiment start(void) {
    db_experiment e;
    assert_int_equal(db_experiment_init(context, &e), DB_OK);
    set(e.crystal.cell, 6, (double[]){ 21, 24, 28, 83, 97, 105 });
    set(e.crystal.Ncells, 3, (double[]){ 7, 6, 5.5 });
    set(e.crystal.misset, 3, (double[]){ 11, -23, 37 });
    e.crystal.shape = DB_SHAPE_GAUSS;
    e.crystal.fudge = 0.9;
    e.crystal.b_factor = 7;
    e.beam.wavelength = 1.3;
    e.beam.polarization = 0.8;
    e.beam.polarized = 1;
    e.structure_factors.default_F = 70;
    e.detector.distance = 60;
    e.detector.panels[0].fast_pixels = 7;
    e.detector.panels[0].slow_pixels = 5;
    e.detector.panels[0].pixel_size[0] = 2.5;
    e.detector.panels[0].pixel_size[1] = 3.4;
    e.detector.centre[0] = 3.1;
    e.detector.centre[1] = -2.4;
    e.dmin = 2.4;
    e.spread.spots = DB_SPOTS_CLOSED;
    e.spread.mosaic = 0.5 * 0.5;
    return e;
}

static void still(db_experiment *e) { (void)e; }

static void square_blocks(db_experiment *e) {
    e->crystal.shape = DB_SHAPE_SQUARE;
    set(e->crystal.Ncells, 3, (double[]){ 7, 6, 5 });
    e->beam.polarized = 0;
    e->point_pixel = 1;
}

static void tensors(db_experiment *e) {
    set(e->spread.size_correlation, 3, (double[]){ 0.4, -0.2, 0.3 });
    set(e->spread.mosaic_tensor, 6, (double[]){ 0.3, 0.5, 0.9, 0.2, -0.3, 0.1 });
    e->spread.strain = 20;
    set(e->spread.strain_tensor, 6, (double[]){ 30, 50, 20, 60, 10, 40 });
}

static void uniaxial(db_experiment *e) {
    set(e->crystal.cell, 6, (double[]){ 24, 24, 30, 90, 90, 120 });
    tensors(e);
    e->spread.strain_ties = DB_STRAIN_UNIAXIAL;
}

static void cubic(db_experiment *e) {
    set(e->crystal.cell, 6, (double[]){ 24, 24, 24, 90, 90, 90 });
    tensors(e);
    e->spread.strain_ties = DB_STRAIN_ISOTROPIC;
}

static void modes_and_tails(db_experiment *e) {
    for (int m = 0; m < DB_SPREAD_MODES; m++)
        for (int i = 0; i < 9; i++) e->spread.mode[m][i] = 4 * sin(1 + 3.7 * i + 11.3 * m);
    e->spread.tails = 2;
    set(e->spread.tail_fraction, 2, (double[]){ 0.3, 0.1 });
    set(e->spread.tail_width, 2, (double[]){ 2, 3.5 });
}

static void sources(db_experiment *e) {
    const db_beam_spread spread = { 0.012, 0.02, 0.006, 0.02, 3, 2, 0, 0.02, 0.02, 2 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &spread), DB_OK);
    for (size_t j = 0; j < e->beam.source_count; j++)
        e->beam.sources[j].weight = 1 + (double)(j % 3);
    set(e->beam.tilt, 2, (double[]){ 6, -9 });
    e->spread.bandwidth = 30;
    set(e->spread.divergence, 3, (double[]){ 9, 4, -3 });
    set(e->spread.footprint, 3, (double[]){ 0.3, 0.2, 0.1 });
}

static void detector(db_experiment *e) {
    db_panel two[2] = { e->detector.panels[0], e->detector.panels[0] };
    set(two[1].origin, 3, (double[]){ 19, 1, 0.7 });
    set(two[1].fast_axis, 3, (double[]){ 0.96, 0.28 * 0.8, -0.28 * 0.6 });
    set(two[1].slow_axis, 3, (double[]){ -0.28, 0.96 * 0.8, -0.96 * 0.6 });
    set(two[1].normal, 3, (double[]){ 0, 0.6, 0.8 });
    assert_int_equal(db_experiment_set_panels(context, e, two, 2), DB_OK);
    set(e->detector.rotation, 3, (double[]){ 5, -8, 3 });
    e->detector.twotheta = 6;
    set(e->detector.panel_turn, 3, (double[]){ 1, -2, 1.5 });
    set(e->detector.panel_shift, 3, (double[]){ 0.3, -0.2, 0.5 });
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->oversample = 2;
    set(e->spread.point_spread, 3, (double[]){ 0.2, 0.5, 0.1 });
    set(e->spread.footprint, 3, (double[]){ 0.05, 0.1, 0.02 });
}

static void listed(db_experiment *e) {
    double amplitude[5 * 6 * 7];
    for (int i = 0; i < 5 * 6 * 7; i++) amplitude[i] = 40 + (i * 7919) % 83;
    assert_int_equal(db_experiment_set_amplitudes(context, e, (int[]){ -3, -2, -3 },
                                                  (int[]){ 5, 6, 7 }, amplitude),
                     DB_OK);
}

static void sites(db_experiment *e) {
    static const double wavelength[3] = { 1.28, 1.3, 1.32 }, weight[3] = { 1, 3, 2 };
    listed(e);
    assert_int_equal(db_beam_set_spectrum(context, &e->beam, wavelength, weight, 3, 1), DB_OK);
    assert_int_equal(naive_give_sites(context, e, 0.06), DB_OK);
    e->spread.bandwidth = 30;
}

static void narrow_rotation(db_experiment *e) {
    e->goniometer.phi = 12;
    e->goniometer.phi_step = 0.5;
    e->goniometer.phi_steps = 3;
    set(e->goniometer.tilt, 2, (double[]){ 3, -2 });
    e->spread.strain = 10;
}

static void wide_rotation(db_experiment *e) {
    e->goniometer.phi_step = 250;
    e->spread.bandwidth = 20;
    e->dmin = 2.8;
    modes_and_tails(e);
}

static void backwards(db_experiment *e) {
    sources(e);
    e->goniometer.phi_step = -4;
    e->dmin = 2.8;
    set(e->spread.mosaic_tensor, 6, (double[]){ 0.3, 0.5, 0.9, 0.2, -0.3, 0.1 });
}

static void rotation_and_detector(db_experiment *e) {
    detector(e);
    e->goniometer.phi_step = 2;
    e->dmin = 2.8;
    e->oversample = 1;
}

/* The spindle carries the crystal by more than a pixel. */
static void off_the_origin(db_experiment *e) {
    rotation_and_detector(e);
    e->goniometer.phi = 70;
    set(e->goniometer.tilt, 2, (double[]){ 3, -2 });
    set(e->crystal.position, 3, (double[]){ 4, -7, 2 });
    set(e->crystal.misset_frame, 3, (double[]){ 20, 30, -40 });
}

/* Electrons: nodes turn by more than their Bragg angles, to where their caps are off the sphere. */
static void small_angles(db_experiment *e) {
    set(e->crystal.Ncells, 3, (double[]){ 40, 40, 40 });
    e->beam.wavelength = 0.0251;
    e->detector.distance = 6000;
    e->goniometer.phi_step = 3;
    e->spread.mosaic = 5 * 5;
}

static const struct {
    const char *name;
    void (*arrange)(db_experiment *e);
} configurations[] = {
    { "small angles", small_angles },
    { "still", still },
    { "square blocks", square_blocks },
    { "tensors", tensors },
    { "uniaxial strain", uniaxial },
    { "cubic strain", cubic },
    { "modes and tails", modes_and_tails },
    { "sources", sources },
    { "detector", detector },
    { "listed amplitudes", listed },
    { "sites", sites },
    { "narrow rotation", narrow_rotation },
    { "wide rotation", wide_rotation },
    { "backwards", backwards },
    { "rotation and detector", rotation_and_detector },
    { "off the origin", off_the_origin },
};

static void compare(const db_experiment *e, const char *name, naive_region region,
                    double tolerance) {
    const int pixels = region.fast_size * region.slow_size;
    double *expected = calloc(2 * (size_t)pixels, sizeof *expected), largest = 0;
    double *image = expected + pixels;
    naive_spots(e, region, NAIVE_ERROR_FUNCTION, 0, expected);
    rendered(context, e, region, image);
    for (int i = 0; i < pixels; i++) largest = fmax(largest, expected[i]);
    assert_true(largest > 0);
    for (int i = 0; i < pixels; i++) assert_true(expected[i] >= 0);
    for (int i = 0; i < pixels; i++)
        if (!(fabs(image[i] - expected[i]) <= tolerance * largest))
            fail_msg("%s, panel %zu: pixel %d is %.12g, expected %.12g (largest %.3g)", name,
                     region.panel, i, image[i], expected[i], largest);
    free(expected);
}

static void images_follow_from_the_formulas(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof configurations / sizeof configurations[0]; k++) {
        db_experiment e = start();
        configurations[k].arrange(&e);
        for (size_t p = 0; p < e.detector.panel_count; p++) {
            const db_panel *panel = &e.detector.panels[p];
            const naive_region whole = { p, 0, 0, panel->fast_pixels, panel->slow_pixels, 0 };
            compare(&e, configurations[k].name, whole, 1e-9);
        }
        db_experiment_clear(&e);
    }
}

/* The same of narrow spots: scenes of the sampled truth. */
static void so_do_those_of_narrow_spots(void **state) {
    (void)state;
    for (size_t k = 0; k < spot_scene_count; k++) {
        naive_region region;
        db_experiment e = scene_experiment(context, &spot_scenes[k], &region);
        compare(&e, spot_scenes[k].name, region, 1e-9);
        db_experiment_clear(&e);
    }
}

/* The error function's formula is the mean over angles of the same motion. */
static void the_mean_over_a_rotation_is_its_integral(void **state) {
    (void)state;
    db_experiment e = start();
    e.goniometer.phi_step = 3;
    e.dmin = 3;
    const naive_region region = { 0, 2, 2, 4, 4, 0 };
    double closed[16] = { 0 }, summed[16] = { 0 }, largest = 0;
    naive_spots(&e, region, NAIVE_ERROR_FUNCTION, 0, closed);
    naive_spots(&e, region, NAIVE_SIMPSON, 200, summed);
    for (int i = 0; i < 16; i++) largest = fmax(largest, closed[i]);
    for (int i = 0; i < 16; i++) assert_true(fabs(closed[i] - summed[i]) <= 1e-7 * largest);
    db_experiment_clear(&e);
}

/* And nearly that of stills along the true rotation, where spots are narrow. */
static void it_is_nearly_that_of_the_true_rotation(void **state) {
    (void)state;
    for (size_t k = 0; k < spot_scene_count; k++) {
        const spot_scene *scene = &spot_scenes[k];
        naive_region region;
        db_experiment e = scene_experiment(context, scene, &region);
        const double amplitude = 100;
        const int pixels = region.fast_size * region.slow_size;
        double *closed = calloc(2 * (size_t)pixels, sizeof *closed), *summed = closed + pixels,
               largest = 0, most = 0;
        e.structure_factors.default_F = 0; /* that reflection alone */
        assert_int_equal(db_experiment_set_amplitudes(context, &e, scene->at.node,
                                                      (int[]){ 1, 1, 1 }, &amplitude),
                         DB_OK);
        e.goniometer.phi = -0.3;
        e.goniometer.phi_step = 0.5; /* ends within the reflection */
        naive_spots(&e, region, NAIVE_ERROR_FUNCTION, 0, closed);
        naive_spots(&e, region, NAIVE_TRUE_ROTATION, 100, summed);
        for (int i = 0; i < pixels; i++) largest = fmax(largest, closed[i]);
        for (int i = 0; i < pixels; i++) most = fmax(most, fabs(closed[i] - summed[i]) / largest);
        print_message("%-34s true rotation: %.1e\n", scene->name, most);
        assert_true(most <= (e.spread.bandwidth > 0 ? 4e-3 : 1e-3)); /* seen for longer */
        free(closed);
        db_experiment_clear(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images_follow_from_the_formulas),
        cmocka_unit_test(so_do_those_of_narrow_spots),
        cmocka_unit_test(the_mean_over_a_rotation_is_its_integral),
        cmocka_unit_test(it_is_nearly_that_of_the_true_rotation),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
