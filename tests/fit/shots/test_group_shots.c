/* Many shots on one detector of four panels: its displaced panels come back from all of them
 * together. */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/four_panels.h"
#include "fit/rendered_image.h"

#include <dualbragg/fit_shots.h>
#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/panel_motion.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PANELS = 4, SHOTS = 4, LOCALS = 3, MOTIONS = 2 };
static const double displaced[PANELS][MOTIONS] = {
    { 0, 0 }, { 0.1, -0.07 }, { -0.08, 0.05 }, { 0.06, 0.09 }
};
static db_context *context;
static db_experiment flat; /* panels where they should be */

static int make(void **state) {
    (void)state;
    return db_context_create(&context) == DB_OK &&
                   four_panels_experiment(context, 2000, &flat) == DB_OK
               ? 0
               : -1;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&flat);
    db_context_destroy(&context);
    return 0;
}

static db_status displace(db_context *own, db_experiment *e) {
    db_status status = DB_OK;
    for (size_t p = 1; p < PANELS && status == DB_OK; p++) {
        db_panel_motion motion = db_panel_own_frame(&e->detector.panels[p]);
        status = db_panel_group_frame(own, &e->detector, &p, 1, &motion);
        for (int i = 0; i < MOTIONS; i++) motion.shift[i] = displaced[p][i];
        if (status == DB_OK) status = db_panels_move(own, &e->detector, &p, 1, &motion);
    }
    return status;
}

static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings) {
    (void)user;
    db_experiment e;
    db_status status = db_experiment_copy(own, &flat, &e);
    if (status != DB_OK) return status;
    e.crystal.misset[0] += 37 * (double)shot;
    e.crystal.misset[1] += 5 * (double)shot;
    status = displace(own, &e);
    if (status == DB_OK) status = four_panels_image(own, &e, 100 + shot, image);
    if (status == DB_OK && start) {
        memcpy(e.detector.panels, flat.detector.panels, PANELS * sizeof *e.detector.panels);
        e.crystal.misset[0] += 0.04;
        e.crystal.misset[2] -= 0.03;
        *start = e;
        settings->gain = 1;
        return DB_OK;
    }
    db_experiment_clear(&e);
    return status;
}

static const char *name(void *user, size_t shot) {
    static const char *const names[SHOTS] = { "a", "b", "c", "d" };
    (void)user;
    return names[shot];
}

static void panel_settings(db_fit_settings *settings) {
    db_fit_settings_init(settings);
    settings->target = DB_FIT_POISSON;
    settings->model_error = 0;
    settings->shoebox_half_width = 6;
    four_panels_groups(settings);
    for (int i = 0; i < LOCALS; i++)
        refine_parameter(settings, (db_parameter)((int)DB_MISSET_X + i), -1);
    for (int p = 1; p < PANELS; p++)
        for (int i = 0; i < MOTIONS; i++)
            refine_motion(settings, (db_parameter)((int)DB_PANEL_SHIFT_FAST + i), p);
}

static void displaced_panels_come_back_from_all_shots(void **state) {
    (void)state;
    static db_fit_settings settings;
    const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = name };
    db_fit_shots_result *result = NULL;
    panel_settings(&settings);
    if (db_fit_run(context, &source, &settings, NULL, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(result->used, SHOTS);
    assert_true(result->chi2_reduced[1] < result->chi2_reduced[0]);
    for (int p = 1; p < PANELS; p++) {
        for (int i = 0; i < MOTIONS; i++) {
            const size_t k = LOCALS + (size_t)(p - 1) * MOTIONS + (size_t)i;
            const double off = result->estimates.list[k].value - displaced[p][i];
            assert_true(result->estimates.list[k].shared && !result->estimates.list[0].shared);
            if (!(fabs(off) < 4 * result->estimates.list[k].error &&
                  result->estimates.list[k].error < 0.2 * fabs(displaced[p][i])))
                fail_msg("%s is %g off, its error is %g", result->estimates.list[k].name, off,
                         result->estimates.list[k].error);
        }
    }
    for (size_t s = 0; s < SHOTS; s++) {
        double at[3], should[3];
        db_experiment right;
        assert_int_equal(db_experiment_copy(context, &flat, &right), DB_OK);
        assert_int_equal(displace(context, &right), DB_OK);
        (void)db_experiment_pixel_position(&result->shot[s].experiment, 2, 100, 100, at);
        (void)db_experiment_pixel_position(&right, 2, 100, 100, should);
        for (int i = 0; i < 3; i++) assert_true(fabs(at[i] - should[i]) < 0.017);
        db_experiment_clear(&right);
    }
    db_fit_shots_result_destroy(&result);
}

/* As load; shot b starts with the true orientation, and may turn by less than displaced panels ask for. */
static db_status load_narrow(void *user, db_context *own, size_t shot, db_measured_image *image,
                             db_experiment *start, db_fit_settings *settings) {
    const double narrow = 0.015; /* degree */
    const db_status status = load(user, own, shot, image, start, settings);
    if (status != DB_OK || shot != 1 || !start) return status;
    start->crystal.misset[0] -= 0.04;
    start->crystal.misset[2] += 0.03;
    for (int i = 0; i < LOCALS; i++) {
        db_fit_parameter *const p = &settings->parameters[i];
        p->lower = start->crystal.misset[i] - narrow;
        p->upper = start->crystal.misset[i] + narrow;
    }
    return DB_OK;
}

static int excluded_once;

static void note_exclusion(void *user, const db_fit_shots_event *event) {
    (void)user;
    if (event->kind != DB_SHOTS_EXCLUDED) return;
    assert_string_equal(event->shot, "b");
    assert_non_null(strstr(event->reason, "is held by its"));
    excluded_once++;
}

static void known_settings(db_fit_settings *settings) {
    panel_settings(settings);
    settings->intensity = DB_FIT_KNOWN;
    settings->pixels = DB_FIT_PIXELS_SHOEBOXES;
    settings->max_shoeboxes = 60;
}

static void shot_that_fails_beside_a_wrong_detector_begins_again_slow(void **state) {
    (void)state;
    static db_fit_settings settings;
    const db_fit_shot_source source = { .count = SHOTS, .load = load_narrow, .name = name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *result = NULL;
    options.progress = note_exclusion;
    db_context_set_threads(context, 1);
    known_settings(&settings);
    if (db_fit_run(context, &source, &settings, &options, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_int_equal(excluded_once, 1);
    if (result->status != DB_OK) fail_msg("%s", result->reason);
    assert_int_equal(result->used, SHOTS);
    db_fit_shots_result_destroy(&result);
    db_fit_settings_clear(&settings);
}

static db_status identify_panel_shot(void *user, db_context *own, size_t shot,
                                     db_fit_shot_identity *identity) {
    (void)user;
    (void)own;
    snprintf(identity->image, sizeof identity->image, "%zu", shot);
    snprintf(identity->configuration, sizeof identity->configuration, "same");
    snprintf(identity->files, sizeof identity->files, "same");
    return DB_OK;
}

/* Ends the process as a kill would, at the event of a number after the exclusion of a shot. */
static void die_after_exclusion(void *user, const db_fit_shots_event *event) {
    int *const left = user;
    excluded_once += event->kind == DB_SHOTS_EXCLUDED;
    if (excluded_once && --*left == 0) _exit(42);
}

static db_fit_shots_result *run_narrow(db_fit_settings *settings, db_fit_shots_options *options) {
    const db_fit_shot_source source = {
        .count = SHOTS, .load = load_narrow, .name = name, .identify = identify_panel_shot
    };
    db_fit_shots_result *result = NULL;
    if (db_fit_run(context, &source, settings, options, &result) != DB_OK)
        fail_msg("%s", db_context_message(context));
    return result;
}

/* A run that was killed between the exclusion and the end, also before the shot was read again, goes on to the same bits. */
static void shot_that_begins_again_does_so_after_a_kill_slow(void **state) {
    (void)state;
    static db_fit_settings settings;
    static const int events[] = { 1, 3, 9, 15 };
    char checkpoint[] = "/tmp/test_group_shots_XXXXXX";
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    const int file = mkstemp(checkpoint);
    assert_true(file >= 0);
    close(file);
    db_context_set_threads(context, 1); /* libgomp cannot go on in a child */
    known_settings(&settings);
    db_fit_shots_result *whole = run_narrow(&settings, &options);
    assert_int_equal(whole->used, SHOTS);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        (void)db_fit_checkpoint_remove(context, checkpoint);
        const pid_t child = fork();
        if (child == 0) {
            int left = events[i];
            db_fit_shots_options cut = DB_FIT_SHOTS_OPTIONS_INIT;
            excluded_once = 0;
            cut.checkpoint = checkpoint;
            cut.progress = die_after_exclusion;
            cut.user = &left;
            (void)run_narrow(&settings, &cut);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 42);
        options.checkpoint = checkpoint;
        options.resume = 1;
        db_fit_shots_result *result = run_narrow(&settings, &options);
        if (result->used != SHOTS)
            fail_msg("cut after %d events: %zu shots used", events[i], result->used);
        for (size_t s = 0; s < SHOTS; s++)
            assert_memory_equal(result->shot[s].experiment.crystal.misset,
                                whole->shot[s].experiment.crystal.misset,
                                sizeof whole->shot[s].experiment.crystal.misset);
        db_fit_shots_result_destroy(&result);
    }
    (void)db_fit_checkpoint_remove(context, checkpoint);
    db_fit_shots_result_destroy(&whole);
    db_fit_settings_clear(&settings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(displaced_panels_come_back_from_all_shots),
        cmocka_unit_test(shot_that_fails_beside_a_wrong_detector_begins_again_slow),
        cmocka_unit_test(shot_that_begins_again_does_so_after_a_kill_slow),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
