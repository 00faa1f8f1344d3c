/* Several starts: an orientation too far off for one comes back from many, with any number of
 * threads. */

#include "support/unit_test.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/search/starts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 1000 };
static db_context *context;
static db_experiment truth, start;
static db_measured_image image;
static db_fit_settings settings;

static int make(void **state) {
    (void)state;
    return rendered_begin(PIXELS, 1000, 5, &context, &truth, &image) ||
           db_experiment_copy(context, &truth, &start) != DB_OK;
}

static int drop(void **state) {
    (void)state;
    db_experiment_clear(&start);
    return rendered_end(&context, &truth, &image);
}

static int ask(void **state) {
    (void)state;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    for (db_parameter p = DB_MISSET_X; p <= DB_MISSET_Z; p++) refine_parameter(&settings, p, -1);
    memcpy(start.crystal.misset, truth.crystal.misset, sizeof start.crystal.misset);
    start.crystal.misset[1] += 6;
    start.crystal.misset[2] += 6;
    settings.starts.count = 80;
    settings.starts.turn = 9;
    return db_context_set_threads(context, 2) == DB_OK ? 0 : -1;
}

static void turns_fill_the_ball(void **state) {
    (void)state;
    db_fit_starts starts = { .count = 1000, .turn = 1.5, .seed = 1 };
    double turn[3], other[3], mean[3] = { 0 };
    int within_half = 0;
    db_starts_turn(&starts, 0, turn);
    assert_true(turn[0] == 0 && turn[1] == 0 && turn[2] == 0);
    for (int i = 1; i <= starts.count; i++) {
        db_starts_turn(&starts, i, turn);
        const double length = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
        assert_true(length <= 1.5);
        within_half += length < 0.75;
        for (int k = 0; k < 3; k++) mean[k] += turn[k] / starts.count;
    }
    /* an eighth of the volume; random points would scatter by 10 */
    assert_in_range(within_half, 122, 128);
    for (int k = 0; k < 3; k++) assert_true(fabs(mean[k]) < 0.01);
    starts.seed = 2;
    db_starts_turn(&starts, 1, other);
    starts.seed = 1;
    db_starts_turn(&starts, 1, turn);
    assert_true(fabs(turn[0] - other[0]) > 0.01);
}

static void many_starts_find_what_one_does_not(void **state) {
    (void)state;
    db_fit_result *one = NULL, *many = NULL;
    settings.starts.count = 1;
    (void)fit_still(context, &start, &image, &settings, NULL, NULL, &one);
    if (one && !(misorientation(&truth.crystal, &one->experiment.crystal) > 0.5))
        fail_msg("one start, %g degree off, ends %g degree off: %s",
                 misorientation(&truth.crystal, &start.crystal),
                 misorientation(&truth.crystal, &one->experiment.crystal), one->reason);
    assert_true(!one || (one->status != DB_OK && !one->starts));
    settings.starts.count = 80;
    if (fit_still(context, &start, &image, &settings, NULL, NULL, &many) != DB_OK)
        fail_msg("%s", db_context_message(context));
    assert_true(misorientation(&truth.crystal, &many->experiment.crystal) < 0.03);
    assert_int_equal(many->start_count, 80);
    size_t chosen = 0;
    while (!many->starts[chosen].chosen) chosen++;
    assert_true(chosen < 3 && many->starts[chosen].refined_explained > 0.5);
    for (size_t i = 1; i < many->start_count; i++)
        assert_true(many->starts[i].explained <= many->starts[i - 1].explained);
    /* misset values are told relative to the given start, whichever was chosen */
    assert_true(many->estimates.list[0].start == start.crystal.misset[0]);
    for (int i = 0; i < 3; i++)
        if (!(fabs(many->estimates.list[i].value - truth.crystal.misset[i]) <
              4 * many->estimates.list[i].error))
            fail_msg("misset %d is %g, expected %g", i, many->estimates.list[i].value,
                     truth.crystal.misset[i]);
    fit_still_destroy(&one);
    fit_still_destroy(&many);
}

static void threads_do_not_change_what_is_found_slow(void **state) {
    (void)state;
    db_fit_result *by[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(db_context_set_threads(context, i ? 3 : 1), DB_OK);
        if (fit_still(context, &start, &image, &settings, NULL, NULL, &by[i]) != DB_OK)
            fail_msg("%s", db_context_message(context));
    }
    assert_memory_equal(by[0]->starts, by[1]->starts, 80 * sizeof *by[0]->starts);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(&by[0]->estimates.list[i].value, &by[1]->estimates.list[i].value,
                            sizeof(double));
    fit_still_destroy(&by[0]);
    fit_still_destroy(&by[1]);
}

static void expect_refusal(const char *words) {
    db_fit_result *result = NULL;
    assert_int_equal(fit_still(context, &start, &image, &settings, NULL, NULL, &result),
                     DB_ERROR_USAGE);
    assert_null(result);
    if (!strstr(db_context_message(context), words)) fail_msg("%s", db_context_message(context));
}

static void starts_that_cannot_be_are_refused(void **state) {
    (void)state;
    settings.parameters[1].lower = start.crystal.misset[1] - 0.5;
    settings.parameters[1].upper = start.crystal.misset[1] + 0.5;
    expect_refusal("leave the bounds of misset_y");
    settings.parameters[1] = db_fit_parameter_free(DB_CELL_A);
    expect_refusal("misset_y is not refined in the first stage");
    settings.starts.keep = 0;
    expect_refusal("keep 0");
    settings.starts.keep = 1;
    db_fit_settings_default_stages(&settings);
    settings.stages[0].kind = DB_STAGE_MOMENTS;
    settings.stages[0].earned = 1;
    start.spread.spots = DB_SPOTS_CLOSED;
    expect_refusal("must always be kept");
    start.spread.spots = truth.spread.spots;
}

static int asked;
static int ends_at_fifth(void *user) {
    (void)user;
    int now;
#pragma omp atomic capture
    now = ++asked;
    return now >= 5;
}

/* A run is asked whether to end while starts are tried: all of them would take far longer. */
static void trials_hear_that_the_run_is_cancelled(void **state) {
    (void)state;
    const db_fit_still still = { &start, &image, NULL };
    const db_fit_shot_source list = db_fit_still_source(&still);
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *result;
    asked = 0;
    options.cancelled = ends_at_fifth;
    assert_int_equal(db_fit_run(context, &list, &settings, &options, &result), DB_ERROR_CANCELLED);
    assert_null(result);
    assert_non_null(strstr(db_context_message(context), "while starts were tried"));
    assert_in_range(asked, 5, 30);
}

static void a_blank_image_is_refused_whatever_the_start(void **state) {
    (void)state;
    const size_t pixels = (size_t)PIXELS * PIXELS;
    db_measured_image blank = image;
    db_fit_result *result = NULL;
    blank.value = malloc(pixels * sizeof *blank.value);
    assert_non_null(blank.value);
    for (size_t i = 0; i < pixels; i++) blank.value[i] = 5;
    settings.starts.count = 3;
    assert_int_equal(fit_still(context, &start, &blank, &settings, NULL, NULL, &result),
                     DB_ERROR_INPUT);
    free(blank.value);
    if (!strstr(db_context_message(context), "none of 3 starts") ||
        !strstr(db_context_message(context), "blank image"))
        fail_msg("%s", db_context_message(context));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(turns_fill_the_ball, ask),
        cmocka_unit_test_setup(many_starts_find_what_one_does_not, ask),
        cmocka_unit_test_setup(threads_do_not_change_what_is_found_slow, ask),
        cmocka_unit_test_setup(starts_that_cannot_be_are_refused, ask),
        cmocka_unit_test_setup(trials_hear_that_the_run_is_cancelled, ask),
        cmocka_unit_test_setup(a_blank_image_is_refused_whatever_the_start, ask),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
