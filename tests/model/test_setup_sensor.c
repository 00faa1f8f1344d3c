/* Sensor and curvature of the detector as users give them. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/sensor_depth.h>
#include <math.h>
#include <string.h>

static db_setup sensor(double thickness, double depth, int layers) {
    db_setup setup = setup_start();
    setup.sensor_thickness = thickness;
    setup.attenuation_depth = depth;
    setup.sensor_layers = layers;
    return setup;
}

static void assert_sensor(const db_setup *setup, double thickness, double depth, int layers) {
    db_experiment e = setup_resolved(setup);
    setup_assert_close(e.detector.sensor_thickness, thickness, 0);
    if (thickness > 0) setup_assert_close(e.detector.attenuation_depth, depth, 0);
    assert_int_equal(e.detector.sensor_layers, layers);
    db_experiment_clear(&e);
}

static void a_sensor_has_its_own_thickness_whatever_the_layers(void **state) {
    (void)state;
    for (int layers = 1; layers < 7; layers++) {
        const db_setup setup = sensor(450, 300, layers);
        assert_sensor(&setup, 450, 300, layers);
    }
}

static void open_parts_of_a_sensor_are_filled_in(void **state) {
    (void)state;
    db_setup setup = sensor(450, NAN, 0);
    assert_sensor(&setup, 450, 450, 2);
    assert_non_null(strstr(setup_notices(), "attenuation depth of the sensor: its thickness"));
    assert_non_null(strstr(setup_notices(), "auto-selected 2 sensor layers"));
}

static void assert_at_front(const db_setup *setup, int at_front) {
    db_experiment e = setup_resolved(setup);
    assert_true(e.detector.sensor_thickness > 0);
    assert_int_equal(e.detector.layers_at_front, at_front);
    db_experiment_clear(&e);
}

static void layers_lie_at_their_front_by_the_references_flags_alone(void **state) {
    (void)state;
    db_setup setup = sensor(450, 300, 2);
    assert_at_front(&setup, 1);
    setup.layers_at_front = 0;
    assert_at_front(&setup, 0);
    setup.compat = 1;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "no mean depth of layers");
    setup.layers_at_front = -1;
    assert_at_front(&setup, 1);
    setup.compat = 0;
    setup.sensor_stated = 1;
    assert_at_front(&setup, 0);
    setup.layers_at_front = 1;
    assert_at_front(&setup, 1);
    setup = sensor(450, 300, 1);
    setup.spread.spots = DB_SPOTS_CLOSED;
    assert_at_front(&setup, 0);
    setup = sensor(450, NAN, 2);
    setup.sensor_material = DB_SENSOR_SI;
    assert_at_front(&setup, 0);
}

/* The spectrum's mean counts, not the default of 1 A. */
static void a_sensor_absorbs_as_its_material_does(void **state) {
    (void)state;
    db_setup setup = sensor(450, NAN, 2);
    double right;
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    setup.sensor_material = DB_SENSOR_SI;
    setup_write_file("sensor.spectrum", "1.2 1\n1.4 1\n");
    setup.spectrum_file = "sensor.spectrum";
    assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_SI, 1.3, &right), DB_OK);
    assert_true(right > 80 && right < 140);
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.detector.attenuation_depth, right, 1e-9);
    db_experiment_clear(&e);
    assert_non_null(strstr(setup_notices(), "attenuation depth of the sensor: Si at 1.3 A"));
    setup.attenuation_depth = 200;
    assert_sensor(&setup, 450, 200, 2);
    setup.compat = 1;
    setup.spectrum_file = NULL;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "no materials");
    db_context_destroy(&context);
}

static void without_a_thickness_there_is_no_sensor(void **state) {
    (void)state;
    db_setup setup = sensor(0, NAN, 0);
    assert_sensor(&setup, 0, 0, 1);
    assert_null(strstr(setup_notices(), "sensor"));
    setup = sensor(0, 300, 5);
    assert_sensor(&setup, 0, 0, 1);
    assert_non_null(strstr(setup_notices(), "attenuation depth: not used"));
    assert_non_null(strstr(setup_notices(), "sensor layers: one"));
    setup = sensor(0, INFINITY, 0);
    assert_sensor(&setup, 0, 0, 1);
    setup = sensor(0, 0, 0);
    assert_sensor(&setup, 0, 0, 1);
}

static void sensors_that_make_no_sense_are_refused(void **state) {
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        static const struct {
            double thickness, depth;
            int layers;
            const char *message;
        } rows[] = {
            { 450, INFINITY, 0, "exclude each other" },
            { 450, 0, 3, "exclude each other" },
            { 450, -1, 0, "attenuation depth of the sensor: expected 0 um or more" },
            { -450, 300, 0, "sensor thickness: expected 0 um" },
            { NAN, 300, 0, "sensor thickness: expected 0 um" },
            { INFINITY, 300, 0, "sensor thickness: expected 0 um" },
            { 450, 300, -1, "sensor layers: expected 0" },
            { 450, 300, 1000000, "sensor layers: expected 1 to" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            db_setup setup = sensor(rows[i].thickness, rows[i].depth, rows[i].layers);
            setup.compat = compat;
            setup_assert_refused(&setup, DB_ERROR_INPUT, rows[i].message);
        }
    }
}

static void a_curved_detector_faces_the_beam(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.curved = 1;
    for (int convention = 0; convention < DB_CONVENTION_COUNT; convention++) {
        setup.convention = (db_convention)convention;
        db_experiment e = setup_resolved(&setup);
        assert_int_equal(e.detector.curved, 1);
        db_experiment_clear(&e);
    }
    setup.convention = DB_CONVENTION_MOSFLM;
    setup.rotation[0] = 30; /* about the beam */
    db_experiment e = setup_resolved(&setup);
    db_experiment_clear(&e);
    setup.rotation[1] = 1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "curved detector: expected a plate perpendicular");
    setup.rotation[1] = 0;
    setup.twotheta = 5;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "found one turned by 5 degree");
    setup.compat = 1; /* the reference takes it as it comes */
    e = setup_resolved(&setup);
    assert_int_equal(e.detector.curved, 1);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sensor_has_its_own_thickness_whatever_the_layers),
        cmocka_unit_test(open_parts_of_a_sensor_are_filled_in),
        cmocka_unit_test(layers_lie_at_their_front_by_the_references_flags_alone),
        cmocka_unit_test(a_sensor_absorbs_as_its_material_does),
        cmocka_unit_test(without_a_thickness_there_is_no_sensor),
        cmocka_unit_test(sensors_that_make_no_sense_are_refused),
        cmocka_unit_test(a_curved_detector_faces_the_beam),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
