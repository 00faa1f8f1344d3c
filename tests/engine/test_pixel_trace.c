/* Traces: their samples add up to the pixels that plans render. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/beam_sources.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/pixel_trace.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 12 };

static db_context *context;
static db_experiment experiment;

static int start(void **state) {
    (void)state;
    db_experiment *e = &experiment;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, e), DB_OK);
    const double cell[6] = { 40, 50, 60, 80, 95, 105 };
    memcpy(e->crystal.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) {
        e->crystal.Ncells[i] = 3 + i;
        e->crystal.misset[i] = 11 * (i + 1);
    }
    e->structure_factors.default_F = 10;
    e->detector.panels[0].fast_pixels = e->detector.panels[0].slow_pixels = SIZE;
    e->detector.panels[0].pixel_size[0] = e->detector.panels[0].pixel_size[1] = 4;
    e->detector.centre[0] = 21;
    e->detector.centre[1] = 17;
    e->beam.polarization = 0.8;
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

typedef struct counter {
    size_t samples;
    double intensity;
    db_trace_sample last;
} counter;

static void count(void *user, const db_trace_sample *sample) {
    counter *c = user;
    c->samples++;
    c->intensity += sample->intensity;
    c->last = *sample;
}

/* Every pixel, against an image in double precision. */
static void expect_image(void) {
    double image[SIZE * SIZE];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    db_plan *plan = NULL;
    db_trace *trace = NULL;
    if (db_plan_create(context, &experiment, &options, &plan) != DB_OK ||
        db_plan_forward(plan, image) != DB_OK ||
        db_trace_create(context, &experiment, &trace) != DB_OK)
        fail_msg("%s", db_context_message(context));
    double largest = 0;
    for (int i = 0; i < SIZE * SIZE; i++) largest = fmax(largest, fabs(image[i]));
    assert_true(largest > 0);
    for (int slow = 0; slow < SIZE; slow++)
        for (int fast = 0; fast < SIZE; fast++) {
            counter c = { 0 };
            db_trace_sum sum;
            assert_int_equal(db_trace_pixel(context, trace, 0, fast, slow, count, &c, &sum), DB_OK);
            assert_int_equal(c.samples, sum.samples);
            assert_true(fabs(c.intensity - sum.crystal) <= 1e-13 * largest);
            /* rounding of sums in another order */
            if (!(fabs(sum.intensity - image[slow * SIZE + fast]) <= 1e-12 * largest))
                fail_msg("pixel %d %d: trace %.17g, image %.17g", fast, slow, sum.intensity,
                         image[slow * SIZE + fast]);
        }
    db_trace_destroy(&trace);
    db_plan_destroy(&plan);
}

static void a_still_adds_up(void **state) {
    (void)state;
    expect_image();
}

static void everything_at_once_adds_up(void **state) {
    (void)state;
    db_experiment *e = &experiment;
    const db_beam_spread spread = { 2e-3, 1e-3, 1e-3, 1e-3, 3, 2, 0, 0.01, 0.005, 3 };
    assert_int_equal(db_beam_set_spread(context, &e->beam, &spread), DB_OK);
    e->oversample = 2;
    e->crystal.mosaic_spread = 0.5;
    e->crystal.mosaic_domains = 3;
    e->goniometer.phi = 3;
    e->goniometer.phi_step = 0.2;
    e->goniometer.phi_steps = 2;
    e->detector.sensor_layers = 3;
    e->detector.sensor_thickness = 400;
    e->detector.attenuation_depth = 250;
    e->detector.rotation[1] = 4;
    e->detector.twotheta = 7;
    e->background.water_size = 3;
    e->dmin = 5;
    e->crystal.b_factor = 15;
    expect_image();
}

static void shapes_and_point_pixels_add_up(void **state) {
    (void)state;
    for (int shape = DB_SHAPE_SQUARE; shape <= DB_SHAPE_TOPHAT; shape++) {
        experiment.crystal.shape = (db_crystal_shape)shape;
        expect_image();
    }
    experiment.point_pixel = 1;
    expect_image();
}

static void curved_detectors_and_lists_add_up(void **state) {
    (void)state;
    db_structure_factors *f = &experiment.structure_factors;
    experiment.detector.curved = 1;
    for (int j = 0; j < 3; j++) {
        f->min[j] = -4 - j;
        f->extent[j] = 9 + j;
    }
    const size_t entries = (size_t)f->extent[0] * (size_t)f->extent[1] * (size_t)f->extent[2];
    f->amplitude = malloc(entries * sizeof *f->amplitude);
    assert_non_null(f->amplitude);
    for (size_t i = 0; i < entries; i++) f->amplitude[i] = (double)(i * 7919 % 101);
    expect_image();
    f->interpolate = 1;
    expect_image();
}

/* Up to the point opposite to the direct beam, in traces and in images. */
static void curved_detectors_go_around_the_sample(void **state) {
    (void)state;
    const double radius = 13.1, *size = experiment.detector.panels[0].pixel_size;
    experiment.detector.curved = 1;
    experiment.detector.distance = radius;
    db_trace *trace = NULL;
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_OK);
    double farthest = 0;
    for (int slow = 0; slow < SIZE; slow++)
        for (int fast = 0; fast < SIZE; fast++) {
            counter c = { 0 };
            db_trace_sum sum;
            assert_int_equal(db_trace_pixel(context, trace, 0, fast, slow, count, &c, &sum), DB_OK);
            const double along_fast = (fast + 0.5) * size[0] - experiment.detector.centre[0],
                         along_slow = (slow + 0.5) * size[1] - experiment.detector.centre[1],
                         length = hypot(along_fast, along_slow), angle = length / radius;
            double off = 0;
            for (int i = 0; i < 3; i++) {
                const double right = radius * cos(angle) * experiment.beam.direction[i] +
                                     radius * sin(angle) / length *
                                         (along_fast * experiment.detector.fast_axis[i] +
                                          along_slow * experiment.detector.slow_axis[i]);
                off = fmax(off, fabs(c.last.position[i] - right));
            }
            if (!(off < 1e-13 * radius)) fail_msg("off by %g mm at %g radian", off, angle);
            farthest = fmax(farthest, angle);
        }
    db_trace_destroy(&trace);
    assert_true(farthest > 2.9);
    expect_image();
    experiment.detector.centre[0] = 0; /* the other corners are beyond that point */
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "180 degree from the direct beam"));
}

static void amorphous_matter_adds_up(void **state) {
    (void)state;
    db_background *b = &experiment.background;
    b->count = 4;
    b->stol = malloc(4 * sizeof *b->stol);
    b->amplitude = malloc(4 * sizeof *b->amplitude);
    assert_true(b->stol && b->amplitude);
    for (int i = 0; i < 4; i++) {
        b->stol[i] = 0.02 + 0.03 * i;
        b->amplitude[i] = 5 - i;
    }
    expect_image();
}

/* Of the crystal alone: exp(-2 B (sin(theta)/lambda)^2), theta being half the angle between a ray
 * and the beam. */
static void b_factors_dim_by_the_angle(void **state) {
    (void)state;
    const double b = 15;
    db_trace *with = NULL, *without = NULL;
    experiment.background.water_size = 3;
    assert_int_equal(db_trace_create(context, &experiment, &without), DB_OK);
    experiment.crystal.b_factor = b;
    assert_int_equal(db_trace_create(context, &experiment, &with), DB_OK);
    for (int slow = 0; slow < SIZE; slow++) {
        counter c = { 0 };
        db_trace_sum dimmed, full;
        assert_int_equal(db_trace_pixel(context, with, 0, 3, slow, count, &c, &dimmed), DB_OK);
        assert_int_equal(db_trace_pixel(context, without, 0, 3, slow, NULL, NULL, &full), DB_OK);
        double cosine = 0;
        for (int i = 0; i < 3; i++) cosine += c.last.direction[i] * experiment.beam.direction[i];
        const double stol = sin(acos(cosine) / 2) / experiment.beam.wavelength,
                     factor = exp(-2 * b * stol * stol);
        assert_true(fabs(dimmed.crystal - factor * full.crystal) <= 1e-12 * full.crystal);
        assert_true(fabs(c.last.debye_waller - factor) <= 1e-12);
        assert_true(dimmed.background == full.background);
    }
    db_trace_destroy(&with);
    db_trace_destroy(&without);
    expect_image();
}

static void the_parts_of_a_sample_make_its_intensity(void **state) {
    (void)state;
    db_trace *trace = NULL;
    counter c = { 0 };
    db_trace_sum sum;
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_OK);
    assert_int_equal(db_trace_pixel(context, trace, 0, 2, 3, count, &c, &sum), DB_OK);
    const db_trace_sample *s = &c.last;
    double position[3];
    assert_int_equal(db_experiment_pixel_position(&experiment, 0, 2.5, 3.5, position), DB_OK);
    const double r = sqrt(s->position[0] * s->position[0] + s->position[1] * s->position[1] +
                          s->position[2] * s->position[2]);
    double q = 0, two_theta_cosine = 0;
    for (int i = 0; i < 3; i++) {
        assert_true(fabs(s->position[i] - position[i]) < 1e-12 * r);
        assert_true(fabs(s->direction[i] * r - s->position[i]) < 1e-12 * r);
        double index = 0;
        for (int k = 0; k < 3; k++) index += s->lattice[3 * i + k] * s->q[k];
        assert_true(fabs(index - s->miller[i]) < 1e-12);
        assert_true(fabs(s->miller[i] - s->node[i]) <= 0.5);
        q += s->q[i] * s->q[i];
        two_theta_cosine += s->direction[i] * experiment.beam.direction[i];
    }
    /* Bragg: |q| = 2 sin(theta)/lambda */
    assert_true(fabs(q - 2 * (1 - two_theta_cosine) / (s->wavelength * s->wavelength)) < 1e-14);
    assert_true(s->amplitude == 10 && s->weight == 1 && s->capture == 1 && !s->cut);
    const double photons = DB_THOMSON_R2 * DB_DEFAULT_FLUENCE * s->omega * s->polarization *
                           s->amplitude * s->amplitude * s->lattice_square;
    assert_true(fabs(photons - s->intensity) <= 1e-13 * photons);
    db_trace_destroy(&trace);
}

static void pixels_that_are_not_there_are_refused(void **state) {
    (void)state;
    static const int nowhere[][2] = { { -1, 0 }, { 0, -1 }, { SIZE, 0 }, { 0, SIZE } };
    db_trace *trace = NULL;
    db_trace_sum sum;
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_OK);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(
            db_trace_pixel(context, trace, 0, nowhere[i][0], nowhere[i][1], NULL, NULL, &sum),
            DB_ERROR_USAGE);
    assert_int_equal(db_trace_pixel(context, trace, 1, 0, 0, NULL, NULL, &sum), DB_ERROR_USAGE);
    db_trace_destroy(&trace);
    assert_null(trace);
    db_trace_destroy(&trace);
    experiment.crystal.cell[0] = -1;
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_ERROR_INPUT);
    assert_null(trace);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_still_adds_up, start, finish),
        cmocka_unit_test_setup_teardown(everything_at_once_adds_up, start, finish),
        cmocka_unit_test_setup_teardown(shapes_and_point_pixels_add_up, start, finish),
        cmocka_unit_test_setup_teardown(curved_detectors_go_around_the_sample, start, finish),
        cmocka_unit_test_setup_teardown(curved_detectors_and_lists_add_up, start, finish),
        cmocka_unit_test_setup_teardown(amorphous_matter_adds_up, start, finish),
        cmocka_unit_test_setup_teardown(b_factors_dim_by_the_angle, start, finish),
        cmocka_unit_test_setup_teardown(the_parts_of_a_sample_make_its_intensity, start, finish),
        cmocka_unit_test_setup_teardown(pixels_that_are_not_there_are_refused, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
