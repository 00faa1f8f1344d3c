/* Series that begin late, as their first frames cannot be read: the result is that of the other frames alone, whichever process
 * has them. */

#include "support/unit_test.h"
#include "fit/intensities/joint_intensities.h"
#include "fit/made_up_team.h"
#include "fit/rendered_image.h"
#include "fit/shots/joint_stages.h"
#include "fit/stills.h"

#include <math.h>
#include <string.h>

enum { FRAMES = 6, LATE = 2, TEAM = 3, EDGE = 3 };
static db_fit_settings settings;

/* A series, of which the first frames cannot be read or are not listed. */
typedef struct late_series {
    int unlisted;
    db_fit_shots_result *result[TEAM];
} late_series;

static db_status load_late(void *user, db_context *own, size_t shot, db_measured_image *image,
                           db_experiment *start, db_fit_settings *s) {
    const late_series *const series = user;
    const size_t frame = shot + (series->unlisted ? LATE : 0);
    return frame < LATE ? DB_ERROR_INPUT : still_load(NULL, own, frame, image, start, s);
}

static void work(void *user, const db_fit_team *team) {
    late_series *const series = user;
    const db_fit_shot_source source = { .count = FRAMES - (series->unlisted ? LATE : 0),
                                        .user = series,
                                        .load = load_late,
                                        .name = still_name };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.series = 1;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, 1);
    if (db_fit_run(own, &source, &settings, &options, &series->result[team->rank]) != DB_OK)
        print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static int warns_of(const db_fit_shots_result *r, const char *what) {
    int count = 0;
    for (size_t i = 0; i < r->warning_count; i++) count += strstr(r->warnings[i], what) != NULL;
    return count;
}

/* Of three processes the first one has no frame. On a flat Ewald sphere edges are as uncertain as the distance. */
static void processes_do_not_matter(void **state) {
    late_series one = { .unlisted = 0 }, several = { .unlisted = 0 };
    db_detector *const detector = &stills.truth.detector;
    db_beam *const beam = &stills.truth.beam;
    const db_beam as_it_was = *beam;
    (void)state;
    beam->wavelength *= 0.1; /* the same places */
    detector->distance *= 10;
    beam->scale *= 1000;
    made_up_team_run(1, 0, work, &one, NULL);
    made_up_team_run(TEAM, 0, work, &several, NULL);
    *beam = as_it_was;
    detector->distance *= 0.1;
    const db_fit_shots_result *const r = one.result[0];
    assert_non_null(r);
    assert_int_equal(r->used, FRAMES - LATE);
    const db_fit_estimate *const edge = &r->estimates.list[EDGE];
    print_message("cell_a %.4f +- %.4f\n", edge->value, edge->error);
    assert_true(edge->error > 0.0099 * edge->value && edge->error < 0.011 * edge->value);
    assert_int_equal(warns_of(r, "the distance was held at 450 mm"), 1);
    for (int k = 0; k < TEAM; k++) {
        const db_fit_shots_result *const other = several.result[k];
        assert_non_null(other);
        assert_memory_equal(&other->estimates.list[EDGE].error, &edge->error, sizeof(double));
        assert_int_equal(warns_of(other, "the distance was held at 450 mm"), 1);
        assert_string_equal(other->reason, r->reason);
    }
    const db_joint_intensities *const a = r->merged, *const b = several.result[0]->merged;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(a->list.count, b->list.count);
    assert_memory_equal(a->merged.intensity, b->merged.intensity,
                        a->list.count * sizeof *a->merged.intensity);
    assert_memory_equal(&a->wavelength, &b->wavelength, sizeof a->wavelength);
    db_fit_shots_result_destroy(&one.result[0]);
    for (int k = 0; k < TEAM; k++) db_fit_shots_result_destroy(&several.result[k]);
}

/* Merged intensities are on the scale of the first frame in use. */
static void the_first_frame_in_use_has_the_scale(void **state) {
    late_series late = { .unlisted = 0 }, alone = { .unlisted = 1 };
    double most = 0;
    (void)state;
    made_up_team_run(1, 0, work, &late, NULL);
    made_up_team_run(1, 0, work, &alone, NULL);
    assert_non_null(late.result[0]);
    assert_non_null(alone.result[0]);
    const db_joint_intensities *const a = late.result[0]->merged, *const b =
                                                                      alone.result[0]->merged;
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(a->list.count, b->list.count);
    for (size_t h = 0; h < a->list.count; h++) {
        const double x = (double)a->merged.intensity[h], y = (double)b->merged.intensity[h];
        assert_int_equal(isnan(x), isnan(y));
        if (!isnan(x)) most = fmax(most, fabs(x - y) / (double)a->merged.sigma[h]);
    }
    print_message("merged intensities differ by %g errors\n", most);
    assert_true(most < 1e-3);
    for (size_t k = 0; k < LATE; k++) {
        print_message("frame %zu: %s\n", k, late.result[0]->shot[k].reason);
        assert_true(*late.result[0]->shot[k].reason);
    }
    db_fit_shots_result_destroy(&late.result[0]);
    db_fit_shots_result_destroy(&alone.result[0]);
}

static int set_up(void **state) {
    if (stills_set_up(state) != 0) return -1;
    stills.width = 0.5;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_CELL_A, -1);
    refine_parameter(&settings, DB_CELL_B, DB_CELL_A);
    for (size_t i = 0; i < settings.parameter_count; i++) settings.parameters[i].shared = 1;
    /* equivalents, without which frames have no scales */
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "96");
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
        cmocka_unit_test(processes_do_not_matter),
        cmocka_unit_test(the_first_frame_in_use_has_the_scale),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
