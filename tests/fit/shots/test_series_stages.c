/* Stages of a series: what has to be earned, its bounds, and frames that differ from the others. */

#include "support/unit_test.h"
#include "fit/rendered_image.h"
#include "fit/scratch_file.h"
#include "fit/shots/joint_stages.h"
#include "fit/stills.h"

#include <dualbragg/expert/fit_files.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 5, SCALE = 4, TILT };
static db_fit_settings settings;

/* Evaluations of stages, until a run is cancelled. */
typedef struct patience {
    atomic_int evaluations; /* all threads ask for it */
    int most;
} patience;

static void count_evaluation(void *user, const db_fit_shots_event *event) {
    ((patience *)user)->evaluations += event->kind == DB_SHOTS_EVALUATED;
}

static int is_over(void *user) {
    const patience *const p = user;
    return p->evaluations >= p->most;
}

/* A frame that starts elsewhere than the goniometer has turned it. */
static db_status load_turned(void *user, db_context *own, size_t shot, db_measured_image *image,
                             db_experiment *start, db_fit_settings *s) {
    const double angle = 0.0035; /* radian */
    const db_status status = still_load(user, own, shot, image, start, s);
    if (!start || status != DB_OK || shot != 2) return status;
    double *const turn = start->crystal.orientation;
    turn[4] = turn[8] = cos(angle);
    turn[5] = -sin(angle);
    turn[7] = sin(angle);
    return DB_OK;
}

/* checkpoint: NULL: none; most: evaluations, then it is cancelled. */
static db_fit_shots_result *run(int turned, const char *checkpoint, int most) {
    const db_fit_shot_source source = { .count = FRAMES,
                                        .load = turned ? load_turned : still_load,
                                        .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *result = NULL;
    patience p = { 0, most };
    options.series = 1;
    options.checkpoint = checkpoint;
    options.resume = checkpoint != NULL;
    options.progress = count_evaluation;
    options.cancelled = is_over;
    options.user = &p;
    (void)db_fit_run(stills.context, &source, &settings, &options, &result);
    if (!result) fail_msg("%s", db_context_message(stills.context));
    return result;
}

/* Frames that flicker earn their scales. Those that are darker than their bound allows say so: they are not held. */
static void earned_scales_know_their_bounds(void **state) {
    (void)state;
    const double lower = settings.parameters[SCALE].lower, one = stills.truth.beam.scale;
    settings.parameters[SCALE].lower = one;
    db_fit_shots_result *r = run(0, NULL, 1000);
    settings.parameters[SCALE].lower = lower;
    const int darker[FRAMES] = { 0, 1, 1, 0, 0 };
    for (size_t s = 1; s < FRAMES; s++) {
        const double truth = exp(0.6 * (still_drawn(s, 6) - still_drawn(0, 6)));
        const db_fit_estimate *const e = &r->shot[s].estimates.list[SCALE];
        print_message("frame %zu: scale %.3f, in truth %.3f; bound %d\n", s, e->value / one, truth,
                      e->at_bound);
        assert_int_equal(e->at_bound, -darker[s]);
        assert_true(darker[s] ? truth < 0.7 : e->value > 1.05 * one);
    }
    db_fit_shots_result_destroy(&r);
}

/* In a sweep of half a degree no tilt is earned, and it stays where it is in a stage that goes on, too. */
static void stages_go_on_with_what_they_earn(void **state) {
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s", scratch_path("stages.checkpoint"));
    const double width = stills.width;
    stills.width = 0.1;
    db_fit_shots_result *whole = run(0, NULL, 1000);
    const double tilt = whole->estimates.list[TILT].value;
    print_message("tilt %g, scale %g\n", tilt, whole->shot[1].estimates.list[SCALE].value);
    assert_true(!(fabs(tilt) > 0));
    const int last = (int)whole->history_count - 1;
    assert_int_equal(whole->history[last].stage, settings.stage_count - 1);
    db_fit_shots_result *cut = run(0, path, last), *rest = run(0, path, 1000);
    assert_int_equal(cut->status, DB_ERROR_CANCELLED);
    assert_int_equal(rest->history_count, whole->history_count);
    /* no evaluation is done twice */
    assert_int_equal(cut->shot_evaluations + rest->shot_evaluations, whole->shot_evaluations);
    for (size_t i = 0; i < settings.parameter_count; i++)
        for (size_t s = 0; s < FRAMES; s++)
            assert_memory_equal(&whole->shot[s].estimates.list[i].value,
                                &rest->shot[s].estimates.list[i].value, sizeof(double));
    (void)db_fit_checkpoint_remove(NULL, path);
    db_fit_shots_result_destroy(&cut);
    db_fit_shots_result_destroy(&rest);
    stills.width = width;
    db_fit_shots_result_destroy(&whole);
}

/* Frames have one crystal and one detector, and neighbours that judge them. */
static void frames_are_not_compared(void **state) {
    (void)state;
    assert_int_equal(settings.stages[0].kind, DB_STAGE_MOMENTS);
    db_fit_shots_result *r = run(1, NULL, 1000);
    for (size_t s = 0; s < FRAMES; s++) {
        print_message("frame %zu: in use %d %s\n", s, r->shot[s].used, r->shot[s].reason);
        assert_null(strstr(r->shot[s].reason, "contradicts"));
    }
    db_fit_shots_result_destroy(&r);
}

static int set_up(void **state) {
    if (stills_set_up(state) != 0) return -1;
    stills.width = 0.5;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_SCALE, -1);
    refine_parameter(&settings, DB_SPINDLE_TILT_BEAM, -1);
    for (size_t i = 0; i < settings.parameter_count; i++)
        settings.parameters[i].shared = i != SCALE;
    settings.parameters[SCALE].earned = settings.parameters[TILT].earned = 1;
    db_stages_default(stills.context, &settings, 1, 0);
    return 0;
}

static int tear_down(void **state) {
    db_fit_settings_clear(&settings);
    stills.width = 0;
    return stills_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earned_scales_know_their_bounds),
        cmocka_unit_test(stages_go_on_with_what_they_earn),
        cmocka_unit_test(frames_are_not_compared),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
