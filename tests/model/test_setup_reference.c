/* The reference's way of reading a setup (compat), oddities included. Numbers marked "reference"
 * are those that the original program arrives at for the same flags. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include "model/model.h"

#include <dualbragg/expert/setup_defaults.h>
#include <math.h>
#include <string.h>

static const double EXACT = 1e-13; /* m */

/* 64 x 64 pixels of 0.5 mm at 65 mm. */
static db_setup detector(db_convention convention) {
    db_setup setup = setup_start();
    setup.compat = 1;
    setup.convention = convention;
    setup.pixel_size = 0.5;
    setup.detector_pixels[0] = setup.detector_pixels[1] = 64;
    setup.distance = 65;
    return setup;
}

static void set(double vector[3], double x, double y, double z) {
    vector[0] = x;
    vector[1] = y;
    vector[2] = z;
}

/* Origin of the reference, of its sane stand-in, or of both. */
static void assert_origins(const db_setup *setup, double x, double y, double z) {
    db_experiment e = setup_resolved(setup);
    assert_int_equal(e.reference.on, 1);
    setup_assert_vector(e.reference.origin, x, y, z, EXACT);
    const panel_pose pose = setup_panel_pose(&e);
    setup_assert_vector(pose.origin, x, y, z, EXACT);
    db_experiment_clear(&e);
}

static void without_compat_there_is_no_reference_mode(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_MOSFLM);
    setup.compat = 0;
    setup.oversample_omega = 1;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.reference.on, 0);
    assert_int_equal(e.reference.oversample_omega, 0);
    db_experiment_clear(&e);
}

static void placement_without_oddities_is_the_model_s(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_CUSTOM);
    set(setup.fast_axis, 0, 0, 1);
    set(setup.twotheta_axis, 0, 0, -1);
    set(setup.rotation, 5, 9, 3);
    setup.twotheta = 14;
    setup.beam_centre[0] = 13.5;
    setup.beam_centre[1] = 18.5;
    setup.pivot = DB_PIVOT_BEAM;
    assert_origins(&setup, 0.06692346222840545, 0.019599284606985064,
                   -0.011690523339453023); /* reference */
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.reference.fast_axis, 0.13634588020527688, -0.11528996454221725,
                        0.9839298882679104, EXACT);
    setup_assert_vector(e.reference.slow_axis, -0.20346657357711795, -0.9752902749008179,
                        -0.08608271092777121, EXACT);
    setup_assert_vector(e.reference.normal, 0.969541723902502, -0.18845982001408487,
                        -0.15643446504023087, EXACT);
    setup_assert_close(e.reference.close_distance, 0.06302021205366264, EXACT);
    /* leaves two-theta out */
    setup_assert_close(e.reference.distance, 0.06389333051298073, EXACT);
    db_experiment_clear(&e);
}

/* -twotheta 10 -twotheta_axis 2 0 -1, where the second flag sets the angle to 2. */
static void the_twotheta_axis_is_not_normalized(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_CUSTOM);
    set(setup.twotheta_axis, 2, 0, -1);
    setup.twotheta = 2;
    setup.pivot_hint = DB_PIVOT_SAMPLE;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.reference.origin, 0.06569667421390528, 0.014838569841123,
                        -0.014962408593037518, EXACT); /* reference */
    setup_assert_vector(e.reference.normal, 1.0018275189427128, -0.03489949670250097,
                        -0.0012183459618084758, EXACT);
    setup_assert_close(e.reference.distance, 0.06531710690135259, EXACT);
    setup_assert_vector(e.detector.twotheta_axis, 2 / sqrt(5), 0, -1 / sqrt(5), EXACT);
    db_experiment_clear(&e);
    set(setup.twotheta_axis, 3, 0, -1);
    setup.twotheta = 3;
    e = setup_resolved(&setup);
    const double *n = e.reference.normal;
    setup_assert_close(sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]), 1.0123, 5e-5);
    db_experiment_clear(&e);
}

static void a_normal_of_another_length_than_1_is_replaced_by_fast_x_slow(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_CUSTOM);
    set(setup.beam_axis, 0, 0, 1);
    set(setup.polarization_axis, 1, 0, 0);
    set(setup.fast_axis, 1, 0, 0);
    set(setup.slow_axis, 0, -1, 0); /* left-handed: fast x slow looks at the sample */
    set(setup.normal, 0, 0, 2);
    setup.distance = 70;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.reference.origin, -0.016, 0.016, -0.07, EXACT); /* behind the sample */
    setup_assert_vector(e.reference.normal, 0, 0, -1, EXACT);
    setup_assert_close(e.reference.close_distance, 0.07, EXACT);
    setup_assert_close(e.reference.distance, -0.07, EXACT);
    setup_assert_vector(setup_panel_pose(&e).origin, -0.016, 0.016, 0.07, EXACT); /* right */
    db_experiment_clear(&e);
    set(setup.normal, 0, 0, 1);
    assert_origins(&setup, -0.016, 0.016, 0.07);
}

static void a_given_origin_only_makes_the_convention_custom(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_CUSTOM);
    set(setup.origin, 0.08, 0.02, -0.01);
    assert_origins(&setup, 0.065, 0.016, -0.016); /* reference */
}

static void a_predefined_convention_has_its_own_vectors_and_pivot(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_XDS);
    set(setup.fast_axis, 0, 1, 0);
    assert_origins(&setup, -0.016, -0.016, 0.065);
    setup = detector(DB_CONVENTION_MOSFLM);
    setup.twotheta = 10;
    db_experiment about_beam = setup_resolved(&setup);
    setup.pivot = setup.pivot_hint = DB_PIVOT_SAMPLE;
    db_experiment asked_for_sample = setup_resolved(&setup);
    assert_int_equal(asked_for_sample.detector.pivot, DB_PIVOT_BEAM);
    assert_memory_equal(&about_beam.reference, &asked_for_sample.reference,
                        sizeof about_beam.reference);
    db_experiment_clear(&about_beam);
    db_experiment_clear(&asked_for_sample);
}

static void centres_of_another_convention_are_passed_over(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_XDS);
    setup.beam_centre[0] = 10;
    setup.close_point[0] = 10;
    setup.close_point[1] = 12;
    assert_origins(&setup, -0.016, -0.016, 0.065);
    assert_non_null(strstr(setup_notices(), "Xbeam has no effect in convention xds"));
    assert_non_null(strstr(setup_notices(), "Yclose has no effect in convention xds"));
    setup.org[0] = 20.5;
    assert_origins(&setup, -0.010, -0.016, 0.065);
    setup.convention = DB_CONVENTION_DENZO; /* the beam centre, slow first */
    assert_origins(&setup, 0.065, 0.010, -0.01625);
    assert_non_null(strstr(setup_notices(), "ORGX has no effect in convention denzo"));
    setup.convention = DB_CONVENTION_CUSTOM; /* beam centre, near point */
    assert_origins(&setup, 0.065, 0.012, -0.010);
    setup.beam_centre[0] = setup.close_point[0] = NAN; /* then the one of XDS */
    assert_origins(&setup, 0.065, 0.012, -0.010);
}

/* Turned by more than 90 degree the plate looks back at the sample. */
static void a_plate_may_look_back(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_XDS);
    setup.rotation[1] = 120;
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.reference.close_distance, 0.065 * 0.5, EXACT);
    setup_assert_close(e.reference.distance, -0.065, EXACT);
    const panel_pose pose = setup_panel_pose(&e);
    setup_assert_vector(pose.origin, e.reference.origin[0], e.reference.origin[1],
                        e.reference.origin[2], EXACT);
    assert_int_equal(db_recommended_oversample(&e), 1);
    db_experiment_clear(&e);
}

/* With two-theta 60 at the beam's spot the reference's distance is 35 mm instead of 70, that of the
 * plane. The panel's nearest edge, whose pixels look widest, is between. */
static void oversampling_follows_the_reference_s_distance(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_MOSFLM);
    setup.distance = 70;
    setup.twotheta = 60;
    setup.Ncells[0] = 100; /* 3 x 5000 A x 0.5 mm / (1 A x 35 mm) = 214.3 */
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.oversample, 215);
    db_experiment_clear(&e);
    setup.compat = 0;
    e = setup_resolved(&setup);
    /* the edge is 15.75 mm from the beam centre, 70 sin 60 - 15.75 = 44.87 mm from the foot of the
     * sample, and 56.91 mm from the sample: 131.8 */
    assert_int_equal(e.oversample, 132);
    db_experiment_clear(&e);
}

static void axes_that_are_not_perpendicular_are_taken(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_CUSTOM);
    set(setup.fast_axis, 0, 0.1, 1);
    db_experiment e = setup_resolved(&setup);
    assert_non_null(strstr(setup_notices(), "not perpendicular"));
    setup_assert_vector(e.reference.fast_axis, 0, 0.1 / sqrt(1.01), 1 / sqrt(1.01), EXACT);
    db_experiment_clear(&e);
    setup.compat = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "perpendicular");
}

static db_setup crystal(double a, double b, double c, double alpha, double beta, double gamma) {
    const double cell[6] = { a, b, c, alpha, beta, gamma };
    db_setup setup = setup_start();
    setup.compat = 1;
    memcpy(setup.cell, cell, sizeof cell);
    set(setup.misset, 10, 20, 30);
    return setup;
}

static void a_triclinic_cell_has_the_reference_s_angles(void **state) {
    (void)state;
    db_setup setup = crystal(50, 60, 70, 65, 73, 81);
    db_experiment e = setup_resolved(&setup);
    double rows[9], a_star[9];
    db_model_lattice(&e, rows);
    setup_assert_vector(rows, 43.63859578048104, 24.292368927392094, -2.3566438431076584,
                        1e-12); /* reference */
    setup_assert_vector(rows + 3, -14.238383968750314, 48.35314802716082, 32.545990503008326,
                        1e-12);
    setup_assert_vector(rows + 6, 26.496561445885472, 1.2619817865408058, 64.77916048788263, 1e-12);
    db_crystal_matrix(&e.crystal, a_star);
    const double s = e.reference.reciprocal_scale;
    const double columns[3][3] = {
        { 0.016996086600052328, 0.0098126951737104, -0.007143057922316416 }, /* reference */
        { -0.008668550268228182, 0.015886056761741606, 0.0032362083570811016 },
        { 0.004973517333677217, -0.007624402988749205, 0.013503314202873215 },
    };
    assert_true(fabs(s - 1) > 1e-4);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) setup_assert_close(s * a_star[3 * i + j], columns[j][i], 1e-15);
    db_experiment_clear(&e);

    setup = crystal(45, 55, 70, 82, 97, 105);
    e = setup_resolved(&setup);
    const double printed[6] = { 45, 55, 70, 81.9728, 97.0239, 105.005 };
    for (int i = 0; i < 3; i++) setup_assert_close(e.crystal.cell[i], printed[i], 1e-12);
    for (int i = 3; i < 6; i++) setup_assert_close(e.crystal.cell[i], printed[i], 5e-4);
    db_experiment_clear(&e);
    setup.compat = 0;
    e = setup_resolved(&setup);
    assert_memory_equal(e.crystal.cell, setup.cell, sizeof setup.cell);
    db_experiment_clear(&e);
}

static void a_monoclinic_cell_is_right(void **state) {
    (void)state;
    const db_setup setup = crystal(45, 55, 70, 90, 103, 90);
    db_experiment e = setup_resolved(&setup);
    for (int i = 0; i < 6; i++) setup_assert_close(e.crystal.cell[i], setup.cell[i], 1e-12);
    setup_assert_close(e.reference.reciprocal_scale, 1, 1e-14);
    db_experiment_clear(&e);
}

/* Directions from the file, lengths and volume from the cell. */
static void a_matrix_and_a_cell_disagree_in_the_reciprocal_vectors(void **state) {
    (void)state;
    setup_write_file("reference_cubic.mat", "0.02 0 0\n0 0.02 0\n0 0 0.02\n");
    db_setup setup = crystal(50, 50, 50, 90, 90, 60);
    setup.matrix_file = "reference_cubic.mat";
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.crystal.cell[5], 90, 1e-12);
    setup_assert_close(e.reference.reciprocal_scale, 1 / sin(60 / 57.29577951308232), 1e-14);
    db_experiment_clear(&e);
}

static void open_and_negative_parts_of_a_cell_are_filled_in(void **state) {
    (void)state;
    const db_setup setup = crystal(50, 0, 70, -1, 90, NAN);
    db_experiment e = setup_resolved(&setup);
    const double cell[6] = { 50, 50, 70, 90, 90, 90 };
    for (int i = 0; i < 6; i++) setup_assert_close(e.crystal.cell[i], cell[i], 1e-12);
    db_experiment_clear(&e);
    const db_setup without_a = crystal(0, 50, 50, 90, 90, 90);
    setup_assert_refused(&without_a, DB_ERROR_INPUT, "edge a");
}

static void a_random_misset_has_a_cap_of_90_radian(void **state) {
    (void)state;
    db_setup setup = crystal(50, 50, 50, 90, 90, 90);
    setup.misset_random = 1;
    setup.misset_seed = 42;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.misset, -11.585887, 56.207689, -1.333374, 1e-6); /* reference */
    db_experiment_clear(&e);
    setup.misset_seed = 4242;
    e = setup_resolved(&setup);
    setup_assert_vector(e.crystal.misset, -163.713095, -27.840487, -175.580921, 1e-6);
    db_experiment_clear(&e);
}

/* Rotation angle (degree) of the misset with this seed: trace of Rz Ry Rx = 1 + 2 cos. */
static double misset_angle(db_setup *setup, long seed) {
    setup->misset_seed = seed;
    db_experiment e = setup_resolved(setup);
    const double x = e.crystal.misset[0] / 57.29577951308232,
                 y = e.crystal.misset[1] / 57.29577951308232,
                 z = e.crystal.misset[2] / 57.29577951308232;
    db_experiment_clear(&e);
    const double trace =
        cos(z) * cos(y) + sin(z) * sin(y) * sin(x) + cos(z) * cos(x) + cos(y) * cos(x);
    return 57.29577951308232 * acos(fmin(fmax((trace - 1) / 2, -1), 1));
}

/* Close to uniform on 0 to 180 degree, against (angle - sin angle)/pi of uniform rotations. */
static void random_missets_of_the_reference_favour_small_angles(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    static const double small[2] = { 0.058, 0.33 }, mean[2] = { 126.5, 86 };
    for (int compat = 0; compat < 2; compat++) {
        db_setup setup = crystal(50, 50, 50, 90, 90, 90);
        setup.compat = compat;
        setup.misset_random = 1;
        double below = 0, sum = 0;
        for (long seed = 1; seed <= COUNT; seed++) {
            const double angle = misset_angle(&setup, 1000 * seed + 7);
            below += angle < 60;
            sum += angle;
        }
        /* four standard deviations of either, and the digits given */
        setup_assert_close(below / COUNT, small[compat], 4 * 0.5 / sqrt(COUNT));
        setup_assert_close(sum / COUNT, mean[compat], 4 * 55 / sqrt(COUNT) + 0.5);
    }
}

static void a_range_and_a_step_leave_out_the_upper_end(void **state) {
    (void)state;
    db_setup setup = crystal(50, 50, 50, 90, 90, 90);
    setup.divergence_range[0] = 0.015;
    setup.divergence_step[0] = 0.005;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 3);
    const double places[3] = { -7.5, -2.5, 2.5 };
    for (int j = 0; j < 3; j++)
        setup_assert_close(e.beam.sources[j].spread[0] * e.beam.divergence[0], places[j], 1e-12);
    db_experiment_clear(&e);
    setup.divergence_step[0] = 0.02; /* more than the range: its lower end */
    e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 1);
    setup_assert_close(e.beam.sources[0].spread[0] * e.beam.divergence[0], -7.5, 1e-12);
    db_experiment_clear(&e);
}

static void weights_of_a_source_file_are_not_used(void **state) {
    (void)state;
    setup_write_file("reference_weights.src", "-10 0 0 1 1e-10\n-10 0.1 0 0.01 1.1e-10\n");
    db_setup setup = crystal(50, 50, 50, 90, 90, 90);
    setup.source_file = "reference_weights.src";
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 2);
    setup_assert_close(e.beam.sources[1].weight, e.beam.sources[0].weight, 0);
    setup_assert_close(e.beam.sources[1].wavelength_ratio, 1.1, 1e-12);
    db_experiment_clear(&e);
    setup.compat = 0;
    e = setup_resolved(&setup);
    setup_assert_close(e.beam.sources[1].weight / e.beam.sources[0].weight, 0.01, 1e-12);
    db_experiment_clear(&e);
}

static void assert_sensor(const db_setup *setup, double thickness, int layers, double depth) {
    db_experiment e = setup_resolved(setup);
    setup_assert_close(e.detector.sensor_thickness, thickness, 1e-12);
    setup_assert_close(e.detector.attenuation_depth, depth, 1e-12);
    assert_int_equal(e.detector.sensor_layers, layers);
    db_experiment_clear(&e);
}

static void a_sensor_of_n_layers_is_too_thick(void **state) {
    (void)state;
    db_setup setup = detector(DB_CONVENTION_MOSFLM);
    setup.sensor_thickness = 450;
    setup.attenuation_depth = 300;
    assert_sensor(&setup, 450, 2, 300); /* automatic layers */
    setup.sensor_layers = 5;
    assert_sensor(&setup, 562.5, 5, 300);
    setup.sensor_layers = 1;
    assert_sensor(&setup, 900, 2, 300);
    setup.attenuation_depth = NAN;
    assert_sensor(&setup, 900, 2, 450); /* the depth is the thickness as given */
    setup.oversample_thick = 1;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.reference.oversample_thick, 1);
    db_experiment_clear(&e);
    setup.sensor_thickness = 0; /* would make the image 0 */
    e = setup_resolved(&setup);
    assert_int_equal(e.reference.oversample_thick, 0);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_compat_there_is_no_reference_mode),
        cmocka_unit_test(placement_without_oddities_is_the_model_s),
        cmocka_unit_test(the_twotheta_axis_is_not_normalized),
        cmocka_unit_test(a_normal_of_another_length_than_1_is_replaced_by_fast_x_slow),
        cmocka_unit_test(a_given_origin_only_makes_the_convention_custom),
        cmocka_unit_test(a_predefined_convention_has_its_own_vectors_and_pivot),
        cmocka_unit_test(centres_of_another_convention_are_passed_over),
        cmocka_unit_test(a_plate_may_look_back),
        cmocka_unit_test(oversampling_follows_the_reference_s_distance),
        cmocka_unit_test(axes_that_are_not_perpendicular_are_taken),
        cmocka_unit_test(a_triclinic_cell_has_the_reference_s_angles),
        cmocka_unit_test(a_monoclinic_cell_is_right),
        cmocka_unit_test(a_matrix_and_a_cell_disagree_in_the_reciprocal_vectors),
        cmocka_unit_test(open_and_negative_parts_of_a_cell_are_filled_in),
        cmocka_unit_test(a_random_misset_has_a_cap_of_90_radian),
        cmocka_unit_test(random_missets_of_the_reference_favour_small_angles),
        cmocka_unit_test(a_range_and_a_step_leave_out_the_upper_end),
        cmocka_unit_test(weights_of_a_source_file_are_not_used),
        cmocka_unit_test(a_sensor_of_n_layers_is_too_thick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
