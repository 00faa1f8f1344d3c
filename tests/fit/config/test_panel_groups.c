/* Groups of panels in a refinement: displaced and tilted panels come back, what cannot be told
 * apart is said, the refined model goes on from its files, and configurations name groups. */

#include "support/expect.h"
#include "fit/still_fit.h"
#include "fit/four_panels.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/fit_quantities.h>
#include <dualbragg/expert/fit_steps.h>
#include <dualbragg/expert/panel_motion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PANELS = 4 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;
static db_fit_result *result;
static db_fit_config config;

/* Of panels 1 to 3; panel 0 stands where it should. mm and degree, by kind. */
static const double displaced[PANELS][6] = { { 0 },
                                             { 0.12, -0.08, 0, 0, 0, 0.25 },
                                             { -0.1, 0.05, 0, 0, 0, -0.2 },
                                             { 0.07, 0.1, 0, 0, 0, 0.15 } };

static int displace(db_experiment *e) {
    for (size_t p = 1; p < PANELS; p++) {
        db_panel_motion motion;
        if (db_panel_group_frame(context, &e->detector, &p, 1, &motion) != DB_OK) return -1;
        for (int i = 0; i < 3; i++) {
            motion.shift[i] = displaced[p][i];
            motion.turn[i] = displaced[p][3 + i];
        }
        if (db_panels_move(context, &e->detector, &p, 1, &motion) != DB_OK) return -1;
    }
    return 0;
}

static int make(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK ||
        four_panels_experiment(context, 4000, &start) != DB_OK ||
        db_experiment_copy(context, &start, &truth) != DB_OK || displace(&truth))
        return -1;
    start.crystal.misset[0] += 0.05;
    start.crystal.misset[2] -= 0.05;
    return four_panels_image(context, &truth, 7, &image) == DB_OK ? 0 : -1;
}

static int drop(void **state) {
    (void)state;
    db_measured_image_clear(&image);
    db_experiment_clear(&start);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

/* Misset, and motions of all panels from `first` on in the detector's plane. */
static void refine_in_plane(int first) {
    static const db_parameter motions[] = { DB_PANEL_SHIFT_FAST, DB_PANEL_SHIFT_SLOW,
                                            DB_PANEL_TURN_NORMAL };
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.target = DB_FIT_POISSON;
    settings.model_error = 0;
    four_panels_groups(&settings);
    for (int i = 0; i < 3; i++)
        refine_parameter(&settings, (db_parameter)((int)DB_MISSET_X + i), -1);
    for (int p = first; p < PANELS; p++)
        for (int m = 0; m < 3; m++) refine_motion(&settings, motions[m], p);
}

static int forget(void **state) {
    (void)state;
    fit_still_destroy(&result);
    return 0;
}

static double true_value(const db_fit_parameter *p) {
    return p->group < 0 ? db_parameter_get(&truth, p->parameter)
                        : displaced[p->group][p->parameter - DB_PANEL_SHIFT_FAST];
}

static void expect_truth(void) {
    for (size_t i = 0; i < result->estimates.count; i++) {
        const double off = result->estimates.list[i].value - true_value(&settings.parameters[i]);
        if (!(fabs(off) < 4 * result->estimates.list[i].error))
            fail_msg("%s is %g off, its error is %g", result->estimates.list[i].name, off,
                     result->estimates.list[i].error);
    }
}

static void displaced_panels_come_back(void **state) {
    (void)state;
    refine_in_plane(1);
    expect_ok(context, fit_still(context, &start, &image, &settings, NULL, NULL, &result));
    expect_truth();
    assert_string_equal(result->estimates.list[3].name, "panel_1:shift_fast");
    assert_string_equal(result->estimates.list[11].name, "panel_3:turn_normal");
    for (size_t i = 3; i < result->estimates.count; i++) {
        assert_true(result->estimates.list[i].start == 0);
        assert_true(result->estimates.list[i].error <
                    0.3 * fabs(true_value(&settings.parameters[i])));
        assert_true(result->history[result->history_count - 1].value[i] != 0);
    }
    /* the panels stand there, to a tenth of a pixel */
    for (size_t p = 0; p < PANELS; p++) {
        double at[3], should[3];
        (void)db_experiment_pixel_position(&result->experiment, p, 200, 30, at);
        (void)db_experiment_pixel_position(&truth, p, 200, 30, should);
        for (int i = 0; i < 3; i++) assert_true(fabs(at[i] - should[i]) < 0.017);
    }
    assert_true(result->after.centroid_rms < 0.5 * result->before.centroid_rms);
}

/* The motion that a group of several panels makes as one. */
static void several_panels_move_as_one(void **state) {
    (void)state;
    db_experiment moved;
    db_measured_image other;
    db_panel_motion motion;
    static const size_t right[2] = { 1, 3 };
    expect_ok(context, db_experiment_copy(context, &truth, &moved));
    memcpy(moved.detector.panels, start.detector.panels, PANELS * sizeof *start.detector.panels);
    expect_ok(context, db_panel_group_frame(context, &moved.detector, right, 2, &motion));
    motion.shift[0] = 0.1;
    motion.shift[2] = 1.5;
    motion.turn[1] = 1;
    motion.turn[2] = 0.2;
    expect_ok(context, db_panels_move(context, &moved.detector, right, 2, &motion));
    expect_ok(context, four_panels_image(context, &moved, 9, &other));
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.target = DB_FIT_POISSON;
    settings.model_error = 0;
    expect_ok(context, db_fit_panel_groups_add(context, &settings.panel_groups, "right"));
    for (size_t p = 1; p < 4; p += 2)
        expect_ok(context, db_fit_panel_groups_put(context, &settings.panel_groups, p, 0));
    for (int i = 0; i < 3; i++)
        refine_parameter(&settings, (db_parameter)((int)DB_MISSET_X + i), -1);
    refine_motion(&settings, DB_PANEL_SHIFT_FAST, 0);
    refine_motion(&settings, DB_PANEL_SHIFT_NORMAL, 0);
    refine_motion(&settings, DB_PANEL_TURN_SLOW, 0);
    refine_motion(&settings, DB_PANEL_TURN_NORMAL, 0);
    expect_ok(context, fit_still(context, &start, &other, &settings, NULL, NULL, &result));
    static const double should[4] = { 0.1, 1.5, 1, 0.2 };
    for (size_t i = 0; i < 4; i++) {
        const double off = result->estimates.list[3 + i].value - should[i];
        if (!(fabs(off) < 4 * result->estimates.list[3 + i].error &&
              result->estimates.list[3 + i].error < should[i]))
            fail_msg("%s is %g off, its error is %g", result->estimates.list[3 + i].name, off,
                     result->estimates.list[3 + i].error);
    }
    db_measured_image_clear(&other);
    db_experiment_clear(&moved);
}

static int warned_of(const char *a, const char *b) {
    for (size_t w = 0; w < result->warning_count; w++)
        if (strstr(result->warnings[w], "do not determine") && strstr(result->warnings[w], a) &&
            strstr(result->warnings[w], b))
            return 1;
    return 0;
}

/* All groups and the beam centre: what they do together cannot be told, and is told so. Priors on
 * the groups settle it. */
static void all_groups_and_the_beam_centre_are_too_many(void **state) {
    (void)state;
    refine_in_plane(0);
    refine_parameter(&settings, DB_BEAM_FAST, -1);
    refine_parameter(&settings, DB_BEAM_SLOW, -1);
    (void)fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    assert_non_null(result);
    assert_true(warned_of("shift_fast", "beam_fast") || warned_of("beam_slow", "shift_slow") ||
                warned_of("shift_fast", "shift_slow"));
    assert_true(isinf(result->estimates.list[3].error) &&
                isinf(result->estimates.list[settings.parameter_count - 1].error));
    fit_still_destroy(&result);
    for (size_t i = 0; i < settings.parameter_count; i++)
        if (settings.parameters[i].group >= 0) settings.parameters[i].prior[1] = 0.2;
    (void)fit_still(context, &start, &image, &settings, NULL, NULL, &result);
    assert_non_null(result);
    for (size_t i = 0; i < result->estimates.count; i++) {
        assert_true(isfinite(result->estimates.list[i].error) &&
                    result->estimates.list[i].error > 0);
        assert_true(settings.parameters[i].group < 0 || result->estimates.list[i].error < 0.21);
    }
}

static void impossible_choices_are_refused(void **state) {
    (void)state;
    refine_in_plane(1);
    settings.parameters[4].group = 7;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "of group 7 of panels, but there are 4");
    settings.parameters[4].group = 1;
    settings.parameters[4].parameter = DB_DISTANCE;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "group panel_1: distance is no motion");
    settings.parameters[4].parameter = DB_PANEL_SHIFT_FAST;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "panel_1:shift_fast is listed twice");
    settings.parameters[4].parameter = DB_PANEL_SHIFT_SLOW;
    settings.parameters[4].lower = 1;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "panel_1:shift_slow: starts at 0, outside its bounds 1 to inf");
    settings.parameters[4].lower = -INFINITY;
    settings.parameters[4].follows = db_fit_quantity_make(DB_MISSET_X, -1);
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "panel_1:shift_slow follows misset_x");
    settings.parameters[4].follows.number = -1;
    refine_parameter(&settings, DB_PANEL_SHIFT_NORMAL, -1);
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "panel_shift_normal, of all panels");
    settings.parameter_count--;
    assert_int_equal(db_fit_panel_groups_put(context, &settings.panel_groups, 6, 2), DB_OK);
    expect_failure(context, DB_ERROR_INPUT,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "group panel_2: expected panels 0 to 3, which the detector has, found 6");
    settings.panel_groups.of_panel[6] = -1;
    settings.panel_groups.of_panel[2] = 1;
    expect_failure(context, DB_ERROR_USAGE,
                   fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                   "group panel_2 has no panels");
}

/* A list, a configuration with groups, a refinement, and its files: the same model, from which
 * motions, their bounds and priors count anew. */
static void refined_panels_go_on_from_their_files(void **state) {
    (void)state;
    static db_fit_config again;
    db_experiment from_list, back;
    db_fit_statistics before, after;
    start.detector.panel_shift[1] = 0.03; /* taken into the panels */
    expect_ok(context, db_write_expt(context, scratch_path("start.expt"), &start, NULL));
    start.detector.panel_shift[1] = 0;
    const char *const yaml = scratch_file(
        "groups.yaml", "image: none.img\n"
                       "model: {expt: start.expt, Ncells: [5, 5, 2.25], mosaic_spread: 0.1, "
                       "mosaic_domains: 20, oversample: 1}\n"
                       "panel_groups:\n  right: [1, 3]\n  left: 2\n"
                       "refine:\n  misset_x:\n"
                       "  right:shift_slow: {min: -0.5, max: 0.5, shared: no}\n"
                       "  panel_groups:shift_fast: {prior: [0, 0.3]}\n"
                       "stages:\n- {refine: [misset_x, panel_groups:shift_fast, right:shift_slow],"
                       " max_evaluations: 3}\n"
                       "data: {target: poisson}\n");
    expect_ok(context, db_fit_config_read(context, yaml, NULL, 0, &config));
    expect_ok(context, db_fit_config_start(context, &config, &image, &from_list, NULL, NULL));
    (void)fit_still(context, &from_list, &image, &config.settings, NULL, NULL, &result);
    assert_non_null(result);
    assert_string_equal(result->estimates.list[1].name, "right:shift_slow");
    assert_string_equal(result->estimates.list[3].name, "left:shift_fast");
    assert_true(fabs(result->estimates.list[3].value + 0.1) < 0.05);

    fclose(fopen("none.img", "w"));
    snprintf(config.image_file, sizeof config.image_file, "none.img");
    const char *const written = scratch_path("again.yaml");
    expect_ok(context, db_fit_write_yaml(context, written, &config, result));
    expect_ok(context,
              db_write_expt(context, scratch_path("again.expt"), &result->experiment, NULL));
    remove("none.img");
    expect_ok(context, db_fit_config_read(context, written, NULL, 0, &again));
    expect_ok(context, db_fit_config_start(context, &again, &image, &back, NULL, NULL));
    for (size_t p = 0; p < PANELS; p++) {
        double x[3], y[3];
        (void)db_experiment_pixel_position(&result->experiment, p, 11, 170, x);
        (void)db_experiment_pixel_position(&back, p, 11, 170, y);
        for (int i = 0; i < 3; i++) assert_true(fabs(x[i] - y[i]) < 1e-9);
    }
    expect_ok(context, evaluate_still(context, &result->experiment, &back, &image, &config.settings,
                                      &before));
    expect_ok(context, evaluate_still(context, &back, &back, &image, &again.settings, &after));
    assert_int_equal(before.pixels, after.pixels);
    assert_true(fabs(before.chi2 - after.chi2) < 1e-6 * before.chi2);

    const db_fit_settings *const s = &again.settings;
    assert_int_equal(s->parameter_count, 4);
    assert_int_equal(s->panel_groups.count, 2);
    for (size_t p = 0; p < 8; p++)
        assert_int_equal(db_fit_panel_groups_of(&s->panel_groups, p),
                         db_fit_panel_groups_of(&config.settings.panel_groups, p));
    assert_int_equal(s->parameters[1].group, 0);
    assert_int_equal(s->parameters[1].shared, 0);
    assert_true(fabs(s->parameters[1].lower + 0.5 + result->estimates.list[1].value) < 1e-12);
    assert_true(fabs(s->parameters[1].upper - 0.5 + result->estimates.list[1].value) < 1e-12);
    assert_true(fabs(s->parameters[3].prior[0] + result->estimates.list[3].value) < 1e-12);
    assert_true(s->parameters[3].prior[1] == 0.3);
    db_experiment_clear(&from_list);
    db_experiment_clear(&back);
}

/* Of three panels: 0 in a group, 1 in a group within a group, 2 in none. */
#define FRAME "\"fast_axis\":[1,0,0],\"slow_axis\":[0,-1,0],\"origin\":[0,0,0]"
#define PANEL(x)                                                                                   \
    "{\"name\":\"p\",\"fast_axis\":[1,0,0],\"slow_axis\":[0,-1,0],\"origin\":[" x ",0,-100],"      \
    "\"image_size\":[10,10],\"pixel_size\":[0.1,0.1]}"
static const char nested[] =
    "{\"__id__\":\"ExperimentList\",\"experiment\":[{\"beam\":0,\"detector\":0}],"
    "\"beam\":[{\"direction\":[0,0,1],\"wavelength\":1}],\"detector\":[{\"panels\":[" PANEL(
        "0") "," PANEL("1") "," PANEL("2") "],\"hierarchy\":{" FRAME ",\"children\":[{" FRAME
                                           ",\"children\":[{\"panel\":0}]},{" FRAME
                                           ",\"children\":[{" FRAME
                                           ",\"children\":[{\"panel\":1}]}]},{\"panel\":2}]}}]}";

static db_status read_groups(const char *groups, const char *refine) {
    char text[512];
    (void)scratch_file("nested.expt", nested);
    snprintf(text, sizeof text,
             "model: {expt: nested.expt, cell: [58, 58, 152, 90, 90, 90]}\npanel_groups: "
             "%s\nrefine:\n  %s\n",
             groups, refine);
    return db_fit_config_read(context, scratch_file("groups.yaml", text), NULL, 0, &config);
}

static void groups_are_listed_or_those_of_the_list(void **state) {
    (void)state;
    const db_fit_panel_groups *const g = &config.settings.panel_groups;
    expect_ok(context, read_groups("panels", "panel_2:turn_fast: {range: 1}"));
    assert_int_equal(g->count, 3);
    assert_string_equal(g->name[2], "panel_2");
    assert_true(g->of_panel[0] == 0 && g->of_panel[2] == 2);
    assert_int_equal(db_fit_panel_groups_of(g, 3), -1);
    assert_int_equal(config.settings.parameters[0].group, 2);
    assert_int_equal(config.settings.parameters[0].parameter, DB_PANEL_TURN_FAST);
    assert_int_equal(db_fit_parameter_is_shared(&config.settings.parameters[0]), 1);
    expect_ok(context, read_groups("level 1", "group_1:turn_fast: {shared: no}"));
    assert_int_equal(g->count, 3);
    assert_string_equal(g->name[0], "group_0");
    assert_string_equal(g->name[1], "group_1");
    assert_string_equal(g->name[2], "panel_2");
    assert_int_equal(db_fit_parameter_is_shared(&config.settings.parameters[0]), 0);
    expect_ok(context, read_groups("level 0", "panel_groups:shift_normal:"));
    assert_int_equal(g->count, 1);
    assert_true(g->of_panel[0] == 0 && g->of_panel[1] == 0 && g->of_panel[2] == 0);
    expect_ok(context,
              read_groups("{a: [0, 2], b: 1}",
                          "panel_groups:shift_fast: {range: 1}\n  b:shift_fast: {range: 2}\n"
                          "  a:shift_slow: {follows: b:shift_fast}"));
    assert_int_equal(config.settings.parameter_count, 3);
    assert_int_equal(config.settings.parameters[0].group, 1);
    assert_true(config.settings.parameters[0].range == 2);
    assert_int_equal(config.settings.parameters[1].follows.number,
                     db_fit_quantity_make(DB_PANEL_SHIFT_FAST, 1).number);
    assert_int_equal(config.settings.parameters[2].group, 0);
    assert_true(config.settings.parameters[2].range == 1);
}

static void mistakes_are_named(void **state) {
    (void)state;
    static const struct {
        const char *groups, *refine, *message;
    } cases[] = {
        { "quadrants", "misset_x:", "of the experiment list, found 'quadrants'" },
        { "level 9", "misset_x:", "level 0 to level 7" },
        { "{1a: [0]}", "misset_x:", "panel_groups.1a: expected a name of a letter" },
        { "{panel_groups: [0]}", "misset_x:", "expected a name of a letter" },
        { "{a: []}", "misset_x:", "groups.yaml:2: panel_groups.a: expected numbers of panels" },
        { "{a: [x]}", "misset_x:",
          "expected the number of a panel from 0 to 1023, or a range such as 0-15, found 'x'" },
        { "{a: [3-1]}", "misset_x:", "found '3-1'" },
        { "{a: [-1]}", "misset_x:", "found '-1'" },
        { "{a: [0-1], b: 1}", "misset_x:", "panel_groups.b: panel 1 is in group a already" },
        { "{a: 0}", "b:shift_fast:", "groups.yaml:4: refine.b:shift_fast: there is no group 'b'" },
        { "{a: 0}", "a:shift_fst:",
          "groups have no motion 'shift_fst'; the nearest known one is "
          "'shift_fast'" },
        { "{a: 0}", "a:shift_fast: {follows: a:turn_fast}\n  a:turn_fast:",
          "groups.yaml:4: refine.a:shift_fast: cannot follow a:turn_fast" },
        { "{a: 0}", "a:shift_fast: {follows: misset_x}\n  misset_x:", "cannot follow misset_x" },
        { "{a: 0, b: 1}", "panel_groups:shift_fast: {follows: b:shift_slow}\n  b:shift_slow:",
          "refine.panel_groups:shift_fast: cannot follow" },
        { "{a: 0}", "a:shift_fast: {follows: panel_groups:shift_slow}", "expected one quantity" },
        { "{a: 0}", "a:shift_fast: {shared: maybe}",
          "expected one of no, yes, by_setting, found 'maybe'" },
        { "{a: 0}", "a:shift_fast:\nstages: [{refine: [a:shift_slow]}]",
          "a:shift_slow is not among the parameters of refine" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_failure(context, DB_ERROR_USAGE, read_groups(cases[i].groups, cases[i].refine),
                       cases[i].message);
    expect_failure(context, DB_ERROR_USAGE,
                   db_fit_config_read(context,
                                      scratch_file("none.yaml", "refine:\n  a:shift_fast:\n"), NULL,
                                      0, &config),
                   "the section panel_groups with groups is missing");
    expect_failure(context, DB_ERROR_USAGE,
                   db_fit_config_read(
                       context,
                       scratch_file("none.yaml", "panel_groups: panels\nrefine: {misset_x: }\n"),
                       NULL, 0, &config),
                   "'panels' needs model.expt");
    expect_ok(context, read_groups("{a: 0, b: [1, 5]}", "a:shift_fast:"));
    db_experiment unused;
    db_measured_image three = { .fast_pixels = 10, .slow_pixels = 30 };
    expect_failure(context, DB_ERROR_USAGE,
                   db_fit_config_start(context, &config, &three, &unused, NULL, NULL),
                   "panel_groups.b: there is no panel 5; the model has 3 panels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(displaced_panels_come_back, forget),
        cmocka_unit_test_teardown(several_panels_move_as_one, forget),
        cmocka_unit_test_teardown(all_groups_and_the_beam_centre_are_too_many, forget),
        cmocka_unit_test_teardown(impossible_choices_are_refused, forget),
        cmocka_unit_test_teardown(refined_panels_go_on_from_their_files, forget),
        cmocka_unit_test(groups_are_listed_or_those_of_the_list),
        cmocka_unit_test(mistakes_are_named),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
