/* SMV images as they are written. */
#include "support/expect.h"
#include "files_for_tests.h"
#include "smv_file.h"

#include <dualbragg/io.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/setup_defaults.h>

#include <math.h>
#include <stdlib.h>

enum { FAST = 60, SLOW = 40 };
static float image[FAST * SLOW];

/* A small detector in a convention, with the beam off its middle. */
static void make_experiment(db_convention convention, double twotheta, const double rotation[3],
                            db_experiment *experiment) {
    db_setup setup;
    db_setup_init(&setup);
    const double cell[6] = { 78, 78, 37, 90, 90, 90 };
    memcpy(setup.cell, cell, sizeof cell);
    setup.wavelength = 0.97934;
    setup.convention = convention;
    setup.pixel_size = 0.1024;
    setup.detector_pixels[0] = FAST;
    setup.detector_pixels[1] = SLOW;
    setup.distance = 123.456;
    if (convention == DB_CONVENTION_XDS || convention == DB_CONVENTION_DIALS) {
        setup.org[0] = 24.25;
        setup.org[1] = 17.75;
    } else {
        setup.beam_centre[0] = 1.3;
        setup.beam_centre[1] = 2.7;
    }
    setup.twotheta = twotheta;
    memcpy(setup.rotation, rotation, sizeof setup.rotation);
    setup.phi = 12.5;
    setup.osc = 0.5;
    setup.phi_steps = 5;
    setup.oversample = 1;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, experiment, NULL, NULL));
}

/* Writes an image and loads the file. */
static char *written(const db_experiment *experiment, double scale, double adc, size_t *size) {
    const char *path = folder_path("written.img");
    expect_ok(test_context(),
              db_write_smv(test_context(), path, experiment, image, scale, adc, NULL));
    return load_file(path, size);
}

static const double no_rotation[3] = { 0, 0, 0 };

static void the_header_fills_whole_blocks_and_ends_where_it_says(void **state) {
    (void)state;
    for (int convention = DB_CONVENTION_MOSFLM; convention <= DB_CONVENTION_DIALS; convention++) {
        const double rotation[3] = { 1.23456789, -2.3456789, 0.123456789 };
        db_experiment experiment;
        make_experiment((db_convention)convention, 15.123456789, rotation, &experiment);
        size_t size;
        char *text = written(&experiment, 1.0 / 3, 40.0 / 3, &size);
        assert_memory_equal(text, "{\nHEADER_BYTES=", 15);
        const size_t header = (size_t)smv_number(text, "HEADER_BYTES");
        assert_int_equal(header % 512, 0);
        assert_int_equal(size, header + 2 * FAST * SLOW);
        const char *brace = strstr(text, "\n}\n\f");
        assert_non_null(brace);
        for (const char *p = brace + 4; p < text + header; p++) assert_int_equal(*p, ' ');
        free(text);
        db_experiment_clear(&experiment);
    }
}

static void every_value_describes_the_final_placement(void **state) {
    (void)state;
    const double rotation[3] = { 2, -3, 1 };
    for (int convention = DB_CONVENTION_MOSFLM; convention <= DB_CONVENTION_DIALS; convention++) {
        db_experiment experiment;
        make_experiment((db_convention)convention, 12, rotation, &experiment);
        size_t size;
        char *text = written(&experiment, 1, 40, &size);
        const double pixel = smv_number(text, "PIXEL_SIZE");
        assert_true(pixel == 0.1024);

        /* The direct beam: DISTANCE along the beam, in the pixel that DENZO_ names. */
        const double beam_f = smv_number(text, "DENZO_Y_BEAM"),
                     beam_s = smv_number(text, "DENZO_X_BEAM");
        double hit[3];
        db_experiment_pixel_position(&experiment, 0, beam_f / pixel, beam_s / pixel, hit);
        const double distance = smv_number(text, "DISTANCE");
        for (int i = 0; i < 3; i++)
            assert_true(fabs(hit[i] - distance * experiment.beam.direction[i]) < 1e-6);
        assert_true(fabs(smv_number(text, "BEAM_CENTER_X") - beam_s) < 1e-8);
        assert_true(fabs(smv_number(text, "BEAM_CENTER_Y") - beam_f) < 1e-8);
        assert_true(fabs(smv_number(text, "MOSFLM_CENTER_X") - (beam_s - pixel / 2)) < 1e-8);
        assert_true(fabs(smv_number(text, "MOSFLM_CENTER_Y") - (beam_f - pixel / 2)) < 1e-8);
        assert_true(fabs(smv_number(text, "ADXV_CENTER_X") - beam_f) < 1e-8);
        assert_true(fabs(smv_number(text, "ADXV_CENTER_Y") - (SLOW * pixel - beam_s)) < 1e-8);

        /* The near point: no other is closer, and it is CLOSE_DISTANCE away. */
        const double near_f = smv_number(text, "XDS_ORGX") - 0.5,
                     near_s = smv_number(text, "XDS_ORGY") - 0.5;
        double near[3], along[3];
        db_experiment_pixel_position(&experiment, 0, near_f, near_s, near);
        const double close = smv_number(text, "CLOSE_DISTANCE");
        assert_true(fabs(hypot(hypot(near[0], near[1]), near[2]) - close) < 1e-6);
        for (int axis = 0; axis < 2; axis++) {
            db_experiment_pixel_position(&experiment, 0, near_f + (axis == 0), near_s + (axis == 1),
                                         along);
            assert_true(hypot(hypot(along[0], along[1]), along[2]) > close);
            db_experiment_pixel_position(&experiment, 0, near_f - (axis == 0), near_s - (axis == 1),
                                         along);
            assert_true(hypot(hypot(along[0], along[1]), along[2]) > close);
        }

        /* DIALS' frame: x along the spindle, z against the beam. */
        double corner[3], dials[3];
        db_experiment_pixel_position(&experiment, 0, 0, 0, corner);
        assert_int_equal(
            sscanf(smv_value(text, "DIALS_ORIGIN"), "%lf,%lf,%lf", &dials[0], &dials[1], &dials[2]),
            3);
        double x = 0, z = 0, length = 0;
        for (int i = 0; i < 3; i++) {
            x += corner[i] * experiment.goniometer.spindle_axis[i];
            z -= corner[i] * experiment.beam.direction[i];
            length += corner[i] * corner[i];
        }
        assert_true(fabs(dials[0] - x) < 1e-6);
        assert_true(fabs(dials[2] - z) < 1e-6);
        assert_true(fabs(dials[1] * dials[1] - (length - x * x - z * z)) < 1e-4);

        assert_true(smv_number(text, "TWOTHETA") == 12);
        assert_true(smv_number(text, "WAVELENGTH") == 0.97934);
        assert_true(smv_number(text, "PHI") == 12.5);
        assert_true(smv_number(text, "OSC_START") == 12.5);
        assert_true(smv_number(text, "OSC_RANGE") == 0.5);
        assert_int_equal(smv_number(text, "SIZE1"), FAST);
        assert_int_equal(smv_number(text, "SIZE2"), SLOW);
        free(text);
        db_experiment_clear(&experiment);
    }
}

/* Readers of ADSC headers place an upright detector at (-Y, X, -DISTANCE), fast along +x, slow
 * along -y, in a frame with the spindle along x and the beam along -z. */
static void adsc_readers_reconstruct_an_untilted_detector(void **state) {
    (void)state;
    static const db_convention conventions[] = { DB_CONVENTION_MOSFLM, DB_CONVENTION_DENZO,
                                                 DB_CONVENTION_XDS };
    for (int c = 0; c < 3; c++) {
        db_experiment experiment;
        make_experiment(conventions[c], 0, no_rotation, &experiment);
        size_t size;
        char *text = written(&experiment, 1, 40, &size);
        double dials[3];
        assert_int_equal(
            sscanf(smv_value(text, "DIALS_ORIGIN"), "%lf,%lf,%lf", &dials[0], &dials[1], &dials[2]),
            3);
        assert_true(fabs(dials[0] + smv_number(text, "BEAM_CENTER_Y")) < 1e-6);
        assert_true(fabs(dials[1] - smv_number(text, "BEAM_CENTER_X")) < 1e-6);
        assert_true(fabs(dials[2] + smv_number(text, "DISTANCE")) < 1e-6);
        assert_string_equal(smv_value(text, "IMAGE_PEDESTAL"), "40");
        assert_string_equal(smv_value(text, "GAIN"), "1");
        smv_value(text, "DATE");
        smv_value(text, "TIME");
        assert_string_equal(smv_value(text, "DETECTOR_SN"), "000");
        assert_string_not_equal(smv_value(text, "BEAMLINE"), "fake");
        free(text);
        db_experiment_clear(&experiment);
    }
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    db_experiment experiment;
    make_experiment(DB_CONVENTION_MOSFLM, 0, no_rotation, &experiment);
    for (int i = 0; i < FAST * SLOW; i++) image[i] = (float)(i % 997);
    image[5] = NAN;
    image[6] = 70000;
    const char *path = folder_path("round.img");
    expect_ok(test_context(), db_write_smv(test_context(), path, &experiment, image, 2, 40, NULL));
    db_measured_image read;
    expect_ok(test_context(), db_read_image(test_context(), path, &read));
    assert_string_equal(read.format, "SMV");
    assert_int_equal(read.fast_pixels, FAST);
    assert_int_equal(read.slow_pixels, SLOW);
    assert_true(read.pedestal == 40);
    assert_true(read.gain == 2);
    assert_true(read.wavelength == 0.97934);
    assert_true(read.distance == 123.456);
    assert_true(read.pixel_size[0] == 0.1024 && read.pixel_size[1] == 0.1024);
    assert_true(fabs(read.beam_centre[0] - (2.7 / 0.1024 + 0.5)) < 1e-7);
    assert_true(fabs(read.beam_centre[1] - (1.3 / 0.1024 + 0.5)) < 1e-7);
    assert_true(read.phi == 12.5 && read.osc_range == 0.5 && read.twotheta == 0);
    assert_true(read.overload == 65535 - 40);
    for (int i = 0; i < FAST * SLOW; i++) {
        const int expected_mask = i == 5   ? DB_MASK_GAP
                                  : i == 6 ? DB_MASK_OVERLOAD
                                           : DB_MASK_TRUSTED;
        assert_int_equal(read.mask[i], expected_mask);
        if (!expected_mask) assert_true(read.value[i] == 2 * image[i]);
    }
    assert_int_equal(read.masked, 2);
    db_measured_image_clear(&read);
    assert_null(read.value);
    memset(image, 0, sizeof image);
    db_experiment_clear(&experiment);
}

static void counts_are_rounded_and_clipped(void **state) {
    (void)state;
    static const struct {
        float intensity;
        double scale, adc;
        unsigned expected;
    } cases[] = {
        { 0, 1, 40, 40 },           { 1.49f, 1, 0, 1 },      { 1.5f, 1, 0, 2 },
        { -50, 1, 40, 0 },          { -0.6f, 1, 40, 39 },    { 65494.4f, 1, 40, 65534 },
        { 65534.4f, 1, 0, 65534 },  { 65535, 1, 0, 65535 },  { 1e30f, 1, 40, 65535 },
        { INFINITY, 1, 40, 65535 }, { -INFINITY, 1, 40, 0 }, { NAN, 1, 40, 0 },
        { 3, 1.0 / 3, 0, 1 },       { 100, 0.5, -10, 40 },
    };
    db_experiment experiment;
    make_experiment(DB_CONVENTION_MOSFLM, 0, no_rotation, &experiment);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image[7] = cases[i].intensity;
        size_t size;
        char *text = written(&experiment, cases[i].scale, cases[i].adc, &size);
        uint16_t counts;
        memcpy(&counts, text + (size_t)smv_number(text, "HEADER_BYTES") + 14, 2);
        if (counts != cases[i].expected)
            fail_msg("case %zu: expected %u, found %u", i, cases[i].expected, counts);
        free(text);
    }
    image[7] = 0;
    db_experiment_clear(&experiment);
}

static void the_automatic_scale_puts_the_largest_pixel_at_55000(void **state) {
    (void)state;
    db_experiment experiment;
    make_experiment(DB_CONVENTION_MOSFLM, 0, no_rotation, &experiment);
    size_t size;
    char *text = written(&experiment, 0, 40, &size); /* all pixels are 0 */
    assert_true(smv_number(text, "GAIN") == 1);
    free(text);
    image[3] = 110;
    image[4] = INFINITY;
    image[5] = NAN;
    text = written(&experiment, -1, 40, &size);
    assert_true(smv_number(text, "GAIN") == 500);
    uint16_t counts;
    memcpy(&counts, text + (size_t)smv_number(text, "HEADER_BYTES") + 6, 2);
    assert_int_equal(counts, 55040);
    free(text);
    memset(image, 0, sizeof image);
    db_experiment_clear(&experiment);
}

static void a_detector_that_the_beam_misses_has_no_beam_centre(void **state) {
    (void)state;
    db_experiment experiment;
    make_experiment(DB_CONVENTION_XDS, 100, no_rotation, &experiment);
    size_t size;
    char *text = written(&experiment, 1, 40, &size);
    assert_null(strstr(text, "BEAM_CENTER_X"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    assert_true(smv_number(text, "DISTANCE") == smv_number(text, "CLOSE_DISTANCE"));
    free(text);
    db_experiment_clear(&experiment);
}

static void what_smv_cannot_hold_is_refused(void **state) {
    (void)state;
    db_context *context = test_context();
    db_experiment experiment;
    make_experiment(DB_CONVENTION_MOSFLM, 0, no_rotation, &experiment);
    const int before = folder_count();
    const char *path = folder_path("refused.img");
    experiment.detector.panels[0].pixel_size[1] = 0.2;
    expect_failure(context, DB_ERROR_UNSUPPORTED,
                   db_write_smv(context, path, &experiment, image, 1, 40, NULL), "refused.img",
                   "square pixels", "0.1024 x 0.2");
    experiment.detector.panels[0].pixel_size[1] = 0.1024;
    expect_failure(context, DB_ERROR_USAGE,
                   db_write_smv(context, path, &experiment, image, NAN, 40, NULL), "scale");
    expect_failure(context, DB_ERROR_USAGE,
                   db_write_smv(context, path, &experiment, image, 1, INFINITY, NULL), "offset");
    experiment.detector.distance = NAN;
    expect_failure(context, DB_ERROR_INPUT,
                   db_write_smv(context, path, &experiment, image, 1, 40, NULL), "detector");
    experiment.detector.distance = 100;
    expect_failure(
        context, DB_ERROR_FILE,
        db_write_smv(context, folder_path("no/folder/x.img"), &experiment, image, 1, 40, NULL),
        "no/folder/x.img");
    db_panel two[2] = { experiment.detector.panels[0], experiment.detector.panels[0] };
    db_experiment multi = experiment;
    multi.detector.panels = two;
    multi.detector.panel_count = 2;
    expect_failure(context, DB_ERROR_UNSUPPORTED,
                   db_write_smv(context, path, &multi, image, 1, 40, NULL), "one panel", "2");
    assert_int_equal(folder_count(), before);
    db_experiment_clear(&experiment);
}

/* The reference's image of the same experiment: the same pixels, the same header values where they
 * are right. */
static void the_reference_image_is_reproduced(void **state) {
    (void)state;
    enum { N = 64 * 48 };
    const char *matrix = golden_path("inputs/tri13.mat");
    db_setup setup;
    db_setup_init(&setup);
    setup.matrix_file = matrix;
    setup.wavelength = 1.3;
    setup.distance = 70;
    setup.detector_pixels[0] = 64;
    setup.detector_pixels[1] = 48;
    setup.pixel_size = 0.5;
    setup.phi = 5;
    setup.osc = 0.5;
    setup.phi_steps = 1;
    setup.twotheta = 6;
    setup.oversample = 1;
    db_experiment experiment;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, &experiment, NULL, NULL));
    static float pixels[N];
    expect_ok(
        test_context(),
        db_read_float_image(test_context(), golden_path("reference/io_basic.f32"), 64, 48, pixels));
    const char *path = folder_path("golden.img");
    expect_ok(test_context(), db_write_smv(test_context(), path, &experiment, pixels, 0, 40, NULL));
    size_t size, reference_size;
    char *text = load_file(path, &size);
    char *reference = load_file(golden_path("reference/io_basic.int.img"), &reference_size);
    assert_int_equal(reference_size, 512 + 2 * N);
    assert_memory_equal(text + (size - 2 * N), reference + 512, 2 * N);

    /* The reference leaves two-theta out of DISTANCE and of all beam centres (and BEAM_CENTER_* are
     * its user's numbers): not compared. */
    static const char *const keys[] = { "DIM",          "SIZE1",          "SIZE2",
                                        "PIXEL_SIZE",   "WAVELENGTH",     "XDS_ORGX",
                                        "XDS_ORGY",     "CLOSE_DISTANCE", "PHI",
                                        "OSC_START",    "OSC_RANGE",      "TWOTHETA",
                                        "DENZO_Y_BEAM", "ADXV_CENTER_X",  "MOSFLM_CENTER_Y" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const double value = smv_number(text, keys[i]), expected = smv_number(reference, keys[i]);
        if (fabs(value - expected) > 1e-5 * fabs(expected))
            fail_msg("%s %g %g", keys[i], value, expected);
    }
    assert_string_equal(smv_value(text, "BYTE_ORDER"), "little_endian");
    double origin[3];
    assert_int_equal(
        sscanf(smv_value(text, "DIALS_ORIGIN"), "%lf,%lf,%lf", &origin[0], &origin[1], &origin[2]),
        3);
    assert_true(fabs(origin[0] + 16.5) < 1e-4);
    assert_true(fabs(origin[1] - 12.4315) < 1e-4);
    assert_true(fabs(origin[2] + 71.3066) < 1e-4);
    assert_true(fabs(smv_number(text, "DISTANCE") - 70) < 1e-6);
    free(text);
    free(reference);
    db_experiment_clear(&experiment);
}

/* In the reference's way of doing things its file comes out byte for byte. */
static void the_reference_header_is_reproduced(void **state) {
    (void)state;
    enum { N = 64 * 48 };
    db_setup setup;
    db_setup_init(&setup);
    setup.compat = 1;
    setup.matrix_file = golden_path("inputs/tri13.mat");
    setup.wavelength = 1.3;
    setup.distance = 70;
    setup.detector_pixels[0] = 64;
    setup.detector_pixels[1] = 48;
    setup.pixel_size = 0.5;
    setup.phi = 5;
    setup.osc = 0.5;
    setup.phi_steps = 1;
    setup.twotheta = 6;
    setup.oversample = 1;
    db_experiment experiment;
    expect_ok(test_context(), db_setup_resolve(test_context(), &setup, &experiment, NULL, NULL));
    db_smv_style style = { .convention = "mosflm" };
    expect_ok(test_context(), db_setup_beam_centre(test_context(), &setup, style.beam_centre));
    assert_true(fabs(style.beam_centre[0] - 12.25) < 1e-12);
    assert_true(fabs(style.beam_centre[1] - 16.25) < 1e-12);
    static float pixels[N];
    expect_ok(
        test_context(),
        db_read_float_image(test_context(), golden_path("reference/io_basic.f32"), 64, 48, pixels));
    const char *path = folder_path("reference.img");
    expect_ok(test_context(),
              db_write_smv(test_context(), path, &experiment, pixels, 0, 40, &style));
    size_t size, reference_size;
    char *text = load_file(path, &size);
    char *reference = load_file(golden_path("reference/io_basic.int.img"), &reference_size);
    assert_int_equal(size, reference_size);
    assert_memory_equal(text, reference, size);
    free(text);
    free(reference);
    db_experiment_clear(&experiment);
}

/* X, Y as the reference states them: the user's, or the default of the convention. */
static void beam_centres_are_those_of_the_convention(void **state) {
    (void)state;
    static const double standard[DB_CONVENTION_COUNT][2] = {
        [DB_CONVENTION_MOSFLM] = { 2.05, 3.05 }, [DB_CONVENTION_DENZO] = { 2.05, 3.05 },
        [DB_CONVENTION_ADXV] = { 3.05, 1.95 },   [DB_CONVENTION_XDS] = { 2.45, 2 },
        [DB_CONVENTION_DIALS] = { 2.45, 2 },     [DB_CONVENTION_CUSTOM] = { 2.45, 2 },
    };
    for (int convention = 0; convention < DB_CONVENTION_COUNT; convention++) {
        db_setup setup;
        db_setup_init(&setup);
        setup.convention = (db_convention)convention;
        setup.detector_pixels[0] = 60;
        setup.detector_pixels[1] = 40;
        setup.org[0] = 25; /* is a default of X where the convention knows it */
        double centre[2];
        expect_ok(test_context(), db_setup_beam_centre(test_context(), &setup, centre));
        for (int i = 0; i < 2; i++)
            if (!(fabs(centre[i] - standard[convention][i]) < 1e-12))
                fail_msg("convention %d: %g %g", convention, centre[0], centre[1]);
        setup.beam_centre[1] = 7;
        expect_ok(test_context(), db_setup_beam_centre(test_context(), &setup, centre));
        assert_true(fabs(centre[0] - standard[convention][0]) < 1e-12 && centre[1] == 7);
    }
    db_setup setup;
    double centre[2];
    db_setup_init(&setup);
    setup.convention = (db_convention)99;
    expect_failure(test_context(), DB_ERROR_USAGE,
                   db_setup_beam_centre(test_context(), &setup, centre), "99");
}

static void noise_is_cut_off(void **state) {
    (void)state;
    db_experiment experiment;
    make_experiment(DB_CONVENTION_MOSFLM, 0, no_rotation, &experiment);
    image[7] = 2.75f;
    const db_smv_style style = { .truncate = 1 };
    const char *path = folder_path("cut.img");
    expect_ok(test_context(),
              db_write_smv(test_context(), path, &experiment, image, 1, 40, &style));
    size_t size;
    char *text = load_file(path, &size);
    uint16_t counts;
    memcpy(&counts, text + (size_t)smv_number(text, "HEADER_BYTES") + 14, 2);
    assert_int_equal(counts, 42);
    free(text);
    image[7] = 0;
    db_experiment_clear(&experiment);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_fills_whole_blocks_and_ends_where_it_says),
        cmocka_unit_test(every_value_describes_the_final_placement),
        cmocka_unit_test(adsc_readers_reconstruct_an_untilted_detector),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(counts_are_rounded_and_clipped),
        cmocka_unit_test(the_automatic_scale_puts_the_largest_pixel_at_55000),
        cmocka_unit_test(a_detector_that_the_beam_misses_has_no_beam_centre),
        cmocka_unit_test(what_smv_cannot_hold_is_refused),
        cmocka_unit_test(the_reference_image_is_reproduced),
        cmocka_unit_test(the_reference_header_is_reproduced),
        cmocka_unit_test(beam_centres_are_those_of_the_convention),
        cmocka_unit_test(noise_is_cut_off),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
