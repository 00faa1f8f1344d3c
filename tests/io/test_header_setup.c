/* Experiments set up from the headers of images. */
#include "cbf_file.h"
#include "support/expect.h"
#include "files_for_tests.h"
#include "smv_file.h"

#include <dualbragg/expert/setup_defaults.h>
#include <dualbragg/io.h>
#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/setup.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>
#include <dualbragg/expert/sensor_depth.h>

#include "base/degree.h"

#include <math.h>
#include <stdlib.h>

enum { FAST = 60, SLOW = 40 };
static float pixels[FAST * SLOW];

static char notice[600];
static void keep_notice(void *user, const char *line) {
    (void)user;
    snprintf(notice, sizeof notice, "%s", line);
}

static void describe(db_convention convention, double twotheta, double tilt, db_setup *setup) {
    db_setup_init(setup);
    setup->cell[0] = 78;
    setup->wavelength = 0.97934;
    setup->convention = convention;
    setup->pixel_size = 0.1024;
    setup->detector_pixels[0] = FAST;
    setup->detector_pixels[1] = SLOW;
    setup->distance = 123.456;
    if (convention == DB_CONVENTION_XDS || convention == DB_CONVENTION_DIALS) {
        setup->org[0] = 24.25;
        setup->org[1] = 17.75;
    } else {
        setup->beam_centre[0] = 1.3;
        setup->beam_centre[1] = 2.7;
    }
    setup->twotheta = twotheta;
    setup->rotation[0] = tilt;
    setup->rotation[1] = -2 * tilt;
    setup->phi = 12.5;
    setup->osc = 0.5;
    setup->phi_steps = 5;
    setup->oversample = 1;
}

static void resolve(const db_setup *setup, db_experiment *experiment) {
    expect_ok(test_context(), db_setup_resolve(test_context(), setup, experiment, NULL, NULL));
}

static void read_header(const char *path, db_header_role role, db_setup *setup) {
    expect_ok(test_context(), db_setup_read_header(test_context(), path, role, setup, NULL, NULL));
}

static void from_header(const char *path, db_setup *setup) {
    db_setup_init(setup);
    setup->cell[0] = 78;
    setup->oversample = 1;
    read_header(path, DB_HEADER_OF_IMAGE, setup);
}

/* Largest distance between the same pixel of two detectors (mm). */
static double apart(const db_experiment *a, const db_experiment *b) {
    double worst = 0;
    for (int corner = 0; corner < 4; corner++) {
        double p[3], q[3];
        (void)db_experiment_pixel_position(a, 0, corner & 1 ? FAST : 0, corner & 2 ? SLOW : 0, p);
        (void)db_experiment_pixel_position(b, 0, corner & 1 ? FAST : 0, corner & 2 ? SLOW : 0, q);
        for (int i = 0; i < 3; i++) worst = fmax(worst, fabs(p[i] - q[i]));
    }
    return worst;
}

static void an_image_sets_up_its_own_experiment(void **state) {
    (void)state;
    for (int convention = DB_CONVENTION_MOSFLM; convention <= DB_CONVENTION_DIALS; convention++)
        for (int variant = 0; variant < 8; variant++) {
            db_setup setup, again;
            db_experiment first, second;
            describe((db_convention)convention, variant & 1 ? 12 : 0, variant & 2 ? 1.5 : 0,
                     &setup);
            if (variant & 4) {
                setup.pivot =
                    convention < DB_CONVENTION_XDS ? (int)DB_PIVOT_SAMPLE : (int)DB_PIVOT_BEAM;
                setup.distance = NAN;
                setup.close_distance = 100;
            }
            resolve(&setup, &first);
            const db_smv_style style = { .convention =
                                             db_convention_name((db_convention)convention) };
            const char *path = folder_path("own.img");
            expect_ok(test_context(), db_write_smv(test_context(), path, &first, pixels, 1, 40,
                                                   convention || variant != 1 ? &style : NULL));
            from_header(path, &again);
            resolve(&again, &second);
            if (!(apart(&first, &second) < 1e-8))
                fail_msg("convention %d variant %d: %g mm", convention, variant,
                         apart(&first, &second));
            assert_int_equal(second.detector.pivot, first.detector.pivot);
            assert_memory_equal(second.beam.direction, first.beam.direction, 3 * sizeof(double));
            assert_memory_equal(second.goniometer.spindle_axis, first.goniometer.spindle_axis,
                                3 * sizeof(double));
            assert_true(second.beam.wavelength == first.beam.wavelength);
            assert_true(second.goniometer.phi == 12.5);
            assert_int_equal(second.goniometer.phi_steps, 5);
            assert_true(fabs(second.goniometer.phi_step - 0.1) < 1e-12);
            assert_true(second.detector.twotheta == first.detector.twotheta);
            db_experiment_clear(&first);
            db_experiment_clear(&second);
        }
}

static void an_image_tells_of_its_sensor(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        db_setup setup, again;
        db_experiment first, second;
        describe(DB_CONVENTION_MOSFLM, 0, 0, &setup);
        setup.sensor_thickness = 320;
        if (variant & 1) setup.attenuation_depth = 250;
        if (variant & 2) setup.sensor_material = DB_SENSOR_SI;
        resolve(&setup, &first);
        const char *path = folder_path("sensor.img");
        expect_ok(test_context(), db_write_smv(test_context(), path, &first, pixels, 1, 40, NULL));
        from_header(path, &again);
        resolve(&again, &second);
        const db_detector *d = &second.detector;
        assert_true(fabs(d->sensor_thickness - 320) < 1e-9);
        assert_true(fabs(d->attenuation_depth - first.detector.attenuation_depth) < 1e-9);
        assert_int_equal(d->sensor_material, variant & 2 ? DB_SENSOR_SI : DB_SENSOR_UNKNOWN);
        assert_int_equal(d->layers_at_front, 0);
        db_experiment_clear(&first);
        db_experiment_clear(&second);
    }
}

/* "# Silicon sensor, thickness 0.000450 m" */
static void a_minicbf_tells_of_its_sensor(void **state) {
    (void)state;
    static const int64_t values[4] = { 1, 2, 3, 4 };
    static const struct {
        const char *line;
        db_sensor_material material;
        double thickness; /* um; 0: none that could be used */
    } rows[] = {
        { "# Silicon sensor, thickness 0.000450 m", DB_SENSOR_SI, 450 },
        { "# CdTe sensor, thickness 0.001000 m", DB_SENSOR_CDTE, 1000 },
        { "# Silicon sensor thickness: 3.2e-4 m", DB_SENSOR_SI, 320 },
        { "# Gadox sensor, thickness 0.0003 m", DB_SENSOR_UNKNOWN, 0 },
        { "# Silicon sensor", DB_SENSOR_UNKNOWN, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char header[400];
        db_setup setup;
        db_experiment e;
        double depth;
        snprintf(header, sizeof header,
                 "# Detector: PILATUS 6M\r\n%s\r\n# Pixel_size 172e-6 m x 172e-6 m\r\n# Wavelength "
                 "0.96 A\r\n# Detector_distance 0.2 m\r\n# Beam_xy (1, 1) pixels\r\n",
                 rows[i].line);
        from_header(cbf_file("sensor.cbf", header, values, 2, 2), &setup);
        resolve(&setup, &e);
        assert_true(fabs(e.detector.sensor_thickness - rows[i].thickness) < 1e-9);
        if (rows[i].thickness > 0) {
            expect_ok(test_context(),
                      db_sensor_attenuation_depth(test_context(), rows[i].material, 0.96, &depth));
            assert_true(fabs(e.detector.attenuation_depth - depth) < 1e-9);
            assert_int_equal(e.detector.sensor_material, rows[i].material);
            assert_int_equal(e.detector.layers_at_front, 0);
        }
        db_experiment_clear(&e);
    }
    db_measured_image image;
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_image(test_context(),
                                 cbf_file("sensor.cbf", "# Silicon sensor, thickness none m\r\n",
                                          values, 2, 2),
                                 &image),
                   "thickness of the sensor");
}

static void what_the_user_says_wins(void **state) {
    (void)state;
    db_setup setup, again;
    db_experiment first, second;
    describe(DB_CONVENTION_MOSFLM, 12, 0, &setup);
    resolve(&setup, &first);
    const db_smv_style style = { .convention = "mosflm" };
    const char *path = folder_path("own.img");
    expect_ok(test_context(), db_write_smv(test_context(), path, &first, pixels, 1, 40, &style));
    db_experiment_clear(&first);

    from_header(path, &again);
    again.distance = setup.distance = 90;
    again.beam_centre[0] = setup.beam_centre[0] = 2.2; /* along slow; the other coordinate stays */
    again.wavelength = 1.1;
    again.phi_step = 0.25; /* over the header's range */
    resolve(&setup, &first);
    resolve(&again, &second);
    assert_true(apart(&first, &second) < 1e-8);
    assert_true(second.beam.wavelength == 1.1);
    assert_int_equal(second.goniometer.phi_steps, 2);
    db_experiment_clear(&first);
    db_experiment_clear(&second);

    /* in another convention the header's point stays where it is on the panel */
    from_header(path, &again);
    again.convention = DB_CONVENTION_ADXV;
    again.twotheta = 0;
    resolve(&again, &second);
    double spot[3];
    (void)db_experiment_pixel_position(&second, 0, 2.7 / 0.1024 + 0.5, 1.3 / 0.1024 + 0.5, spot);
    assert_true(hypot(spot[0], spot[1]) < 1e-8 && fabs(spot[2] - 123.456) < 1e-8);
    db_experiment_clear(&second);
}

/* Shape and layout of the files below. */
#define SHAPE "DIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=60;\nSIZE2=40;\n"
static const uint16_t counts[FAST * SLOW];

static const char *smv(const char *name, const char *keys) {
    return smv_file(name, keys, counts, sizeof counts);
}

static void foreign_headers_are_understood(void **state) {
    (void)state;
    static const struct {
        const char *keys;
        double fast, slow; /* direct beam (mm) */
    } cases[] = {
        { SHAPE "PIXEL_SIZE=0.1;\nDISTANCE=100;\nBEAM_CENTER_X=1.5;\nBEAM_CENTER_Y=2.5;\n", 2.5,
          1.5 },
        { SHAPE "PIXEL_SIZE=0.1;\nDISTANCE=100;\nBEAM_CENTER_X=9;\nBEAM_CENTER_Y=9;\n"
                "MOSFLM_CENTER_X=1.5;\nMOSFLM_CENTER_Y=2.5;\n",
          2.55, 1.55 },
        { SHAPE "PIXEL_SIZE=0.1;\nDISTANCE=100;\nMOSFLM_CENTER_X=9;\nMOSFLM_CENTER_Y=9;\n"
                "DENZO_X_BEAM=1.5;\nDENZO_Y_BEAM=2.5;\n",
          2.5, 1.5 },
        { SHAPE "PIXEL_SIZE=0.1;\nCLOSE_DISTANCE=100;\nBEAM_CENTER_X=9;\nBEAM_CENTER_Y=9;\n"
                "XDS_ORGX=25.5;\nXDS_ORGY=15.5;\n",
          2.5, 1.5 },
    };
    static const db_convention conventions[] = { DB_CONVENTION_MOSFLM, DB_CONVENTION_ADXV,
                                                 DB_CONVENTION_XDS };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int c = 0; c < 3; c++) {
            db_setup setup;
            db_experiment experiment;
            from_header(smv("foreign.img", cases[i].keys), &setup);
            setup.convention = conventions[c];
            resolve(&setup, &experiment);
            double spot[3];
            (void)db_experiment_pixel_position(&experiment, 0, cases[i].fast / 0.1,
                                               cases[i].slow / 0.1, spot);
            for (int k = 0; k < 3; k++)
                if (!(fabs(spot[k] - 100 * experiment.beam.direction[k]) < 1e-9))
                    fail_msg("case %zu, convention %d: direct beam off", i, c);
            db_experiment_clear(&experiment);
        }
}

/* Two-theta turns near point and direct beam into different points; each yields the other. */
static void one_point_and_one_distance_are_enough(void **state) {
    (void)state;
    db_setup setup;
    db_experiment by_beam, by_near;
    from_header(smv("a.img", SHAPE "PIXEL_SIZE=0.1;\nDISTANCE=100;\nTWOTHETA=20;\n"
                                   "CONVENTION=mosflm;\n"
                                   "DENZO_X_BEAM=1.5;\nDENZO_Y_BEAM=2.5;\n"),
                &setup);
    resolve(&setup, &by_beam);
    double corner[3], fast[3], slow[3], z = 0, near[2] = { 0, 0 };
    (void)db_experiment_pixel_position(&by_beam, 0, 0, 0, corner);
    (void)db_experiment_pixel_position(&by_beam, 0, 10, 0, fast);
    (void)db_experiment_pixel_position(&by_beam, 0, 0, 10, slow);
    for (int i = 0; i < 3; i++) {
        near[0] -= corner[i] * (fast[i] - corner[i]);
        near[1] -= corner[i] * (slow[i] - corner[i]);
        z += corner[i] * corner[i];
    }
    z = sqrt(z - near[0] * near[0] - near[1] * near[1]);
    char keys[400];
    snprintf(keys, sizeof keys,
             SHAPE "PIXEL_SIZE=0.1;\nCLOSE_DISTANCE=%.15g;\nTWOTHETA=20;\nXDS_ORGX=%.15g;\n"
                   "CONVENTION=mosflm;\n"
                   "XDS_ORGY=%.15g;\n",
             z, near[0] / 0.1 + 0.5, near[1] / 0.1 + 0.5);
    from_header(smv("b.img", keys), &setup);
    for (int pivot = 0; pivot < 2; pivot++) {
        setup.pivot = pivot;
        resolve(&setup, &by_near);
        assert_true(apart(&by_beam, &by_near) < 1e-9);
        db_experiment_clear(&by_near);
    }
    db_experiment_clear(&by_beam);
}

/* Of headers of detectors; the corner at two-theta 0 and the axes are turned about the spindle, in its sense, as
 * dxtbx does for detectors on an arm. The point closest to the sample stays. */
static void an_arm_swings_about_the_sample(void **state) {
    (void)state;
    static const int64_t values[FAST * SLOW] = { 0 };
    static const char smv_keys[] = SHAPE "PIXEL_SIZE=0.1;\nDISTANCE=100;\nTWOTHETA=-25;\n";
    char near[400], beam[400];
    snprintf(beam, sizeof beam, "%sBEAM_CENTER_X=1.5;\nBEAM_CENTER_Y=2.5;\n", smv_keys);
    snprintf(near, sizeof near,
             "%sDENZO_X_BEAM=9;\nDENZO_Y_BEAM=9;\nXDS_ORGX=25.5;\nXDS_ORGY=15.5;\n", smv_keys);
    const char *const paths[] = {
        cbf_file("arm.cbf",
                 "# Pixel_size 1e-4 m x 1e-4 m\r\n# Detector_distance 0.1 m\r\n"
                 "# Beam_xy (25.0, 15.0) pixels\r\n# Detector_2theta -25.0 deg.\r\n",
                 values, FAST, SLOW),
        smv("arm.img", beam),
        smv("near.img", near),
    };
    const double angle = -25 * DB_DEGREE, c = cos(angle), s = sin(angle);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        db_setup setup;
        db_experiment experiment;
        db_setup_init(&setup);
        setup.cell[0] = 78;
        *notice = '\0';
        expect_ok(test_context(), db_setup_read_header(test_context(), paths[i], DB_HEADER_OF_IMAGE,
                                                       &setup, keep_notice, NULL));
        resolve(&setup, &experiment);
        for (int corner = 0; corner < 4; corner++) {
            const int fast = corner & 1 ? FAST : 0, slow = corner & 2 ? SLOW : 0;
            /* beam, up, spindle */
            const double up = 1.5 - 0.1 * slow, along = 0.1 * fast - 2.5;
            const double expected[3] = { 100 * c - up * s, 100 * s + up * c, along };
            double found[3];
            (void)db_experiment_pixel_position(&experiment, 0, fast, slow, found);
            for (int k = 0; k < 3; k++)
                if (!(fabs(found[k] - expected[k]) < 1e-9))
                    fail_msg("%s, corner %d: %g instead of %g", paths[i], corner, found[k],
                             expected[k]);
        }
        db_experiment_clear(&experiment);
    }
}

static void missing_keys_leave_the_defaults_and_say_so(void **state) {
    (void)state;
    db_setup setup;
    db_experiment experiment, standard;
    db_setup_init(&setup);
    setup.cell[0] = 78;
    setup.detector_pixels[0] = FAST;
    setup.detector_pixels[1] = SLOW;
    resolve(&setup, &standard);
    *notice = '\0';
    expect_ok(test_context(), db_setup_read_header(test_context(), smv("bare.img", SHAPE),
                                                   DB_HEADER_OF_IMAGE, &setup, keep_notice, NULL));
    assert_non_null(strstr(notice, "bare.img"));
    assert_non_null(strstr(notice, "pixel size, wavelength, distance, beam centre"));
    resolve(&setup, &experiment);
    assert_true(apart(&standard, &experiment) == 0);
    assert_true(experiment.beam.wavelength == standard.beam.wavelength);
    db_experiment_clear(&experiment);
    db_experiment_clear(&standard);
}

#define REFERENCE                                                                                  \
    SHAPE "PIXEL_SIZE=0.5;\nDISTANCE=70;\nWAVELENGTH=1.3;\nBEAM_CENTER_X=12;\nBEAM_CENTER_Y=6;\n"  \
          "DENZO_X_BEAM=1;\nDENZO_Y_BEAM=1;\nXDS_ORGX=30.5;\nXDS_ORGY=20.5;\n"                     \
          "CLOSE_DISTANCE=68.9365;\nPHI=5;\nOSC_RANGE=0.5;\nTWOTHETA=10;\n"

static void the_reference_reads_the_last_place_a_text_occurs(void **state) {
    (void)state;
    db_setup setup;
    db_setup_init(&setup);
    setup.compat = 1;
    const char *path = smv("reference.img", REFERENCE);
    read_header(path, DB_HEADER_OF_IMAGE, &setup);
    assert_int_equal(setup.detector_pixels[0], FAST);
    assert_int_equal(setup.detector_pixels[1], SLOW);
    assert_true(setup.pixel_size == 0.5 && setup.wavelength == 1.3);
    assert_true(setup.distance == 68.9365); /* that of CLOSE_DISTANCE */
    assert_true(setup.close_distance == 68.9365);
    assert_true(setup.beam_centre[0] == 12 && setup.beam_centre[1] == 6);
    assert_true(setup.org[0] == 30.5 && setup.org[1] == 20.5); /* of XDS_ORGX, XDS_ORGY */
    assert_true(setup.phi == 5 && setup.osc == 0.5);
    assert_true(setup.twotheta == 0);
    read_header(path, DB_HEADER_OF_MASK, &setup);
    assert_true(setup.beam_centre[1] == 14); /* of 40 x 0.5 mm */

    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_setup_read_header(test_context(), smv("bad.img", SHAPE "WAVELENGTH=long;\n"),
                                        DB_HEADER_OF_IMAGE, &setup, NULL, NULL),
                   "bad.img", "WAVELENGTH", "long");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_setup_read_header(test_context(), folder_text("mini.cbf", "###CBF: 1.5\n"),
                                        DB_HEADER_OF_IMAGE, &setup, NULL, NULL),
                   "mini.cbf", "SMV");
}

/* Two-theta of a file of the reference: its near point and close distance are right, the others
 * are not. */
static void the_reference_image_stands_where_it_was_simulated(void **state) {
    (void)state;
    db_setup setup;
    db_experiment experiment;
    db_setup_init(&setup);
    setup.cell[0] = 78;
    read_header(golden_path("reference/io_basic.int.img"), DB_HEADER_OF_IMAGE, &setup);
    resolve(&setup, &experiment);
    const double origin[3] = { 71.30660579084568, 12.431523692103416, -16.5 };
    double corner[3];
    (void)db_experiment_pixel_position(&experiment, 0, 0, 0, corner);
    for (int i = 0; i < 3; i++) assert_true(fabs(corner[i] - origin[i]) < 1e-4); /* six digits */
    assert_true(experiment.detector.twotheta == 6);
    db_experiment_clear(&experiment);
}

static void bad_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *keys, *found;
    } cases[] = {
        { "SIZE1=0;\nSIZE2=40;\n", "SIZE1" },
        { "SIZE1=60;\nSIZE2=4e12;\n", "SIZE2" },
        { "SIZE1=60.5;\nSIZE2=40;\n", "60.5" },
        { "SIZE2=40;\n", "SIZE1" },
        { SHAPE "PIXEL_SIZE=-0.1;\n", "PIXEL_SIZE" },
        { SHAPE "PIXEL_SIZE=nan;\n", "PIXEL_SIZE" },
        { SHAPE "DISTANCE=-70;\n", "DISTANCE" },
        { SHAPE "WAVELENGTH=one;\n", "one" },
        { SHAPE "DENZO_X_BEAM=1;\nDENZO_Y_BEAM=?;\n", "DENZO_Y_BEAM" },
        { SHAPE "TWOTHETA=inf;\n", "TWOTHETA" },
        { SHAPE "CONVENTION=mosfilm;\n", "mosfilm" },
        { SHAPE "CONVENTION=xds;\nPIVOT=table;\n", "table" },
        { SHAPE "DETECTOR_ROTATION=1,2;\n", "DETECTOR_ROTATION" },
        { SHAPE "OSC_STEPS=-3;\n", "OSC_STEPS" },
        { SHAPE "OSC_STEPS=1e9;\n", "OSC_STEPS" },
        { "DETECTOR_NAMES=CCD_;\nCCD_DETECTOR_DIMENSIONS=60;\n", "CCD_DETECTOR_DIMENSIONS" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        db_setup setup;
        db_setup_init(&setup);
        expect_failure(test_context(), DB_ERROR_INPUT,
                       db_setup_read_header(test_context(), smv("bad.img", cases[i].keys),
                                            DB_HEADER_OF_IMAGE, &setup, NULL, NULL),
                       "bad.img", cases[i].found);
    }
    db_setup setup;
    db_setup_init(&setup);
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_setup_read_header(test_context(),
                                        folder_text("cut.img", "{\nHEADER_BYTES=512;\nSIZE1=4"),
                                        DB_HEADER_OF_IMAGE, &setup, NULL, NULL),
                   "cut.img", "truncated");
    expect_failure(test_context(), DB_ERROR_FILE,
                   db_setup_read_header(test_context(), folder_path("none.img"), DB_HEADER_OF_IMAGE,
                                        &setup, NULL, NULL),
                   "none.img");
}

static void the_shape_may_stand_in_dtrek_keys(void **state) {
    (void)state;
    db_setup setup;
    from_header(smv("dtrek.img", "DETECTOR_NAMES=CCD_ OTHER_;\nCCD_DETECTOR_DIMENSIONS=60 40;\n"),
                &setup);
    assert_int_equal(setup.detector_pixels[0], 60);
    assert_int_equal(setup.detector_pixels[1], 40);
}

static void minicbf_headers_are_understood(void **state) {
    (void)state;
    static const int64_t values[6] = { 0 };
    const char *path = cbf_file("a.cbf",
                                "# Pixel_size 172e-6 m x 172e-6 m\r\n# Wavelength 0.96859 A\r\n"
                                "# Detector_distance 0.351 m\r\n# Beam_xy (12.5, 7.25) pixels\r\n"
                                "# Start_angle 89.5 deg.\r\n# Angle_increment 0.25 deg.\r\n",
                                values, 3, 2);
    db_setup setup;
    db_experiment experiment;
    db_measured_image image;
    from_header(path, &setup);
    setup.convention = DB_CONVENTION_XDS;
    resolve(&setup, &experiment);
    assert_int_equal(experiment.detector.panels[0].fast_pixels, 3);
    assert_int_equal(experiment.detector.panels[0].slow_pixels, 2);
    assert_true(fabs(experiment.beam.wavelength - 0.96859) < 1e-12);
    assert_true(experiment.goniometer.phi == 89.5);
    expect_ok(test_context(), db_read_image(test_context(), path, &image));
    double spot[3];
    (void)db_experiment_pixel_position(&experiment, 0, image.beam_centre[0], image.beam_centre[1],
                                       spot);
    assert_true(hypot(spot[0], spot[1]) < 1e-9 && fabs(spot[2] - 351) < 1e-9);
    db_measured_image_clear(&image);
    db_experiment_clear(&experiment);

    /* backwards; a still, which is not turned; a width that is not stated */
    static const struct {
        const char *width;
        double phi, osc;
    } scans[] = { { "# Angle_increment -0.25 deg.\r\n", 89.5, -0.25 },
                  { "# Angle_increment 0.000001 deg.\r\n", 0, NAN },
                  { "# Angle_increment 0.0 deg.\r\n", 0, NAN },
                  { "", 89.5, NAN } };
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) {
        char header[120];
        snprintf(header, sizeof header, "# Start_angle 89.5 deg.\r\n%s", scans[i].width);
        from_header(cbf_file("s.cbf", header, values, 3, 2), &setup);
        assert_true(setup.phi == scans[i].phi);
        assert_true(isnan(scans[i].osc) ? isnan(setup.osc) : setup.osc == scans[i].osc);
    }

    expect_failure(test_context(), DB_ERROR_UNSUPPORTED,
                   db_setup_read_header(
                       test_context(),
                       cbf_file("b.cbf", "# Pixel_size 172e-6 m x 173e-6 m\r\n", values, 3, 2),
                       DB_HEADER_OF_IMAGE, &setup, NULL, NULL),
                   "b.cbf", "square");
}

static void masks_are_zeros_of_any_type(void **state) {
    (void)state;
    static const uint16_t words[6] = { 0, 1, 40, 0, 0x0100, 65535 };
    static const float numbers[6] = { 0, 1e-30f, -3, -0.0f, 2, 7 };
    const uint8_t expected[6] = { 0, 1, 1, 0, 1, 1 };
    uint8_t mask[6];
    static const char shape[] = "DIM=2;\nSIZE1=3;\nSIZE2=2;\nBEAMLINE=fake;\n";
    char keys[200];
    for (int big = 0; big < 2; big++) { /* zero is zero in any order of bytes */
        snprintf(keys, sizeof keys, "%sTYPE=unsigned_short;\nBYTE_ORDER=%s_endian;\n", shape,
                 big ? "big" : "little");
        expect_ok(
            test_context(),
            db_read_mask(test_context(), smv_file("m.img", keys, words, sizeof words), 3, 2, mask));
        assert_memory_equal(mask, expected, 6);
    }
    snprintf(keys, sizeof keys, "%sTYPE=float;\nBYTE_ORDER=little_endian;\n", shape);
    const char *path = smv_file("f.img", keys, numbers, sizeof numbers);
    expect_ok(test_context(), db_read_mask(test_context(), path, 3, 2, mask));
    assert_memory_equal(mask, expected, 6);
    expect_failure(test_context(), DB_ERROR_INPUT, db_read_mask(test_context(), path, 2, 3, mask),
                   "f.img", "2 x 3", "3 x 2");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_mask(test_context(), smv_file("s.img", keys, numbers, 20), 3, 2, mask),
                   "s.img", "truncated");
    expect_failure(test_context(), DB_ERROR_INPUT,
                   db_read_mask(test_context(), folder_text("t.img", "0 0 0"), 3, 2, mask), "t.img",
                   "SMV");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_image_sets_up_its_own_experiment),
        cmocka_unit_test(an_image_tells_of_its_sensor),
        cmocka_unit_test(a_minicbf_tells_of_its_sensor),
        cmocka_unit_test(what_the_user_says_wins),
        cmocka_unit_test(foreign_headers_are_understood),
        cmocka_unit_test(one_point_and_one_distance_are_enough),
        cmocka_unit_test(an_arm_swings_about_the_sample),
        cmocka_unit_test(missing_keys_leave_the_defaults_and_say_so),
        cmocka_unit_test(the_reference_reads_the_last_place_a_text_occurs),
        cmocka_unit_test(the_reference_image_stands_where_it_was_simulated),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(the_shape_may_stand_in_dtrek_keys),
        cmocka_unit_test(minicbf_headers_are_understood),
        cmocka_unit_test(masks_are_zeros_of_any_type),
    };
    return cmocka_run_group_tests(tests, folder_setup, folder_teardown);
}
