/* Where the detector stands: conventions, beam centres, pivots. Numbers marked "reference" are
 * those that the original program prints for the same flags. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/setup_defaults.h>

#include <math.h>
#include <string.h>

static const double EXACT = 1e-12; /* m */

/* 72 x 56 pixels of 0.5 mm at 70 mm: 36 x 28 mm. */
static db_setup small_detector(db_convention convention) {
    db_setup setup = setup_start();
    setup.convention = convention;
    setup.pixel_size = 0.5;
    setup.detector_pixels[0] = 72;
    setup.detector_pixels[1] = 56;
    setup.distance = 70;
    return setup;
}

static void assert_centre(const db_setup *setup, db_pivot pivot, double fast, double slow) {
    db_experiment e = setup_resolved(setup);
    assert_int_equal(e.detector.pivot, pivot);
    setup_assert_close(e.detector.centre[0], fast, 1e-12);
    setup_assert_close(e.detector.centre[1], slow, 1e-12);
    db_experiment_clear(&e);
}

static void assert_origin(const db_setup *setup, double x, double y, double z) {
    db_experiment e = setup_resolved(setup);
    const panel_pose pose = setup_panel_pose(&e);
    setup_assert_vector(pose.origin, x, y, z, EXACT);
    db_experiment_clear(&e);
}

static void the_default_is_a_mosflm_detector_of_1024_pixels(void **state) {
    (void)state;
    const db_setup setup = setup_start();
    db_experiment e = setup_resolved(&setup);
    const db_panel *panel = &e.detector.panels[0];
    assert_int_equal(panel->fast_pixels, 1024);
    assert_int_equal(panel->slow_pixels, 1024);
    setup_assert_close(e.detector.centre[0], 51.3, 1e-12); /* D/2 + one pixel */
    setup_assert_close(e.detector.centre[1], 51.3, 1e-12);
    setup_assert_close(e.detector.distance, 100, 0);
    assert_int_equal(e.detector.distance_is_close, 0);
    setup_assert_vector(e.beam.direction, 1, 0, 0, 0);
    setup_assert_vector(e.detector.twotheta_axis, 0, 0, -1, 0);
    db_experiment_clear(&e);
}

static void each_convention_has_its_own_default_centre(void **state) {
    (void)state;
    static const struct {
        db_convention convention;
        db_pivot pivot;
        double fast, slow;
    } rows[] = {
        { DB_CONVENTION_MOSFLM, DB_PIVOT_BEAM, 18.5, 14.5 },
        { DB_CONVENTION_DENZO, DB_PIVOT_BEAM, 18.25, 14.25 },
        { DB_CONVENTION_ADXV, DB_PIVOT_BEAM, 18.25, 14.25 },
        { DB_CONVENTION_XDS, DB_PIVOT_SAMPLE, 18, 14 },
        { DB_CONVENTION_DIALS, DB_PIVOT_SAMPLE, 18, 14 },
        { DB_CONVENTION_CUSTOM, DB_PIVOT_BEAM, 18, 14 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const db_setup setup = small_detector(rows[i].convention);
        assert_centre(&setup, rows[i].pivot, rows[i].fast, rows[i].slow);
    }
}

static void each_convention_reads_the_beam_centre_its_own_way(void **state) {
    (void)state;
    static const struct {
        db_convention convention;
        db_pivot pivot;
        double fast, slow;
    } rows[] = {
        { DB_CONVENTION_MOSFLM, DB_PIVOT_BEAM, 12.15, 10.35 },
        { DB_CONVENTION_DENZO, DB_PIVOT_BEAM, 11.9, 10.1 },
        { DB_CONVENTION_ADXV, DB_PIVOT_BEAM, 10.1, 16.1 },
        { DB_CONVENTION_XDS, DB_PIVOT_SAMPLE, 10.1, 11.9 },
        { DB_CONVENTION_DIALS, DB_PIVOT_SAMPLE, 10.1, 11.9 },
        { DB_CONVENTION_CUSTOM, DB_PIVOT_BEAM, 10.1, 11.9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        db_setup setup = small_detector(rows[i].convention);
        setup.beam_centre[0] = 10.1;
        setup.beam_centre[1] = 11.9;
        assert_centre(&setup, rows[i].pivot, rows[i].fast, rows[i].slow);
    }
}

static void a_beam_centre_in_pixels_is_one_point_in_every_convention(void **state) {
    (void)state;
    for (int c = 0; c < DB_CONVENTION_COUNT; c++) {
        db_setup setup = small_detector((db_convention)c);
        setup.beam_centre_px[0] = 23.5;
        setup.beam_centre_px[1] = 19.25;
        setup.stated.beam_centre[0] = setup.stated.near_point[1] = 3; /* a header's: outdone */
        db_experiment e = setup_resolved(&setup);
        setup_assert_close(e.detector.centre[0], 11.75, 1e-12);
        setup_assert_close(e.detector.centre[1], 9.625, 1e-12);
        db_experiment_clear(&e);
        setup.org[1] = 20;
        setup_assert_refused(&setup, DB_ERROR_INPUT, "exclude each other");
        setup.org[1] = setup.beam_centre_px[1] = NAN;
        setup_assert_refused(&setup, DB_ERROR_INPUT, "expected two numbers");
    }
}

static void one_coordinate_of_the_beam_centre_leaves_the_other_at_its_default(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.beam_centre[0] = 10; /* X runs along slow */
    assert_centre(&setup, DB_PIVOT_BEAM, 18.5, 10.25);
}

static void adxv_origin_agrees_with_the_reference(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_ADXV);
    setup.beam_centre[0] = 15.2;
    setup.beam_centre[1] = 11.9;
    assert_origin(&setup, -0.0152, 0.0161, 0.07); /* reference */
}

static db_setup square_detector(db_convention convention, double distance) {
    db_setup setup = small_detector(convention);
    setup.detector_pixels[0] = setup.detector_pixels[1] = 64;
    setup.distance = distance;
    return setup;
}

static void a_tilted_mosflm_detector_stands_where_the_reference_has_it(void **state) {
    (void)state;
    db_setup setup = square_detector(DB_CONVENTION_MOSFLM, 70);
    setup.beam_centre[0] = 14;
    setup.beam_centre[1] = 17;
    setup.rotation[0] = 8;
    setup.rotation[1] = -12;
    setup.rotation[2] = 5;
    setup.twotheta = 9;
    db_experiment e = setup_resolved(&setup);
    const panel_pose pose = setup_panel_pose(&e);
    setup_assert_vector(pose.origin, 0.07428341515666723, 0.016252851162784365,
                        -0.01476896014200095, EXACT);
    setup_assert_vector(pose.fast, -0.21509499972622553, -0.12447203989240543, 0.9686283355228664,
                        1e-12);
    setup_assert_vector(pose.slow, -0.04021237974665441, -0.9898742789221312, -0.1361318347907717,
                        1e-12);
    db_experiment_clear(&e);
}

static void a_tilted_xds_detector_stands_where_the_reference_has_it(void **state) {
    (void)state;
    db_setup setup = square_detector(DB_CONVENTION_XDS, 70);
    setup.org[0] = 30.5;
    setup.org[1] = 33.1;
    setup.rotation[0] = 11;
    setup.rotation[1] = 7;
    setup.rotation[2] = -6;
    setup.twotheta = 13;
    assert_origin(&setup, -0.010102090919941716, -0.042056269735315246, 0.05719600093264314);
}

static void a_close_distance_in_dials_agrees_with_the_reference(void **state) {
    (void)state;
    db_setup setup = square_detector(DB_CONVENTION_DIALS, NAN);
    setup.close_distance = 66;
    setup.rotation[1] = 4;
    setup.twotheta = -8;
    assert_origin(&setup, -0.020564952071269457, -0.016, 0.06472312373724241);
}

static db_setup custom_tilted(void) {
    db_setup setup = square_detector(DB_CONVENTION_MOSFLM, 65);
    const double fast[3] = { 0, 0, 1 }, axis[3] = { 0, 0, -1 };
    memcpy(setup.fast_axis, fast, sizeof fast);
    memcpy(setup.twotheta_axis, axis, sizeof axis);
    setup.rotation[0] = 5;
    setup.rotation[1] = 9;
    setup.rotation[2] = 3;
    setup.twotheta = 14;
    return setup;
}

static void a_vector_makes_the_convention_custom_and_says_so(void **state) {
    (void)state;
    db_setup setup = custom_tilted();
    setup.beam_centre[0] = 13.5;
    setup.beam_centre[1] = 18.5;
    setup.pivot = DB_PIVOT_BEAM;
    assert_origin(&setup, 0.06692346222840545, 0.019599284606985064,
                  -0.011690523339453023); /* reference */
    assert_non_null(strstr(setup_notices(), "convention custom instead of mosflm"));
}

static void a_custom_detector_swings_about_the_sample_as_in_the_reference(void **state) {
    (void)state;
    db_setup setup = custom_tilted();
    setup.close_point[0] = 13.5;
    setup.close_point[1] = 18.5;
    setup.pivot = DB_PIVOT_SAMPLE;
    assert_origin(&setup, 0.06408248720647786, 0.007516794116048182, -0.02171981200248012);
}

static void custom_axes_of_any_length_and_hand_agree_with_the_reference(void **state) {
    (void)state;
    db_setup setup = square_detector(DB_CONVENTION_CUSTOM, 65);
    const double fast[3] = { 3, 4, 0 }, slow[3] = { 8, -6, 0 }, normal[3] = { 0, 0, -2 },
                 beam[3] = { 0, 0, -1 }, polarization[3] = { 0, 5, 0 };
    memcpy(setup.fast_axis, fast, sizeof fast);
    memcpy(setup.slow_axis, slow, sizeof slow);
    memcpy(setup.normal, normal, sizeof normal);
    memcpy(setup.beam_axis, beam, sizeof beam);
    memcpy(setup.polarization_axis, polarization, sizeof polarization);
    setup.beam_centre[0] = 14.2;
    setup.beam_centre[1] = 17.3;
    assert_origin(&setup, -0.02236, -0.00098, -0.065); /* reference */
    /* without a normal: the same one is found from the beam */
    setup.normal[0] = NAN;
    assert_origin(&setup, -0.02236, -0.00098, -0.065);
}

static void an_explicit_pivot_counts_in_every_convention(void **state) {
    (void)state;
    db_setup setup = square_detector(DB_CONVENTION_MOSFLM, 100);
    setup.twotheta = 10;
    setup.beam_centre[0] = setup.beam_centre[1] = 16;
    db_experiment about_beam = setup_resolved(&setup);
    setup.pivot = DB_PIVOT_SAMPLE;
    db_experiment about_sample = setup_resolved(&setup);
    setup.twotheta = 0;
    db_experiment at_rest = setup_resolved(&setup);
    assert_int_equal(about_beam.detector.pivot, DB_PIVOT_BEAM);
    assert_int_equal(about_sample.detector.pivot, DB_PIVOT_SAMPLE);
    const panel_pose b = setup_panel_pose(&about_beam), s = setup_panel_pose(&about_sample),
                     r = setup_panel_pose(&at_rest);
    /* swinging about the sample is a rotation of everything about -z: x' = x cos + y sin */
    const double c = cos(10 / 57.29577951308232), sn = sin(10 / 57.29577951308232);
    setup_assert_vector(s.origin, r.origin[0] * c + r.origin[1] * sn,
                        r.origin[1] * c - r.origin[0] * sn, r.origin[2], EXACT);
    assert_true(fabs(b.origin[1] - s.origin[1]) >
                0.015); /* 100 mm sin 10 apart, less the tilt of the corner */
    db_experiment_clear(&about_beam);
    db_experiment_clear(&about_sample);
    db_experiment_clear(&at_rest);
}

static void the_pivot_that_other_flags_imply_counts_in_custom_only(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_CUSTOM);
    setup.pivot_hint = DB_PIVOT_SAMPLE;
    assert_centre(&setup, DB_PIVOT_SAMPLE, 18, 14);
    setup.convention = DB_CONVENTION_DENZO;
    assert_centre(&setup, DB_PIVOT_BEAM, 18.25, 14.25);
}

static void near_points_are_used_where_they_mean_something(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_XDS);
    setup.org[0] = 20.5;
    setup.org[1] = 30.5;
    assert_centre(&setup, DB_PIVOT_SAMPLE, 10, 15);
    setup.close_point[0] = 11;
    setup.close_point[1] = 12;
    assert_centre(&setup, DB_PIVOT_SAMPLE, 11, 12);
    setup.pivot = DB_PIVOT_BEAM;
    assert_centre(&setup, DB_PIVOT_BEAM, 11, 12);
    setup.pivot = DB_PIVOT_SAMPLE;
    setup.convention = DB_CONVENTION_MOSFLM;
    assert_centre(&setup, DB_PIVOT_SAMPLE, 11, 12);
}

static void near_points_without_a_meaning_are_refused(void **state) {
    (void)state;
    static const db_convention about_beam[] = { DB_CONVENTION_MOSFLM, DB_CONVENTION_DENZO,
                                                DB_CONVENTION_ADXV };
    for (size_t i = 0; i < 3; i++) {
        db_setup setup = small_detector(about_beam[i]);
        setup.close_point[0] = 10;
        setup_assert_refused(&setup, DB_ERROR_INPUT, "has no meaning in convention");
        setup = small_detector(about_beam[i]);
        setup.org[1] = 10;
        setup_assert_refused(&setup, DB_ERROR_INPUT, "has no meaning in convention");
    }
    db_setup setup = small_detector(DB_CONVENTION_XDS);
    setup.org[0] = 10;
    setup.beam_centre[0] = 10;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "exclude each other");
}

/* The corner of the first pixel is where the user put it, with any rotations and pivot. */
static void a_given_origin_is_the_origin(void **state) {
    (void)state;
    for (int pivot = -1; pivot <= DB_PIVOT_SAMPLE; pivot++) {
        db_setup setup = custom_tilted();
        setup.origin[0] = 0.08;
        setup.origin[1] = 0.02;
        setup.origin[2] = -0.01;
        setup.pivot = pivot;
        assert_origin(&setup, 0.08, 0.02, -0.01);
        assert_non_null(strstr(setup_notices(), "distance and beam centre follow from it"));
    }
    db_setup setup = square_detector(DB_CONVENTION_MOSFLM, NAN);
    setup.origin[0] = 0.08;
    setup.origin[1] = 0.02;
    setup.origin[2] = -0.01;
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.detector.distance, 80, 1e-12);
    setup_assert_close(e.detector.centre[0], 10, 1e-12);
    setup_assert_close(e.detector.centre[1], 20, 1e-12);
    assert_int_equal(e.detector.pivot, DB_PIVOT_BEAM);
    db_experiment_clear(&e);
}

static void impossible_detectors_are_refused(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.distance = -70;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "distance: expected a positive number");
    setup = small_detector(DB_CONVENTION_XDS);
    setup.close_distance = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "close distance: expected a positive number");
    setup = small_detector(DB_CONVENTION_XDS);
    setup.rotation[1] = 120;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "behind");
    setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.origin[0] = -0.08;
    setup.origin[1] = setup.origin[2] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "in front of the sample");
    setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.beam_axis[0] = setup.beam_axis[1] = 0; /* along z, in the plane of the default detector */
    setup.beam_axis[2] = 1;
    setup.polarization_axis[0] = 1;
    setup.polarization_axis[1] = setup.polarization_axis[2] = 0;
    setup.origin[0] = 0.08;
    setup.origin[1] = setup.origin[2] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "parallel to the detector");
    setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.fast_axis[0] = setup.fast_axis[2] = 0;
    setup.fast_axis[1] = 1; /* along the default slow axis */
    setup_assert_refused(&setup, DB_ERROR_INPUT, "perpendicular");
    setup.fast_axis[1] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "fdet_vector");
    setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.pixel_size = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "pixel size");
    setup = small_detector(DB_CONVENTION_MOSFLM);
    setup.detector_pixels[1] = -3;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "detector pixels (slow)");
    setup.detector_pixels[1] = 0;
    setup.detector_size[1] = -20;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "detector size (slow)");
    setup.detector_size[1] = 1e9;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "too many pixels");
}

static void sizes_are_rounded_to_pixels_but_kept_for_the_default_centre(void **state) {
    (void)state;
    db_setup setup = small_detector(DB_CONVENTION_XDS);
    setup.detector_pixels[0] = setup.detector_pixels[1] = 0;
    setup.detector_size[0] = 20.3;
    setup.detector_size[1] = 20.2;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.detector.panels[0].fast_pixels, 41);
    assert_int_equal(e.detector.panels[0].slow_pixels, 40);
    setup_assert_close(e.detector.centre[0], 10.15, 1e-12);
    db_experiment_clear(&e);
}

static void conventions_have_names(void **state) {
    (void)state;
    assert_string_equal(db_convention_name(DB_CONVENTION_MOSFLM), "mosflm");
    assert_string_equal(db_convention_name(DB_CONVENTION_CUSTOM), "custom");
    assert_null(db_convention_name(DB_CONVENTION_COUNT));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_a_mosflm_detector_of_1024_pixels),
        cmocka_unit_test(each_convention_has_its_own_default_centre),
        cmocka_unit_test(each_convention_reads_the_beam_centre_its_own_way),
        cmocka_unit_test(a_beam_centre_in_pixels_is_one_point_in_every_convention),
        cmocka_unit_test(one_coordinate_of_the_beam_centre_leaves_the_other_at_its_default),
        cmocka_unit_test(adxv_origin_agrees_with_the_reference),
        cmocka_unit_test(a_tilted_mosflm_detector_stands_where_the_reference_has_it),
        cmocka_unit_test(a_tilted_xds_detector_stands_where_the_reference_has_it),
        cmocka_unit_test(a_close_distance_in_dials_agrees_with_the_reference),
        cmocka_unit_test(a_vector_makes_the_convention_custom_and_says_so),
        cmocka_unit_test(a_custom_detector_swings_about_the_sample_as_in_the_reference),
        cmocka_unit_test(custom_axes_of_any_length_and_hand_agree_with_the_reference),
        cmocka_unit_test(an_explicit_pivot_counts_in_every_convention),
        cmocka_unit_test(the_pivot_that_other_flags_imply_counts_in_custom_only),
        cmocka_unit_test(near_points_are_used_where_they_mean_something),
        cmocka_unit_test(near_points_without_a_meaning_are_refused),
        cmocka_unit_test(a_given_origin_is_the_origin),
        cmocka_unit_test(impossible_detectors_are_refused),
        cmocka_unit_test(sizes_are_rounded_to_pixels_but_kept_for_the_default_centre),
        cmocka_unit_test(conventions_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
