#include "shot_threads.h"

#include "parts.h"
#include "place.h"
#include "scene.h"

#include <dualbragg/fit_shots.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rendered once; images are in memory. */
typedef struct shots {
    size_t count;
    db_bench_scene *scene;
} shots;

static db_status copy_image(const db_measured_image *from, db_measured_image *image) {
    const size_t pixels = (size_t)from->fast_pixels * (size_t)from->slow_pixels;
    *image = *from;
    image->value = malloc(pixels * sizeof *image->value);
    image->mask = malloc(pixels);
    if (!image->value || !image->mask) {
        db_measured_image_clear(image);
        return DB_ERROR_MEMORY;
    }
    memcpy(image->value, from->value, pixels * sizeof *image->value);
    memcpy(image->mask, from->mask, pixels);
    return DB_OK;
}

static db_status load(void *user, db_context *context, size_t shot, db_measured_image *image,
                      db_experiment *start, db_fit_settings *settings) {
    static const db_bench_error error = { 0.1, 0.001, 1, 0, 1.05, 0 };
    const db_bench_scene *const scene = &((const shots *)user)->scene[shot];
    if (settings) settings->gain = 1;
    const db_status status = copy_image(&scene->image, image);
    if (status != DB_OK || !start) return status;
    return db_bench_spoil(context, &scene->truth, &error, (uint32_t)shot + 1, start);
}

static const char *name(void *user, size_t shot) {
    (void)user;
    (void)shot;
    return "a shot";
}

static db_status render_shots(db_context *context, shots *s) {
    s->scene = calloc(s->count, sizeof *s->scene);
    if (!s->scene) return DB_ERROR_MEMORY;
    for (size_t i = 0; i < s->count; i++) {
        const db_status status = db_bench_shot(context, (uint32_t)i + 1, &s->scene[i]);
        if (status != DB_OK) return status;
    }
    return DB_OK;
}

static void clear_shots(shots *s) {
    for (size_t i = 0; s->scene && i < s->count; i++) db_bench_scene_clear(&s->scene[i]);
    free(s->scene);
}

/* Orientation, edges and size of each crystal. */
static db_status make_settings(db_context *context, db_fit_settings *settings) {
    static const db_parameter list[] = { DB_MISSET_X, DB_MISSET_Y, DB_MISSET_Z,
                                         DB_CELL_A,   DB_CELL_B,   DB_CELL_C,
                                         DB_CELLS_A,  DB_CELLS_B,  DB_CELLS_C };
    db_status status = DB_OK;
    db_fit_settings_init(settings);
    settings->max_shoeboxes = 50;
    settings->model_error = 0;
    for (size_t i = 0; i < sizeof list / sizeof *list && status == DB_OK; i++) {
        const db_fit_parameter p = db_fit_parameter_free(list[i]);
        status = db_fit_settings_add_parameter(context, settings, &p);
    }
    db_fit_settings_default_stages(settings);
    return status;
}

static int refine_shots(const shots *s, const char *device, int threads, int repeats, FILE *out) {
    const db_fit_shot_source source = {
        .count = s->count, .user = (void *)(uintptr_t)s, .load = load, .name = name
    };
    char place[DB_BENCH_PLACE_SIZE];
    int failed = 0;
    double wall = INFINITY, processor = INFINITY;
    size_t used = 0, evaluations = 0;
    db_context *context = db_bench_context(device, threads, place, &failed);
    db_fit_settings settings = { 0 };
    if (context && make_settings(context, &settings) != DB_OK)
        failed = db_bench_complain(context, "settings", DB_ERROR_MEMORY);
    for (int i = 0; i < repeats && !failed; i++) {
        db_fit_shots_result *result = NULL;
        const double wall_begin = db_bench_seconds(CLOCK_MONOTONIC),
                     begin = db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
        const db_status status = db_fit_run(context, &source, &settings, NULL, &result);
        wall = fmin(wall, db_bench_seconds(CLOCK_MONOTONIC) - wall_begin);
        processor = fmin(processor, db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
        if (!result)
            failed = db_bench_complain(context, "shots", status);
        else
            used = result->used, evaluations = result->shot_evaluations;
        db_fit_shots_result_destroy(&result);
    }
    if (context) db_fit_settings_clear(&settings);
    db_context_destroy(&context);
    if (failed) return failed;
    const double all = (double)s->count;
    fprintf(out, "| %s | %d | %zu of %zu | %.1f | %.3f | %.1f | %.1f |\n", device, threads, used,
            s->count, (double)evaluations / all, wall, all / wall, 1e3 * processor / all);
    fflush(out);
    return 0;
}

int db_bench_shot_threads(const char *device, int repeats, int count, FILE *out) {
    const char *const where[2] = { "cpu", device };
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char place[DB_BENCH_PLACE_SIZE];
    shots s = { .count = (size_t)count };
    int failed = 0;
    db_context *context = db_bench_context("cpu", 0, place, &failed);
    if (!context) return failed;
    const db_status status = render_shots(context, &s);
    if (status != DB_OK) failed = db_bench_complain(context, "rendering", status);
    db_context_destroy(&context);
    fprintf(out, "\n| shots, device | cores | used | evaluations of a "
                 "shot | all (s) | shots/s | "
                 "processor, a shot (ms) |\n|---|---:|---:|---:|---:|---:|---:|\n");
    /* a thread has shots of its own where there are four for each; twice as many threads as cores */
    for (int i = 0; i < 2; i++)
        for (int threads = 1;
             !failed && threads <= 2 * cores && (threads == 1 || 4 * threads <= count);
             threads *= 2)
            failed = refine_shots(&s, where[i], threads, repeats, out);
    clear_shots(&s);
    return failed;
}
