/* Rotations of many turns: each turn shows the same spots, and what is too long for the closed form is refused. */
#include "support/context.h"

#include "scenes.h"

#include <dualbragg/dualbragg.h>

#include <math.h>
#include <string.h>

enum { SIDE = 64, PIXELS = SIDE * SIDE };

static const spot_scene turning = { .name = "turning", .at = { { 6, 3, 4 }, 40, 20, 0 } };

static void show(double phi_step, int phi_steps, double image[PIXELS]) {
    naive_region region;
    spot_scene scene = turning;
    scene.size = SIDE;
    db_experiment e = scene_experiment(context, &scene, &region);
    e.spread.mosaic = 0.1 * 0.1;
    e.structure_factors.default_F = 0; /* that reflection alone: none begins or ends in the beam */
    assert_int_equal(db_experiment_set_amplitudes(context, &e, scene.at.node, (int[]){ 1, 1, 1 },
                                                  (double[]){ 100 }),
                     DB_OK);
    e.goniometer.phi = -20;
    e.goniometer.phi_step = phi_step;
    e.goniometer.phi_steps = phi_steps;
    rendered(context, &e, region, image);
    db_experiment_clear(&e);
}

static void expect_same(const char *what, const double *image, const double *expected) {
    double largest = 0, most = 0;
    for (int i = 0; i < PIXELS; i++) largest = fmax(largest, expected[i]);
    for (int i = 0; i < PIXELS; i++) most = fmax(most, fabs(image[i] - expected[i]));
    assert_true(largest > 0);
    if (!(most <= 1e-9 * largest)) fail_msg("%s: off by %g of %g", what, most, largest);
}

static void every_turn_shows_the_same(void **state) {
    (void)state;
    static double one[PIXELS], three[PIXELS];
    show(360, 1, one);
    show(360, 3, three);
    expect_same("three turns", three, one);
    show(-360, 1, three); /* backwards through the same angles */
    expect_same("a turn backwards", three, one);
}

/* Three turns and a half: the mean over the parts. */
static void the_longest_rotation_is_whole(void **state) {
    (void)state;
    static double longest[PIXELS], turn[PIXELS], half[PIXELS];
    show(360, 1, turn);
    show(180, 1, half);
    for (int i = 0; i < PIXELS; i++) turn[i] = (6 * turn[i] + half[i]) / 7;
    show(0.1, 12600, longest);
    expect_same("1260 degree", longest, turn);
}

static void longer_ones_are_refused(void **state) {
    (void)state;
    static const struct {
        double step;
        int steps;
    } range[] = { { 1260.001, 1 }, { -1260.001, 1 }, { 180, 8 }, { 1e6, 1000000 } };
    db_experiment e = scene_start(context);
    for (size_t i = 0; i < sizeof range / sizeof *range; i++) {
        e.goniometer.phi_step = range[i].step;
        e.goniometer.phi_steps = range[i].steps;
        assert_int_equal(db_experiment_check(context, &e), DB_ERROR_UNSUPPORTED);
        assert_non_null(strstr(db_context_message(context), "phi range"));
        assert_non_null(strstr(db_context_message(context), "at most 1260 degree"));
    }
    e.spread = (db_spread){ .spots = DB_SPOTS_SAMPLED };
    assert_int_equal(db_experiment_check(context, &e), DB_OK);
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_turn_shows_the_same),
        cmocka_unit_test(the_longest_rotation_is_whole),
        cmocka_unit_test(longer_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
