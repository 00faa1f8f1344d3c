/* A series on a flat Ewald sphere, whose edges are as uncertain as the distance: whichever process has the frames. */

#include "support/unit_test.h"
#include "fit/made_up_team.h"
#include "fit/rendered_image.h"
#include "fit/shots/joint_stages.h"
#include "fit/stills.h"

#include <math.h>
#include <string.h>

enum { FRAMES = 6, TEAM = 3, EDGE = 3 };
static db_fit_settings settings;

/* The first two frames cannot be read: of three processes the first one has no frame. */
static db_status load_late(void *user, db_context *own, size_t shot, db_measured_image *image,
                           db_experiment *start, db_fit_settings *s) {
    return shot < 2 ? DB_ERROR_INPUT : still_load(user, own, shot, image, start, s);
}

static void work(void *user, const db_fit_team *team) {
    db_fit_shots_result **const result = user;
    const db_fit_shot_source source = { .count = FRAMES, .load = load_late, .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.series = 1;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, 1);
    if (db_fit_run(own, &source, &settings, &options, &result[team->rank]) != DB_OK)
        print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static int warns_of(const db_fit_shots_result *r, const char *what) {
    int count = 0;
    for (size_t i = 0; i < r->warning_count; i++) count += strstr(r->warnings[i], what) != NULL;
    return count;
}

static void processes_do_not_matter(void **state) {
    db_fit_shots_result *one = NULL, *several[TEAM] = { NULL };
    (void)state;
    made_up_team_run(1, 0, work, &one, NULL);
    made_up_team_run(TEAM, 0, work, several, NULL);
    assert_non_null(one);
    assert_int_equal(one->used, FRAMES - 2);
    const db_fit_estimate *const edge = &one->estimates.list[EDGE];
    print_message("cell_a %.4f +- %.4f\n", edge->value, edge->error);
    assert_true(edge->error > 0.0099 * edge->value && edge->error < 0.011 * edge->value);
    const char *const held = "the distance was held at 450 mm";
    assert_int_equal(warns_of(one, held), 1);
    for (int r = 0; r < TEAM; r++) {
        assert_non_null(several[r]);
        assert_memory_equal(&several[r]->estimates.list[EDGE].error, &edge->error, sizeof(double));
        assert_int_equal(warns_of(several[r], held), 1);
        db_fit_shots_result_destroy(&several[r]);
    }
    db_fit_shots_result_destroy(&one);
}

static int set_up(void **state) {
    if (stills_set_up(state) != 0) return -1;
    stills.width = 0.5;
    stills.truth.beam.wavelength = 0.1; /* the same places as at 1 A and 45 mm */
    stills.truth.detector.distance = 450;
    stills.truth.beam.scale *= 1000; /* as bright as those */
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_CELL_A, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    for (size_t i = 0; i < settings.parameter_count; i++) settings.parameters[i].shared = 1;
    db_stages_default(stills.context, &settings, 1, 0);
    return 0;
}

static int tear_down(void **state) {
    db_fit_settings_clear(&settings);
    stills.width = 0;
    return stills_tear_down(state);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(processes_do_not_matter) };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
