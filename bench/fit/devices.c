#include "tests/fit/still_fit.h"
#include "devices.h"

#include "box_calls.h"
#include "parts.h"
#include "place.h"
#include "scene.h"
#include "shot_threads.h"

#include <dualbragg/device.h>
#include <dualbragg/expert/stages.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 3 };
static const char scene_name[] = "spots in closed form";

/* The fastest of several runs of a refinement. */
typedef struct fastest {
    double first, whole,
        work; /* wall time of the first run and of the fastest, processor time (s) */
    db_bench_clock clock;
    db_fit_result *result; /* of the last run; owned by the caller */
} fastest;

static int refine_still(db_context *context, const db_bench_scene *scene, int repeats, fastest *f) {
    static const db_bench_error error = { 0.1, 0.002, 1, 0.5, 1.1, 0 };
    *f = (fastest){ .whole = INFINITY };
    for (int i = 0; i < repeats; i++) {
        db_experiment start;
        db_bench_clock clock = { .id = CLOCK_MONOTONIC };
        fit_still_destroy(&f->result);
        const db_status spoilt = db_bench_spoil(context, &scene->truth, &error, 1, &start);
        if (spoilt != DB_OK) return db_bench_complain(context, "start", spoilt);
        db_context_set_stages(context, db_bench_take_stage, &clock);
        const double work = db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID),
                     wall = db_bench_seconds(clock.id);
        const db_status status = fit_still(context, &start, &scene->image, &scene->settings,
                                           db_bench_take_evaluation, &clock, &f->result);
        const double whole = db_bench_seconds(clock.id) - wall;
        db_context_set_stages(context, NULL, NULL);
        db_experiment_clear(&start);
        if (!f->result) return db_bench_complain(context, "refinement", status);
        if (i == 0) f->first = whole;
        if (!(whole < f->whole)) continue;
        f->whole = whole;
        f->work = db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - work;
        f->clock = clock;
    }
    return 0;
}

/* The largest difference of two results in errors of the parameter. */
static double difference(const db_fit_result *a, const db_fit_result *b) {
    double most = 0;
    for (size_t i = 0; i < a->estimates.count; i++)
        if (isfinite(a->estimates.list[i].error_unscaled))
            most = fmax(most, fabs(a->estimates.list[i].value - b->estimates.list[i].value) /
                                  a->estimates.list[i].error_unscaled);
    return most;
}

static void put_refinement(FILE *out, const char *name, const char *place, const fastest *f,
                           const db_fit_result *expected) {
    const db_bench_clock *const c = &f->clock;
    fprintf(
        out,
        "| %s | %zu | %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.3f | %.1g |\n",
        name, f->result->shoebox_count, place, f->result->evaluations, f->first, f->whole, f->work,
        c->spent[DB_BENCH_RENDERING] + c->spent[DB_BENCH_SUMS], c->spent[DB_BENCH_SPOTS],
        c->spent[DB_BENCH_SURROUNDINGS], c->last - c->first, c->until_last - c->until_first,
        difference(expected, f->result));
    fflush(out);
}

/* On the processor with one thread, with all, and on the device. *kept receives the first result. */
static int compare_refinements(const db_bench_work *work, const db_bench_scene *scene,
                               db_fit_result **kept, FILE *out) {
    const char *const device[PLACES] = { "cpu", "cpu", work->device };
    for (int i = 0; i < PLACES; i++) {
        char place[DB_BENCH_PLACE_SIZE];
        int failed = 0;
        fastest f = { 0 };
        db_context *context = db_bench_context(device[i], i == 0, place, &failed);
        if (context) failed = refine_still(context, scene, work->repeats, &f);
        if (f.result && !failed)
            put_refinement(out, scene_name, place, &f, *kept ? *kept : f.result);
        if (i == 0 && !failed)
            *kept = f.result;
        else
            fit_still_destroy(&f.result);
        db_context_destroy(&context);
        if (failed) return failed;
    }
    return 0;
}

static int compare_calls(const db_bench_work *work, const db_bench_scene *scene,
                         const db_fit_result *result, FILE *out) {
    const char *const device[PLACES] = { "cpu", "cpu", work->device };
    for (int i = 0; i < PLACES; i++) {
        char place[DB_BENCH_PLACE_SIZE];
        int failed = 0;
        db_context *context = db_bench_context(device[i], i == 0, place, &failed);
        db_bench_box_calls calls = { 0 };
        if (context) {
            const db_status status = db_bench_box_calls_time(context, scene, result, &calls);
            if (status != DB_OK) failed = db_bench_complain(context, "shoeboxes", status);
        }
        db_context_destroy(&context);
        if (failed) return failed;
        fprintf(out, "| %s | %s | %.0f | %.0f | %.0f | %.0f | %.0f |\n", scene_name, place,
                1e6 * calls.derivatives, 1e6 * calls.image, 1e6 * calls.sums, 1e6 * calls.made,
                1e6 * calls.made_again);
        fflush(out);
    }
    return 0;
}

static int stills(const db_bench_work *work, FILE *out) {
    db_bench_scene scene = { 0 };
    db_fit_result *result = NULL;
    char place[DB_BENCH_PLACE_SIZE];
    int failed = 0;
    db_context *context = db_bench_context("cpu", 0, place, &failed);
    fprintf(out,
            "| refinement | boxes | where | evaluations | first run (s) | fastest (s) | processor "
            "(s) | of it rendering and sums (s) | list of spots (s) | surroundings (s) | from the "
            "first evaluation "
            "to the last (s) | of it rendering and sums (s) | off by, in errors |\n"
            "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    const db_status status = db_bench_crowded_still(context, 1, work->pixels, work->boxes, &scene);
    failed = status == DB_OK ? compare_refinements(work, &scene, &result, out)
                             : db_bench_complain(context, scene_name, status);
    if (!failed)
        fprintf(
            out,
            "\n| shoeboxes of the same, one call | where | with derivatives and normal "
            "equations (us) | image and coefficients (us) | sums alone (us) | plan, boxes, data "
            "and first call (us) | the same again (us) |\n"
            "|---|---|---:|---:|---:|---:|---:|\n");
    if (!failed) failed = compare_calls(work, &scene, result, out);
    fit_still_destroy(&result);
    db_bench_scene_clear(&scene);
    db_context_destroy(&context);
    return failed;
}

int db_bench_devices(const db_bench_work *work, FILE *out) {
    char place[DB_BENCH_PLACE_SIZE];
    int failed = 0;
    db_context *context;
    if (work->repeats < 1 || work->boxes < 1 || work->shots < 2) {
        fprintf(stderr,
                "dualbragg_fit_bench: devices: expected one repeat and two shots or more, "
                "found %d and %d\n",
                work->repeats, work->shots);
        return 2;
    }
    context = db_bench_context(work->device, 0, place, &failed);
    if (!context) return failed;
    fprintf(out, "Device: %s %s\n\n", db_context_device(context), db_context_device_model(context));
    db_context_destroy(&context);
    failed = stills(work, out);
    return failed ? failed : db_bench_shot_threads(work->device, work->repeats, work->shots, out);
}
