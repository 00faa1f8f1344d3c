/* Many shots that share a detector: it comes back, bad shots are excluded, and neither threads nor
 * processes matter. */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/shots/joint_stages.h"
#include "fit/still_fit.h"
#include "fit/rendered_image.h"
#include "fit/made_up_team.h"

#include "base/context_internal.h"

#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/fit_shots.h>
#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIXELS = 400, SHOTS = 10, BLANK = 3, UNREADABLE = 6 };
static db_context *context;
static db_experiment truth;
static db_fit_settings settings;

static const db_parameter locals[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z, DB_CELLS_A };
static const db_parameter shared[] = { DB_DISTANCE, DB_BEAM_FAST, DB_BEAM_SLOW };
enum { LOCALS = 4, SHARED = 3 };
static const double off[SHARED] = { 0.15, 0.05, -0.06 }; /* of the start, in mm */

static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *s) {
    (void)user;
    db_experiment e;
    if (shot > 0) {
        db_notice(own, "%c.cbf: 0.%zu mm of something is not used", (int)('a' + shot), shot);
        db_notice(own, "list.expt: a flux of %zu is not used", shot);
    }
    if (shot == UNREADABLE) {
        db_experiment none = { .oversample = 0 };
        return db_experiment_check(own, &none); /* some failure with a message */
    }
    db_status status = rendered_shot(own, &truth, shot, &e);
    if (status != DB_OK) return status;
    const double scale = e.beam.scale;
    if (shot == BLANK) e.beam.scale = 1e-6;
    status = rendered_image(own, &e, 1000 + shot, image);
    e.beam.scale = scale;
    if (start && status == DB_OK) {
        for (int i = 0; i < 3; i++) e.crystal.misset[i] += 0.2 * rendered_draw(shot, 3 + i);
        e.crystal.Ncells[0] *= 1.2;
        e.crystal.Ncells[1] *= 1.2;
        for (int i = 0; i < SHARED; i++)
            db_parameter_set(&e, shared[i], db_parameter_get(&e, shared[i]) + off[i]);
        *start = e;
        s->gain = 1;
        return DB_OK;
    }
    db_experiment_clear(&e);
    return status;
}

static const char *name(void *user, size_t shot) {
    static const char *const names[SHOTS] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
    (void)user;
    return names[shot];
}

static const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = name };

static int set_up(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK) return -1;
    if (rendered_experiment(context, PIXELS, 2000, &truth) != DB_OK) return -1;
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 5;
    settings.model_error = 0;
    settings.target = DB_FIT_POISSON;
    for (int i = 0; i < LOCALS; i++) refine_parameter(&settings, locals[i], -1);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
    for (int i = 0; i < SHARED; i++) refine_parameter(&settings, shared[i], -1);
    /* Starts are good: the stages between the first and the last before the joint ones are not
     * needed. */
    db_stages_default(context, &settings, 0, 0);
    const size_t skipped = settings.stage_count - 4;
    for (size_t s = 1; s < 4; s++) copy_stage(&settings, s + skipped, s);
    settings.stage_count = 4;
    return 0;
}

static db_fit_shots_result *kept; /* of one thread */

static int tear_down(void **state) {
    (void)state;
    db_fit_shots_result_destroy(&kept);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

static db_fit_shots_result *run(db_context *own, const db_fit_shots_options *options) {
    db_fit_shots_result *result = NULL;
    if (db_fit_run(own, &source, &settings, options, &result) != DB_OK && !result)
        fail_msg("%s", db_context_message(own));
    return result;
}

static char told[2][400];

static void keep_notice(void *user, const char *line) {
    const size_t length = strlen(user);
    snprintf((char *)user + length, sizeof told[0] - length, "%s\n", line);
}

/* All shots, by one thread: what several cases look at. */
static const db_fit_shots_result *run_of_one_thread(void) {
    if (kept) return kept;
    db_context_set_threads(context, 1);
    db_context_set_notices(context, keep_notice, told[0]);
    kept = run(context, NULL);
    db_context_set_notices(context, NULL, NULL);
    db_context_set_threads(context, 0);
    return kept;
}

static size_t place_of(db_parameter p) {
    size_t i = 0;
    while (settings.parameters[i].parameter != p) i++;
    return i;
}

static void shared_detector_comes_back(void **state) {
    (void)state;
    const db_fit_shots_result *const r = run_of_one_thread();
    assert_int_equal(r->status, DB_OK);
    assert_int_equal(r->used, SHOTS - 2);
    assert_false(r->shot[BLANK].used);
    assert_non_null(strstr(r->shot[BLANK].reason, "blank"));
    assert_false(r->shot[UNREADABLE].used);
    assert_true(strlen(r->shot[UNREADABLE].reason) > 10);
    if (!(r->chi2_reduced[1] > 0.9 && r->chi2_reduced[1] < 1.1))
        fail_msg("chi2 per degree of freedom %g, %g", r->chi2_reduced[0], r->chi2_reduced[1]);
    assert_true(r->chi2_reduced[1] < r->chi2_reduced[0]);
    for (int i = 0; i < SHARED; i++) {
        const size_t p = place_of(shared[i]);
        const double true_value = db_parameter_get(&truth, shared[i]);
        assert_true(r->estimates.list[p].shared);
        assert_true(r->estimates.list[p].error > 0 &&
                    r->estimates.list[p].error < 0.5 * fabs(off[i]));
        if (fabs(r->estimates.list[p].value - true_value) > 4 * r->estimates.list[p].error)
            fail_msg("%s is %g +- %g instead of %g", db_parameter_describe(shared[i])->name,
                     r->estimates.list[p].value, r->estimates.list[p].error, true_value);
        assert_true(fabs(r->estimates.list[p].start - true_value - off[i]) < 1e-9);
    }
    for (size_t s = 0; s < SHOTS; s++) {
        db_experiment right;
        if (!r->shot[s].used) continue;
        assert_int_equal(rendered_shot(context, &truth, s, &right), DB_OK);
        assert_true(misorientation(&r->shot[s].experiment.crystal, &right.crystal) < 0.02);
        for (int i = 0; i < LOCALS; i++) {
            const size_t p = place_of(locals[i]);
            assert_false(r->estimates.list[p].shared);
            assert_true(r->shot[s].estimates.list[p].error > 0 &&
                        isfinite(r->shot[s].estimates.list[p].error));
        }
        const size_t cells = place_of(DB_CELLS_A);
        assert_true(fabs(r->shot[s].estimates.list[cells].value - truth.crystal.Ncells[0]) <
                    5 * r->shot[s].estimates.list[cells].error);
        db_experiment_clear(&right);
    }
}

static void same(const db_fit_shots_result *a, const db_fit_shots_result *b, double tolerance) {
    assert_int_equal(a->used, b->used);
    for (size_t i = 0; i < a->estimates.count; i++) {
        if (!a->estimates.list[i].shared) continue;
        assert_true(fabs(a->estimates.list[i].value - b->estimates.list[i].value) <=
                    tolerance * fabs(a->estimates.list[i].value));
        assert_true(fabs(a->estimates.list[i].error - b->estimates.list[i].error) <=
                    10 * tolerance * a->estimates.list[i].error);
    }
    for (size_t s = 0; s < a->shot_count; s++)
        for (size_t i = 0; i < a->estimates.count && a->shot[s].used && b->shot[s].name; i++)
            assert_true(
                fabs(a->shot[s].estimates.list[i].value - b->shot[s].estimates.list[i].value) <=
                tolerance * fmax(1, fabs(a->shot[s].estimates.list[i].value)));
}

static void threads_do_not_matter(void **state) {
    (void)state;
    const db_fit_shots_result *const one = run_of_one_thread();
    db_context_set_threads(context, 2);
    db_context_set_notices(context, keep_notice, told[1]);
    db_fit_shots_result *two = run(context, NULL);
    db_context_set_notices(context, NULL, NULL);
    db_context_set_threads(context, 0);
    /* of many shots, of the first that has one; shot 0 has none */
    for (int t = 0; t < 2; t++)
        assert_string_equal(told[t], "b.cbf: 0.1 mm of something is not used\n"
                                     "b: list.expt: a flux of 1 is not used\n");
    same(one, two, 0);
    db_fit_shots_result_destroy(&two);
}

enum { TEAM = 3 };
typedef struct joint_run {
    const int *threads;
    const db_fit_shot_source *shots;
    db_fit_shots_result **result;
} joint_run;

static void work(void *user, const db_fit_team *team) {
    const joint_run *const m = user;
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_context *own;
    options.team = team;
    if (db_context_create(&own) != DB_OK) return;
    db_context_set_threads(own, m->threads[team->rank]);
    (void)db_fit_run(own, m->shots, &settings, &options, &m->result[team->rank]);
    db_context_destroy(&own);
}

/* All members' results on these shots, each with its number of threads. */
static void run_team(const db_fit_shot_source *shots, int claims, const int threads[TEAM],
                     db_fit_shots_result *result[TEAM]) {
    joint_run of_all = { threads, shots, result };
    for (int r = 0; r < TEAM; r++) result[r] = NULL;
    made_up_team_run(TEAM, claims, work, &of_all, NULL);
}

/* Rank 0 knows all shots, the others know theirs. */
static void processes_do_not_matter_slow(void **state) {
    (void)state;
    static const int threads[TEAM] = { 1, 2, 1 };
    const db_fit_shots_result *const alone = run_of_one_thread();
    db_fit_shots_result *list[TEAM];
    size_t known = 0;
    run_team(&source, 1, threads, list);
    for (int r = 0; r < TEAM; r++) {
        assert_non_null(list[r]);
        same(alone, list[r], 0);
        for (size_t s = 0; s < alone->shot_count; s++) {
            if (r == 0) assert_non_null(list[r]->shot[s].name);
            known += list[r]->shot[s].experiment.oversample > 0;
        }
        db_fit_shots_result_destroy(&list[r]);
    }
    assert_int_equal(known, alone->used);
}

/* Few of many shots can be read. */
enum { FEW = 3, MANY = 60 };
static db_status load_few(void *user, db_context *own, size_t shot, db_measured_image *image,
                          db_experiment *start, db_fit_settings *s) {
    return load(user, own, shot < FEW ? shot : UNREADABLE, image, start, s);
}
static const char *name_few(void *user, size_t shot) {
    (void)user;
    return shot < FEW ? "there" : "not there";
}

/* Members that have other numbers of threads divide their work in other ways, and still meet. */
static void unlike_processes(void **state) {
    (void)state;
    static const int threads[TEAM] = { 4, 8, 1 };
    const db_fit_shot_source few = { .count = MANY, .load = load_few, .name = name_few };
    db_fit_shots_result *list[TEAM];
    run_team(&few, 0, threads, list);
    for (int r = 0; r < TEAM; r++) {
        assert_non_null(list[r]);
        assert_int_equal(list[r]->used, FEW);
        same(list[0], list[r], 0);
    }
    for (int r = 0; r < TEAM; r++) db_fit_shots_result_destroy(&list[r]);
}

static void a_checkpoint_of_another_run_is_refused(void **state) {
    (void)state;
    char file[] = "/tmp/test_shots_XXXXXX";
    const int descriptor = mkstemp(file);
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *result = NULL;
    static const char *const texts[] = {
        "no json", "{}", "{\"dualbragg_checkpoint\": 1, \"parameters\": [\"cell_a\"]}"
    };
    options.checkpoint = file;
    options.resume = 1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ftruncate(descriptor, 0), 0);
        assert_true(pwrite(descriptor, texts[i], strlen(texts[i]), 0) > 0);
        assert_int_equal(db_fit_run(context, &source, &settings, &options, &result),
                         DB_ERROR_INPUT);
        assert_null(result);
        assert_non_null(strstr(db_context_message(context), file));
    }
    close(descriptor);
    unlink(file);
}

static void wrong_stages_are_refused(void **state) {
    (void)state;
    db_fit_settings own = settings;
    db_fit_shots_result *result = NULL;
    own.stages[own.stage_count - 1].kind = DB_STAGE_NLOPT;
    strcpy(own.stages[own.stage_count - 1].nlopt, "LD_LBFGS");
    assert_int_equal(db_fit_run(context, &source, &own, NULL, &result), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "LD_LBFGS"));
    copy_stage(&own, 0, own.stage_count++);
    own.stages[own.stage_count - 2].kind = DB_STAGE_PIXELS;
    assert_int_equal(db_fit_run(context, &source, &own, NULL, &result), DB_ERROR_USAGE);
    assert_non_null(strstr(db_context_message(context), "last stage"));
    const db_fit_shot_source none = { .load = load, .name = name };
    assert_int_equal(db_fit_run(context, &none, &settings, NULL, &result), DB_ERROR_INPUT);
}

static int is_held[SHOTS];
static db_status load_held(void *user, db_context *own, size_t shot, db_measured_image *image,
                           db_experiment *start, db_fit_settings *s) {
    const db_status status = load(user, own, shot, image, start, s);
    if (status != DB_OK) return status;
    image->exposure = (double)shot;
    is_held[shot]++;
    if (shot == 1 && s) s->parameter_count--; /* not as all the others */
    return DB_OK;
}
static void release_held(void *user, db_measured_image *image) {
    (void)user;
    is_held[(int)image->exposure]--;
    free(image->value);
    free(image->mask);
}

/* Each image goes back to where it came from once, also that of a shot which is left out. */
static void images_are_released_once(void **state) {
    (void)state;
    db_fit_settings own = settings;
    own.parameter_count -= SHARED;
    own.stage_count -= 2;
    const db_fit_shot_source held = {
        .count = 3, .load = load_held, .name = name, .release = release_held
    };
    db_fit_shots_result *r = NULL;
    assert_int_equal(db_fit_run(context, &held, &own, NULL, &r), DB_OK);
    assert_int_equal(r->used, 2);
    for (int s = 0; s < 3; s++) assert_int_equal(is_held[s], 0);
    db_fit_shots_result_destroy(&r);
}

/* What only a program can ask for. */
static void options_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const struct {
        int task, tasks, resume, joint;
        const char *words;
    } wrong[] = { { 3, 2, 0, 0, "expected task 1 to 2, found 3" },
                  { 0, 2, 0, 0, "expected task 1 to 2, found 0" },
                  { 1, -1, 0, 0, "expected task 1 to -1" },
                  { 1, 2, 0, 0, "which a task of an array needs" },
                  { 0, 0, 1, 0, "which going on with a run needs" },
                  { 0, 0, 0, 1, "neither joint intensities nor" } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const db_fit_shot_source list = {
            .count = 2, .load = load, .name = name, .in_full = wrong[i].joint
        };
        db_fit_settings own = settings;
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        db_fit_shots_result *r = NULL;
        options.array_task = wrong[i].task;
        options.array_tasks = wrong[i].tasks;
        options.resume = wrong[i].resume;
        own.joint.wanted = wrong[i].joint;
        assert_int_equal(db_fit_run(context, &list, &own, &options, &r), DB_ERROR_USAGE);
        assert_null(r);
        if (!strstr(db_context_message(context), wrong[i].words))
            fail_msg("%s", db_context_message(context));
    }
}

/* Without anything shared each shot is refined as if it were alone. */
static void nothing_shared(void **state) {
    (void)state;
    db_fit_settings own = settings;
    own.parameter_count -= SHARED;
    own.stage_count -= 2;
    const db_fit_shot_source two = { .count = 2, .load = load, .name = name };
    db_fit_shots_result *r = NULL;
    assert_int_equal(db_fit_run(context, &two, &own, NULL, &r), DB_OK);
    for (size_t s = 0; s < 2; s++) {
        db_measured_image image = { 0 };
        db_experiment start;
        db_fit_result *alone = NULL;
        assert_int_equal(load(NULL, context, s, &image, &start, &own), DB_OK);
        (void)fit_still(context, &start, &image, &own, NULL, NULL, &alone);
        assert_non_null(alone);
        for (size_t i = 0; i < own.parameter_count; i++)
            assert_true(alone->estimates.list[i].value == r->shot[s].estimates.list[i].value);
        assert_true(fabs(alone->after.chi2_reduced - r->shot[s].after.chi2_reduced) < 1e-12);
        fit_still_destroy(&alone);
        db_experiment_clear(&start);
        db_measured_image_clear(&image);
    }
    db_fit_shots_result_destroy(&r);
}

/* Runs two shots with cells of their own, and shared (1) or own (0) distance and shift of the panel along the beam; -1:
 * held. */
static db_fit_shots_result *run_with_cells(int distance, int shift) {
    const db_fit_shot_source two = { .count = 2, .load = load, .name = name };
    db_fit_settings own;
    db_fit_shots_result *r = NULL;
    assert_int_equal(db_fit_settings_copy(context, &settings, &own), DB_OK);
    own.parameters[place_of(DB_DISTANCE)].shared = distance;
    refine_parameter(&own, DB_CELL_A, -1);
    refine_parameter(&own, DB_CELL_B, DB_CELL_A);
    refine_parameter(&own, DB_CELL_C, -1);
    if (shift >= 0) {
        refine_parameter(&own, DB_PANEL_SHIFT_NORMAL, -1);
        own.parameters[own.parameter_count - 1].shared = shift;
    }
    assert_int_equal(db_fit_run(context, &two, &own, NULL, &r), DB_OK);
    db_fit_settings_clear(&own);
    return r;
}

static double error_in(const db_fit_shots_result *r, size_t shot, db_parameter p) {
    const db_fit_estimate *e = r->shot[shot].estimates.list;
    while (e->parameter != p) e++;
    return e->error;
}

/* A shift of the panel does to the image what the distance does: neither is determined, and other errors are those of a run
 * without the shift, but for where the searches end. */
static void a_superfluous_quantity_changes_no_other_error(void **state) {
    (void)state;
    static const db_parameter others[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z,
                                           DB_CELLS_A,  DB_CELL_A,   DB_CELL_C };
    static const int cases[][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 } };
    db_fit_shots_result *right[2] = { run_with_cells(0, -1), run_with_cells(1, -1) };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const int distance = cases[c][0], shift = cases[c][1];
        const db_fit_shots_result *const without = right[distance && shift];
        db_fit_shots_result *r = run_with_cells(distance, shift);
        for (size_t s = 0; s < 2; s++) {
            for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
                const double error = error_in(r, s, others[k]),
                             expected = error_in(without, s, others[k]);
                if (!(fabs(error / expected - 1) < 0.1))
                    fail_msg("%d %d: error of %s %g instead of %g", distance, shift,
                             db_parameter_describe(others[k])->name, error, expected);
            }
            assert_true(isinf(error_in(r, s, DB_DISTANCE)));
            assert_true(isinf(error_in(r, s, DB_PANEL_SHIFT_NORMAL)));
        }
        assert_int_equal(r->warning_count, 1 + (distance != shift));
        for (size_t k = 0; k < r->warning_count; k++)
            assert_non_null(strstr(r->warnings[k], "the data do not determine "));
        db_fit_shots_result_destroy(&r);
    }
    for (int k = 0; k < 2; k++) {
        assert_int_equal(right[k]->warning_count, 0);
        db_fit_shots_result_destroy(&right[k]);
    }
}

/* A refined list names files that it can read again, for images of any name. */
static void names_of_models(void **state) {
    (void)state;
    char made[DB_FIT_PATH_SIZE];
    db_fit_result shot = { .name = "a folder/run #3 [x=1].cbf" };
    const db_fit_shots_result r = { .shot_count = 1, .shot = &shot };
    db_fit_shots_model_name(&r, 0, made);
    assert_string_equal(made, "0001_run__3__x_1_");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_detector_comes_back),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(processes_do_not_matter_slow),
        cmocka_unit_test(unlike_processes),
        cmocka_unit_test(a_checkpoint_of_another_run_is_refused),
        cmocka_unit_test(wrong_stages_are_refused),
        cmocka_unit_test(options_that_cannot_be_are_refused),
        cmocka_unit_test(images_are_released_once),
        cmocka_unit_test(nothing_shared),
        cmocka_unit_test(a_superfluous_quantity_changes_no_other_error),
        cmocka_unit_test(names_of_models),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
