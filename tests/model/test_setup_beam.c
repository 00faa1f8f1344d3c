/* Sources, fluence, phi steps and oversampling as users give them. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/setup_defaults.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Divergence in one direction: what is given (range, step in mrad; count), and the points that
 * follow. */
static void divergence_points_follow_from_what_is_given(void **state) {
    (void)state;
    static const struct {
        double range, step;
        int count, points;
        double first, second;
    } rows[] = {
        { NAN, NAN, 0, 1, 0, 0 },    { NAN, 6, 0, 2, -3, 3 },     { 10, NAN, 0, 2, -5, 5 },
        { 15, 6, 0, 3, -6, 0 }, /* 2.5 steps: the nearest even number, centred */
        { 17, 5, 0, 4, -7.5, -2.5 }, { 15, 5, 0, 4, -7.5, -2.5 }, { NAN, NAN, 1, 1, 0, 0 },
        { NAN, 4, 7, 2, -2, 2 },     { 10, NAN, 1, 2, -5, 5 },    { 12, NAN, 4, 4, -6, -2 },
        { 12, 2, 3, 3, -6, -4 },     { 0, NAN, 5, 1, 0, 0 },      { 0, 3, 0, 1, 0, 0 },
    };
    for (int direction = 0; direction < 2; direction++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            db_setup setup = setup_start();
            setup.divergence_range[direction] = rows[i].range / 1000;
            setup.divergence_step[direction] = rows[i].step / 1000;
            setup.divergence_steps[direction] = rows[i].count;
            db_experiment e = setup_resolved(&setup);
            assert_int_equal(e.beam.source_count, rows[i].points);
            setup_assert_close(1e-3 * e.beam.divergence[direction] *
                                   e.beam.sources[0].spread[direction],
                               rows[i].first / 1000, 1e-15);
            if (rows[i].points > 1)
                setup_assert_close(1e-3 * e.beam.divergence[direction] *
                                       e.beam.sources[1].spread[direction],
                                   rows[i].second / 1000, 1e-15);
            db_experiment_clear(&e);
        }
}

static void a_count_without_a_range_is_refused(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.divergence_steps[0] = 3;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "horizontal divergence: 3 steps need a range");
    setup = setup_start();
    setup.divergence_range[1] = -0.001;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "vertical divergence range");
    setup = setup_start();
    setup.divergence_range[1] = 0.001;
    setup.divergence_step[1] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "vertical divergence step");
    setup.divergence_step[1] = 1e-300;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "too many steps");
}

static void a_round_beam_leaves_out_the_corners(void **state) {
    (void)state;
    db_setup setup = setup_start();
    for (int i = 0; i < 2; i++) {
        setup.divergence_range[i] = 0.02;
        setup.divergence_steps[i] = 5;
    }
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 13); /* reference */
    db_experiment_clear(&e);
    setup.round_divergence = 0;
    e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 25);
    db_experiment_clear(&e);
}

static void dispersion_spreads_wavelengths_over_its_full_width(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.dispersion = 0.05;
    setup.dispersion_steps = 6;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 6);
    setup_assert_close(1 + e.beam.dispersion * e.beam.sources[0].spread[2], 0.975, 1e-15);
    setup_assert_close(1 + e.beam.dispersion * e.beam.sources[5].spread[2], 1.025, 1e-15);
    db_experiment_clear(&e);
    setup.dispersion_steps = 0;
    e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 2);
    db_experiment_clear(&e);
    setup.dispersion = 0;
    setup.dispersion_steps = 6;
    e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 1);
    db_experiment_clear(&e);
    setup.dispersion = 2.5; /* wavelengths below 0 */
    setup_assert_refused(&setup, DB_ERROR_INPUT, "wavelength");
}

static void a_source_file_replaces_the_grid(void **state) {
    (void)state;
    setup_write_file("two.src", "-10 0 0 4 1.5e-10\n-10 0.08 0.03 1 1.6e-10\n");
    db_setup setup = setup_start();
    setup.wavelength = 1.5;
    setup.source_file = "two.src";
    setup.divergence_range[0] = 0.01;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 2);
    assert_non_null(strstr(setup_notices(), "not used"));
    setup_assert_close(e.beam.sources[0].wavelength_ratio, 1, 1e-12);
    setup_assert_close(e.beam.sources[1].wavelength_ratio, 1.6 / 1.5, 1e-12);
    setup_assert_close(e.beam.sources[0].weight, 4, 0);
    db_experiment_clear(&e);
    setup.source_file = "no_such.src";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such.src");
}

static void scale_and_tilt_are_those_of_the_beam(void **state) {
    (void)state;
    db_setup setup = setup_start();
    setup.scale = 1.5;
    setup.beam_tilt[0] = 0.5;
    setup.beam_tilt[1] = -0.25;
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.beam.scale, 1.5, 0);
    setup_assert_close(e.beam.tilt[0], 0.5, 0);
    setup_assert_close(e.beam.tilt[1], -0.25, 0);
    db_experiment_clear(&e);
    setup.scale = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "scale: expected a positive number");
}

/* Light of a spectrum of two spikes, whose standard deviation this is (eV), between two energies. */
static double light_of_spikes(double sigma, double low, double high) {
    static const double middle[2] = { 7108, 7131 }, part[2] = { 0.7, 0.3 };
    double sum = 0;
    for (int i = 0; i < 2; i++)
        sum += part[i] * 0.5 *
               (erf((high - middle[i]) / (sigma * sqrt(2))) -
                erf((low - middle[i]) / (sigma * sqrt(2))));
    return sum;
}

/* Spikes of 6 eV, seen by a spectrometer that blurs by 10 eV (full width at half maximum) in channels of 5 eV: what a channel had
 * before comes back within 0.6 % of all light, of the 3 % that the blur moved. */
static void blur_of_a_spectrometer_is_undone(void **state) {
    (void)state;
    const double sharp = 6, blurred = sqrt(36 + pow(10 / 2.35482, 2));
    double moved = 0, left = 0, sum = 0;
    char text[4000] = "";
    for (double e = 7070; e < 7171;
         e += 5) { /* channels without light are left out, and the order is any */
        const double weight = light_of_spikes(blurred, e - 2.5, e + 2.5);
        if (weight > 1e-5) snprintf(text + strlen(text), 100, "%g %.9f\n", e, weight);
    }
    snprintf(text + strlen(text), 100, "7065 0\n");
    setup_write_file("blurred.eV", text);
    db_setup setup = setup_start();
    setup.spectrum_file = "blurred.eV";
    setup.spectrum_resolution = 10;
    db_experiment e = setup_resolved(&setup);
    for (size_t i = 0; i < e.beam.source_count; i++) sum += e.beam.sources[i].weight;
    for (size_t i = 0; i < e.beam.source_count; i++) {
        const double energy = 12398.419843 / db_experiment_source_wavelength(&e, i),
                     channel = 7070 + 5 * rint((energy - 7070) / 5),
                     had = light_of_spikes(sharp, channel - 2.5, channel + 2.5);
        setup_assert_close(energy, channel, 1e-6);
        moved = fmax(moved, fabs(light_of_spikes(blurred, channel - 2.5, channel + 2.5) - had));
        left = fmax(left, fabs(e.beam.sources[i].weight / sum - had));
    }
    assert_true(moved > 0.03);
    assert_true(left < 0.006);
    setup_assert_close(sum, 1, 0.01);
    db_experiment_clear(&e);
    setup.spectrum_resolution = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "spectrum resolution");
    setup.spectrum_resolution = 1e6;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected at most");
    setup_write_file("one.eV", "7100 1\n");
    setup.spectrum_file = "one.eV";
    setup.spectrum_resolution = 10;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a spectrum of several channels");
    setup_write_file("uneven.eV", "7000 1\n7005 3\n7010 2\n7012 1\n");
    setup.spectrum_file = "uneven.eV";
    setup_assert_refused(&setup, DB_ERROR_INPUT, "found channels 2 eV apart at 7010 eV");
    setup_write_file("gaps.eV", "7000 1\n7005.4 3\n7010 2\n7025 1\n");
    setup.spectrum_file = "gaps.eV";
    e = setup_resolved(&setup);
    db_experiment_clear(&e);
    setup_write_file("even.eV", "7000 1\n7005 3\n7010 2\n");
    setup.spectrum_file = "even.eV";
    setup.spectrum_resolution = 0.01;
    setup_assert_refused(&setup, DB_ERROR_INPUT,
                         "expected at least 0.03 of the channels' width, which is 5 eV, since less "
                         "changes nothing, found 0.01 eV; if it is in keV, give 10");
    setup.spectrum_resolution = 0.2;
    e = setup_resolved(&setup);
    db_experiment_clear(&e);
    setup.spectrum_file = "gaps.eV";
    setup.spectrum_resolution = 8000;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected less than the photon energy");
    setup.spectrum_file = NULL;
    e = setup_resolved(&setup);
    assert_non_null(strstr(setup_notices(), "8000 eV has no effect without a spectrum file"));
    db_experiment_clear(&e);
}

/* Energies become wavelengths, each direction gets all of them, the mean is the beam's wavelength
 * or comes to lie there; stretch works about the mean. */
static void a_spectrum_takes_the_place_of_dispersion(void **state) {
    (void)state;
    setup_write_file("two.eV",
                     "# energy, weight\n9918.735874656021 3\n9000, 0\n8265.613228880017;1\n");
    db_setup setup = setup_start();
    setup.spectrum_file = "two.eV";
    setup.divergence_range[0] = 0.01;
    setup.divergence_steps[0] = 3;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 6);
    setup_assert_close(e.beam.wavelength, 1.3125, 1e-9);
    setup_assert_close(db_experiment_source_wavelength(&e, 0), 1.25, 1e-9);
    setup_assert_close(db_experiment_source_wavelength(&e, 5), 1.5, 1e-9);
    setup_assert_close(e.beam.sources[4].weight, 3, 0);
    assert_non_null(strstr(setup_notices(), "spectrum of 2 wavelengths with a mean of 1.3125 A"));
    assert_true(db_parameter_exists(&e, DB_SPECTRUM_STRETCH));
    e.beam.spectrum_stretch = 3;
    setup_assert_close(db_experiment_source_wavelength(&e, 0), 1.3125 - 3 * 0.0625, 1e-9);
    setup_assert_close(db_experiment_source_wavelength(&e, 1), 1.3125 + 3 * 0.1875, 1e-9);
    db_experiment_clear(&e);
    setup.wavelength = 2.625;
    setup.wavelength_given = 1;
    e = setup_resolved(&setup);
    setup_assert_close(e.beam.wavelength, 2.625, 0);
    setup_assert_close(db_experiment_source_wavelength(&e, 1), 3, 1e-9);
    db_experiment_clear(&e);
    setup.spectrum_stretch = -8; /* the larger one falls below 0 */
    setup_assert_refused(&setup, DB_ERROR_INPUT, "wavelength of a source");
    setup.spectrum_stretch = 1;
    setup.dispersion = 0.01;
    setup_assert_refused(&setup, DB_ERROR_USAGE,
                         "a spectrum file and a dispersion exclude each other");
    setup.dispersion = 0;
    setup.source_file = "two.src";
    setup_assert_refused(&setup, DB_ERROR_USAGE,
                         "a spectrum file and a source file exclude each other");
    setup.source_file = NULL;
    setup.spectrum_file = "no_such.eV";
    setup_assert_refused(&setup, DB_ERROR_FILE, "no_such.eV");
    setup.compat = 1;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "compat");
}

/* A spectrum far from the wavelength that it is to have is refused: energies in keV are taken for wavelengths, and the spectrum
 * would be mirrored. A shape from elsewhere may come from up to three times the wavelength. */
static void a_spectrum_in_another_unit_is_refused(void **state) {
    (void)state;
    static const struct {
        const char *lines;
        double wavelength;
        const char *expected[3];
    } cases[] = {
        { "9.65 1\n9.66 3\n9.67 2\n",
          1.2835,
          { "spectrum file kev.eV: expected a mean near the given wavelength, 1.2835 A (9659.85 "
            "eV)",
            "found 9.66167 A", "the file looks like keV: its energies are to be in eV" } },
        { "2.472 1\n", 5.0156, { "2.472 A", "looks like keV", "" } },
        { "4.9664 1\n", 2.496, { "4.9664 A", "looks like keV", "" } },
        { "7.12 1\n", 1.6, { "7.12 A", "looks like keV", "" } }, /* 9 % from the file's */
        { "9659 1\n9661 1\n",
          1283.48,
          { "1283.48 A (9.66", "the given energy looks like keV", "" } },
        { "9659 1\n9661 1\n", 9.66, { "9.66 A", "the given wavelength looks like keV", "" } },
        { "9.66 1\n", 1283.48, { "9.66 A", "both look like keV", "" } },
        { "0.12835 1\n", 1.2835, { "0.12835 A", "the file looks like nm", "" } },
        { "1 1\n", 3.1, { "found 1 A", "is moved by a factor of 3 at most", "" } },
    };
    db_setup setup = setup_start();
    setup.spectrum_file = "kev.eV";
    setup.wavelength_given = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setup_write_file("kev.eV", cases[i].lines);
        setup.wavelength = cases[i].wavelength;
        for (int k = 0; k < 3; k++)
            setup_assert_refused(&setup, DB_ERROR_INPUT, cases[i].expected[k]);
        setup.spectrum_resolution = 10; /* nothing is undone before */
        setup_assert_refused(&setup, DB_ERROR_INPUT, cases[i].expected[0]);
        setup.spectrum_resolution = 0;
    }
    static const struct {
        const char *lines;
        double wavelength;
    } fine[] = { { "1.2 1\n", 1.25 }, { "3.6 1\n", 3.444 },
                 { "3.11 1\n", 3.8 }, /* as far as the energy in keV is from 3.8 */
                 { "1 1\n", 2.9 },    { "2.9 1\n", 1 },
                 { "5.2 1\n", 5 } };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        setup_write_file("kev.eV", fine[i].lines);
        setup.wavelength = fine[i].wavelength;
        db_experiment e = setup_resolved(&setup);
        setup_assert_close(e.beam.wavelength, fine[i].wavelength, 1e-12);
        assert_non_null(strstr(setup_notices(), "shifted from a mean of "));
        db_experiment_clear(&e);
    }
    setup.wavelength = setup_start().wavelength; /* nobody has named one */
    setup.wavelength_given = 0;
    setup_write_file("kev.eV", "990 1\n1010 1\n");
    db_experiment soft = setup_resolved(&setup);
    setup_assert_close(soft.beam.wavelength, 12.4, 0.01);
    db_experiment_clear(&soft);
    setup_write_file("kev.eV", "9.66 1\n");
    db_experiment e = setup_resolved(&setup);
    assert_non_null(strstr(setup_notices(), "9.66 A (if these are keV, give eV)"));
    db_experiment_clear(&e);
}

static void flux_time_and_beam_size_make_the_fluence(void **state) {
    (void)state;
    db_setup setup = setup_start();
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.beam.fluence, DB_DEFAULT_FLUENCE, 0);
    db_experiment_clear(&e);
    setup.flux = 3e12;
    setup.exposure = 0.2;
    setup.beamsize = 0.005;
    setup.fluence = 1;
    e = setup_resolved(&setup);
    setup_assert_close(e.beam.fluence, 2.4e22, 1e9);
    assert_non_null(strstr(setup_notices(), "flux and fluence"));
    db_experiment_clear(&e);
    setup.beamsize = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "beam size");
    setup.beamsize = 0.1;
    setup.exposure = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "exposure");
    setup.flux = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "flux");
    setup = setup_start();
    setup.wavelength = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "wavelength");
    setup.wavelength = INFINITY;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "wavelength");
    setup = setup_start();
    setup.polarization = 1.5;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "polarization");
}

static void phi_steps_follow_from_what_is_given(void **state) {
    (void)state;
    static const struct {
        int count;
        double osc, step;
        int steps;
        double each;
    } rows[] = {
        { -1, NAN, NAN, 1, 0 },    { -1, NAN, 0, 1, 0 },       { -1, NAN, 0.3, 2, 0.3 },
        { -1, 1, NAN, 2, 0.5 },    { -1, 1, 0, 2, 0.5 },       { -1, 1.5, 0.4, 4, 0.4 },
        { -1, 1.1, 0.1, 11, 0.1 }, { 4, NAN, NAN, 4, 0.25 },   { 4, NAN, 0.1, 2, 0.1 },
        { 8, 2, NAN, 8, 0.25 },    { 8, 2, 0.1, 8, 0.1 },      { 0, 2, NAN, 1, 2 },
        { 1, 0, NAN, 1, 0 },       { -1, 0, NAN, 2, 0 },       { 4, -2, NAN, 4, -0.5 },
        { -1, -1, NAN, 2, -0.5 },  { -1, -1.5, 0.4, 4, -0.4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        db_setup setup = setup_start();
        setup.phi = 15;
        setup.phi_steps = rows[i].count;
        setup.osc = rows[i].osc;
        setup.phi_step = rows[i].step;
        db_experiment e = setup_resolved(&setup);
        assert_int_equal(e.goniometer.phi_steps, rows[i].steps);
        setup_assert_close(e.goniometer.phi_step, rows[i].each, 1e-15);
        setup_assert_close(e.goniometer.phi, 15, 0);
        db_experiment_clear(&e);
    }
    db_setup setup = setup_start();
    setup.osc = 1;
    setup.phi_step = -0.1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "phi step");
    setup.phi_step = 1e-300;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "too many steps");
}

static void oversampling_follows_the_sharpest_spot(void **state) {
    (void)state;
    db_setup setup = setup_start();
    const double cell[6] = { 74, 74, 36, 90, 90, 90 };
    memcpy(setup.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) setup.Ncells[i] = 5;
    setup.distance = 90;
    setup.pixel_size = 0.4;
    setup.detector_pixels[0] = setup.detector_pixels[1] = 64;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.oversample, 5); /* 3 x 370 A x 0.4 mm / (1 A x 90 mm) = 4.93 */
    assert_non_null(strstr(setup_notices(), "auto-selected 5-fold oversampling"));
    db_experiment_clear(&e);
    setup.oversample = 3;
    e = setup_resolved(&setup);
    assert_int_equal(e.oversample, 3);
    assert_int_equal(db_recommended_oversample(&e), 5);
    assert_non_null(strstr(setup_notices(), "ask for 5"));
    db_experiment_clear(&e);
    setup.oversample = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "oversample");
}

/* Largest angle of a pixel's edge, by looking at every pixel. */
static double widest_pixel(const db_experiment *e) {
    double widest = 0;
    for (size_t p = 0; p < e->detector.panel_count; p++)
        for (int f = 0; f <= e->detector.panels[p].fast_pixels; f++)
            for (int s = 0; s <= e->detector.panels[p].slow_pixels; s++)
                for (int edge = 0; edge < 2; edge++) {
                    double x[2][3], angle[3], square[2] = { 0 };
                    const double half = edge ? 0 : 1e-3, other = edge ? 1e-3 : 0;
                    for (int end = 0; end < 2; end++) {
                        const double way = end ? 1 : -1;
                        (void)db_experiment_pixel_position(e, p, f + way * half, s + way * other,
                                                           x[end]);
                        for (int i = 0; i < 3; i++) square[end] += x[end][i] * x[end][i];
                    }
                    for (int i = 0; i < 3; i++)
                        angle[i] = x[1][i] / sqrt(square[1]) - x[0][i] / sqrt(square[0]);
                    widest = fmax(widest, 500 * sqrt(angle[0] * angle[0] + angle[1] * angle[1] +
                                                     angle[2] * angle[2]));
                }
    return widest;
}

static void expect_enough_subpixels(db_pivot pivot, double twotheta, double rotation,
                                    const double aside[2], double sizes) {
    db_setup setup = setup_start();
    setup.cell[0] = 370;
    setup.Ncells[0] = 100;
    setup.distance = 90;
    setup.pixel_size = 0.4;
    setup.detector_pixels[0] = setup.detector_pixels[1] = 64;
    for (int k = 0; k < 2; k++) setup.beam_centre[k] = 12.8 - aside[k];
    setup.twotheta = twotheta;
    setup.rotation[0] = rotation;
    setup.pivot = (int)pivot;
    db_experiment e = setup_resolved(&setup);
    e.detector.panels[0].pixel_size[1] *= sizes;
    const double needed = 3 * 37000 * widest_pixel(&e) / e.beam.wavelength;
    setup_assert_close(db_recommended_oversample(&e), needed, 1 + 1e-3 * needed);
    assert_true(db_recommended_oversample(&e) >= needed * (1 - 1e-5));
    db_experiment_clear(&e);
}

/* Swung, tilted, aside, edgewise: what counts is how wide the nearest pixels look. */
static void oversampling_follows_the_pixels_wherever_they_are(void **state) {
    (void)state;
    const struct {
        db_pivot pivot;
        double twotheta, rotation, aside, sizes;
    } place[] = {
        { DB_PIVOT_SAMPLE, 0, 0, 0, 1 },   { DB_PIVOT_SAMPLE, 60, 0, 0, 1 },
        { DB_PIVOT_SAMPLE, 85, 0, 0, 1 },  { DB_PIVOT_SAMPLE, 90, 0, 0, 1 },
        { DB_PIVOT_SAMPLE, 130, 0, 0, 1 }, { DB_PIVOT_BEAM, 70, 0, 0, 1 },
        { DB_PIVOT_SAMPLE, 30, 50, 0, 1 }, { DB_PIVOT_SAMPLE, 0, 0, 80, 1 },
        { DB_PIVOT_SAMPLE, 0, 80, 80, 1 }, { DB_PIVOT_SAMPLE, 90, 0, 80, 3 },
        { DB_PIVOT_SAMPLE, 0, 0, 80, 4 },  { DB_PIVOT_SAMPLE, 0, 0, 80, 0.2 },
        { DB_PIVOT_SAMPLE, 70, 20, 0, 5 }, { DB_PIVOT_SAMPLE, 85, 0, 10, 0.3 },
        { DB_PIVOT_SAMPLE, 0, 85, 0, 6 },  { DB_PIVOT_SAMPLE, 0, 85, 20, 0.4 },
    };
    for (size_t i = 0; i < sizeof place / sizeof place[0]; i++)
        expect_enough_subpixels(place[i].pivot, place[i].twotheta, place[i].rotation,
                                (double[]){ place[i].aside, place[i].aside }, place[i].sizes);
    /* anywhere */
    uint64_t random = 5;
    for (int n = 0; n < 60; n++) {
        double r[5];
        for (int k = 0; k < 5; k++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            r[k] = (double)(random >> 33) / 2147483648.0;
        }
        expect_enough_subpixels(DB_PIVOT_SAMPLE, n % 2 ? 85 + 10 * r[0] : 130 * r[0], 80 * r[1],
                                (double[]){ 200 * r[2] - 100, 60 * r[3] - 30 }, 0.3 + 4 * r[4]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(oversampling_follows_the_pixels_wherever_they_are),
        cmocka_unit_test(divergence_points_follow_from_what_is_given),
        cmocka_unit_test(a_count_without_a_range_is_refused),
        cmocka_unit_test(a_round_beam_leaves_out_the_corners),
        cmocka_unit_test(dispersion_spreads_wavelengths_over_its_full_width),
        cmocka_unit_test(a_source_file_replaces_the_grid),
        cmocka_unit_test(scale_and_tilt_are_those_of_the_beam),
        cmocka_unit_test(a_spectrum_takes_the_place_of_dispersion),
        cmocka_unit_test(a_spectrum_in_another_unit_is_refused),
        cmocka_unit_test(blur_of_a_spectrometer_is_undone),
        cmocka_unit_test(flux_time_and_beam_size_make_the_fluence),
        cmocka_unit_test(phi_steps_follow_from_what_is_given),
        cmocka_unit_test(oversampling_follows_the_sharpest_spot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
