#define _XOPEN_SOURCE 700
/* From a configuration and an image header to the starting experiment, and from a refined one back
 * to a configuration. */

#include "support/unit_test.h"
#include "support/notices.h"
#include "fit/scratch_file.h"
#include "fit/synthetic_result.h"
#include "fit/config/physical_range.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/sensor_depth.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static synthetic made_up;
static db_fit_config config;
static db_experiment start;
static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    return synthetic_make(context, &made_up) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    synthetic_clear(&made_up);
    db_context_destroy(&context);
    return 0;
}

static db_status begin(const char *text, const db_measured_image *image) {
    notices[0] = '\0';
    db_experiment_clear(&start);
    if (db_fit_config_read(context, scratch_file("start.yaml", text), NULL, 0, &config) != DB_OK)
        fail_msg("%s", db_context_message(context));
    return db_fit_config_start(context, &config, image, &start, keep_notice, NULL);
}

static void close_to(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance * fmax(1, fabs(b)))) fail_msg("%.17g instead of %.17g", a, b);
}

#define CELL "model: {cell: [58.4, 58.4, 152.2, 90, 90, 90], misset: [10, 20, 30]"
#define REFINE "\nrefine: {misset_x: {range: 0.5}}\n"

static void the_header_gives_the_geometry(void **state) {
    (void)state;
    assert_int_equal(begin(CELL "}" REFINE, &made_up.image), DB_OK);
    assert_true(start.beam.wavelength == 0.97 && start.beam.polarization == 0.98);
    assert_true(start.detector.distance == 200 && start.detector.twotheta == 0);
    assert_int_equal(start.detector.panels[0].fast_pixels, SYNTHETIC_FAST);
    close_to(start.detector.centre[0], 211.25 * 0.2, 1e-14);
    close_to(start.detector.centre[1], 188.5 * 0.2, 1e-14);
    assert_true(start.goniometer.phi ==
                0); /* the header's 90 is the goniometer's, not the matrix's */
    assert_int_equal(start.goniometer.phi_steps, 1);
    assert_true(config.settings.gain == 1);
    close_to(config.settings.parameters[0].lower, 9.5, 1e-14);
    close_to(config.settings.parameters[0].upper, 10.5, 1e-14);
    assert_true(config.settings.stage_count > 0);
}

/* tests/fuzz/corpus/axes.cbf: an arm at 20 degree, three circles of which the outermost turns. */
static void an_image_with_axes_is_its_own_list(void **state) {
    (void)state;
    char path[600], text[1200];
    const char *const source = getenv("SOURCE_DIR"), *const slash = strrchr(__FILE__, '/');
    if (source)
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/axes.cbf", source);
    else
        snprintf(path, sizeof path, "%.*s/../fuzz/corpus/axes.cbf", (int)(slash - __FILE__),
                 __FILE__);
    char *const whole = realpath(path, NULL);
    assert_non_null(whole);
    snprintf(text, sizeof text, "image: %s\n%s%s", whole, CELL "}", REFINE);
    db_measured_image image;
    assert_int_equal(db_read_image(context, whole, &image), DB_OK);
    if (begin(text, &image) != DB_OK) fail_msg("%s", db_context_message(context));
    const double c = cos(20 * 0.01745329251994329577), s = sin(20 * 0.01745329251994329577);
    const double corner[3] = { -3, -5 * c + 103 * s, -5 * s - 103 * c };
    double found[3];
    assert_int_equal(db_experiment_pixel_position(&start, 0, 0, 0, found), DB_OK);
    for (int i = 0; i < 3; i++) close_to(found[i], corner[i], 1e-9);
    close_to(start.goniometer.spindle_axis[0], 1, 1e-12);
    close_to(start.goniometer.phi, 30, 1e-12);
    close_to(start.goniometer.phi_step * start.goniometer.phi_steps, 0.5, 1e-12);
    assert_true(start.beam.wavelength == 0.75);
    close_to(start.beam.polarization, 0.9, 1e-12);
    assert_string_equal(config.expt_file, whole);
    /* flags go over the axes */
    snprintf(text, sizeof text, "image: %s\n%s%s", whole,
             CELL ", distance: 150, beam_centre_px: [1, 2]}", REFINE);
    if (begin(text, &image) != DB_OK) fail_msg("%s", db_context_message(context));
    assert_true(start.detector.distance == 150 && !*config.expt_file);
    db_measured_image_clear(&image);
    free(whole);
}

static void what_is_given_goes_over_the_header(void **state) {
    (void)state;
    assert_int_equal(
        begin(
            CELL
            ", wavelength: 1.1, beam_centre_px: [200, 100], distance: 150, osc: 0.5, phi_steps: 5}"
            "\ndata: {gain: 2}" REFINE,
            &made_up.image),
        DB_OK);
    assert_true(start.beam.wavelength == 1.1 && start.detector.distance == 150);
    close_to(start.detector.centre[0], 40, 1e-14);
    close_to(start.detector.centre[1], 20, 1e-14);
    assert_int_equal(start.goniometer.phi_steps, 5);
    assert_true(config.settings.gain == 2);
}

static void expect_sensor(const char *model, const db_measured_image *image, double thickness,
                          double depth) {
    char text[400];
    snprintf(text, sizeof text, CELL "%s}" REFINE, model);
    if (begin(text, image) != DB_OK) fail_msg("%s: %s", model, db_context_message(context));
    close_to(start.detector.sensor_thickness, thickness, 1e-12);
    if (thickness > 0) close_to(start.detector.attenuation_depth, depth, 1e-12);
    assert_int_equal(start.detector.layers_at_front, 0);
}

static void the_header_gives_the_sensor(void **state) {
    (void)state;
    db_measured_image image = made_up.image;
    double silicon, telluride;
    assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_SI, 0.97, &silicon), DB_OK);
    assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_CDTE, 1.1, &telluride), DB_OK);
    expect_sensor("", &image, 0, 0);
    image.sensor_thickness = 450;
    image.attenuation_depth = NAN;
    expect_sensor("", &image, 0, 0); /* of what is not known */
    image.sensor_material = DB_SENSOR_SI;
    expect_sensor("", &image, 450, silicon);
    assert_non_null(strstr(notices, "Si at 0.97 A"));
    assert_int_equal(start.detector.sensor_layers, 1);
    expect_sensor(", sensor_layers: 5", &image, 450, silicon);
    assert_int_equal(start.detector.sensor_layers, 5);
    expect_sensor(", sensor_thickness: 0", &image, 0, 0);
    expect_sensor(", sensor_thickness: 320", &image, 320, silicon);
    expect_sensor(", attenuation_depth: 200", &image, 450, 200);
    expect_sensor(", sensor_material: CdTe, wavelength: 1.1", &image, 450, telluride);
    image.sensor_material = DB_SENSOR_UNKNOWN;
    expect_sensor(", attenuation_depth: 200", &image, 450, 200);
    image.attenuation_depth = 222;
    expect_sensor("", &image, 450, 222);
    expect_sensor(", sensor_material: CdTe, wavelength: 1.1", &image, 450, telluride);
}

/* The spectrum's mean is the wavelength, even if an image says otherwise. */
static void a_matrix_is_divided_by_the_mean_of_the_spectrum(void **state) {
    (void)state;
    char text[600];
    db_measured_image image = made_up.image;
    const char *const spectrum = scratch_file("mean.spectrum", "1.2 1\n1.4 1\n"),
                      *const matrix = scratch_file("mean.mat", "0.02 0 0\n0 0.02 0\n0 0 0.02\n");
    snprintf(text, sizeof text,
             "model: {matrix: %s, spectrum: %s, sensor_material: Si, sensor_thickness: 450}" REFINE,
             strrchr(matrix, '/') + 1, strrchr(spectrum, '/') + 1);
    for (int without = 0; without < 2; without++) {
        double depth;
        if (begin(text, &image) != DB_OK) fail_msg("%s", db_context_message(context));
        close_to(start.beam.wavelength, 1.3, 1e-9);
        close_to(start.crystal.cell[0], 65, 1e-9);
        assert_int_equal(db_sensor_attenuation_depth(context, DB_SENSOR_SI, 1.3, &depth), DB_OK);
        close_to(start.detector.attenuation_depth, depth, 1e-9);
        db_experiment_clear(&start); /* completed once more, as where the cell is looked for */
        assert_int_equal(db_fit_config_start(context, &config, &image, &start, NULL, NULL), DB_OK);
        close_to(start.beam.wavelength, 1.3, 1e-9);
        image.wavelength = NAN;
    }
}

/* Energies in keV are no wavelengths where the image's header has the wavelength of these energies. */
static void a_spectrum_in_kev_contradicts_the_header(void **state) {
    (void)state;
    char text[600];
    const char *const spectrum = scratch_file("kev.spectrum", "12.77 1\n12.79 1\n");
    snprintf(text, sizeof text, CELL ", spectrum: %s}" REFINE, strrchr(spectrum, '/') + 1);
    assert_int_equal(begin(text, &made_up.image), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context),
                           "kev.spectrum: expected a mean near the stated "
                           "wavelength, 0.97 A (12781.9 eV), found 12.78 A; "
                           "the file looks like keV"));
}

/* In every convention, with its own meaning of a beam centre, the direct beam meets the pixel that was given.
 */
static void the_beam_meets_its_pixel_in_every_convention(void **state) {
    (void)state;
    static const char *const conventions[] = {
        "mosflm",
        "denzo",
        "adxv",
        "xds",
        "dials",
        "custom",
        "mosflm, pivot: sample",
        "xds, pivot: beam",
        "adxv, pivot: sample",
    };
    for (size_t c = 0; c < sizeof conventions / sizeof conventions[0]; c++)
        for (int given = 0; given < 2; given++) {
            char text[512];
            snprintf(text, sizeof text, CELL ", convention: %s%s}" REFINE, conventions[c],
                     given ? ", beam_centre_px: [123.25, 321.5]" : "");
            if (begin(text, &made_up.image) != DB_OK)
                fail_msg("%s: %s", conventions[c], db_context_message(context));
            const double fast = given ? 123.25 : 211.25, slow = given ? 321.5 : 188.5;
            double position[3];
            assert_int_equal(db_experiment_pixel_position(&start, 0, fast, slow, position), DB_OK);
            for (int i = 0; i < 3; i++) close_to(position[i], 200 * start.beam.direction[i], 1e-12);
        }
}

static void an_oscillation_of_the_header_is_sampled(void **state) {
    (void)state;
    db_measured_image image = made_up.image;
    image.osc_range = 0.5;
    assert_int_equal(begin(CELL "}" REFINE, &image), DB_OK);
    assert_true(start.goniometer.phi_steps >= 5);
    close_to(start.goniometer.phi_step * start.goniometer.phi_steps, 0.5, 1e-14);
}

static void missing_geometry_is_named(void **state) {
    (void)state;
    static const struct {
        const char *more, *message;
    } cases[] = {
        { "", "model.wavelength is not given, and the image header does not have it" },
        { ", wavelength: 1", "model.distance" },
        { ", wavelength: 1, distance: 100", "model.pixel_size" },
        { ", wavelength: 1, distance: 100, pixel_size: 0.1", "model.beam_centre_px" },
        { ", geometry: given, wavelength: 1, distance: 100, pixel_size: 0.1",
          "model.detector_pixels|with geometry: given it" },
        { ", wavelength: 1, distance: 100, pixel_size: 0.1, beam_centre_px: [1, 2], "
          "detector_pixels: [420, 381]",
          "model.detector_pixels: 420 x 381, but the image has 420 x 380" },
    };
    db_measured_image image = made_up.image;
    image.wavelength = image.distance = image.pixel_size[0] = image.pixel_size[1] =
        image.beam_centre[0] = image.beam_centre[1] = image.polarization = NAN;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512], parts[256];
        snprintf(text, sizeof text, CELL "%s}" REFINE, cases[i].more);
        assert_int_not_equal(begin(text, &image), DB_OK);
        snprintf(parts, sizeof parts, "%s", cases[i].message);
        for (char *part = strtok(parts, "|"); part; part = strtok(NULL, "|"))
            if (!strstr(db_context_message(context), part))
                fail_msg("%s", db_context_message(context));
    }
    assert_int_equal(
        begin(CELL
              ", wavelength: 1, distance: 100, pixel_size: 0.1, beam_centre_px: [1, 2]}" REFINE,
              &image),
        DB_OK);
    assert_non_null(strstr(notices, "polarization: not in the image header"));
    image.pixel_size[0] = 0.1;
    image.pixel_size[1] = 0.2;
    assert_int_equal(
        begin(CELL ", wavelength: 1, distance: 100, beam_centre_px: [1, 2]}" REFINE, &image),
        DB_ERROR_UNSUPPORTED);
}

static void bounds_that_exclude_the_start_are_named_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *refine, *message;
    } cases[] = {
        { "misset_x: {min: 11, max: 12}",
          "start.yaml:3: refine.misset_x: the start 10 is below min 11" },
        { "cell_a: {max: 58}", "start.yaml:3: refine.cell_a: the start 58.4 is above max 58" },
        { "mosaic_spread: {min: -1, max: 1}", "bound min -1 is below the possible 0" },
        { "polarization: {max: 2}", "bound max 2 is above the possible 1" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, CELL "}\nrefine:\n  %s\n", cases[i].refine);
        assert_int_equal(begin(text, &made_up.image), DB_ERROR_USAGE);
        if (!strstr(db_context_message(context), cases[i].message))
            fail_msg("%s", db_context_message(context));
    }
    assert_int_equal(begin(CELL "}\ndata: {roi: [0, 419, 0, 380]}" REFINE, &made_up.image),
                     DB_ERROR_USAGE);
    assert_int_equal(begin(CELL "}\ndata: {roi: [0, 419, 0, 379]}" REFINE, &made_up.image), DB_OK);
}

static void ranges_end_where_physics_does_and_open_ones_too(void **state) {
    (void)state;
    assert_int_equal(begin(CELL ", mosaic_rms: 0.1, Ncells: [5, 20, 20]}\nrefine: "
                                "{mosaic_variance: {range: 1}, Na: {range: 10}, Nb: }\n",
                           &made_up.image),
                     DB_OK);
    const db_fit_parameter *const p = config.settings.parameters;
    assert_true(p[0].lower == 0 && p[0].upper == 0.1 * 0.1 + 1);
    assert_true(p[1].lower == 1 && p[1].upper == 15);
    assert_true(p[2].lower == 1 && p[2].upper == DB_LARGE_BLOCKS); /* where nothing is said */
}

static void tied_parameters_start_together(void **state) {
    (void)state;
    assert_int_equal(begin("model: {cell: [58, 59, 152, 90, 90, 90]}\nrefine: {cell_a: , cell_b: "
                           "{follows: cell_a}}\n",
                           &made_up.image),
                     DB_OK);
    assert_true(start.crystal.cell[1] == 58);
    assert_non_null(strstr(notices, "cell_b: starts at 58, the value of cell_a"));
}

/* Parameters that the configuration of this start can say: it has no sensor, no background, and
 * ranges of the beam only where there are any. */
static int is_said(const db_experiment *e, db_parameter p) {
    if (db_parameter_describe(p)->facts->moves & DB_MOVES_BACKGROUND) return 0;
    if (db_parameter_describe(p)->facts->moves & DB_MOVES_SENSOR)
        return e->detector.sensor_thickness > 0;
    if (db_parameter_describe(p)->facts->moves &
            (DB_MOVES_ROTATIONS | DB_MOVES_SPREAD | DB_MOVES_HALO) &&
        !db_parameter_exists(e, p))
        return 0; /* of the other kind of mosaic spread, of halo, or of spots */
    const int range =
        p == DB_DIVERGENCE_HORIZONTAL || p == DB_DIVERGENCE_VERTICAL || p == DB_DISPERSION;
    return !range || db_parameter_get(e, p) != 0;
}

/* Every number of the refined model survives being written and read again. */
static void refined_models_can_be_fed_back(void **state) {
    (void)state;
    static const char *const models[] = {
        "convention: mosflm",
        "convention: denzo, mosaic_spread: 0.2, mosaic_domains: 7, mosaic_seed: 99, shape: round",
        "convention: mosflm, mosaic_abc: [0.1, 0, 0.3], mosaic_domains: 5",
        "convention: mosflm, diffuse_sigma: 0.3, diffuse_gamma: 40",
        "convention: mosflm, diffuse_sigma: [0.3, 0.2, 0.5], diffuse_gamma: 25",
        "convention: mosflm, sensor_thickness: 320, sensor_material: CdTe, sensor_layers: 3",
        "convention: adxv, detector_rotation: [1, 2, 3], polarization: 0.5, dispersion: 1, "
        "dispersion_steps: 3",
        "convention: xds, twotheta: 5, osc: 0.4, phi_steps: 4, phi: 3, beam_tilt: [0.5, -0.25]",
        "convention: dials, close_distance: 123.456, divergence: [0.2, 0.3], divergence_steps: [2, "
        "3]",
        "convention: custom, fast_axis: [0, 0.6, 0.8], slow_axis: [0, -0.8, 0.6], normal: [1, 0, "
        "0], point_pixel: yes",
        "convention: mosflm, spots: closed, tail1: [0.2, 3], divergence_rms: [0.3, 0.1], "
        "divergence_correlation: 0.5, strain_system: tetragonal",
        "convention: dials, spots: closed, mosaic_abc: [0.1, 0, 0.3], divergence: [0.2, 0.3], "
        "dispersion: 1, shape: gauss, osc: 0.4, tail1: [0.2, 3], tail2: [0.1, 8]",
    };
    static const char refine[] =
        "}\nrefine:\n  misset_x: {range: 0.5, scale: 0.03}\n  cell_a: {min: 58, max: 59.5}\n"
        "  cell_b: {follows: cell_a}\n  distance:\n  %s: {range: 0.2}\n"
        "stages: [{refine: [misset_x], blur: 2.5}, {name: fine, algorithm: LD_MMA}]\n"
        "data: {dmin: 2.2, roi: [1, 2, 3, 4]}\n";
    (void)scratch_file("known.hkl", "1 2 3 40\n");
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        char text[1024];
        const int free = strstr(models[m], "closed") != NULL,
                  length = snprintf(text, sizeof text, "%s" CELL ", %s",
                                    free ? "" : "intensity: {hkl: known.hkl}\n", models[m]);
        snprintf(text + length, sizeof text - (size_t)length, refine,
                 free                              ? "mosaic_variance"
                 : strstr(models[m], "mosaic_abc") ? "mosaic_b"
                                                   : "mosaic_spread");
        if (begin(text, &made_up.image) != DB_OK)
            fail_msg("%s: %s", models[m], db_context_message(context));
        db_fit_result result = made_up.result;
        assert_int_equal(db_experiment_copy(context, &start, &result.experiment), DB_OK);
        for (int p = 0; p < DB_PARAMETER_COUNT; p++) { /* numbers with all their digits */
            const double value = db_parameter_get(&result.experiment, (db_parameter)p);
            if (!is_said(&result.experiment, (db_parameter)p)) continue;
            db_parameter_set(&result.experiment, (db_parameter)p,
                             value * (1 + 1e-3 / 7 * (p + 1)) + (value == 0 ? 1e-3 / 3 : 0));
        }
        const double a = result.experiment.crystal.cell[0];
        result.experiment.crystal.cell[1] = a;
        const char *const path = scratch_path("refined.yaml");
        const db_fit_config first = config;
        if (db_fit_write_yaml(context, path, &config, &result) != DB_OK)
            fail_msg("%s", db_context_message(context));
        db_fit_config_init(&config); /* the first one keeps its lists */
        if (db_fit_config_read(context, path, NULL, 0, &config) != DB_OK ||
            (db_experiment_clear(&start),
             db_fit_config_start(context, &config, &made_up.image, &start, NULL, NULL)) != DB_OK)
            fail_msg("%s", db_context_message(context));
        for (int p = 0; p < DB_PARAMETER_COUNT; p++)
            close_to(db_parameter_get(&start, (db_parameter)p),
                     db_parameter_get(&result.experiment, (db_parameter)p), 1e-12);
        double a_star[9], again[9];
        db_crystal_matrix(&result.experiment.crystal, a_star);
        db_crystal_matrix(&start.crystal, again);
        for (int i = 0; i < 9; i++) close_to(again[i], a_star[i], 1e-13);
        for (int corner = 0; corner < 4; corner++) {
            const double fast = corner % 2 ? SYNTHETIC_FAST : 0,
                         slow = corner / 2 ? SYNTHETIC_SLOW : 0;
            double before[3], after[3];
            db_experiment_pixel_position(&result.experiment, 0, fast, slow, before);
            db_experiment_pixel_position(&start, 0, fast, slow, after);
            for (int i = 0; i < 3; i++) close_to(after[i], before[i], 1e-12);
        }
        assert_int_equal(start.oversample, result.experiment.oversample);
        assert_int_equal(start.crystal.mosaic_domains, result.experiment.crystal.mosaic_domains);
        assert_int_equal(start.crystal.mosaic_seed, result.experiment.crystal.mosaic_seed);
        assert_int_equal(start.goniometer.phi_steps, result.experiment.goniometer.phi_steps);
        close_to(start.goniometer.phi_step, result.experiment.goniometer.phi_step, 1e-14);
        assert_int_equal(start.beam.source_count, result.experiment.beam.source_count);
        assert_int_equal(config.settings.parameter_count, first.settings.parameter_count);
        assert_true(config.settings.parameters[0].scale == 0.03 &&
                    config.settings.parameters[0].range == 0.5);
        assert_true(config.settings.parameters[1].lower == 58 &&
                    config.settings.parameters[1].upper == 59.5);
        assert_int_equal(config.settings.parameters[2].follows.number, DB_CELL_A);
        assert_int_equal(config.settings.stage_count, 2);
        assert_string_equal(config.settings.stages[1].nlopt, "LD_MMA");
        assert_true(config.settings.stages[0].blur == 2.5 && config.settings.dmin == 2.2 &&
                    config.settings.roi[3] == 4);
        db_experiment_clear(&result.experiment);
        db_fit_settings first_settings = first.settings;
        db_fit_settings_clear(&first_settings);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_gives_the_geometry),
        cmocka_unit_test(an_image_with_axes_is_its_own_list),
        cmocka_unit_test(what_is_given_goes_over_the_header),
        cmocka_unit_test(the_header_gives_the_sensor),
        cmocka_unit_test(a_matrix_is_divided_by_the_mean_of_the_spectrum),
        cmocka_unit_test(a_spectrum_in_kev_contradicts_the_header),
        cmocka_unit_test(the_beam_meets_its_pixel_in_every_convention),
        cmocka_unit_test(an_oscillation_of_the_header_is_sampled),
        cmocka_unit_test(missing_geometry_is_named),
        cmocka_unit_test(bounds_that_exclude_the_start_are_named_with_their_line),
        cmocka_unit_test(ranges_end_where_physics_does_and_open_ones_too),
        cmocka_unit_test(tied_parameters_start_together),
        cmocka_unit_test(refined_models_can_be_fed_back),
    };
    const int failed = cmocka_run_group_tests(tests, make, drop);
    db_experiment_clear(&start);
    return failed;
}
