/* A mosaic crystal draws its spots out into arcs around the beam, as long as its domains turn far
 * about whichever of its axes lies along the beam. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 140, DOMAINS = 1000 };
static const double WAVELENGTH = 1, EDGE = 40, DISTANCE = 100, PIXEL = 0.02; /* A, A, mm, mm */
enum { ORDER = 4 };

/* A cubic crystal whose axis `along` lies along the beam, turned until the reflection of order 4
 * of the next axis is on the Ewald sphere, in the middle of a small detector, without its
 * neighbours. */
static void arrange(db_experiment *e, int along) {
    const int up = (along + 1) % 3, side = (along + 2) % 3;
    const double theta = asin(ORDER * WAVELENGTH / (2 * EDGE)), radius = DISTANCE * tan(2 * theta);
    assert_int_equal(db_experiment_init(NULL, e), DB_OK);
    for (int i = 0; i < 3; i++) e->crystal.cell[i] = EDGE;
    memset(e->crystal.orientation, 0, sizeof e->crystal.orientation);
    e->crystal.orientation[along] = 1;    /* beam: x */
    e->crystal.orientation[3 + up] = 1;   /* y */
    e->crystal.orientation[6 + side] = 1; /* z */
    e->crystal.misset[2] = theta * 180 / 3.14159265358979323846;
    e->crystal.shape = DB_SHAPE_GAUSS;
    for (int i = 0; i < 3; i++) e->crystal.Ncells[i] = 100;
    e->crystal.mosaic_domains = DOMAINS;
    e->crystal.mosaic_anisotropic = 1;
    e->structure_factors.default_F = 100;
    e->beam.wavelength = WAVELENGTH;
    e->detector.distance = DISTANCE;
    db_panel *const panel = &e->detector.panels[0];
    panel->fast_pixels = panel->slow_pixels = PIXELS;
    panel->pixel_size[0] = panel->pixel_size[1] = PIXEL;
    /* fast is z, slow -y */
    e->detector.centre[0] = 0.5 * PIXELS * PIXEL;
    e->detector.centre[1] = 0.5 * PIXELS * PIXEL + radius;
}

/* Root of the mean square distance of the light from its middle along fast, as an angle about the
 * beam (degree). */
static double arc(const db_experiment *e) {
    static double image[PIXELS * PIXELS];
    db_context *context;
    db_plan *plan;
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_plan_create(context, e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    db_plan_destroy(&plan);
    db_context_destroy(&context);
    double sum = 0, first = 0, second = 0;
    for (int i = 0; i < PIXELS * PIXELS; i++) {
        const double x = (i % PIXELS + 0.5) * PIXEL - e->detector.centre[0];
        sum += image[i];
        first += image[i] * x;
        second += image[i] * x * x;
    }
    const double radius = e->detector.centre[1] - 0.5 * PIXELS * PIXEL;
    return sqrt(second / sum - first * first / (sum * sum)) / radius * 180 / 3.14159265358979323846;
}

/* The spreads about the other two axes, which are small, take domains on and off the Ewald sphere
 * but do not turn spots about the beam. */
static void arcs_are_as_long_as_the_spread_about_the_beam(void **state) {
    (void)state;
    static const double spreads[3] = { 0.3, 0.6, 1.2 };
    for (int along = 0; along < 3; along++) {
        db_experiment e;
        double length[4];
        arrange(&e, along);
        for (int n = 0; n < 4; n++) {
            for (int i = 0; i < 3; i++) e.crystal.mosaic_abc[i] = 0.1;
            e.crystal.mosaic_abc[along] = n < 3 ? spreads[n] : 0.1;
            length[n] = arc(&e);
        }
        for (int n = 0; n < 3; n++) {
            /* without what a spot of the small spread has */
            const double square = length[n] * length[n] - length[3] * length[3],
                         want = spreads[n] * spreads[n] - 0.1 * 0.1;
            /* domains: a third of the mean square angle, 0.74 of the cap's, is along an axis;
             * 1000 of them scatter by a few percent, fewer are on the sphere */
            const double part = square / want * 3;
            if (!(part > 0.6 && part < 0.85))
                fail_msg("axis %d, spread %g: arc of %g degree, %g of the mean square", along,
                         spreads[n], length[n], part);
        }
        db_experiment_clear(&e);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arcs_are_as_long_as_the_spread_about_the_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
