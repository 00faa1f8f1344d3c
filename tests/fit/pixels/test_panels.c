/* Detectors of several panels, from a list of experiments to a refined one; and what is left out of
 * an image. */

#include "support/expect.h"
#include "support/notices.h"
#include "fit/pixels/measured_image.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/pixels/shoeboxes.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 500, UPPER = 230 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;
/* Cuts the detector along its rows; the pixels stay where they are. */
static int cut_detector(db_experiment *e) {
    db_panel *const panels = malloc(2 * sizeof *panels);
    if (!panels) return -1;
    panels[0] = panels[1] = e->detector.panels[0];
    panels[0].slow_pixels = UPPER;
    panels[1].slow_pixels = PIXELS - UPPER;
    panels[1].origin[1] = UPPER * panels[0].pixel_size[1];
    free(e->detector.panels);
    e->detector.panels = panels;
    e->detector.panel_count = 2;
    return 0;
}

static int cut_image(db_measured_image *whole) {
    whole->panels = calloc(2, sizeof *whole->panels);
    if (!whole->panels) return -1;
    whole->panel_count = 2;
    whole->panels[0].slow_pixels = whole->panels[1].first_row = UPPER;
    whole->panels[1].slow_pixels = PIXELS - UPPER;
    return 0;
}

static int make(void **state) {
    (void)state;
    if (rendered_begin(PIXELS, 1000, 3, &context, &truth, &image) != 0) return -1;
    return cut_detector(&truth) || cut_image(&image) ? -1 : 0;
}

static int drop(void **state) {
    (void)state;
    return rendered_end(&context, &truth, &image);
}

static int spoil(void **state) {
    (void)state;
    if (db_experiment_copy(context, &truth, &start) != DB_OK) return -1;
    start.crystal.misset[0] += 0.1;
    start.crystal.misset[1] -= 0.1;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        refine_parameter(&settings, list[i], -1);
    return 0;
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    db_experiment_clear(&start);
    return 0;
}

/* Boxes lie on one panel each, and hold the pixels of the image there. */
static void refine_on_panels(void) {
    expect_ok(context, fit_still(context, &start, &image, &settings, NULL, NULL, &result));
    size_t lower = 0;
    for (size_t b = 0; b < result->shoebox_count; b++) {
        const db_region *const r = &result->shoeboxes[b].region;
        lower += r->panel;
        assert_true(r->slow_start >= 0 &&
                    r->slow_start + r->slow_count <= (r->panel ? PIXELS - UPPER : UPPER));
        const size_t row = (size_t)((r->panel ? UPPER : 0) + r->slow_start + 2);
        for (int f = 0; f < r->fast_count; f++)
            assert_true(result->shoeboxes[b].measured[2 * r->fast_count + f] ==
                        image.value[row * PIXELS + (size_t)(r->fast_start + f)]);
    }
    assert_true(lower > 5 && lower < result->shoebox_count - 5);
}

/* The same pixels as one panel give the same answer, but for the boxes that the cut takes away. */
static void one_panel_agrees(void) {
    db_experiment whole;
    db_fit_result *uncut = NULL;
    expect_ok(context, db_experiment_copy(context, &start, &whole));
    whole.detector.panel_count = 1;
    whole.detector.panels[0].slow_pixels = PIXELS;
    image.panel_count = 1;
    expect_ok(context, fit_still(context, &whole, &image, &settings, NULL, NULL, &uncut));
    image.panel_count = 2;
    assert_true(result->shoebox_count <= uncut->shoebox_count);
    assert_true(fabs(result->after.strong_explained - uncut->after.strong_explained) < 0.02);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const double off = result->estimates.list[i].value - uncut->estimates.list[i].value;
        if (!(fabs(off) < result->estimates.list[i].error))
            fail_msg("misset %zu is %g degree off that of one panel, its error is %g", i, off,
                     result->estimates.list[i].error);
    }
    /* and the same image but near the cut, where surroundings end */
    double sum = 0, difference = 0;
    for (size_t i = 0; i < (size_t)PIXELS * PIXELS; i++) {
        sum += (double)uncut->model_image[i];
        difference += fabs((double)(uncut->model_image[i] - result->model_image[i]));
    }
    assert_true(difference < 0.02 * sum);
    fit_still_destroy(&uncut);
    db_experiment_clear(&whole);
}

static void free_intensities_on_two_panels(void **state) {
    (void)state;
    settings.shoebox_half_width = 3; /* the cut takes boxes of 7 of 500 rows */
    refine_on_panels();
    one_panel_agrees();
}

static void known_structure_factors_on_two_panels(void **state) {
    (void)state;
    settings.intensity = DB_FIT_KNOWN;
    refine_on_panels();
    for (size_t i = 0; i < result->estimates.count; i++) {
        const double off = result->estimates.list[i].value -
                           db_parameter_get(&truth, result->estimates.list[i].parameter);
        if (!(fabs(off) < 4 * result->estimates.list[i].error))
            fail_msg("misset %zu is %g degree off, its error is %g", i, off,
                     result->estimates.list[i].error);
    }
    assert_true(result->after.strong_explained > 0.9);
}

static void another_cut_than_the_image_has_is_refused(void **state) {
    (void)state;
    start.detector.panels[0].slow_pixels++;
    start.detector.panels[1].slow_pixels--;
    expect_failure(context, DB_ERROR_INPUT,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "on a panel");
    settings.roi[0] = 10;
    start.detector.panels[0].slow_pixels--;
    start.detector.panels[1].slow_pixels++;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result), "roi");
}

/* Only listed reflections get shoeboxes, by index or by where they are. */
static void a_list_says_which_reflections_count(void **state) {
    (void)state;
    refine_on_panels();
    char by_index[4000] = "# h k l\n", by_place[4000] = "# fast slow panel\n";
    size_t listed = 0;
    for (size_t b = 0; b < result->shoebox_count && listed < 40; b += 2, listed++) {
        const db_fit_shoebox *const box = &result->shoeboxes[b];
        snprintf(by_index + strlen(by_index), sizeof by_index - strlen(by_index), "%d %d %d 12.5\n",
                 box->hkl[0], box->hkl[1], box->hkl[2]);
        snprintf(by_place + strlen(by_place), sizeof by_place - strlen(by_place), "%.2f %.2f %zu\n",
                 box->predicted[0] + 1, box->predicted[1] - 1, box->region.panel);
    }
    db_fit_spots spots;
    expect_ok(context,
              db_fit_spots_read(context, scratch_file("hkl.txt", by_index), 0, -1, &spots));
    assert_int_equal(spots.count, listed);
    settings.spots = &spots;
    db_fit_result *some = NULL;
    (void)fit_still(context, &result->experiment, &image, &settings, NULL, NULL, &some);
    assert_non_null(some);
    assert_true(some->shoebox_count <= listed &&
                (double)some->shoebox_count > 0.8 * (double)listed);
    fit_still_destroy(&some);
    db_fit_spots_clear(&spots);

    expect_ok(context,
              db_fit_spots_read(context, scratch_file("places.txt", by_place), 1, -1, &spots));
    settings.shoebox_half_width = 3;
    (void)fit_still(context, &result->experiment, &image, &settings, NULL, NULL, &some);
    assert_non_null(some);
    assert_true((double)some->shoebox_count >= 0.8 * (double)listed &&
                (double)some->shoebox_count < 0.9 * (double)result->shoebox_count);
    fit_still_destroy(&some);
    db_fit_spots_clear(&spots);
    settings.spots = NULL;
    expect_failure(context, DB_ERROR_INPUT,
                   db_fit_spots_read(context, scratch_file("bad.txt", "1 2\n"), 0, -1, &spots),
                   "bad.txt:1: expected three whole numbers");
    expect_failure(context, DB_ERROR_INPUT,
                   db_fit_spots_read(context, scratch_file("bad.txt", "1 2 -1\n"), 1, -1, &spots),
                   "bad.txt:1");
    expect_failure(
        context, DB_ERROR_INPUT,
        db_fit_spots_read(context, scratch_file("bad.txt", "# nothing\n"), 1, -1, &spots),
        "found none");
}

/* A list, a configuration that names it, and the refined one: the same experiment. */
static void a_model_comes_from_a_list_and_goes_back_to_one(void **state) {
    (void)state;
    static db_fit_config config, again;
    db_experiment from_list, back;
    const char *const list = scratch_path("model.expt");
    expect_ok(context, db_write_expt(context, list, &truth, NULL));
    const char *const yaml =
        scratch_file("list.yaml", "model: {expt: model.expt, Ncells: [19, 19, 8], wavelength: 0.97,"
                                  " misset: [0, 0.5, 0], distance: 200}\n"
                                  "refine: {misset_x: {range: 1}}\nimage: none.img\n");
    expect_ok(context, db_fit_config_read(context, yaml, NULL, 0, &config));
    expect_ok(context,
              db_fit_config_start(context, &config, &image, &from_list, keep_notice, NULL));
    assert_int_equal(from_list.detector.panel_count, 2);
    assert_true(from_list.beam.wavelength == 0.97 && from_list.detector.distance == 200);
    assert_true(from_list.crystal.Ncells[2] == 8 && from_list.crystal.misset[1] == 0.5);
    for (int i = 0; i < 6; i++)
        assert_true(fabs(from_list.crystal.cell[i] - truth.crystal.cell[i]) < 1e-9);

    expect_ok(context, db_experiment_copy(context, &from_list, &back));
    back.detector.rotation[1] = 2;
    back.detector.panel_shift[0] = 0.2;
    back.detector.panel_turn[2] = 0.5;
    back.goniometer.tilt[0] = 3;
    back.beam.tilt[0] = 4;
    back.beam.tilt[1] = -2;
    back.crystal.cell[0] = 58.9;
    back.detector.centre[0] += 0.3;
    db_fit_result refined = { .experiment = back, .reason = "" };
    const char *const written = scratch_path("again.yaml");
    fclose(fopen("none.img", "w"));
    snprintf(config.image_file, sizeof config.image_file, "none.img");
    expect_ok(context, db_fit_write_yaml(context, written, &config, &refined));
    expect_ok(context, db_write_expt(context, scratch_path("again.expt"), &back, NULL));
    remove("none.img");
    expect_ok(context, db_fit_config_read(context, written, NULL, 0, &again));
    db_experiment_clear(&from_list);
    expect_ok(context, db_fit_config_start(context, &again, &image, &from_list, keep_notice, NULL));
    for (size_t p = 0; p < 2; p++) {
        double x[3], y[3];
        (void)db_experiment_pixel_position(&back, p, 11, 17, x);
        (void)db_experiment_pixel_position(&from_list, p, 11, 17, y);
        for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - y[i]) < 1e-9);
    }
    double axis[2][3];
    db_experiment_spindle_axis(&back, axis[0]);
    db_experiment_spindle_axis(&from_list, axis[1]);
    for (int i = 0; i < 3; i++) assert_true(fabs(axis[0][i] - axis[1][i]) < 1e-9);
    db_experiment_beam_direction(&back, axis[0]);
    db_experiment_beam_direction(&from_list, axis[1]);
    for (int i = 0; i < 3; i++) assert_true(fabs(axis[0][i] - axis[1][i]) < 1e-9);
    double a[9], b[9];
    db_crystal_matrix(&back.crystal, a);
    db_crystal_matrix(&from_list.crystal, b);
    for (int i = 0; i < 9; i++) assert_true(fabs(a[i] - b[i]) < 1e-12);
    assert_true(from_list.crystal.misset[1] == 0.5);
    db_experiment_clear(&from_list);
    db_experiment_clear(&back);

    const char *const beam = "model.beam_centre_px=[1, 2]";
    expect_ok(context, db_fit_config_read(context, yaml, &beam, 1, &config));
    expect_failure(context, DB_ERROR_USAGE,
                   db_fit_config_start(context, &config, &image, &from_list, keep_notice, NULL),
                   "beam_centre_px");
    const char *const frame = "model.convention=xds";
    expect_ok(context, db_fit_config_read(context, yaml, &frame, 1, &config));
    expect_failure(context, DB_ERROR_USAGE,
                   db_fit_config_start(context, &config, &image, &from_list, keep_notice, NULL),
                   "convention");
}

/* A hot pixel stands alone; a spot does not, however sharp. */
static void hot_pixels_stand_alone(void **state) {
    (void)state;
    enum { N = 300 };
    static float value[N * N];
    static uint8_t mask[N * N];
    db_measured_image small = { .fast_pixels = N, .slow_pixels = N, .value = value, .mask = mask };
    for (int i = 0; i < N * N; i++) value[i] = (float)(9 + (i * 7 + i / N * 3) % 4);
    memset(mask, 0, sizeof mask);
    value[10 * N + 10] = 5000;   /* hot */
    value[0] = 3000;             /* hot, in the corner */
    value[20 * N + N - 1] = 400; /* hot, at the edge */
    value[30 * N + 10] = 5000;   /* a spot: its neighbour has 8 % */
    value[30 * N + 11] = 400;
    value[5 * N + 30] = 150;      /* noise */
    for (int i = 0; i < 2; i++) { /* hot, and a weaker one behind it in its row */
        value[15 * N + 20 + 235 * i] = 50000;
        value[15 * N + 21 + 235 * i] = 1500;
    }
    assert_int_equal(db_mask_hot_pixels(&settings, 50, &small), 7);
    assert_int_equal(mask[10 * N + 10], DB_MASK_HOT);
    assert_int_equal(mask[0], DB_MASK_HOT);
    assert_int_equal(mask[20 * N + N - 1], DB_MASK_HOT);
    assert_int_equal(mask[15 * N + 21], DB_MASK_HOT);
    assert_int_equal(mask[15 * N + 256], DB_MASK_HOT);
    assert_int_equal(small.masked, 7);
    assert_int_equal(db_mask_hot_pixels(&settings, 0, &small), 0);
}

/* One panel as SMV image and list; the list's rectangle and range, a mask, and a list of pixels. */
static void what_must_not_count_is_masked(void **state) {
    (void)state;
    enum { FAST = 24, SLOW = 16 };
    static db_fit_config config;
    db_experiment e;
    db_measured_image read;
    static float counts[FAST * SLOW], good[FAST * SLOW];
    for (int i = 0; i < FAST * SLOW; i++) {
        counts[i] = 10;
        good[i] = i % FAST != 3;
    }
    counts[5 * FAST + 7] = 900; /* beyond the list's range */
    counts[9 * FAST + 9] = 700; /* within; hot */
    expect_ok(context, db_experiment_copy(context, &truth, &e));
    e.detector.panel_count = 1;
    e.detector.panels[0].fast_pixels = FAST;
    e.detector.panels[0].slow_pixels = SLOW;
    const db_expt_image range = {
        .path = "shot_1.img", .pedestal = 0, .gain = 2, .trusted = { -5, 800 }
    };
    expect_ok(context, db_write_smv(context, scratch_path("shot_1.img"), &e, counts, 1, 0, NULL));
    expect_ok(context, db_write_smv(context, scratch_path("mask.img"), &e, good, 1, 0, NULL));
    expect_ok(context, db_write_expt(context, scratch_path("shot.expt"), &e, &range));
    scratch_file("hot.txt", "# fast slow\n20 2\n21 2 0\n");
    const char *const yaml = scratch_file(
        "masks.yaml", "image: shot_1.img\nmodel: {expt: shot.expt}\nrefine: {misset_x: }\n"
                      "data: {mask: mask.img, hot_pixels: hot.txt, hot_sigma: 60}\n");
    expect_ok(context, db_fit_config_read(context, yaml, NULL, 0, &config));
    notices[0] = '\0';
    expect_ok(context, db_fit_config_read_image(context, &config, &read, keep_notice, NULL));
    assert_int_equal(read.mask[5 * FAST + 7], DB_MASK_OVERLOAD);
    assert_int_equal(read.mask[9 * FAST + 9], DB_MASK_HOT);
    assert_int_equal(read.mask[2 * FAST + 20], DB_MASK_BAD);
    assert_int_equal(read.mask[2 * FAST + 21], DB_MASK_BAD);
    assert_int_equal(read.mask[2 * FAST + 3], DB_MASK_BAD);
    assert_int_equal(read.masked, 16 + 2 + 2);
    assert_true(read.gain == 2);
    assert_non_null(strstr(notices, "1 hot pixel left out"));
    db_measured_image_clear(&read);

    const char *const wide = "data.trusted=[-10, 1000]";
    expect_ok(context, db_fit_config_read(context, yaml, &wide, 1, &config));
    expect_ok(context, db_fit_config_read_image(context, &config, &read, keep_notice, NULL));
    assert_int_equal(read.mask[5 * FAST + 7], DB_MASK_HOT); /* hot now */
    db_measured_image_clear(&read);

    scratch_file("hot.txt", "24 2\n");
    expect_failure(context, DB_ERROR_INPUT,
                   db_fit_config_read_image(context, &config, &read, keep_notice, NULL),
                   "not on the image");
    const char *const crossed = "data.trusted=[10, 1]";
    expect_failure(context, DB_ERROR_USAGE, db_fit_config_read(context, yaml, &crossed, 1, &config),
                   "smaller limit first");
    expect_ok(context,
              db_write_expt(context, scratch_path("shot.expt"), &truth, NULL)); /* two panels */
    expect_ok(context, db_fit_config_read(context, yaml, NULL, 0, &config));
    expect_failure(context, DB_ERROR_INPUT,
                   db_fit_config_read_image(context, &config, &read, keep_notice, NULL),
                   "2 panels");
    db_experiment_clear(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(free_intensities_on_two_panels, spoil, forget),
        cmocka_unit_test_setup_teardown(known_structure_factors_on_two_panels, spoil, forget),
        cmocka_unit_test_setup_teardown(another_cut_than_the_image_has_is_refused, spoil, forget),
        cmocka_unit_test_setup_teardown(a_list_says_which_reflections_count, spoil, forget),
        cmocka_unit_test_setup_teardown(a_model_comes_from_a_list_and_goes_back_to_one, spoil,
                                        forget),
        cmocka_unit_test_setup_teardown(hot_pixels_stand_alone, spoil, forget),
        cmocka_unit_test_setup_teardown(what_must_not_count_is_masked, spoil, forget),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
