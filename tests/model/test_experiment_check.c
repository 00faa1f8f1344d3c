/* Every number of an experiment has limits, which are allowed, and beyond which it is refused by name. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/experiment_geometry.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_experiment e;

/* A halo, a sensor, amorphous matter and a list of structure factors, so that all numbers are in use. */
static int set_up(void **state) {
    static const double stol[5] = { 0, 0.1, 0.2, 0.3, 0.4 }, amplitude[5] = { 5, 4, 3, 2, 1 };
    static const int min[3] = { 0, 0, 0 }, extent[3] = { 1, 1, 1 };
    (void)state;
    if (db_context_create(&context) != DB_OK || db_experiment_init(context, &e) != DB_OK ||
        db_experiment_set_amorphous(context, &e, stol, amplitude, 5) != DB_OK ||
        db_experiment_set_amplitudes(context, &e, min, extent, amplitude) != DB_OK)
        return -1;
    for (int i = 0; i < 3; i++) {
        e.crystal.cell[i] = 50;
        e.crystal.diffuse_gamma[i] = 20;
    }
    e.crystal.diffuse_anisotropic = 1;
    e.detector.sensor_thickness = 300;
    e.detector.attenuation_depth = 200;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    db_experiment_clear(&e);
    db_context_destroy(&context);
    return 0;
}

/* Whether the experiment is refused for this reason. */
static int refused_for(const char *reason) {
    const db_status status = db_experiment_check(context, &e);
    return status != DB_OK && strstr(db_context_message(context), reason) != NULL;
}

static void check_limits(const char *reason, double *member, double least, double most) {
    const double kept = *member;
    const struct {
        double value;
        int refused;
    } tries[] = { { least, 0 }, { nextafter(least, -DBL_MAX), 1 },
                  { most, 0 },  { nextafter(most, DBL_MAX), 1 },
                  { NAN, 1 },   { INFINITY, 1 } };
    for (size_t t = 0; t < sizeof tries / sizeof *tries; t++) {
        *member = tries[t].value;
        if (refused_for(reason) != tries[t].refused)
            fail_msg("%s of %.17g: expected %d, found %d: %s", reason, tries[t].value,
                     tries[t].refused, !tries[t].refused, db_context_message(context));
    }
    *member = kept;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
}

static void numbers_have_limits(void **state) {
    (void)state;
    db_crystal *const c = &e.crystal;
    db_beam *const b = &e.beam;
    db_goniometer *const g = &e.goniometer;
    db_detector *const d = &e.detector;
    db_background *const m = &e.background;
    const struct {
        const char *reason;
        double *member;
        int count;
        double least, most;
    } limits[] = {
        { "cell edge", c->cell, 3, 0.1, 1e6 },
        { "degree, found", c->cell + 3, 3, 1, 179 },
        { "misset: expected", c->misset, 3, -1e6, 1e6 },
        { "frame of misset", c->misset_frame, 3, -1e6, 1e6 },
        { "position of the crystal", c->position, 3, -1000, 1000 },
        { "crystal size N", c->Ncells, 3, 0.1, 1e6 },
        { "fudge", &c->fudge, 1, 0, 1e6 },
        { "B factor: expected a number", &c->b_factor, 1, -1e6, 1e6 },
        { "sigma of the diffuse halo", c->diffuse_sigma, 3, -100, 100 },
        { "gamma of the diffuse halo", c->diffuse_gamma, 1, 0, 1e6 },
        { "gamma of the diffuse halo", c->diffuse_gamma + 1, 2, 1e-6, 1e6 },
        { "mosaic spread: expected", &c->mosaic_spread, 1, -180, 180 },
        { "anisotropic mosaic spread", c->mosaic_abc, 3, -180, 180 },
        { "wavelength: expected", &b->wavelength, 1, 1e-3, 1e4 },
        { "beam tilt", b->tilt, 2, -1570, 1570 },
        { "divergence", b->divergence, 2, -6300, 6300 },
        { "dispersion: expected", &b->dispersion, 1, -1e3, 1e3 },
        { "spectrum stretch", &b->spectrum_stretch, 1, -1e6, 1e6 },
        { "polarization: expected", &b->polarization, 1, -2, 2 },
        { "fluence", &b->fluence, 1, 0, 1e60 },
        { "scale: expected", &b->scale, 1, -1e30, 1e30 },
        { "place of a source", b->sources[0].spread, 3, -1e3, 1e3 },
        { "source wavelength / beam", &b->sources[0].wavelength_ratio, 1, 1e-6, 1e6 },
        { "source weight: expected", &b->sources[0].weight, 1, 0, 1e300 },
        { "spindle tilt", g->tilt, 2, -1e6, 1e6 },
        { "phi: expected", &g->phi, 1, -1e6, 1e6 },
        { "phi step: expected", &g->phi_step, 1, -1e6, 1e6 },
        { "detector rotation", d->rotation, 3, -1e6, 1e6 },
        { "two-theta: expected", &d->twotheta, 1, -1e6, 1e6 },
        { "detector distance", &d->distance, 1, 1e-6, 1e9 },
        { "panel shift", d->panel_shift, 3, -1e6, 1e6 },
        { "panel turn", d->panel_turn, 3, -1e6, 1e6 },
        { "beam centre", d->centre, 2, -1e7, 1e7 },
        { "sensor thickness", &d->sensor_thickness, 1, -1e3, 1e6 },
        { "attenuation depth", &d->attenuation_depth, 1, 1e-6, 1e12 },
        { "pixel size", d->panels[0].pixel_size, 2, 1e-6, 1e4 },
        { "default F", &e.structure_factors.default_F, 1, -1e30, 1e30 },
        { "water size", &m->water_size, 1, -1e9, 1e9 },
        { "amorphous thickness", &m->thickness, 1, -1e6, 1e6 },
        { "amorphous area", &m->area, 1, 0, 1e12 },
        { "density of the amorphous", &m->density, 1, 0, 1e6 },
        { "molecular weight", &m->molecular_weight, 1, 1e-6, 1e12 },
        { "amorphous amplitude: expected", m->amplitude, 5, -1e30, 1e30 },
        { "of an amorphous amplitude: expected", m->stol, 1, 0, 1e6 },
        { "of an amorphous amplitude: expected", m->stol + 4, 1, 0, 1e6 },
        { "dmin", &e.dmin, 1, 0, 1e6 },
    };
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    for (size_t n = 0; n < sizeof limits / sizeof *limits; n++)
        for (int i = 0; i < limits[n].count; i++)
            check_limits(limits[n].reason, limits[n].member + i, limits[n].least, limits[n].most);
}

static void counts_have_limits(void **state) {
    (void)state;
    const struct {
        const char *reason;
        int *member, most;
    } counts[] = {
        { "mosaic domains: expected 1 to 1000000,", &e.crystal.mosaic_domains, 1000000 },
        { "phi steps: expected 1 to 1000000,", &e.goniometer.phi_steps, 1000000 },
        { "pixels (fast): expected", &e.detector.panels[0].fast_pixels, 1 << 20 },
        { "pixels (slow): expected", &e.detector.panels[0].slow_pixels, 1 << 20 },
        { "sensor layers: expected", &e.detector.sensor_layers, 10000 },
        { "extent: expected", &e.structure_factors.extent[0], 1000000 },
        { "extent: expected", &e.structure_factors.extent[1], 1000000 },
        { "extent: expected", &e.structure_factors.extent[2], 1000000 },
        { "oversample: expected", &e.oversample, 1000 },
    };
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        const int kept = *counts[n].member, tries[] = { 0, 1, counts[n].most, counts[n].most + 1 };
        for (int t = 0; t < 4; t++) {
            *counts[n].member = tries[t];
            if (refused_for(counts[n].reason) != (t % 3 == 0))
                fail_msg("%s of %d: %s", counts[n].reason, tries[t], db_context_message(context));
        }
        *counts[n].member = kept;
    }
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
}

static void directions_have_length_1(void **state) {
    (void)state;
    db_panel *const panel = &e.detector.panels[0];
    double *const direction[] = { e.beam.direction,
                                  e.beam.polarization_axis,
                                  e.beam.sources[0].direction,
                                  e.goniometer.spindle_axis,
                                  e.detector.fast_axis,
                                  e.detector.slow_axis,
                                  e.detector.normal,
                                  e.detector.twotheta_axis,
                                  panel->fast_axis,
                                  panel->slow_axis,
                                  panel->normal };
    static const double factor[] = { 1 + 5e-7, 1 - 5e-7, 1 + 2e-6, 1 - 2e-6 };
    for (size_t n = 0; n < sizeof direction / sizeof *direction; n++) {
        double kept[3];
        memcpy(kept, direction[n], sizeof kept);
        for (int f = 0; f < 4; f++) {
            for (int i = 0; i < 3; i++) direction[n][i] = factor[f] * kept[i];
            assert_int_equal(refused_for("expected a vector of length 1"), f >= 2);
        }
        memcpy(direction[n], kept, sizeof kept);
    }
}

/* Wavelengths of sources: the extreme ones are found wherever they are in the list, by their ratio and by
 * their place in the dispersion. */
static void extreme_sources_are_found(void **state) {
    (void)state;
    const db_source usual = e.beam.sources[0];
    for (int extreme = 0; extreme < 3; extreme++)
        for (int sign = -1; sign <= 1; sign += 2) {
            db_source source[3] = { usual, usual, usual };
            source[extreme].wavelength_ratio = 1 + 0.3 * sign;
            assert_int_equal(db_experiment_set_sources(context, &e, source, 3), DB_OK);
            e.beam.spectrum_stretch = -6 * sign; /* of -1.2 about the mean: below 0 */
            assert_true(refused_for("of a source, with stretch and dispersion"));
            e.beam.spectrum_stretch = 1;
            /* at 0.7 A it is too sharp, at 1 A it is not */
            e.crystal.b_factor = -30;
            assert_int_equal(refused_for("B factor: expected at least -19.6 A^2"), sign < 0);
            source[extreme].wavelength_ratio = 1;
            source[extreme].spread[2] = 0.5 * sign;
            e.beam.dispersion = 0.6;
            assert_int_equal(db_experiment_set_sources(context, &e, source, 3), DB_OK);
            assert_int_equal(refused_for("B factor: expected at least -19.6 A^2"), sign < 0);
            e.beam.dispersion = -0.6;
            assert_int_equal(refused_for("B factor: expected at least -19.6 A^2"), sign > 0);
            e.beam.dispersion = e.crystal.b_factor = 0;
        }
}

/* A wavelength is not turned back by the dispersion. */
static void dispersion_leaves_wavelengths_positive(void **state) {
    (void)state;
    e.beam.sources[0].spread[2] = -0.5;
    e.beam.dispersion = 1.99;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.beam.dispersion = 2;
    assert_true(refused_for("wavelength within the dispersion"));
}

/* Light that travels along its own field, whether it is the beam or one source; unpolarized light may. */
static void light_has_a_field_across(void **state) {
    (void)state;
    static const double up[3] = { 0, 0, 1 };
    db_source source[2] = { e.beam.sources[0], e.beam.sources[0] };
    memcpy(source[1].direction, up, sizeof up);
    assert_int_equal(db_experiment_set_sources(context, &e, source, 2), DB_OK);
    e.beam.polarization = 0.5;
    assert_true(refused_for("source 2: its direction is the polarization axis"));
    e.beam.polarized = 0;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.beam.polarized = 1;
    e.beam.polarization = 0;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    memcpy(e.beam.direction, up, sizeof up);
    assert_true(refused_for("polarization axis: parallel to the beam"));
    e.beam.source_count = 0;
    memcpy(e.beam.direction, e.detector.normal, sizeof up);
    assert_true(refused_for("at least one source"));
}

/* The reference has no B factor, tilts, stretch, own motion of panels, halo. */
static void the_reference_lacks_what_is_new(void **state) {
    (void)state;
    double *const member[] = { &e.crystal.b_factor,        &e.goniometer.tilt[0],
                               &e.goniometer.tilt[1],      &e.detector.panel_shift[0],
                               &e.detector.panel_shift[1], &e.detector.panel_shift[2],
                               &e.detector.panel_turn[0],  &e.detector.panel_turn[1],
                               &e.detector.panel_turn[2],  &e.beam.spectrum_stretch };
    e.reference.on = 1;
    assert_true(refused_for("diffuse halo: expected a crystal without one"));
    e.crystal.diffuse_gamma[0] = 0;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    for (size_t n = 0; n < sizeof member / sizeof *member; n++) {
        *member[n] += 0.01;
        assert_true(refused_for("nanoBragg's arithmetic (compat) has no"));
        e.reference.on = 0;
        assert_int_equal(db_experiment_check(context, &e), DB_OK);
        e.reference.on = 1;
        *member[n] -= 0.01;
        if (member[n] == &e.beam.spectrum_stretch) *member[n] = 1;
    }
    e.reference.on = 0;
    e.structure_factors.interpolate = 1;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.crystal.diffuse_gamma[0] = 20;
    assert_true(refused_for("with interpolated structure factors"));
    e.crystal.diffuse_gamma[0] = 0;
    e.structure_factors.interpolate = 2;
    assert_true(refused_for("interpolate: expected 0 or 1, found 2"));
}

static void detectors_are_in_front_of_the_sample(void **state) {
    (void)state;
    db_panel two[2] = { e.detector.panels[0], e.detector.panels[0] };
    two[1].origin[2] = -100.001; /* of a distance of 100 */
    assert_int_equal(db_experiment_set_panels(context, &e, two, 2), DB_OK);
    assert_true(refused_for("behind or through the sample"));
    e.detector.panels[1].origin[2] = -100 + 1e-13; /* as at two-theta 90, but for rounding */
    assert_true(refused_for("behind or through the sample"));
    e.detector.panels[1].origin[2] = -99.999;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.detector.curved = 1;
    assert_true(refused_for("curved detector: expected one panel, found 2"));
    e.detector.panel_count = 1;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.detector.panels[0].fast_pixels = 4000; /* from -51.3 to 348.7 mm: more than pi times 100 mm */
    assert_true(refused_for("curved detector: expected corners at most 180 degree"));
    e.detector.panels[0].fast_pixels = 3400;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    e.detector.panels[0].slow_pixels = 4000;
    assert_true(refused_for("curved detector: expected corners at most 180 degree"));
    e.detector.panel_count = 0;
    assert_true(db_experiment_check(context, &e) != DB_OK);
}

static void amorphous_amplitudes_ascend(void **state) {
    (void)state;
    e.background.stol[3] = e.background.stol[2];
    assert_true(refused_for("expected ascending sin(theta)/lambda, found 0.2 after 0.2"));
    e.background.count = 3;
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_have_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_have_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(directions_have_length_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extreme_sources_are_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(dispersion_leaves_wavelengths_positive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(light_has_a_field_across, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_reference_lacks_what_is_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(detectors_are_in_front_of_the_sample, set_up, tear_down),
        cmocka_unit_test_setup_teardown(amorphous_amplitudes_ascend, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
