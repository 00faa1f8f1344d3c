/* Layers of a sensor record spots where a thick sensor records them: against integrals over the
 * depth, and closed positions. */
#include "support/context.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/sensor_depth.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Mean depth (mm) at which exp(-t/(depth o)) absorbs up to a thickness (um), by Simpson's rule. */
static double integrated_depth(double thickness, double attenuation_depth, double obliquity) {
    enum { INTERVALS = 20000 };
    double sum = 0, total = 0;
    for (int i = 0; i <= INTERVALS; i++) {
        const double t = thickness * i / INTERVALS, weight = i == 0 || i == INTERVALS ? 1
                                                             : i % 2                  ? 4
                                                                                      : 2;
        const double absorbed = weight * exp(-t / (attenuation_depth * obliquity));
        sum += absorbed * t;
        total += absorbed;
    }
    return 1e-3 * sum / total;
}

static db_detector sensor(double thickness, double depth, int layers, int at_front) {
    return (db_detector){ .sensor_thickness = thickness,
                          .attenuation_depth = depth,
                          .sensor_layers = layers,
                          .layers_at_front = at_front };
}

static void the_mean_depth_is_that_of_the_integral(void **state) {
    (void)state;
    static const double thicknesses[] = { 1e-3, 30, 320, 450, 2000 },
                        depths[] = { 20, 256, 4000, 1e9 };
    for (size_t t = 0; t < sizeof thicknesses / sizeof *thicknesses; t++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
            for (double obliquity = 1; obliquity > 0.2; obliquity -= 0.19)
                for (int layers = 1; layers < 4; layers++) {
                    const db_detector one = sensor(thicknesses[t], depths[d], layers, 0);
                    const double found = db_sensor_depth(&one, obliquity),
                                 right = integrated_depth(thicknesses[t], depths[d], obliquity);
                    if (!(fabs(found - right) <= 1e-7 * right))
                        fail_msg("%g um, depth %g um, cosine %g: found %.12g mm, expected %.12g",
                                 thicknesses[t], depths[d], obliquity, found, right);
                }
}

/* 450 um of silicon at 12.8 keV in two layers: the case of the reference's layers. */
static void two_layers_of_silicon_lie_at_their_mean_depth(void **state) {
    (void)state;
    const db_detector mean = sensor(450, 261, 2, 0), front = sensor(450, 261, 2, 1),
                      fine = sensor(450, 261, 5000, 1);
    assert_true(fabs(db_sensor_depth(&mean, 1) - 0.1633) < 1e-4);
    assert_true(fabs(db_sensor_depth(&front, 1) - 0.0668) < 1e-4);
    assert_true(fabs(db_sensor_depth(&fine, 1) - db_sensor_depth(&mean, 1)) < 1e-4);
}

/* The direct beam's own spot on a plate that stands obliquely to it: photons and centroid (um, from
 * where the beam meets the front). */
typedef struct spot {
    double photons, centroid;
} spot;

enum { FAST = 720, SLOW = 16 };
static const double STEP = 2; /* um */

static db_experiment oblique_beam(double turn, int sensor_layers, int at_front, int axis) {
    db_setup setup;
    db_experiment e;
    db_setup_init(&setup);
    setup.cell[0] = 20; /* no other reflection is near */
    setup.Ncells[0] = setup.Ncells[1] = setup.Ncells[2] = 500;
    setup.shape = DB_SHAPE_GAUSS;
    setup.default_F = 1;
    setup.oversample = 1;
    setup.convention = DB_CONVENTION_DENZO;
    setup.pixel_size = 1e-3 * STEP;
    setup.detector_pixels[!axis] = SLOW;
    setup.detector_pixels[axis] = FAST;
    setup.distance = 60;
    setup.rotation[1 + axis] = turn; /* about y, parallel to slow, or z, to fast */
    setup.beam_centre[!axis] = 1e-3 * STEP * FAST / 2;
    setup.beam_centre[axis] = 1e-3 * STEP * SLOW / 2;
    setup.sensor_thickness = sensor_layers ? 450 : 0;
    setup.attenuation_depth = sensor_layers ? 256 : NAN;
    setup.sensor_layers = sensor_layers;
    setup.layers_at_front = at_front;
    if (db_setup_resolve(context, &setup, &e, NULL, NULL) != DB_OK)
        fail_msg("%s", db_context_message(context));
    return e;
}

static spot measured(db_experiment *e, int axis) {
    static double image[FAST * SLOW];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    spot s = { 0, 0 };
    options.pixel_type = DB_FLOAT64;
    if (db_plan_create(context, e, &options, &plan) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
    for (int i = 0; i < FAST * SLOW; i++) {
        const int along = axis ? i / SLOW : i % FAST;
        s.photons += image[i];
        s.centroid += image[i] * (along + 0.5);
    }
    s.centroid = STEP * (s.centroid / s.photons - FAST / 2.0);
    db_plan_destroy(&plan);
    db_experiment_clear(e);
    return s;
}

static spot spot_of(double turn, int sensor_layers, int at_front, int axis) {
    db_experiment e = oblique_beam(turn, sensor_layers, at_front, axis);
    return measured(&e, axis);
}

/* What is left is the obliquity, that of a ray through the middle of a layer: 0.12 um of 159 with
 * one layer, which falls as its cube. */
static void parallax_is_right_for_any_number_of_layers(void **state) {
    (void)state;
    static const double turns[] = { 25, -50 };
    for (size_t i = 0; i < 2; i++)
        for (int axis = 0; axis < 2; axis++) {
            const double radian = turns[i] * 0.017453292519943295769,
                         parallax = 1e3 * integrated_depth(450, 256, cos(radian)) * tan(radian),
                         bare = spot_of(turns[i], 0, -1, axis).centroid;
            const spot fine = spot_of(turns[i], 300, 1, axis);
            const double sign = (fine.centroid - bare) * parallax > 0 ? 1 : -1;
            assert_true(fabs(fine.centroid - bare) > 40);
            /* the many layers lie at their front, half of 1.5 um too high */
            assert_true(fabs(fine.centroid - bare - sign * parallax) < 1.2);
            for (int layers = 1; layers < 6; layers++) {
                const spot few = spot_of(turns[i], layers, 0, axis);
                if (!(fabs(few.centroid - bare - sign * parallax) <
                      0.13 / (layers * layers * layers)))
                    fail_msg("%d layers at %g degree: shifted by %.4f um, expected %.4f", layers,
                             turns[i], few.centroid - bare, sign * parallax);
                assert_true(fabs(few.photons / fine.photons - 1) < 2e-3);
            }
            const spot front = spot_of(turns[i], 2, 1, axis);
            assert_true(fabs(front.centroid - bare) < 0.6 * fabs(parallax));
        }
}

/* Where hardly anything is absorbed, all depths are as likely. */
static void a_transparent_sensor_has_finite_slopes(void **state) {
    (void)state;
    static double image[FAST * SLOW], slope[3][FAST * SLOW];
    static const db_parameter wanted[] = { DB_SENSOR_THICKNESS, DB_ATTENUATION_DEPTH,
                                           DB_DETECTOR_ROTY };
    db_experiment e = oblique_beam(30, 2, 0, 0);
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    options.pixel_type = DB_FLOAT64;
    options.parameters = wanted;
    options.parameter_count = 3;
    e.detector.attenuation_depth = 1e11;
    assert_true(fabs(db_sensor_depth(&e.detector, 0.7) - 0.225) < 1e-9);
    assert_int_equal(db_plan_create(context, &e, &options, &plan), DB_OK);
    assert_int_equal(db_plan_gradient(plan, image, (void *[]){ slope[0], slope[1], slope[2] }),
                     DB_OK);
    double most[3] = { 0 }, photons = 0, grown = 0;
    for (int i = 0; i < FAST * SLOW; i++) {
        photons += image[i];
        grown += slope[0][i];
        for (int p = 0; p < 3; p++) {
            assert_true(isfinite(slope[p][i]));
            most[p] = fmax(most[p], fabs(slope[p][i]));
        }
    }
    assert_true(most[0] > 0 && most[1] > 0 && most[2] > 0);
    /* photons are in proportion to the thickness, on its whole way */
    assert_true(fabs(grown * 450 / photons - 1) < 2e-2);
    db_plan_destroy(&plan);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mean_depth_is_that_of_the_integral),
        cmocka_unit_test(two_layers_of_silicon_lie_at_their_mean_depth),
        cmocka_unit_test(parallax_is_right_for_any_number_of_layers),
        cmocka_unit_test(a_transparent_sensor_has_finite_slopes),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
