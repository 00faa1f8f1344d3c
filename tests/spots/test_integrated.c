/* Photons of a reflection over a rotation are C. G. Darwin's integrated intensity (Phil. Mag. 27,
 * 315, 1914), in closed form as by samples: flux x r_e^2 lambda^3 F^2/V^2 x volume of the crystal x
 * Lorentz factor x polarization. */
#include "support/context.h"
#include "first_order.h"
#include "scenes.h"
#include "support/naive_geometry.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const aim where = { { 9, 7, 11 }, 55, 20, 0 };

/* One reflection alone, which diffracts in the middle of a rotation by `range` degrees, and its
 * region. */
static db_experiment one_reflection(double range, naive_region *region) {
    db_experiment e = scene_start(context);
    const double amplitude = 130;
    e.structure_factors.default_F = 0;
    assert_int_equal(
        db_experiment_set_amplitudes(context, &e, where.node, (int[]){ 1, 1, 1 }, &amplitude),
        DB_OK);
    e.beam.polarization = 0.9;
    e.beam.polarized = 1;
    aim_crystal(&e, where);
    e.goniometer.phi = -range / 2;
    e.goniometer.phi_step = range;
    *region = region_aimed_at(&e, where, 60);
    return e;
}

/* Photons of the reflection's passage in the middle of the rotation. */
static double darwin(const db_experiment *e) {
    const double *cell = e->crystal.cell, *cells = e->crystal.Ncells;
    double axis[3], d[3], r[3], motion[3];
    naive_spindle(e, axis);
    double node[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++) { /* of right angles: a* along x, b* along y, c* along z */
        double own[3] = { i == 0, i == 1, i == 2 };
        naive_mount(e, 0, own);
        naive_add(node, where.node[i] / cell[i], own);
    }
    memcpy(r, node, sizeof r);
    for (int i = 0; i < 3; i++) d[i] = e->beam.direction[i] + e->beam.wavelength * r[i];
    naive_cross(axis, r, motion);
    const double lorentz = 1 / (e->beam.wavelength * fabs(naive_dot(motion, d))),
                 volume_of_cell = cell[0] * cell[1] * cell[2],
                 volume = cells[0] * cells[1] * cells[2] * volume_of_cell,
                 range = e->goniometer.phi_steps * e->goniometer.phi_step * NAIVE_PI / 180;
    return 7.94079248018965e-30 * e->beam.fluence * e->beam.scale * pow(e->beam.wavelength, 3) *
           pow(e->structure_factors.amplitude[0] / volume_of_cell, 2) * volume * lorentz *
           naive_polarization(&e->beam, e->beam.direction, d) / range;
}

static double photons(const db_experiment *e, naive_region region) {
    double *image = malloc((size_t)(region.fast_size * region.slow_size) * sizeof *image), sum = 0;
    rendered(context, e, region, image);
    for (int i = 0; i < region.fast_size * region.slow_size; i++) sum += image[i];
    free(image);
    return sum;
}

static void expect(const char *what, double ratio, double expected) {
    print_message("%-48s %.6f of Darwin's, expected %.6f\n", what, ratio, expected);
    if (!(fabs(ratio / expected - 1) <= 1e-3)) fail_msg("%s: %.6f", what, ratio);
}

static void spread(db_experiment *e) {
    e->spread.mosaic = 0.15 * 0.15;
    e->spread.strain = 4;
    e->spread.bandwidth = 4;
    e->spread.divergence[0] = 0.4;
    e->spread.divergence[1] = 0.1;
    e->spread.footprint[0] = e->spread.footprint[1] = 0.01;
    e->spread.tails = 1;
    e->spread.tail_fraction[0] = 0.2;
    e->spread.tail_width[0] = 2;
}

/* GAUSS has fewer photons than the square shape: w^2 is 0.63/4 instead of 1/(2 pi). */
static double part_of(db_crystal_shape shape) {
    return shape == DB_SHAPE_GAUSS ? pow(0.63 / 4 * 2 * NAIVE_PI, 1.5) : 1;
}

static void closed_form_has_the_integrated_intensity(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        naive_region region;
        db_experiment e = one_reflection(6, &region);
        e.crystal.shape = k % 2 ? DB_SHAPE_SQUARE : DB_SHAPE_GAUSS;
        if (k >= 2) spread(&e);
        const double part = part_of(e.crystal.shape), six = darwin(&e);
        expect("closed, 6 degrees", photons(&e, region) / six, part);
        double narrow = 0;
        e.goniometer.phi_step = 0.25;
        for (int i = 0; i < 24; i++) {
            e.goniometer.phi = -3 + 0.25 * i;
            narrow += photons(&e, region) / 24;
        }
        expect("closed, 24 images of a quarter of a degree", narrow / six, part);
        e.goniometer.phi = 10;
        e.goniometer.phi_step = 360;
        expect("closed, one image of a full turn", photons(&e, region) / darwin(&e), part);
        db_experiment_clear(&e);
    }
}

static void so_has_the_sum_over_steps(void **state) {
    (void)state;
    naive_region region;
    db_experiment e = one_reflection(3, &region);
    e.spread.spots = DB_SPOTS_SAMPLED;
    e.goniometer.phi_steps = 100;
    e.goniometer.phi_step /= e.goniometer.phi_steps;
    expect("sampled, shape GAUSS", photons(&e, region) / darwin(&e), part_of(DB_SHAPE_GAUSS));
    db_experiment_clear(&e);
    /* the zone around the node, which the nearest node's amplitude cuts out */
    e = one_reflection(12, &region);
    e.spread.spots = DB_SPOTS_SAMPLED;
    e.crystal.shape = DB_SHAPE_SQUARE;
    e.goniometer.phi_steps = 240;
    e.goniometer.phi_step /= e.goniometer.phi_steps;
    region = region_aimed_at(&e, where, 90);
    expect("sampled, square", photons(&e, region) / darwin(&e), 1);
    db_experiment_clear(&e);
}

/* With spreads: samples have as many photons as the closed form, which their differences to first
 * order tell with little noise. */
static void so_have_samples_of_all_spreads(void **state) {
    (void)state;
    enum { SIZE = 28, PIXELS = SIZE * SIZE };
    naive_region region;
    double image[PIXELS], missing[PIXELS], error[PIXELS], all = 0, off = 0, uncertain = 0;
    db_experiment e = one_reflection(2, &region);
    spread(&e);
    region = region_aimed_at(&e, where, SIZE);
    const sampler s = sampler_of(&e, region);
    first_order *f = first_order_of(&s, 1);
    rendered(context, &e, region, image);
    sampler_lattice(&s, first_order_missing, f, 11, 8, 3, missing, error);
    for (int i = 0; i < PIXELS; i++) {
        all += image[i];
        off += missing[i];
        uncertain += error[i];
    }
    print_message("samples have %.1e more photons; errors of pixels add up to %.1e\n", off / all,
                  uncertain / all);
    assert_true(fabs(off) <= 1e-3 * all);
    first_order_destroy(f);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form_has_the_integrated_intensity),
        cmocka_unit_test(so_has_the_sum_over_steps),
        cmocka_unit_test(so_have_samples_of_all_spreads),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
