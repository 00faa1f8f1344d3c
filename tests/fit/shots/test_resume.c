/* A refinement of many shots that is cut off, at any moment, goes on to the very result that
 * it would have had; a cancelled one has the best models so far. */
#define _POSIX_C_SOURCE 200809L

#include "support/unit_test.h"
#include "fit/shots/joint_stages.h"
#include "fit/damaged_state.h"
#include "fit/rendered_image.h"

#include <dualbragg/expert/fit_files.h>
#include <dualbragg/expert/fit_configurations.h>
#include <dualbragg/fit_shots.h>
#include <dualbragg/expert/fit_steps.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIXELS = 400, SHOTS = 5, BLANK = 3 };
static db_context *context;
static db_experiment truth;
static db_measured_image image[SHOTS];
static db_fit_settings settings;
static db_fit_config common; /* what source.configuration says */
static char checkpoint[] = "/tmp/test_resume_XXXXXX";
static const char *image_digest = "as it was";

static db_status load(void *user, db_context *own, size_t shot, db_measured_image *copy,
                      db_experiment *start, db_fit_settings *s) {
    const size_t pixels = (size_t)image[shot].fast_pixels * (size_t)image[shot].slow_pixels;
    (void)user;
    *copy = image[shot];
    copy->value = malloc(pixels * sizeof *copy->value);
    copy->mask = malloc(pixels);
    if (!copy->value || !copy->mask) return DB_ERROR_MEMORY;
    memcpy(copy->value, image[shot].value, pixels * sizeof *copy->value);
    memcpy(copy->mask, image[shot].mask, pixels);
    if (!start) return DB_OK;
    const db_status status = rendered_shot(own, &truth, shot, start);
    for (int i = 0; i < 3 && status == DB_OK; i++)
        start->crystal.misset[i] += 0.03 * rendered_draw(shot, 3 + i);
    start->detector.distance += 0.1;
    start->crystal.Ncells[0] *= 1.2;
    start->crystal.Ncells[1] *= 1.2;
    s->gain = 1;
    return status;
}

static const char *name(void *user, size_t shot) {
    static const char *const names[SHOTS] = { "a", "b", "c", "blank", "e" };
    (void)user;
    return names[shot];
}

static db_status identify(void *user, db_context *own, size_t shot,
                          db_fit_shot_identity *identity) {
    (void)user;
    (void)own;
    snprintf(identity->image, sizeof identity->image, "%s", shot == 2 ? image_digest : "same");
    snprintf(identity->configuration, sizeof identity->configuration, "same");
    snprintf(identity->files, sizeof identity->files, "same");
    return DB_OK;
}

static db_fit_shot_source source = {
    .count = SHOTS, .load = load, .name = name, .identify = identify, .configuration = &common
};

static int set_up(void **state) {
    (void)state;
    if (db_context_create(&context) != DB_OK || mkstemp(checkpoint) < 0) return -1;
    /* libgomp cannot go on in a child: one thread everywhere */
    db_context_set_threads(context, 1);
    if (rendered_experiment(context, PIXELS, 2000, &truth) != DB_OK) return -1;
    for (size_t s = 0; s < SHOTS; s++) {
        db_experiment e;
        if (rendered_shot(context, &truth, s, &e) != DB_OK) return -1;
        if (s == BLANK) e.beam.scale = 1e-6;
        if (rendered_image(context, &e, 1000 + s, &image[s]) != DB_OK) return -1;
        db_experiment_clear(&e);
    }
    db_fit_config_init(&common);
    db_fit_settings_clear(&settings); /* of the test before */
    db_fit_settings_init(&settings);
    settings.shoebox_half_width = 5;
    settings.model_error = 0;
    settings.min_strong_reflections = 10;
    settings.target = DB_FIT_POISSON;
    refine_parameter(&settings, DB_MISSET_X, -1);
    refine_parameter(&settings, DB_MISSET_Y, -1);
    refine_parameter(&settings, DB_MISSET_Z, -1);
    refine_parameter(&settings, DB_CELLS_A, -1);
    refine_parameter(&settings, DB_CELLS_B, DB_CELLS_A);
    refine_parameter(&settings, DB_DISTANCE, -1);
    db_stages_default(context, &settings, 0, 0);
    const size_t skipped = settings.stage_count - 4;
    for (size_t s = 1; s < 4; s++) copy_stage(&settings, s + skipped, s);
    settings.stage_count = 4;           /* two of each shot by itself, two joint ones */
    settings.stages[3].most_misfit = 0; /* it runs with any misfit */
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    (void)db_fit_checkpoint_remove(context, checkpoint);
    for (size_t s = 0; s < SHOTS; s++) db_measured_image_clear(&image[s]);
    db_experiment_clear(&truth);
    db_context_destroy(&context);
    return 0;
}

/* Everything that is written of a result, but for dates and times. */
static char *all_of(db_fit_shots_result *r) {
    char file[] = "/tmp/test_resume_XXXXXX", line[4096];
    db_fit_config *const config = malloc(sizeof *config);
    assert_non_null(config);
    close(mkstemp(file));
    db_fit_config_init(config);
    config->settings = settings;
    assert_int_equal(db_fit_write_json(context, file, config, r), DB_OK);
    free(config);
    FILE *const in = fopen(file, "r");
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    while (fgets(line, sizeof line, in))
        if (!strstr(line, "\"date\"") && !strstr(line, "\"seconds\"")) fputs(line, out);
    for (size_t s = 0; s < r->shot_count; s++)
        if (r->shot[s].used)
            for (int i = 0; i < 3; i++)
                fprintf(out, "%.17g\n", r->shot[s].experiment.crystal.misset[i]);
    fclose(in);
    fclose(out);
    unlink(file);
    return text;
}

static db_fit_shots_result *run(db_fit_shots_options *options) {
    db_fit_shots_result *result = NULL;
    (void)db_fit_run(context, &source, &settings, options, &result);
    return result;
}

static void count(void *user, const db_fit_shots_event *event) {
    (void)event;
    ++*(int *)user;
}

/* Ends the process as a kill would. */
static void die(void *user, const db_fit_shots_event *event) {
    (void)event;
    if (--*(int *)user == 0) _exit(42);
}

/* Runs a child that is killed at its event of this number; 0: it came to its end before. */
static int cut_at(int event, int resume) {
    const pid_t child = fork();
    if (child == 0) {
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        options.progress = die;
        options.user = &event;
        options.checkpoint = checkpoint;
        options.scratch = "/tmp";
        options.resume = resume;
        (void)run(&options);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 42;
}

static char *resumed(void) {
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    options.checkpoint = checkpoint;
    options.scratch = "/tmp";
    options.resume = 1;
    db_fit_shots_result *r = run(&options);
    if (!r) fail_msg("%s", db_context_message(context));
    char *const text = all_of(r);
    db_fit_shots_result_destroy(&r);
    return text;
}

/* The result of a run that nothing disturbs, and what it tells of on its way. */
static char *whole(int *events) {
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    *events = 0;
    options.progress = count;
    options.user = events;
    db_fit_shots_result *r = run(&options);
    if (!r) fail_msg("%s", db_context_message(context));
    assert_in_range(r->used, 3, SHOTS - 1);
    assert_true(fabs(r->shot[0].experiment.crystal.misset[1]) > 0);
    char *const text = all_of(r);
    db_fit_shots_result_destroy(&r);
    return text;
}

static void same_text(const char *a, const char *b, int event) {
    size_t i = 0;
    while (a[i] && a[i] == b[i]) i++;
    if (a[i] != b[i])
        fail_msg("cut at event %d: '%.60s' became '%.60s'", event, a + (i > 30 ? i - 30 : 0),
                 b + (i > 30 ? i - 30 : 0));
}

static void cut_anywhere_the_result_is_the_same(void **state) {
    (void)state;
    int events;
    char *const wanted = whole(&events);
    assert_true(events > 40); /* shots of passes, evaluations */
    for (int event = 2; event <= events; event += events / 3) {
        (void)db_fit_checkpoint_remove(context, checkpoint);
        assert_true(cut_at(event, 0));
        char *const got = resumed();
        same_text(wanted, got, event);
        free(got);
    }
    free(wanted);
}

static void cut_again_and_again_the_result_is_the_same_slow(void **state) {
    (void)state;
    int events, cuts = 0;
    char *const wanted = whole(&events);
    (void)db_fit_checkpoint_remove(context, checkpoint);
    while (cut_at(14 + 9 * cuts, cuts > 0)) cuts++;
    assert_true(cuts >= 3);
    char *const got = resumed();
    same_text(wanted, got, -1);
    free(got);
    free(wanted);
}

static void refused(const char *expected) {
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_shots_result *r = NULL;
    options.checkpoint = checkpoint;
    options.resume = 1;
    assert_int_equal(db_fit_run(context, &source, &settings, &options, &r), DB_ERROR_INPUT);
    assert_null(r);
    if (!strstr(db_context_message(context), expected))
        fail_msg("'%s' is not in: %s", expected, db_context_message(context));
}

static void what_differs_is_named(void **state) {
    (void)state;
    (void)db_fit_checkpoint_remove(context, checkpoint);
    assert_true(cut_at(25, 0));
    common.setup.shape = DB_SHAPE_TOPHAT;
    refused("model.shape (tophat here, gauss in it)");
    db_fit_config_init(&common);
    settings.shoebox_half_width = 3;
    refused("data.shoebox_half_width (3 here, 5 in it)");
    settings.shoebox_half_width = 5;
    settings.stages[3].tolerance = 1e-5;
    refused("stages.tolerance (1e-05 here, 1e-07 in it)");
    settings.stages[3].tolerance = 1e-7;
    image_digest = "another";
    refused("shot 3, c: its image");
    image_digest = "as it was";
    char *const text = resumed();
    free(text);
}

/* All threads ask whether a run is to end. */
static void count_evaluations(void *user, const db_fit_shots_event *event) {
    *(atomic_int *)user -= event->kind == DB_SHOTS_EVALUATED;
}

static int ends_at_evaluation(void *user) { return *(const atomic_int *)user <= 0; }

static size_t first_of_two(void *user, size_t shot) {
    (void)user;
    return shot == 1 ? 0 : shot;
}

/* Ended in a joint stage, of shots, or of lattices of one image. */
static void damage(size_t count, size_t forged) {
    for (int lattices = 0; lattices < 2; lattices++) {
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        db_fit_shots_result *r = NULL;
        atomic_int left = 3;
        source.image = lattices ? first_of_two : NULL;
        options.checkpoint = checkpoint;
        options.scratch = "/tmp";
        options.cancelled = ends_at_evaluation;
        options.progress = count_evaluations;
        options.user = &left;
        (void)db_fit_checkpoint_remove(context, checkpoint);
        (void)db_fit_run(context, &source, &settings, &options, &r);
        db_fit_shots_result_destroy(&r);
        go_on_from_damaged_states(context, &source, &settings, &options, count, forged);
    }
    source.image = NULL;
}

/* Files with the name of a checkpoint, or of its parts, that are none. */
static void other_files_are_neither_replaced_nor_removed(void **state) {
    (void)state;
    char part[80];
    snprintf(part, sizeof part, "%s.1.0", checkpoint);
    const char *const names[] = { checkpoint, part };
    for (int k = 0; k < 2; k++) {
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        db_fit_shots_result *r = NULL;
        char text[40] = "";
        (void)db_fit_checkpoint_remove(context, checkpoint);
        FILE *file = fopen(names[k], "w");
        assert_non_null(file);
        fputs("some data", file);
        fclose(file);
        options.checkpoint = checkpoint;
        options.scratch = "/tmp";
        assert_int_equal(db_fit_run(context, &source, &settings, &options, &r), DB_ERROR_USAGE);
        assert_null(r);
        assert_non_null(strstr(db_context_message(context), names[k]));
        assert_int_equal(db_fit_checkpoint_remove(context, checkpoint),
                         k == 0 ? DB_ERROR_USAGE : DB_OK);
        file = fopen(names[k], "r");
        assert_non_null(file);
        assert_non_null(fgets(text, sizeof text, file));
        assert_string_equal(text, "some data");
        fclose(file);
        unlink(names[k]);
    }
}

static void damaged_states_are_told(void **state) {
    (void)state;
    damage(20, 1);
}

static void damaged_states_are_told_slow(void **state) {
    (void)state;
    damage(500, 40);
}

static int wants_to_end(void *user) {
    atomic_int *const left = user;
    return --*left < 0;
}

/* Wherever it is cancelled: the models so far, or none; and what is left of the work can still be
 * done. */
static void a_cancelled_run_has_the_best_models_so_far(void **state) {
    (void)state;
    int events, ends = 0;
    char *const wanted = whole(&events);
    for (int left = 60; left < 200; left += 70) {
        db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
        db_fit_shots_result *r = NULL;
        atomic_int own = left;
        options.cancelled = wants_to_end;
        options.user = &own;
        options.checkpoint = checkpoint;
        (void)db_fit_checkpoint_remove(context, checkpoint);
        const db_status status = db_fit_run(context, &source, &settings, &options, &r);
        if (status == DB_OK) {
            db_fit_shots_result_destroy(&r);
            break;
        }
        assert_int_equal(status, DB_ERROR_CANCELLED);
        assert_non_null(strstr(db_context_message(context), "cancelled"));
        if (!r) continue;
        ends++;
        assert_int_equal(r->status, DB_ERROR_CANCELLED);
        assert_true(r->used > 0 && r->used < SHOTS);
        for (size_t s = 0; s < SHOTS; s++)
            if (r->shot[s].used) assert_true(r->shot[s].experiment.oversample > 0);
        free(all_of(r));
        db_fit_shots_result_destroy(&r);
        char *const got = resumed();
        same_text(wanted, got, left);
        free(got);
    }
    assert_true(ends > 0);
    free(wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere_the_result_is_the_same),
        cmocka_unit_test(cut_again_and_again_the_result_is_the_same_slow),
        cmocka_unit_test(what_differs_is_named),
        cmocka_unit_test(other_files_are_neither_replaced_nor_removed),
        cmocka_unit_test(damaged_states_are_told),
        cmocka_unit_test(damaged_states_are_told_slow),
        cmocka_unit_test(a_cancelled_run_has_the_best_models_so_far),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
