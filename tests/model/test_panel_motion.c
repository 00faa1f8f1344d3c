/* Motions of panels in their own frames and as groups, and tilts of the spindle axis, against plain
 * geometry. */
#include "support/unit_test.h"

#include <dualbragg/dualbragg.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/panel_motion.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST = 13, SLOW = 9, PIXELS = 2 * FAST * SLOW, MOTIONS = 6 };
static const double DEGREE = 0.017453292519943295769;
static const db_parameter own_motions[MOTIONS] = { DB_PANEL_TURN_FAST,   DB_PANEL_TURN_SLOW,
                                                   DB_PANEL_TURN_NORMAL, DB_PANEL_SHIFT_FAST,
                                                   DB_PANEL_SHIFT_SLOW,  DB_PANEL_SHIFT_NORMAL };

static db_context *context;
static db_experiment experiment;

/* Two panels, the second one turned and bent; a plate whose frame is left-handed in the laboratory
 * for `hand` -1. */
static void arrange(int hand) {
    db_experiment *e = &experiment;
    const double cell[6] = { 40, 50, 60, 80, 95, 105 };
    memcpy(e->crystal.cell, cell, sizeof cell);
    for (int i = 0; i < 3; i++) {
        e->crystal.Ncells[i] = 3 + i;
        e->crystal.misset[i] = 11 * (i + 1);
    }
    e->structure_factors.default_F = 10;
    e->detector.distance = 60;
    e->detector.centre[0] = 9;
    e->detector.centre[1] = 4;
    e->detector.rotation[1] = 5;
    for (int i = 0; i < 3; i++) e->detector.slow_axis[i] *= hand;
    db_panel *panels = calloc(2, sizeof *panels);
    assert_non_null(panels);
    panels[0] = e->detector.panels[0];
    panels[0].fast_pixels = FAST;
    panels[0].slow_pixels = SLOW;
    panels[0].pixel_size[0] = panels[0].pixel_size[1] = 0.6;
    panels[1] = panels[0];
    const double bent[12] = {
        8.5, 0.4, 0.7, 0.96, 0.224, -0.168, -0.28, 0.768, -0.576, 0, 0.6, 0.8
    };
    memcpy(panels[1].origin, bent, 3 * sizeof *bent);
    memcpy(panels[1].fast_axis, bent + 3, 3 * sizeof *bent);
    memcpy(panels[1].slow_axis, bent + 6, 3 * sizeof *bent);
    memcpy(panels[1].normal, bent + 9, 3 * sizeof *bent);
    free(e->detector.panels);
    e->detector.panels = panels;
    e->detector.panel_count = 2;
}

static int start(void **state) {
    (void)state;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_experiment_init(context, &experiment), DB_OK);
    arrange(1);
    return 0;
}

static int finish(void **state) {
    (void)state;
    db_experiment_clear(&experiment);
    db_context_destroy(&context);
    return 0;
}

static void position(size_t panel, double fast, double slow, double r[3]) {
    assert_int_equal(db_experiment_pixel_position(&experiment, panel, fast, slow, r), DB_OK);
}

/* Laboratory frame of a panel: centre, and unit vectors fast, slow, normal. */
typedef struct frame {
    double centre[3], axis[3][3];
} frame;

static frame frame_of(size_t panel) {
    frame f;
    double corner[3], fast[3], slow[3];
    position(panel, 0.5 * FAST, 0.5 * SLOW, f.centre);
    position(panel, 0, 0, corner);
    position(panel, 1, 0, fast);
    position(panel, 0, 1, slow);
    for (int i = 0; i < 3; i++) {
        f.axis[0][i] = (fast[i] - corner[i]) / 0.6;
        f.axis[1][i] = (slow[i] - corner[i]) / 0.6;
    }
    double *n = f.axis[2], *a = f.axis[0], *b = f.axis[1];
    n[0] = a[1] * b[2] - a[2] * b[1];
    n[1] = a[2] * b[0] - a[0] * b[2];
    n[2] = a[0] * b[1] - a[1] * b[0];
    if (n[0] * f.centre[0] + n[1] * f.centre[1] + n[2] * f.centre[2] < 0)
        for (int i = 0; i < 3; i++) n[i] = -n[i];
    return f;
}

/* Each of the six alone: shifts move the centre along the axis; turn i takes axis i + 1 towards
 * axis i + 2, and leaves centre and axis i. */
static void own_motions_are_about_own_centre_and_axes(void **state) {
    (void)state;
    for (int hand = 1; hand >= -1; hand -= 2) {
        if (hand < 0)
            for (int i = 0; i < 3; i++) experiment.detector.slow_axis[i] *= -1;
        for (size_t panel = 0; panel < 2; panel++) {
            const frame before = frame_of(panel);
            for (int i = 0; i < 3; i++) {
                const double by = 1.7, angle = by * DEGREE;
                const int next = (i + 1) % 3, last = (i + 2) % 3;
                experiment.detector.panel_shift[i] = by;
                const frame shifted = frame_of(panel);
                experiment.detector.panel_shift[i] = 0;
                experiment.detector.panel_turn[i] = by;
                const frame turned = frame_of(panel);
                experiment.detector.panel_turn[i] = 0;
                for (int k = 0; k < 3; k++) {
                    assert_true(fabs(shifted.centre[k] - before.centre[k] -
                                     by * before.axis[i][k]) < 1e-12);
                    assert_true(fabs(turned.centre[k] - before.centre[k]) < 1e-12);
                    assert_true(fabs(turned.axis[i][k] - before.axis[i][k]) < 1e-12);
                    assert_true(fabs(shifted.axis[next][k] - before.axis[next][k]) < 1e-12);
                    assert_true(fabs(turned.axis[next][k] - cos(angle) * before.axis[next][k] -
                                     sin(angle) * before.axis[last][k]) < 1e-12);
                }
            }
        }
    }
}

/* Own motions folded into the panels leave all pixels where they are. */
static void panels_take_their_own_motion(void **state) {
    (void)state;
    double before[8][3], after[8][3];
    for (int i = 0; i < 3; i++) {
        experiment.detector.panel_turn[i] = 4 - 5 * i;
        experiment.detector.panel_shift[i] = 0.3 * i - 0.5;
    }
    for (int k = 0; k < 8; k++)
        position((size_t)k / 4, k & 1 ? FAST : 0, k & 2 ? SLOW : 0, before[k]);
    db_panels_take_own_motion(&experiment.detector);
    for (int i = 0; i < 3; i++)
        assert_true(experiment.detector.panel_turn[i] == 0 &&
                    experiment.detector.panel_shift[i] == 0);
    for (int k = 0; k < 8; k++) {
        position((size_t)k / 4, k & 1 ? FAST : 0, k & 2 ? SLOW : 0, after[k]);
        for (int i = 0; i < 3; i++) assert_true(fabs(after[k][i] - before[k][i]) < 1e-11);
    }
}

/* A group stays rigid, and its centre is where the shift takes it. */
static void groups_stay_rigid(void **state) {
    (void)state;
    static const size_t both[2] = { 0, 1 };
    db_panel_motion motion;
    double before[8][3], after[8][3];
    assert_int_equal(db_panel_group_frame(context, &experiment.detector, both, 2, &motion), DB_OK);
    for (int i = 0; i < 3; i++) {
        motion.turn[i] = 7 * i - 5;
        motion.shift[i] = 0.4 - 0.3 * i;
    }
    for (int k = 0; k < 8; k++)
        position((size_t)k / 4, k & 1 ? FAST : 0, k & 2 ? SLOW : 0, before[k]);
    const frame first = frame_of(0), second = frame_of(1);
    assert_int_equal(db_panels_move(context, &experiment.detector, both, 2, &motion), DB_OK);
    for (int k = 0; k < 8; k++)
        position((size_t)k / 4, k & 1 ? FAST : 0, k & 2 ? SLOW : 0, after[k]);
    for (int k = 0; k < 8; k++)
        for (int n = 0; n < k; n++) {
            double was = 0, is = 0;
            for (int i = 0; i < 3; i++) {
                was += (before[k][i] - before[n][i]) * (before[k][i] - before[n][i]);
                is += (after[k][i] - after[n][i]) * (after[k][i] - after[n][i]);
            }
            assert_true(fabs(sqrt(is) - sqrt(was)) < 1e-11);
        }
    const frame moved = frame_of(0), other = frame_of(1);
    double length = 0, along = 0;
    for (int i = 0; i < 3; i++) {
        const double by =
            0.5 * (moved.centre[i] + other.centre[i] - first.centre[i] - second.centre[i]);
        length += by * by;
        along += motion.shift[i] * motion.shift[i];
    }
    assert_true(fabs(length - along) < 1e-11);
}

static void image_of(db_plan *plan, double image[PIXELS]) {
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_forward(plan, image), DB_OK);
}

/* Moves the group there and back. */
static void image_moved(db_plan *plan, const db_panel_motion *group, int which, double by,
                        double image[PIXELS]) {
    static const size_t both[2] = { 0, 1 };
    db_panel kept[2];
    db_panel_motion motion = *group;
    memcpy(kept, experiment.detector.panels, sizeof kept);
    if (which < 3)
        motion.turn[which] += by;
    else
        motion.shift[which - 3] += by;
    assert_int_equal(db_panels_move(context, &experiment.detector, both, 2, &motion), DB_OK);
    image_of(plan, image);
    memcpy(experiment.detector.panels, kept, sizeof kept);
}

/* The derivative by a group's motion is that combination of derivatives by own motions, also where
 * the group has moved already. */
static void check_group_derivatives(const db_panel_motion *moved) {
    static const size_t both[2] = { 0, 1 };
    db_panel kept[2];
    memcpy(kept, experiment.detector.panels, sizeof kept);
    static double image[PIXELS], own[MOTIONS][PIXELS], plus[PIXELS], minus[PIXELS];
    void *derivative[MOTIONS];
    db_plan_options options = DB_PLAN_OPTIONS_INIT;
    db_plan *plan;
    db_panel_motion group;
    options.pixel_type = DB_FLOAT64;
    options.parameters = own_motions;
    options.parameter_count = MOTIONS;
    for (int i = 0; i < MOTIONS; i++) derivative[i] = own[i];
    assert_int_equal(db_panel_group_frame(context, &experiment.detector, both, 2, &group), DB_OK);
    memcpy(group.turn, moved->turn, sizeof group.turn);
    memcpy(group.shift, moved->shift, sizeof group.shift);
    assert_int_equal(db_plan_create(context, &experiment, &options, &plan), DB_OK);
    assert_int_equal(db_panels_move(context, &experiment.detector, both, 2, &group), DB_OK);
    assert_int_equal(db_plan_update(plan, &experiment), DB_OK);
    assert_int_equal(db_plan_gradient(plan, image, derivative), DB_OK);
    memcpy(experiment.detector.panels, kept, sizeof kept);
    for (int j = 0; j < MOTIONS; j++) {
        double part[2][6][6], largest = 0, worst = 0;
        const double h = 1e-4;
        for (size_t p = 0; p < 2; p++)
            db_panel_motion_parts(&experiment.detector.panels[p], &group, part[p]);
        double far[PIXELS];
        image_moved(plan, &group, j, h, plus);
        image_moved(plan, &group, j, -h, minus);
        for (int n = 0; n < PIXELS; n++) far[n] = (plus[n] - minus[n]) / (2 * h);
        image_moved(plan, &group, j, h / 2, plus);
        image_moved(plan, &group, j, -h / 2, minus);
        for (int n = 0; n < PIXELS; n++) {
            const double near = (plus[n] - minus[n]) / h, slope = (4 * near - far[n]) / 3;
            double sum = 0;
            for (int i = 0; i < MOTIONS; i++) sum += part[n / (FAST * SLOW)][i][j] * own[i][n];
            largest = fmax(largest, fabs(slope));
            worst = fmax(worst, fabs(slope - sum));
        }
        if (!(largest > 0 && worst <= 1e-7 * largest))
            fail_msg("motion %d: off by %g of %g", j, worst, largest);
    }
    db_plan_destroy(&plan);
}

static void group_derivatives_are_combinations(void **state) {
    (void)state;
    const db_panel_motion rests = { .shift = { 0 } };
    const db_panel_motion moved = { .turn = { 1.5, -2, 3 }, .shift = { 0.4, -0.3, 1 } };
    check_group_derivatives(&rests);
    check_group_derivatives(&moved);
}

static void impossible_motions_move_nothing(void **state) {
    (void)state;
    static const size_t one[1] = { 1 }, none[1] = { 2 };
    db_detector *d = &experiment.detector;
    db_panel_motion motion = db_panel_own_frame(&d->panels[1]);
    const db_panel kept = d->panels[1];
    assert_int_equal(db_panels_move(context, d, none, 1, &motion), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "panel 2 of 2"));
    assert_int_equal(db_panels_move(context, d, one, 0, &motion), DB_ERROR_USAGE);
    motion.turn[1] = NAN;
    assert_int_equal(db_panels_move(context, d, one, 1, &motion), DB_ERROR_INPUT);
    motion.turn[1] = 1;
    motion.axis[0][0] = 0;
    assert_int_equal(db_panels_move(context, d, one, 1, &motion), DB_ERROR_INPUT);
    assert_non_null(strstr(db_context_message(context), "perpendicular"));
    assert_memory_equal(&kept, &d->panels[1], sizeof kept);
}

/* Spindle along z, beam along x: towards the beam is towards +x; out of their plane is along y. */
static void spindles_tilt_towards_and_across_the_beam(void **state) {
    (void)state;
    double axis[3];
    experiment.goniometer.tilt[0] = 30;
    db_experiment_spindle_axis(&experiment, axis);
    assert_true(fabs(axis[0] - 0.5) < 1e-15 && fabs(axis[1]) < 1e-15 &&
                fabs(axis[2] - sqrt(0.75)) < 1e-15);
    experiment.goniometer.tilt[0] = 0;
    experiment.goniometer.tilt[1] = 30;
    db_experiment_spindle_axis(&experiment, axis);
    /* about x = u x axis, with u = axis x beam = y: z goes to -y */
    assert_true(fabs(axis[0]) < 1e-15 && fabs(axis[1] + 0.5) < 1e-15 &&
                fabs(axis[2] - sqrt(0.75)) < 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(own_motions_are_about_own_centre_and_axes, start, finish),
        cmocka_unit_test_setup_teardown(panels_take_their_own_motion, start, finish),
        cmocka_unit_test_setup_teardown(groups_stay_rigid, start, finish),
        cmocka_unit_test_setup_teardown(group_derivatives_are_combinations, start, finish),
        cmocka_unit_test_setup_teardown(impossible_motions_move_nothing, start, finish),
        cmocka_unit_test_setup_teardown(spindles_tilt_towards_and_across_the_beam, start, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
