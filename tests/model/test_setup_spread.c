/* Spots in closed form as users describe them: standard deviations become variances, caps and full
 * ranges the Gaussians of the same variance. */
#include "support/unit_test.h"
#include "setup_fixture.h"

#include "model/ran1.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/setup_fields.h>
#include <math.h>
#include <string.h>

static db_setup closed_start(void) {
    db_setup setup = setup_start();
    setup.spread.spots = DB_SPOTS_CLOSED;
    return setup;
}

static void fill(double *to, int count, const double *from) {
    memcpy(to, from, (size_t)count * sizeof *to);
}

static void nothing_spreads_by_default(void **state) {
    static const double none[9];
    (void)state;
    db_setup setup = setup_start();
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.spread.spots, DB_SPOTS_SAMPLED);
    db_experiment_clear(&e);
    setup.spread.spots = DB_SPOTS_CLOSED;
    setup.Ncells[0] = 4.5; /* Gaussian spots take any size */
    e = setup_resolved(&setup);
    assert_int_equal(e.spread.spots, DB_SPOTS_CLOSED);
    setup_assert_close(e.spread.mosaic, 0, 0);
    setup_assert_close(e.spread.strain, 0, 0);
    setup_assert_close(e.spread.bandwidth, 0, 0);
    assert_memory_equal(e.spread.mode[0], none, sizeof none);
    assert_memory_equal(e.spread.mosaic_tensor, none, sizeof e.spread.mosaic_tensor);
    assert_memory_equal(e.spread.divergence, none, sizeof e.spread.divergence);
    assert_int_equal(e.spread.tails, 0);
    assert_int_equal(e.oversample, 1);
    assert_non_null(strstr(setup_notices(), "the peak and the integral of spots of shape square"));
    db_experiment_clear(&e);
}

static void standard_deviations_become_variances(void **state) {
    (void)state;
    db_setup setup = closed_start();
    db_spread_setup *const s = &setup.spread;
    s->mosaic_rms = 0.3;
    fill(s->mosaic_rms_abc, 3, (const double[]){ 0.1, 0.2, 0.4 });
    s->strain_rms = 0.002;
    fill(s->strain_rms_tensor, 6, (const double[]){ 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3 });
    fill(s->mode[1], 9, (const double[]){ 1, -2, 3, -4, 5, -6, 7, -8, 9 });
    fill(s->tail[0], 2, (const double[]){ 0.2, 3 });
    fill(s->tail[1], 2, (const double[]){ 0.1, 8 });
    fill(s->size_correlation, 3, (const double[]){ 0.1, 0.2, -0.3 });
    s->bandwidth_rms = 0.0005;
    fill(s->divergence_rms, 2, (const double[]){ 0.5, 0.2 });
    s->divergence_correlation = -0.5;
    s->footprint_rms[0] = 0.1;
    s->point_spread_rms[0] = 0.05; /* along slow, too */
    db_experiment e = setup_resolved(&setup);
    const db_spread *const v = &e.spread;
    setup_assert_close(v->mosaic, 0.09, 1e-15);
    setup_assert_vector(v->mosaic_tensor, 0.01, 0.04, 0.16, 1e-15);
    setup_assert_vector(v->mosaic_tensor + 3, 0, 0, 0, 0);
    setup_assert_close(v->strain, 4, 1e-12);
    setup_assert_vector(v->strain_tensor, 1, 4, 9, 1e-11);
    setup_assert_vector(v->strain_tensor + 3, 16, 25, 36, 1e-10);
    setup_assert_vector(v->mode[1] + 3, -4, 5, -6, 0);
    assert_int_equal(v->tails, 2);
    setup_assert_close(v->tail_fraction[1], 0.1, 0);
    setup_assert_close(v->tail_width[1], 8, 0);
    setup_assert_vector(v->size_correlation, 0.1, 0.2, -0.3, 0);
    setup_assert_close(v->bandwidth, 0.25, 1e-15);
    setup_assert_vector(v->divergence, 0.25, 0.04, -0.05, 1e-16);
    setup_assert_vector(v->footprint, 0.01, 0.01, 0, 1e-16);
    setup_assert_vector(v->point_spread, 0.0025, 0.0025, 0, 1e-16);
    db_experiment_clear(&e);
}

/* The mean square of one component of a mosaic domain's rotation vector for a cap of 1: a third of
 * that of its angle, (1 - r^2)^(1/3). Integrated over r by
 * the midpoint rule, in a variable that takes the singular slope away at r = 1. */
static double mean_square_of_cap(void) {
    enum { STEPS = 20000 };
    double sum = 0;
    for (int i = 0; i < STEPS; i++) { /* r = 1 - t^3 */
        const double t = (i + 0.5) / STEPS, r = 1 - t * t * t;
        sum += pow(1 - r * r, 2.0 / 3) * 3 * t * t;
    }
    return sum / STEPS / 3;
}

/* That of the random numbers themselves, along each axis. */
static double mean_square_of_draws(int component) {
    enum { DRAWS = 400000 };
    db_ran1 generator;
    double sum = 0;
    db_ran1_seed(&generator, 7);
    for (int i = 0; i < DRAWS; i++) {
        double axis[3];
        const double angle = db_ran1_direction(&generator, axis);
        sum += angle * angle * axis[component] * axis[component];
    }
    return sum / DRAWS;
}

static void a_cap_becomes_the_gaussian_of_its_variance(void **state) {
    (void)state;
    const double expected = mean_square_of_cap();
    for (int i = 0; i < 3; i++) setup_assert_close(mean_square_of_draws(i), expected, 2e-3);
    db_setup setup = closed_start();
    setup.mosaic_spread = 0.5;
    setup.mosaic_domains = 30;
    db_experiment e = setup_resolved(&setup);
    setup_assert_close(e.spread.mosaic, 0.25 * expected, 1e-9);
    setup_assert_close(e.crystal.mosaic_spread, 0, 0);
    assert_int_equal(e.crystal.mosaic_domains, 1);
    assert_non_null(strstr(setup_notices(), "0.248189 degree rms about each axis"));
    assert_non_null(strstr(setup_notices(), "the given 30 have no effect"));
    db_experiment_clear(&e);

    setup.mosaic_spread = 0;
    fill(setup.mosaic_abc, 3, (const double[]){ 0.1, 0, 0.3 });
    e = setup_resolved(&setup);
    setup_assert_close(e.spread.mosaic, 0, 0);
    setup_assert_vector(e.spread.mosaic_tensor, 0.01 * expected, 0, 0.09 * expected, 1e-9);
    assert_int_equal(e.crystal.mosaic_anisotropic, 0);
    db_experiment_clear(&e);
}

static void full_ranges_become_gaussians_and_one_source(void **state) {
    (void)state;
    db_setup setup = closed_start();
    setup.divergence_range[0] = 6e-3;
    setup.divergence_steps[0] = 5;
    setup.dispersion = 0.01;
    setup.dispersion_steps = 7;
    db_experiment e = setup_resolved(&setup);
    setup_assert_vector(e.spread.divergence, 3, 0, 0, 1e-12);
    setup_assert_close(e.spread.bandwidth, 100.0 / 12, 1e-12);
    assert_int_equal(e.beam.source_count, 1);
    setup_assert_close(e.beam.divergence[0], 0, 0);
    setup_assert_close(e.beam.dispersion, 0, 0);
    db_experiment_clear(&e);

    /* the elliptical cut of two ranges: a quarter of each diameter */
    setup.divergence_range[1] = 4e-3;
    e = setup_resolved(&setup);
    setup_assert_vector(e.spread.divergence, 2.25, 1, 0, 1e-12);
    db_experiment_clear(&e);
    setup.round_divergence = 0;
    setup.spread.divergence_correlation = 0.5;
    e = setup_resolved(&setup);
    setup_assert_vector(e.spread.divergence, 3, 4.0 / 3, 1, 1e-12);
    db_experiment_clear(&e);
}

static void lists_of_sources_stay(void **state) {
    (void)state;
    setup_write_file("closed.spectrum", "1.00 1\n1.01 2\n1.02 1\n");
    setup_write_file("closed.sources", "-10 0 0 1 1e-10\n-10 0.05 0 1 1e-10\n");
    db_setup setup = closed_start();
    setup.spectrum_file = "closed.spectrum";
    setup.spread.bandwidth_rms = 1e-4;
    setup.divergence_range[0] = 1e-3;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 3);
    setup_assert_close(e.spread.bandwidth, 0.01, 1e-15);
    setup_assert_close(e.spread.divergence[0], 1.0 / 12, 1e-15);
    db_experiment_clear(&e);
    setup.spectrum_file = NULL;
    setup.source_file = "closed.sources";
    e = setup_resolved(&setup);
    assert_int_equal(e.beam.source_count, 2);
    setup_assert_close(e.spread.divergence[0], 0, 0); /* as sampled: a file replaces ranges */
    db_experiment_clear(&e);
}

static void strains_follow_the_crystal_system(void **state) {
    (void)state;
    db_setup setup = closed_start();
    db_spread_setup *const s = &setup.spread;
    s->strain_system = DB_STRAINS_TETRAGONAL;
    fill(s->strain_rms_tensor, 6, (const double[]){ 1e-3, 1e-3, 2e-3, 0, 0, 0 });
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.spread.strain_ties, DB_STRAIN_UNIAXIAL);
    assert_int_equal(db_parameter_exists(&e, DB_STRAIN_ZZ), 1);
    assert_int_equal(db_parameter_exists(&e, DB_STRAIN_YY), 0);
    assert_int_equal(db_parameter_exists(&e, DB_STRAIN_XY), 0);
    setup_assert_vector(e.spread.strain_tensor, 1, 0, 4, 1e-12);
    db_experiment_clear(&e);
    s->strain_rms_tensor[1] = 3e-3;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "tetragonal strains have yy of 0, or that of xx");
    s->strain_rms_tensor[1] = 0;
    s->strain_rms_tensor[5] = 1e-3;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "xy of 0 by symmetry, found 0.001");
    s->strain_system = DB_STRAINS_CUBIC;
    s->strain_rms_tensor[5] = 0;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "cubic strains have zz of 0, or that of xx");
    s->strain_rms_tensor[2] = 0;
    e = setup_resolved(&setup);
    assert_int_equal(e.spread.strain_ties, DB_STRAIN_ISOTROPIC);
    db_experiment_clear(&e);
    s->strain_system = DB_STRAINS_ORTHORHOMBIC;
    s->strain_rms_tensor[4] = 1e-3;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "orthorhombic strains have zx of 0 by symmetry");

    /* the shear across the unique axis, b here */
    s->strain_system = DB_STRAINS_MONOCLINIC;
    fill(setup.cell, 6, (const double[]){ 50, 60, 70, 90, 105, 90 });
    e = setup_resolved(&setup);
    assert_int_equal(e.spread.strain_ties, DB_STRAIN_SHEAR_ZX);
    assert_int_equal(db_parameter_exists(&e, DB_STRAIN_ZX), 1);
    assert_int_equal(db_parameter_exists(&e, DB_STRAIN_XY), 0);
    setup_assert_close(e.spread.strain_tensor[4], 1, 1e-12);
    db_experiment_clear(&e);
    setup.cell[4] = 90;
    setup.cell[5] = 105; /* c */
    setup_assert_refused(&setup, DB_ERROR_INPUT, "monoclinic strains have zx of 0 by symmetry");
    fill(setup.cell, 6, (const double[]){ 50, 50, 50, 80, 80, 80 });
    s->strain_system = DB_STRAINS_TRIGONAL;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a unique axis c");
}

static void spreads_without_closed_spots_are_refused(void **state) {
    (void)state;
    for (int id = DB_FIELD_SIZE_CORRELATION; id <= DB_FIELD_POINT_SPREAD_CORRELATION; id++) {
        db_setup setup = setup_start();
        const db_setup_field *const field = &db_setup_fields[id];
        char *const place = (char *)&setup + field->offset;
        if (id != DB_FIELD_STRAIN_SYSTEM) memset(place, 0, sizeof(double));
        if (id == DB_FIELD_STRAIN_SYSTEM) setup.spread.strain_system = DB_STRAINS_CUBIC;
        setup_assert_refused(&setup, DB_ERROR_USAGE, field->name);
        setup_assert_refused(&setup, DB_ERROR_USAGE, "add -spots closed");
    }
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    db_setup setup = closed_start();
    setup.shape = DB_SHAPE_ROUND;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "round_xtal");
    setup.shape = DB_SHAPE_TOPHAT;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "tophat_spots");
    setup = closed_start();
    setup.curved = 1;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "curved_det");
    setup = closed_start();
    setup.interpolate = 1;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "the amplitude of its own node");
    setup = closed_start();
    setup.compat = 1;
    setup_assert_refused(&setup, DB_ERROR_UNSUPPORTED, "compat");
}

/* Automatic interpolation, for few cells, is off. */
static void few_cells_take_the_nearest_amplitude(void **state) {
    (void)state;
    setup_write_file("few.hkl", "0 0 0 10\n1 0 0 20\n0 1 0 30\n0 0 1 40\n");
    db_setup setup = setup_start();
    setup.hkl_file = "few.hkl";
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.structure_factors.interpolate, 1);
    db_experiment_clear(&e);
    setup.spread.spots = DB_SPOTS_CLOSED;
    e = setup_resolved(&setup);
    assert_int_equal(e.structure_factors.interpolate, 0);
    db_experiment_clear(&e);
}

static void impossible_spreads_are_refused(void **state) {
    (void)state;
    db_setup setup = closed_start();
    db_spread_setup *const s = &setup.spread;
    setup.mosaic_spread = 1;
    s->mosaic_rms = 1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a cap (mosaic, mosaic_abc) or standard");
    s->mosaic_rms = NAN;
    for (int caps = 0; caps < 2; caps++) { /* one, or one for each axis */
        setup.mosaic_spread = caps ? 0 : 1;
        fill(setup.mosaic_abc, 3,
             caps ? (const double[]){ 1, 1, 1 } : (const double[]){ NAN, NAN, NAN });
        fill(s->mosaic_rms_abc, 3, (const double[]){ 1, 1, 1 });
        setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a cap (mosaic, mosaic_abc)");
        fill(s->mosaic_rms_abc, 3, (const double[]){ NAN, NAN, NAN });
        fill(s->mosaic_tensor, 6, (const double[]){ 1, 1, 1, 0, 0, 0 });
        setup_assert_refused(&setup, DB_ERROR_INPUT, "expected a cap (mosaic, mosaic_abc)");
        s->mosaic_tensor[0] = NAN;
    }
    s->mosaic_rms = 1;
    setup.mosaic_abc[0] = NAN;
    setup.mosaic_spread = 0;
    s->mosaic_rms = -1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic spread (rms)");
    s->mosaic_rms = NAN;
    fill(s->mosaic_tensor, 6, (const double[]){ 1, 1, 1, 1.1, 0, 0 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic_tensor");
    s->mosaic_rms = 0.5; /* adds to it */
    db_experiment e = setup_resolved(&setup);
    db_experiment_clear(&e);
    fill(s->mosaic_rms_abc, 3, (const double[]){ 1, 1, 1 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "mosaic_rms_abc or mosaic_tensor, found both");
    setup = closed_start();
    fill(s->size_correlation, 3, (const double[]){ 0.9, -0.9, 0.9 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "size_correlation");
    setup = closed_start();
    fill(s->tail[1], 2, (const double[]){ 0.1, 2 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "tail2: expected tail1");
    fill(s->tail[0], 2, (const double[]){ 0.95, 2 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "tail2: expected fractions");
    fill(s->tail[0], 2, (const double[]){ 0.5, 0 });
    setup_assert_refused(&setup, DB_ERROR_INPUT, "tail1: expected fractions");
    setup = closed_start();
    s->footprint_correlation = 0.5;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "footprint_rms: a correlation of 0.5 needs");
    setup.divergence_range[0] = 1e-3;
    s->divergence_rms[0] = 1;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "divergence: expected full ranges");
    setup = closed_start();
    setup.dispersion = 0.01;
    s->bandwidth_rms = 0.01;
    setup_assert_refused(&setup, DB_ERROR_INPUT, "bandwidth: expected a full range");
}

/* Samples of the rotation: its range counts. */
static void a_rotation_is_one_step(void **state) {
    (void)state;
    db_setup setup = closed_start();
    setup.osc = 1.5;
    db_experiment e = setup_resolved(&setup);
    assert_int_equal(e.goniometer.phi_steps, 1);
    setup_assert_close(e.goniometer.phi_step, 1.5, 0);
    db_experiment_clear(&e);
    setup.phi_steps = 10;
    e = setup_resolved(&setup);
    setup_assert_close(e.goniometer.phi_steps * e.goniometer.phi_step, 1.5, 1e-15);
    db_experiment_clear(&e);
}

static void refused(const db_experiment *e, const char *fragment) {
    db_context *context = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_not_equal(db_experiment_check(context, e), DB_OK);
    if (!strstr(db_context_message(context), fragment))
        fail_msg("'%s' lacks '%s'", db_context_message(context), fragment);
    db_context_destroy(&context);
}

/* Finite differences may step over 0, but not far. */
static void experiments_are_checked_a_little_wider(void **state) {
    (void)state;
    db_setup setup = closed_start();
    db_experiment e = setup_resolved(&setup);
    const db_spread start = e.spread;
    e.spread.mosaic = e.spread.divergence[1] = -0.005;
    e.spread.mosaic_tensor[4] = 0.001;
    e.spread.footprint[2] = 1e-4;
    assert_int_equal(db_experiment_check(NULL, &e), DB_OK);
    assert_int_equal(db_spread_is_possible(&e), 0);
    assert_int_equal(db_spread_is_possible(&(db_experiment){ .spread = start }), 1);
    e.spread.mosaic = -1;
    refused(&e, "mosaic: expected a number from -0.01");
    e.spread = start;
    e.spread.mosaic_tensor[3] = 1;
    refused(&e, "mosaic tensor: expected a positive variance about every axis");
    e.spread = start;
    e.spread.divergence[2] = 3;
    refused(&e, "divergence: expected a covariance");
    e.spread = start;
    e.spread.size_correlation[1] = 1;
    refused(&e, "size_correlation");
    e.spread = start;
    e.spread.tails = 3;
    refused(&e, "tails: expected 0 to 2");
    e.spread.tails = 2;
    e.spread.tail_width[0] = e.spread.tail_width[1] = 2;
    e.spread.tail_fraction[0] = e.spread.tail_fraction[1] = 0.5;
    refused(&e, "a sum below 1, found 1");
    e.spread.tail_fraction[0] = 0.4;
    e.spread.tail_width[0] = 0;
    refused(&e, "width of a tail");
    e.spread = start;
    e.spread.strain = NAN;
    refused(&e, "strain: expected");
    e.spread = start;
    e.spread.spots = (db_spot_model)7;
    refused(&e, "spots: unknown value 7");
    e.spread = start;
    e.reference.on = 1;
    refused(&e, "compat");
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_spreads_by_default),
        cmocka_unit_test(standard_deviations_become_variances),
        cmocka_unit_test(a_cap_becomes_the_gaussian_of_its_variance),
        cmocka_unit_test(full_ranges_become_gaussians_and_one_source),
        cmocka_unit_test(lists_of_sources_stay),
        cmocka_unit_test(strains_follow_the_crystal_system),
        cmocka_unit_test(spreads_without_closed_spots_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(few_cells_take_the_nearest_amplitude),
        cmocka_unit_test(impossible_spreads_are_refused),
        cmocka_unit_test(a_rotation_is_one_step),
        cmocka_unit_test(experiments_are_checked_a_little_wider),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
