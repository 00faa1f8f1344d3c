/* Shots that are refined on a device, each thread with one of its own: they end where the processor's do, with the same
 * bits whoever works beside them. */
#include "support/unit_test.h"
#include "machine.h"
#include "takes_all.h"

#if defined(DB_HAVE_FIT)
#include "base/context_internal.h"
#include "bench/fit/scene.c"

#include <dualbragg/fit_shots.h>

#include <math.h>
#include <string.h>

enum { SHOTS = 4, CORES = 2, ANGLES = 3 };

static db_bench_scene scene[SHOTS];

/* Rendered by the processor, whoever refines it. */
static int render_shots(void **state) {
    (void)state;
    db_context *here;
    machine_reset();
    machine_takes_all();
    assert_int_equal(db_context_create(&here), DB_OK);
    for (size_t i = 0; i < SHOTS; i++)
        assert_int_equal(db_bench_shot(here, (uint32_t)i + 1, &scene[i]), DB_OK);
    db_context_destroy(&here);
    return 0;
}

static int clear_shots(void **state) {
    (void)state;
    for (size_t i = 0; i < SHOTS; i++) db_bench_scene_clear(&scene[i]);
    return 0;
}

static void copy_image(const db_measured_image *from, db_measured_image *image) {
    const size_t pixels = (size_t)from->fast_pixels * (size_t)from->slow_pixels;
    *image = *from;
    image->value = malloc(pixels * sizeof *image->value);
    image->mask = malloc(pixels);
    memcpy(image->value, from->value, pixels * sizeof *image->value);
    memcpy(image->mask, from->mask, pixels);
}

/* user: number of a shot that cannot be read, or NULL */
static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings) {
    static const db_bench_error error = { .turn = 0.1, .scale = 1, .size = 1 };
    if (user && *(const size_t *)user == shot)
        return db_fail(own, DB_ERROR_MEMORY, "shot %zu is not there", shot);
    copy_image(&scene[shot].image, image);
    if (settings) settings->gain = 1;
    return start ? db_bench_spoil(own, &scene[shot].truth, &error, (uint32_t)shot + 1, start)
                 : DB_OK;
}

static const char *name(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return "a shot";
}

typedef struct {
    double angle[SHOTS][ANGLES], error[SHOTS][ANGLES];
} refined;

static db_status run_shots(db_context *context, size_t count, size_t *missing, refined *found) {
    static const db_parameter angle[ANGLES] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z };
    const db_fit_shot_source source = {
        .count = count, .user = missing, .load = load, .name = name
    };
    db_fit_settings settings;
    db_fit_shots_result *result = NULL;
    db_fit_settings_init(&settings);
    settings.max_shoeboxes = 20;
    settings.shoebox_half_width = 4;
    for (int i = 0; i < ANGLES; i++) {
        const db_fit_parameter p = db_fit_parameter_free(angle[i]);
        assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    }
    db_fit_settings_default_stages(&settings);
    settings.stage_count = 1;
    settings.stages[0].max_evaluations = 3;
    const db_status status = db_fit_run(context, &source, &settings, NULL, &result);
    for (size_t s = 0; result && s < SHOTS; s++) {
        if (!result->shot[s].used) fail_msg("shot %zu: %s", s, result->shot[s].reason);
        for (size_t i = 0; i < sizeof found->angle[s] / sizeof *found->angle[s]; i++) {
            found->angle[s][i] = result->shot[s].estimates.list[i].value;
            found->error[s][i] = result->shot[s].estimates.list[i].error;
        }
    }
    const int there = result != NULL;
    db_fit_shots_result_destroy(&result);
    db_fit_settings_clear(&settings);
    return there ? DB_OK : status;
}

static db_context *context_of(const char *device, int threads) {
    db_context *context;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_context_set_device(context, device), DB_OK);
    assert_int_equal(db_context_set_threads(context, threads), DB_OK);
    return context;
}

static void refine_shots(const char *device, int threads, refined *found) {
    db_context *context = context_of(device, threads);
    machine_reset();
    memset(found, 0, sizeof *found);
    if (run_shots(context, SHOTS, NULL, found) != DB_OK)
        fail_msg("%s", db_context_message(context));
    db_context_destroy(&context);
}

/* With three threads all work on one shot after the other. */
static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    static refined first, other;
    for (int threads = 1; threads <= 3; threads++) {
        refine_shots("cuda", threads, threads > 1 ? &other : &first);
        if (threads > 1) assert_memory_equal(&first, &other, sizeof first);
    }
}

static void shots_end_where_the_processor_does(void **state) {
    (void)state;
    static refined here, there;
    refine_shots("cpu", CORES, &here);
    refine_shots("cuda", CORES, &there);
    /* nothing is rendered of reflections that are not refined against */
    COUNTED(assert_true(stand_in.launches > SHOTS);)
    COUNTED(assert_true(stand_in.bytes_to_host < (size_t)SHOTS * 100000);)
    for (size_t s = 0; s < SHOTS; s++)
        for (int i = 0; i < ANGLES; i++)
            assert_true(fabs(there.angle[s][i] - here.angle[s][i]) <= 1e-2 * here.error[s][i]);
}

static void one_shot_that_fails_ends_the_run(void **state) {
    (void)state;
    static refined found;
    size_t missing = SHOTS - 1;
    db_context *context = context_of("cuda", CORES);
    machine_reset();
    assert_int_equal(run_shots(context, SHOTS, &missing, &found), DB_ERROR_MEMORY);
    assert_string_equal(db_context_message(context), "shot 3 is not there");
    db_context_destroy(&context);
    COUNTED(assert_int_equal(stand_in.live, 0);)
}

#if !defined(DB_ON_GPU)
static void a_device_that_fails_is_told_slow(void **state) {
    (void)state;
    static refined found;
    refine_shots("cuda", CORES, &found);
    const long calls = stand_in.calls;
    int told = 0;
    for (int quarter = 1; quarter < 4; quarter++) {
        db_context *context = context_of("cuda", CORES);
        machine_reset();
        stand_in.calls_until_failure = calls * quarter / 4;
        stand_in.failure = cudaErrorLaunchOutOfResources;
        const db_status status = run_shots(context, SHOTS, NULL, &found);
        /* what is only freed may fail without harm */
        assert_true(status == DB_OK || status == DB_ERROR_DEVICE);
        if (status != DB_OK) assert_non_null(strstr(db_context_message(context), "cuda:0"));
        told += status != DB_OK;
        db_context_destroy(&context);
        assert_int_equal(stand_in.live, 0);
    }
    assert_true(told > 0);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(shots_end_where_the_processor_does),
#if !defined(DB_ON_GPU)
        cmocka_unit_test(a_device_that_fails_is_told_slow),
#endif
        cmocka_unit_test(one_shot_that_fails_ends_the_run)
    };
    machine_find();
    return cmocka_run_group_tests(tests, render_shots, clear_shots);
}
#else
int main(void) {
    printf("skipped: no refinement\n");
    return SKIPPED;
}
#endif
