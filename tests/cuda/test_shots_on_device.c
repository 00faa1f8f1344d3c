/* Threads that refine shots on a device have streams of their own, which are busy at the same time, and end
 * where the processor does. */
#include "support/unit_test.h"
#include "machine.h"
#include "takes_all.h"

#if defined(DB_HAVE_FIT)
#include "bench/fit/scene.c"

#include <dualbragg/fit_shots.h>

#include <math.h>
#include <string.h>

/* shots: as many as make each thread take some of its own */
enum { SHOTS = 8, THREADS = 2, ANGLES = 3, PIXELS = 512 * 512 };

/* Rendered by the processor, whoever refines it. */
static db_status load(void *user, db_context *own, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings) {
    static const db_bench_error error = { .turn = 0.1, .scale = 1, .size = 1 };
    (void)user;
    db_context *here;
    db_bench_scene scene;
    assert_int_equal(db_context_create(&here), DB_OK);
    assert_int_equal(db_bench_shot(here, (uint32_t)shot + 1, &scene), DB_OK);
    *image = scene.image;
    assert_int_equal(image->fast_pixels * image->slow_pixels, PIXELS);
    scene.image = (db_measured_image){ 0 };
    const db_status status =
        start ? db_bench_spoil(own, &scene.truth, &error, (uint32_t)shot + 1, start) : DB_OK;
    if (settings) settings->gain = 1;
    db_bench_scene_clear(&scene);
    db_context_destroy(&here);
    return status;
}

static const char *name(void *user, size_t shot) {
    static const char *const names[SHOTS] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    (void)user;
    return names[shot];
}

/* Misset angles refined: [SHOTS][ANGLES]. */
static void refine_shots(const char *device, int threads, double found[SHOTS][ANGLES],
                         double *errors) {
    static const db_parameter angle[ANGLES] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z };
    const db_fit_shot_source source = { .count = SHOTS, .load = load, .name = name };
    db_context *context;
    db_fit_settings settings;
    db_fit_shots_result *result = NULL;
    assert_int_equal(db_context_create(&context), DB_OK);
    assert_int_equal(db_context_set_device(context, device), DB_OK);
    assert_int_equal(db_context_set_threads(context, threads), DB_OK);
    db_fit_settings_init(&settings);
    settings.max_shoeboxes = 20;
    settings.shoebox_half_width = 4;
    for (int i = 0; i < ANGLES; i++) {
        const db_fit_parameter p = db_fit_parameter_free(angle[i]);
        assert_int_equal(db_fit_settings_add_parameter(context, &settings, &p), DB_OK);
    }
    db_fit_settings_default_stages(&settings);
    settings.stage_count = 1;
    settings.stages[0].max_evaluations = 4;
    (void)db_fit_shots_run(context, &source, &settings, NULL, &result);
    if (!result) fail_msg("%s", db_context_message(context));
    for (size_t s = 0; s < SHOTS; s++) {
        if (!result->shot[s].used) fail_msg("shot %zu: %s", s, result->shot[s].reason);
        memcpy(found[s], result->shot[s].refined, ANGLES * sizeof(double));
        for (int i = 0; i < ANGLES; i++) *errors = fmin(*errors, fabs(result->shot[s].error[i]));
    }
    db_fit_shots_result_destroy(&result);
    db_fit_settings_clear(&settings);
    db_context_destroy(&context);
}

static void threads_keep_streams_busy_at_once(void **state) {
    (void)state;
    double here[SHOTS][ANGLES], there[SHOTS][ANGLES], alone[SHOTS][ANGLES], least = INFINITY;
    machine_reset();
    machine_takes_all();
    refine_shots("cpu", THREADS, here, &least);
    COUNTED(stand_in.meet = THREADS;)
    refine_shots("cuda", THREADS, there, &least);
    COUNTED(assert_int_equal(stand_in.busy, THREADS);)
    /* but for backgrounds: nothing is rendered of reflections that are not refined against */
    COUNTED(const size_t backgrounds = (size_t)SHOTS * PIXELS * sizeof(float);)
    COUNTED(assert_true(stand_in.bytes_to_host < backgrounds + (size_t)SHOTS * 100000);)
    COUNTED(assert_true(stand_in.bytes_to_host > backgrounds);)
    COUNTED(stand_in.meet = 0;)
    refine_shots("cuda", 1, alone, &least);
    assert_memory_equal(there, alone, sizeof there);
    for (size_t s = 0; s < SHOTS; s++)
        for (int i = 0; i < ANGLES; i++)
            assert_true(fabs(there[s][i] - here[s][i]) <= 1e-2 * least);
}

int main(void) {
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_keep_streams_busy_at_once) };
    machine_find();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    printf("skipped: no refinement\n");
    return SKIPPED;
}
#endif
