/* Where first order ends: what one spot in closed form lacks without the cap of rotations, by spread
 * and resolution, as tables in Markdown for docs/theory/spots.md, beside a rule that programs can
 * use. */
#include "support/context.h"
#include "first_order.h"
#include "scenes.h"
#include "support/naive_geometry.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>

enum { SIZE = 14, MARGIN = 100 };

static const double resolutions[] = { 10, 5, 3, 2, 1.5 }; /* angstrom */
enum { RESOLUTIONS = sizeof resolutions / sizeof resolutions[0] };

/* One reflection h 0 0 of blocks of 1000 angstrom, at 1 angstrom; its spot two pixels (rms) wide in
 * both directions, which run along the scattering vector and across it. */
typedef struct one_spot {
    double resolution, mosaic /* degree */, bandwidth, range /* degree */;
    double off; /* from the sphere, in standard deviations */
} one_spot;

static const double block = 0.396862696659689 / 1000; /* rms of its transform (1/angstrom) */

/* Largest absolute difference from the truth, in parts of the peak; and its standard deviation. */
static double lacking(one_spot o, int log2_points, double *error) {
    const double r = 1 / o.resolution, w = o.mosaic * NAIVE_PI / 180, across = hypot(block, w * r),
                 along = hypot(block, o.bandwidth * r), angle = 2 * asin(r / 2);
    db_experiment e = scene_start(context);
    e.dmin = 0.9 * o.resolution;
    e.oversample = 1;
    e.beam.polarized = 0;
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 10 * o.resolution;
        e.crystal.Ncells[i] = 1000 / e.crystal.cell[i];
    }
    e.spread.mosaic = o.mosaic * o.mosaic;
    e.spread.bandwidth = 1e6 * o.bandwidth * o.bandwidth;
    e.goniometer.phi = -o.range / 2;
    e.goniometer.phi_step = o.range;
    e.goniometer.spindle_axis[0] = e.goniometer.spindle_axis[2] = 0;
    e.goniometer.spindle_axis[1] = 1;
    /* the direction of fast, of the scattering vector and of the polarization is one */
    const aim at = { { 10, 0, 0 }, 0, 0, o.off * across / r * 180 / NAIVE_PI };
    db_panel *panel = &e.detector.panels[0];
    panel->pixel_size[0] = 200 / cos(angle) / cos(angle) * along / cos(angle / 2) / 2;
    panel->pixel_size[1] = 200 / cos(angle) * across / 2;
    panel->fast_pixels = panel->slow_pixels = 1000000;
    e.detector.centre[0] = 500000 * panel->pixel_size[0];
    e.detector.centre[1] = 500000 * panel->pixel_size[1];
    /* of the large panel only the middle about the spot: lists of all its tiles would take gigabytes */
    naive_region region = region_aimed_at(&e, at, SIZE);
    e.detector.centre[0] -= (region.fast - MARGIN) * panel->pixel_size[0];
    e.detector.centre[1] -= (region.slow - MARGIN) * panel->pixel_size[1];
    panel->fast_pixels = panel->slow_pixels = SIZE + 2 * MARGIN;
    aim_crystal(&e, at);
    region = region_aimed_at(&e, at, SIZE);
    assert_in_range(region.fast, MARGIN - 1, MARGIN + 1);
    assert_in_range(region.slow, MARGIN - 1, MARGIN + 1);
    region.reach = 0;
    const double list = e.structure_factors.default_F;
    e.structure_factors.default_F = 0;
    assert_int_equal(db_experiment_set_amplitudes(context, &e, at.node, (int[]){ 1, 1, 1 }, &list),
                     DB_OK);
    const sampler s = sampler_of(&e, region);
    double image[SIZE * SIZE], missing[SIZE * SIZE], uncertain[SIZE * SIZE];
    double peak = 0, most = 0;
    rendered(context, &e, region, image);
    first_order *f = first_order_of(&s, 0);
    const double ratio = hypot(w, o.bandwidth) * r / block;
    sampler_lattice(&s, first_order_missing, f,
                    log2_points + 2 * (ratio > 3) + 2 * (ratio > 8) + (ratio > 30), 4, 7, missing,
                    uncertain);
    *error = 0;
    for (int i = 0; i < SIZE * SIZE; i++) {
        peak = fmax(peak, image[i]);
        most = fmax(most, fabs(missing[i]));
        *error = fmax(*error, uncertain[i]);
    }
    *error /= peak;
    first_order_destroy(f);
    db_experiment_clear(&e);
    return most / peak;
}

/* The rule. A rotation by w keeps a node at its distance r from the origin; first order moves it
 * along a straight line, which leaves the sphere of that radius by (w r)^2/2r. Along r the spot has
 * the standard deviation s. With the displacements t and n across r, along the spot and off the
 * Ewald sphere, in standard deviations, the intensity changes by
 * y exp(-y^2/2) exp(-t^2/2) (t^2 + n^2) w^2 r/2s, where y = 1 is the worst. In a rotation n^2 is 1 on
 * average, and blocks turn while they diffract, which counts like a mosaic spread. And photons of
 * longer waves count more: the mean wavelength of those that a spot gets is larger by about 1 + n^2
 * times the bandwidth's variance. */
static double rule(one_spot o) {
    const double r = 1 / o.resolution, turned = o.range > 0 ? block / r : 0,
                 w = hypot(o.mosaic * NAIVE_PI / 180, turned), s = hypot(block, o.bandwidth * r),
                 n2 = o.range > 0 ? 1 : o.off * o.off, worst = n2 < 2 ? 2 * exp(n2 / 2 - 1) : n2;
    return exp(-0.5) * hypot(worst * w * w * r / 2, (1 + n2) * o.bandwidth * o.bandwidth * r) / s;
}

/* A row for each spread: what is lacking, and in brackets what the rule says. Both agree where the
 * first is known well and neither tiny nor large. */
static void table(const char *title, const one_spot *rows, int count) {
    print_message("\n%s\n\n| |", title);
    for (int k = 0; k < RESOLUTIONS; k++) print_message(" %g A |", resolutions[k]);
    print_message("\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        const double percent = 100 * rows[i].bandwidth;
        if (percent > 0)
            print_message("| %g %% |", percent);
        else
            print_message("| %g deg |", rows[i].mosaic);
        for (int k = 0; k < RESOLUTIONS; k++) {
            one_spot o = rows[i];
            double error;
            o.resolution = resolutions[k];
            const double bias = lacking(o, 10, &error), expected = rule(o);
            print_message(error < bias / 3 ? " %.2g (%.2g) |" : " %.1g? (%.2g) |", bias, expected);
            if (error < 0.15 * bias && expected > 2e-3 && expected < 0.1)
                if (!(bias < 2 * expected && bias > 0.4 * expected))
                    fail_msg("the rule says %g, not %g", expected, bias);
        }
        print_message("\n");
    }
}

enum { ROWS = 6 };

static void first_order_ends_where_the_rule_says(void **state) {
    (void)state;
    static const double mosaic[ROWS] = { 0.05, 0.1, 0.2, 0.5, 1, 2 },
                        bandwidth[ROWS] = { 0.001, 0.002, 0.005, 0.01, 0.02, 0.05 };
    one_spot still[ROWS], off[ROWS], rotated[ROWS], pink[ROWS];
    for (int i = 0; i < ROWS; i++) {
        still[i] = off[i] = rotated[i] = (one_spot){ .mosaic = mosaic[i] };
        off[i].off = 1;
        rotated[i].range = 4 + 8 * mosaic[i];
        pink[i] = (one_spot){ .mosaic = 0.1, .bandwidth = bandwidth[i], .off = 1 };
    }
    table("Mosaic spread (rms), still, node on the sphere", still, ROWS);
    table("Mosaic spread (rms), still, node one standard deviation off the sphere", off, ROWS);
    table("Bandwidth (rms), mosaic spread 0.1 deg, still, node one standard deviation off", pink,
          ROWS);
    table("Mosaic spread (rms), rotation through the whole reflection", rotated, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(first_order_ends_where_the_rule_says) };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
