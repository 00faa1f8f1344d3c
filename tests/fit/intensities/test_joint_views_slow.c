/* Joint intensities of views that are no stills of one crystal: frames of a rotation series, whose
 * reflections are partial, and lattices that share images. By one
 * process and by three. */

#include "support/unit_test.h"
#include "fit/made_up_team.h"
#include "fit/rendered_image.h"
#include "fit/shots/joint_stages.h"
#include "fit/stills.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 20, LATTICES = 24, TEAM = 3 };

typedef struct views_run {
    size_t shots;
    int series;
    db_fit_settings *settings;
    db_fit_shots_result *result[TEAM];
} views_run;

static void work(void *user, const db_fit_team *team) {
    views_run *const t = user;
    const db_fit_shot_source source = {
        .count = t->shots, .load = still_load, .name = still_name, .image = still_image
    };
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    options.series = t->series;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, 1);
    const db_status status =
        db_fit_run(own, &source, t->settings, &options, &t->result[team->rank]);
    if (status != DB_OK && team->rank == 0) print_message("%s\n", db_context_message(own));
    db_context_destroy(&own);
}

static void same_numbers(const double *a, const double *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        assert_true((isnan(a[i]) && isnan(b[i])) || !(a[i] < b[i] || a[i] > b[i]));
}

static void same_intensities(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    const db_merged *const x = &a->intensities->merged;
    const db_merged *const y = &b->intensities->merged;
    assert_memory_equal(x->multiplicity, y->multiplicity, x->count * sizeof *x->multiplicity);
    same_numbers(x->intensity, y->intensity, x->count);
    same_numbers(x->sigma, y->sigma, x->count);
}

static void same_shots(const db_fit_shots_result *a, const db_fit_shots_result *b) {
    assert_int_equal(a->used, b->used);
    for (size_t i = 0; i < a->estimates.count; i++)
        same_numbers(&a->estimates.list[i].value, &b->estimates.list[i].value, 1);
    same_numbers(a->chi2_reduced, b->chi2_reduced, 2);
    for (size_t s = 0; s < a->shot_count; s++)
        for (size_t i = 0; i < a->estimates.count; i++) {
            const db_fit_estimate *const p = &a->shot[s].estimates.list[i];
            const db_fit_estimate *const q = &b->shot[s].estimates.list[i];
            same_numbers((double[]){ p->value, p->error }, (double[]){ q->value, q->error }, 2);
        }
}

/* R and pulls beside the truth, and as many reflections of several measurements at least. */
static void compare(size_t shots, int series, db_fit_settings *settings, double most,
                    size_t fewest) {
    views_run one = { shots, series, settings, { NULL } }, several = one;
    double pull;
    size_t measured = 0;
    made_up_team_run(1, 0, work, &one, NULL);
    assert_non_null(one.result[0]);
    const db_merged *const merged = &one.result[0]->intensities->merged;
    const double R = stills_off_truth(merged, &pull);
    for (size_t h = 0; h < merged->count; h++) measured += merged->multiplicity[h] > 1;
    print_message("%zu of %zu shots; %zu intensities: R %.4f, pulls %.2f; chi2 %.3f; %s\n",
                  one.result[0]->used, shots, measured, R, pull, one.result[0]->chi2_reduced[1],
                  one.result[0]->reason);
    assert_int_equal(one.result[0]->used, shots);
    assert_true(measured >= fewest);
    assert_true(R < most && pull < 1.6);
    made_up_team_run(TEAM, 1, work, &several, NULL);
    for (int r = 0; r < TEAM; r++) assert_non_null(several.result[r]);
    same_intensities(one.result[0], several.result[0]);
    same_shots(one.result[0], several.result[0]);
    db_fit_shots_result_destroy(&one.result[0]);
    for (int r = 0; r < TEAM; r++) db_fit_shots_result_destroy(&several.result[r]);
}

static void of_a_rotation_series(void **state) {
    (void)state;
    db_fit_settings settings;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    settings.joint = stills.settings.joint;
    snprintf(settings.amplitude_group, sizeof settings.amplitude_group, "96");
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_SCALE, -1);
    for (size_t i = 0; i + 1 < settings.parameter_count; i++) settings.parameters[i].shared = 1;
    db_stages_default(stills.context, &settings, 0, 0);
    stills.width = 0.5;
    compare(FRAMES, 1, &settings, 0.05, 500);
    stills.width = 0;
    db_fit_settings_clear(&settings);
}

static void of_images_with_two_lattices(void **state) {
    (void)state;
    stills.lattices = 2;
    compare(LATTICES, 0, &stills.settings, 0.06, 500);
    stills.lattices = 0;
}

/* Lattices beside each other's light, refined by themselves with a distance that they share. Their shots follow each
 * other in the list, or are far apart in it. */
static void refine_lattices(size_t images) {
    db_fit_settings settings;
    views_run one = { 2 * images, 0, &settings, { NULL } }, several = one;
    double square = 0;
    db_fit_settings_init(&settings);
    settings.min_strong_reflections = 10;
    for (int p = DB_MISSET_X; p <= (int)DB_MISSET_Z; p++)
        refine_parameter(&settings, (db_parameter)p, -1);
    refine_parameter(&settings, DB_MOSAIC_VARIANCE, -1);
    refine_parameter(&settings, DB_DISTANCE, -1);
    db_stages_default(stills.context, &settings, 0, 0);
    made_up_team_run(1, 0, work, &one, NULL);
    made_up_team_run(TEAM, 1, work, &several, NULL);
    assert_non_null(one.result[0]);
    for (int r = 0; r < TEAM; r++) assert_non_null(several.result[r]);
    const db_fit_estimate *const distance = &one.result[0]->estimates.list[4];
    for (size_t s = 0; s < 2 * images; s++) {
        db_crystal truth = stills.truth.crystal, own = truth;
        db_experiment e = { .crystal = truth };
        still_place(s, &e);
        truth = e.crystal;
        memcpy(own.orientation, one.result[0]->shot[s].experiment.crystal.orientation,
               sizeof own.orientation);
        for (int i = 0; i < 3; i++) own.misset[i] = one.result[0]->shot[s].estimates.list[i].value;
        square += pow(misorientation(&truth, &own), 2);
    }
    const double off = sqrt(square / (2 * (double)images));
    print_message("%zu lattices on %zu images: %.4f degree off; distance %.4f +- %.4f mm\n",
                  2 * images, images, off, distance->value, distance->error);
    assert_true(one.result[0]->used == 2 * images &&
                off < 0.02); /* as of one lattice on each image */
    assert_true(fabs(distance->value - 45) < 4 * distance->error && distance->error < 0.05);
    same_shots(one.result[0], several.result[0]);
    db_fit_shots_result_destroy(&one.result[0]);
    for (int r = 0; r < TEAM; r++) db_fit_shots_result_destroy(&several.result[r]);
    db_fit_settings_clear(&settings);
}

static void lattices_follow_each_other(void **state) {
    (void)state;
    stills.lattices = 2;
    refine_lattices(5);
    stills.lattices = 0;
}

static void lattices_are_apart_in_the_list(void **state) {
    (void)state;
    stills.lattices = 2;
    stills.images = 5;
    refine_lattices(5);
    stills.lattices = stills.images = 0;
}

static void two_lattices_in_each_of_40_shots_slow(void **state) {
    (void)state;
    stills.lattices = 2;
    refine_lattices(40);
    stills.lattices = 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_a_rotation_series),
        cmocka_unit_test(of_images_with_two_lattices),
        cmocka_unit_test(lattices_follow_each_other),
        cmocka_unit_test(lattices_are_apart_in_the_list),
        cmocka_unit_test(two_lattices_in_each_of_40_shots_slow),
    };
    return cmocka_run_group_tests(tests, stills_set_up, stills_tear_down);
}
