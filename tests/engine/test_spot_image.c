/* Reflections of sampled spots: sums over all samples of all pixels, by their nodes; and half the
 * derivative by an amplitude times it, which is what the amplitude has made. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/pixel_trace.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 40, PANELS = 2, REACH = 12, NODES = 2 * REACH + 1, BEST = 6 };

static db_context *context;
static db_experiment experiment;
static float image[PANELS * SIZE * SIZE];

/* Rotations, mosaic blocks, three wavelengths in three directions, sub-pixels and layers, on two
 * panels: most pixels have samples of several nodes. */
static void make_experiment(db_experiment *e) {
    const double cell[6] = { 40, 50, 60, 80, 95, 105 };
    memcpy(e->crystal.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) {
        e->crystal.Ncells[i] = 7 + i;
        e->crystal.misset[i] = 11 * (i + 1);
    }
    e->crystal.mosaic_domains = 6;
    e->crystal.mosaic_spread = 1;
    e->goniometer.phi_step = 0.4;
    e->goniometer.phi_steps = 2;
    e->oversample = 2;
    e->detector.distance = 100;
    e->detector.sensor_thickness = 450;
    e->detector.attenuation_depth = 300;
    e->detector.sensor_layers = 2;
    e->detector.centre[0] = 10;
    e->detector.centre[1] = 14;
    db_panel panel = e->detector.panels[0];
    panel.fast_pixels = panel.slow_pixels = SIZE;
    panel.pixel_size[0] = panel.pixel_size[1] = 0.8;
    db_panel both[PANELS] = { panel, panel };
    for (int i = 0; i < 3; i++) both[1].origin[i] += SIZE * 0.8 * panel.slow_axis[i];
    assert_int_equal(db_experiment_set_panels(context, e, both, PANELS), DB_OK);
    db_source source[3];
    e->beam.divergence[0] = 10;
    for (int i = 0; i < 3; i++) {
        source[i] = e->beam.sources[0];
        source[i].wavelength_ratio = 1 + 0.006 * (i - 1);
        source[i].weight = 1 + i;
        source[i].spread[0] = 0.5 * (i - 1);
    }
    assert_int_equal(db_experiment_set_sources(context, e, source, 3), DB_OK);
    const int least[3] = { -REACH, -REACH, -REACH }, extent[3] = { NODES, NODES, NODES };
    double *const amplitude = malloc((size_t)NODES * NODES * NODES * sizeof *amplitude);
    assert_non_null(amplitude);
    for (int i = 0; i < NODES * NODES * NODES; i++) amplitude[i] = 20 + (i * 7919) % 97;
    assert_int_equal(db_experiment_set_amplitudes(context, e, least, extent, amplitude), DB_OK);
    free(amplitude);
}

static int start(void **state) {
    db_plan *plan = NULL;
    (void)state;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, &experiment), DB_OK);
    make_experiment(&experiment);
    if (db_plan_create(context, &experiment, NULL, &plan) != DB_OK ||
        db_plan_forward(plan, image) != DB_OK)
        fail_msg("%s", db_context_message(context));
    db_plan_destroy(&plan);
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

/* Of each node and panel: photons, and photons times place. */
typedef struct sums {
    double photons, first[2];
} sums;

typedef struct counting {
    sums *node; /* [PANELS][NODES][NODES][NODES] */
    int panel, fast, slow;
} counting;

static size_t node_index(int panel, const int hkl[3]) {
    for (int i = 0; i < 3; i++)
        if (abs(hkl[i]) > REACH) fail_msg("%d %d %d is not in the list", hkl[0], hkl[1], hkl[2]);
    return (size_t)(((panel * NODES + hkl[0] + REACH) * NODES + hkl[1] + REACH) * NODES + hkl[2] +
                    REACH);
}

static void count(void *user, const db_trace_sample *sample) {
    counting *const c = user;
    const int hkl[3] = { (int)sample->node[0], (int)sample->node[1], (int)sample->node[2] };
    if (sample->intensity == 0) return; /* of reflections that are not in the list, too */
    sums *const s = &c->node[node_index(c->panel, hkl)];
    s->photons += sample->intensity;
    s->first[0] += sample->intensity * (c->fast + 0.5);
    s->first[1] += sample->intensity * (c->slow + 0.5);
}

static void reflections_are_sums_of_samples(void **state) {
    (void)state;
    counting c = { .node = calloc((size_t)PANELS * NODES * NODES * NODES, sizeof *c.node) };
    db_trace *trace = NULL;
    db_predicted_spots list;
    db_trace_sum sum;
    assert_non_null(c.node);
    assert_int_equal(db_trace_create(context, &experiment, &trace), DB_OK);
    for (c.panel = 0; c.panel < PANELS; c.panel++)
        for (c.slow = 0; c.slow < SIZE; c.slow++)
            for (c.fast = 0; c.fast < SIZE; c.fast++)
                assert_int_equal(db_trace_pixel(context, trace, (size_t)c.panel, c.fast, c.slow,
                                                count, &c, &sum),
                                 DB_OK);
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &list), DB_OK);
    double brightest = 0, whole = 0, listed = 0;
    for (size_t i = 0; i < (size_t)PANELS * NODES * NODES * NODES; i++)
        brightest = fmax(brightest, c.node[i].photons);
    for (int i = 0; i < PANELS * SIZE * SIZE; i++) whole += (double)image[i];
    for (size_t i = 0; i < list.count; i++) {
        const db_spot *const spot = &list.spot[i];
        const sums *const s = &c.node[node_index((int)spot->panel, spot->hkl)];
        listed += spot->photons;
        if (!(fabs(spot->photons - s->photons) < 0.005 * s->photons + 2e-4 * brightest))
            fail_msg("%d %d %d: %g photons, samples add up to %g", spot->hkl[0], spot->hkl[1],
                     spot->hkl[2], spot->photons, s->photons);
        for (int k = 0; k < 2 && s->photons > 0.01 * brightest; k++)
            if (!(fabs(spot->position[k] - s->first[k] / s->photons) < 0.05))
                fail_msg("%d %d %d: at %g, samples' mean is %g", spot->hkl[0], spot->hkl[1],
                         spot->hkl[2], spot->position[k], s->first[k] / s->photons);
    }
    assert_true(list.count > 40 && listed > 0.98 * whole && listed < 1.0000001 * whole);
    db_predicted_spots_clear(&list);
    db_trace_destroy(&trace);
    free(c.node);
}

/* An image is quadratic in each amplitude: F/2 dI/dF is the part that this reflection makes. */
static void reflections_are_derivatives_by_amplitudes(void **state) {
    (void)state;
    enum { PIXELS = PANELS * SIZE * SIZE };
    db_predicted_spots list;
    size_t best[BEST] = { 0 };
    db_parameter parameter[BEST];
    double *const slope = malloc(BEST * PIXELS * sizeof *slope);
    double *const pixels = malloc(PIXELS * sizeof *pixels);
    void *derivative[BEST];
    db_plan *plan = NULL;
    assert_true(slope && pixels);
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &list), DB_OK);
    for (int k = 0; k < BEST; k++) {
        for (size_t i = 0; i < list.count; i++) {
            int better = list.spot[i].photons > list.spot[best[k]].photons || k > 0;
            for (int j = 0; j < k; j++)
                better = better && memcmp(list.spot[i].hkl, list.spot[best[j]].hkl,
                                          sizeof list.spot[i].hkl) != 0;
            if (better && (best[k] == 0 || list.spot[i].photons > list.spot[best[k]].photons))
                best[k] = i;
        }
        const int *const hkl = list.spot[best[k]].hkl;
        parameter[k] = db_parameter_amplitude(hkl[0], hkl[1], hkl[2]);
        derivative[k] = slope + k * PIXELS;
    }
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    options.pixel_type = DB_FLOAT64;
    options.parameters = parameter;
    options.parameter_count = BEST;
    if (db_plan_create(context, &experiment, &options, &plan) != DB_OK ||
        db_plan_gradient(plan, pixels, derivative) != DB_OK)
        fail_msg("%s", db_context_message(context));
    for (int k = 0; k < BEST; k++) {
        const db_spot *const spot = &list.spot[best[k]];
        const db_structure_factors *const f = &experiment.structure_factors;
        const double amplitude = f->amplitude[node_index(0, spot->hkl)];
        double photons = 0;
        for (int i = 0; i < SIZE * SIZE; i++)
            photons += slope[k * PIXELS + (int)spot->panel * SIZE * SIZE + i] * amplitude / 2;
        if (!(fabs(spot->photons - photons) < 0.005 * photons))
            fail_msg("%d %d %d: %g photons, its amplitude makes %g", spot->hkl[0], spot->hkl[1],
                     spot->hkl[2], spot->photons, photons);
    }
    db_plan_destroy(&plan);
    db_predicted_spots_clear(&list);
    free(slope);
    free(pixels);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    db_predicted_spots one, three;
    assert_int_equal(db_context_set_threads(context, 1), DB_OK);
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &one), DB_OK);
    assert_int_equal(db_context_set_threads(context, 3), DB_OK);
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &three), DB_OK);
    assert_int_equal(one.count, three.count);
    for (size_t i = 0; i < one.count; i++)
        assert_true(one.spot[i].photons == three.spot[i].photons &&
                    one.spot[i].position[0] == three.spot[i].position[0] &&
                    one.spot[i].covariance[2] == three.spot[i].covariance[2]);
    db_predicted_spots_clear(&one);
    db_predicted_spots_clear(&three);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    db_predicted_spots list;
    db_spot_options options = DB_SPOT_OPTIONS_INIT;
    options.least_photons = NAN;
    assert_int_equal(db_spots_of_image(context, &experiment, image, &options, &list),
                     DB_ERROR_USAGE);
    options.least_photons = 1e30;
    assert_int_equal(db_spots_of_image(context, &experiment, image, &options, &list), DB_OK);
    assert_int_equal(list.count, 0);
    db_predicted_spots_clear(&list);
    static const float wrong[] = { NAN, INFINITY, -1 };
    for (int i = 0; i < 3; i++) {
        const float was = image[5];
        image[5] = wrong[i];
        assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &list),
                         DB_ERROR_INPUT);
        assert_non_null(strstr(db_context_message(context), "pixel (5, 0) of panel 0"));
        assert_int_equal(list.count, 0);
        image[5] = was;
    }
    memset(image, 0, sizeof image);
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &list), DB_OK);
    assert_int_equal(list.count, 0);
    db_predicted_spots_clear(&list);
    experiment.spread.spots = DB_SPOTS_CLOSED;
    assert_int_equal(db_spots_of_image(context, &experiment, image, NULL, &list),
                     DB_ERROR_UNSUPPORTED);
    assert_int_equal(list.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reflections_are_sums_of_samples, start, finish),
        cmocka_unit_test_setup_teardown(reflections_are_derivatives_by_amplitudes, start, finish),
        cmocka_unit_test_setup_teardown(threads_do_not_matter, start, finish),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
