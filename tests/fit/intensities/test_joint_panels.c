/* Joint intensities beside a panel that does not stand where the geometry says: what shots share comes first. */

#include "support/unit_test.h"
#include "fit/four_panels.h"
#include "fit/shots/joint_stages.h"
#include "fit/stills.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/expert/fit_quantities.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOTS = 8, PANELS = 2, ROWS = STILL_PIXELS / PANELS };
/* Of the first panel, in the plane (mm): a pixel has 0.2. The second is shifted the other way. */
static const double SHIFT[2] = { 0.2, -0.15 };

/* Cuts the detector into two panels, which do not stand where the model says. */
static db_status cut(db_context *own, db_experiment *e, db_measured_image *image) {
    db_panel panel[PANELS];
    image->panels = calloc(PANELS, sizeof *image->panels);
    if (!image->panels) return DB_ERROR_MEMORY;
    image->panel_count = PANELS;
    for (int p = 0; p < PANELS; p++) {
        image->panels[p].first_row = p * ROWS;
        image->panels[p].slow_pixels = ROWS;
        if (!e) continue;
        panel[p] = e->detector.panels[0];
        panel[p].slow_pixels = ROWS;
        const double sign = p ? 1 : -1, along = p * ROWS * panel[p].pixel_size[1];
        for (int i = 0; i < 3; i++)
            panel[p].origin[i] += sign * SHIFT[0] * panel[p].fast_axis[i] +
                                  (along + sign * SHIFT[1]) * panel[p].slow_axis[i];
    }
    return e ? db_experiment_set_panels(own, e, panel, PANELS) : DB_OK;
}

/* A db_fit_shot_source. */
static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *s) {
    const db_status status = still_load(user, own, shot, image, start, s);
    return status == DB_OK ? cut(own, start, image) : status;
}

static const db_fit_estimate *shift_of(const db_fit_shots_result *r, const db_fit_settings *s,
                                       db_parameter parameter, int panel) {
    for (size_t i = 0; i < s->parameter_count; i++)
        if (s->parameters[i].parameter == parameter && s->parameters[i].group == panel)
            return &r->estimates.list[i];
    fail_msg("no such shift");
    return NULL;
}

static const db_parameter shift[2] = { DB_PANEL_SHIFT_FAST, DB_PANEL_SHIFT_SLOW };

/* Settings with refined shifts of both panels, and the usual stages. */
static void begin_settings(db_fit_settings *s) {
    assert_int_equal(db_fit_settings_copy(stills.context, &stills.settings, s), DB_OK);
    for (int p = 0; p < PANELS; p++) {
        const char *const name = p ? "lower" : "upper";
        assert_int_equal(db_fit_panel_groups_add(stills.context, &s->panel_groups, name), DB_OK);
        assert_int_equal(db_fit_panel_groups_put(stills.context, &s->panel_groups, (size_t)p, p),
                         DB_OK);
        for (int i = 0; i < 2; i++) refine_motion(s, shift[i], p);
    }
    s->stage_count = 0;
    for (size_t i = 0; i < s->parameter_count; i++) s->parameters[i].stages = 0;
    db_stages_default(stills.context, s, 0, 0);
}

static db_fit_shots_result *run(const db_fit_settings *s) {
    const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = still_name };
    db_fit_shots_result *r = NULL;
    if (db_fit_run(stills.context, &source, s, NULL, &r) != DB_OK && !r)
        fail_msg("%s", db_context_message(stills.context));
    return r;
}

static void a_displaced_panel_is_found_before_intensities(void **state) {
    (void)state;
    db_fit_settings s;
    double pull;
    begin_settings(&s);
    db_fit_shots_result *r = run(&s);
    const double R = stills_off_truth(&r->intensities->merged, &pull);
    print_message("%zu shots, R %.4f, pulls %.2f, %d passes; %s\n", r->used, R, pull,
                  r->intensities->passes, r->reason);
    for (int i = 0; i < 2 * PANELS; i++) {
        const db_fit_estimate *const e = shift_of(r, &s, shift[i % 2], i / 2);
        const double is = i / 2 ? -SHIFT[i % 2] : SHIFT[i % 2];
        print_message("%s %.4f(%.4f), rendered: %g\n", e->name, e->value, e->error, is);
        assert_true(fabs(e->value - is) < 4 * e->error && e->error < 0.02);
    }
    assert_int_equal(r->status, DB_OK);
    assert_int_equal(r->used, SHOTS);
    assert_true(R < 0.05 && pull < 1.4 && r->intensities->passes <= 5);
    db_fit_shots_result_destroy(&r);
    db_fit_settings_clear(&s);
}

static void keep_notice(void *user, const char *line) { strncat(user, line, 300); }

/* A stage that is left out, as the user wants it beside such a misfit, is named: the last stage has a reason of its own. */
static void a_joint_stage_that_is_left_out_is_named(void **state) {
    (void)state;
    char told[4000] = "";
    db_fit_settings s;
    begin_settings(&s);
    s.stages[s.stage_count - 2].most_misfit = 1.01;
    db_context_set_notices(stills.context, keep_notice, told);
    db_fit_shots_result *r = run(&s);
    db_context_set_notices(stills.context, NULL, NULL);
    print_message("%s\n%s\n", told, r->reason);
    assert_non_null(strstr(told, "stage joint is left out"));
    db_fit_shots_result_destroy(&r);
    db_fit_settings_clear(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_displaced_panel_is_found_before_intensities),
        cmocka_unit_test(a_joint_stage_that_is_left_out_is_named),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
