/* Pictures of detectors with several panels. */

#include "support/unit_test.h"
#include "fit/report/resolution_parts.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static db_context *context;
static db_experiment e;
static db_image_panel rows[2] = { { "", 0, 3 }, { "", 3, 3 } };
static db_measured_image image;
static db_panel_layout layout;

/* Two panels of 4 x 3 pixels, the second a quarter turn from the first and to its right, with two
 * pixels between. The image has them one below the other; values count from 0. */
static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK || db_experiment_init(context, &e) != DB_OK) return -1;
    free(e.detector.panels);
    e.detector.panels = calloc(2, sizeof *e.detector.panels);
    if (!e.detector.panels) return -1;
    e.detector.panel_count = 2;
    for (int p = 0; p < 2; p++) {
        db_panel *const panel = &e.detector.panels[p];
        panel->fast_pixels = 4;
        panel->slow_pixels = 3;
        panel->pixel_size[0] = panel->pixel_size[1] = 0.1;
    }
    db_panel *const a = &e.detector.panels[0], *const b = &e.detector.panels[1];
    a->fast_axis[0] = a->slow_axis[1] = a->normal[2] = 1;
    b->fast_axis[1] = b->normal[2] = 1;
    b->slow_axis[0] = -1;
    b->origin[0] = 0.9; /* its slow axis points back to the first panel */
    image =
        (db_measured_image){ .fast_pixels = 4, .slow_pixels = 6, .panel_count = 2, .panels = rows };
    return 0;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&e);
    db_context_destroy(&context);
    return 0;
}

static int forget(void **state) {
    (void)state;
    db_panel_layout_clear(&layout);
    return 0;
}

static void lay_out(void) {
    if (db_panel_layout_make(context, &e, &image, &layout) != DB_OK)
        fail_msg("%s", db_context_message(context));
}

static void panels_stand_where_they_are(void **state) {
    (void)state;
    lay_out();
    assert_int_equal(layout.fast, 9);
    assert_int_equal(layout.slow, 4);
    float values[24], picture[36];
    for (int i = 0; i < 24; i++) values[i] = (float)i;
    db_panel_layout_compose(&layout, values, picture);
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 9; x++) {
            /* left: rows as they are; right: fast runs down, slow to the left */
            const float expected = x < 4 && y < 3 ? (float)(4 * y + x)
                                   : x >= 6       ? (float)(12 + 4 * (8 - x) + y)
                                                  : NAN;
            const float found = picture[9 * y + x];
            if (!(found == expected || (isnan(found) && isnan(expected))))
                fail_msg("pixel %d %d is %g instead of %g", x, y, (double)found, (double)expected);
        }
}

static void boxes_turn_with_their_panel(void **state) {
    (void)state;
    lay_out();
    double point[2], box[4];
    db_panel_layout_point(&layout, 1, 1, 2.5, point);
    assert_true(fabs(point[0] - 6.5) < 1e-9 && fabs(point[1] - 1) < 1e-9);
    db_panel_layout_box(&layout, 1, 1, 0, 2, 1, box);
    const double expected[4] = { 8, 1, 1, 2 };
    for (int i = 0; i < 4; i++) assert_true(fabs(box[i] - expected[i]) < 1e-9);
}

static void one_panel_is_the_image(void **state) {
    (void)state;
    e.detector.panel_count = 1;
    image.slow_pixels = 3;
    image.panel_count = 1;
    lay_out();
    e.detector.panel_count = 2;
    image.slow_pixels = 6;
    image.panel_count = 2;
    assert_int_equal(layout.fast, 4);
    assert_int_equal(layout.slow, 3);
    double point[2];
    db_panel_layout_point(&layout, 0, 1.25, 2.5, point);
    assert_true(point[0] == 1.25 && point[1] == 2.5);
}

static void scattered_panels_stay_one_below_the_other(void **state) {
    (void)state;
    e.detector.panels[1].origin[0] = 90;
    lay_out();
    e.detector.panels[1].origin[0] = 0.9;
    assert_int_equal(layout.fast, 4);
    assert_int_equal(layout.slow, 6);
    double point[2];
    db_panel_layout_point(&layout, 1, 1, 1, point);
    assert_true(point[0] == 1 && point[1] == 4);
}

/* 1/d^2 in the middle of the picture's pixel, by where that pixel stands: on its panel. */
static double square_of(size_t panel, double fast, double slow) {
    double at[3], squared = 0;
    assert_int_equal(db_experiment_pixel_position(&e, panel, fast, slow, at), DB_OK);
    const double length = sqrt(at[0] * at[0] + at[1] * at[1] + at[2] * at[2]);
    for (int i = 0; i < 3; i++) {
        const double q = (at[i] / length - e.beam.direction[i]) / e.beam.wavelength;
        squared += q * q;
    }
    return squared;
}

static void make_parts(db_fit_geometry *geometry, db_resolution_parts *parts) {
    const double all[4] = { 0, 0, layout.fast, layout.slow };
    assert_int_equal(db_fit_geometry_of(context, &e, geometry), DB_OK);
    assert_int_equal(db_resolution_parts_make(context, geometry, &layout, all, parts), DB_OK);
}

/* A part's 1/d^2 in the middles of a panel's pixels. */
static void expect_squares(const db_fit_geometry *geometry, const db_resolution_part *part,
                           size_t panel) {
    for (int s = 0; s < 3; s++)
        for (int f = 0; f < 4; f++) {
            double point[2], within[2];
            db_panel_layout_point(&layout, panel, f + 0.5, s + 0.5, point);
            db_resolution_part_within(part, point, within);
            assert_true(fmin(within[0], within[1]) > 0 && fmax(within[0], within[1]) < 1);
            const double found = db_resolution_part_square(geometry, &layout, part, within),
                         expected = square_of(panel, f + 0.5, s + 0.5);
            if (!(fabs(found / expected - 1) < 1e-6))
                fail_msg("panel %zu, %d %d: %.9g, not %.9g", panel, f, s, found, expected);
        }
}

/* Panels in one plane have one picture of resolution, gaps and all; others one each: the second one is
 * tilted by 50 degrees. */
static void resolution_is_that_of_each_panel(void **state) {
    (void)state;
    db_fit_geometry geometry;
    db_resolution_parts parts;
    db_panel *const tilted = &e.detector.panels[1];
    const db_panel flat = *tilted;
    const double angle = 50 * acos(-1) / 180;
    lay_out();
    make_parts(&geometry, &parts);
    assert_int_equal(parts.count, 1);
    for (size_t p = 0; p < 2; p++) expect_squares(&geometry, &parts.part[0], p);
    db_resolution_parts_clear(&parts);
    db_fit_geometry_clear(&geometry);
    db_panel_layout_clear(&layout);

    tilted->fast_axis[1] = tilted->normal[2] = cos(angle);
    tilted->fast_axis[2] = sin(angle);
    tilted->normal[1] = -sin(angle);
    lay_out();
    assert_int_equal(layout.fast, 9); /* beside one another, as seen along the beam */
    make_parts(&geometry, &parts);
    assert_int_equal(parts.count, 2);
    for (size_t p = 0; p < 2; p++) expect_squares(&geometry, &parts.part[p], p);
    db_resolution_parts_clear(&parts);
    db_fit_geometry_clear(&geometry);
    *tilted = flat;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(panels_stand_where_they_are, forget),
        cmocka_unit_test_teardown(boxes_turn_with_their_panel, forget),
        cmocka_unit_test_teardown(one_panel_is_the_image, forget),
        cmocka_unit_test_teardown(resolution_is_that_of_each_panel, forget),
        cmocka_unit_test_teardown(scattered_panels_stay_one_below_the_other, forget),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
