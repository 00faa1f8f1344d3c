/* Figures of the refinement: time and evaluations, recovery of parameters from noise, radius of
 * convergence.
 *
 *     dualbragg_fit_bench times|still|large|shares|recovery|radius|starts [REPEATS [THREADS]]
 *     dualbragg_fit_bench devices DEVICE [REPEATS [SHOTS]]
 *
 * Prints tables for bench/README.md and docs/results; still and large are the rows of times, for a
 * profiler. */
#include "tests/fit/still_fit.h"
#include "devices.h"
#include "parts.h"
#include "scene.h"
#include "shots.h"

#ifdef DB_HAVE_CUDA
#include <dualbragg/cuda.h>
#include <dualbragg/expert/stages.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct bench {
    db_context *context;
    int repeats;
} bench;

static int complain(const bench *b, const char *what) {
    fprintf(stderr, "%s: %s\n", what, db_context_message(b->context));
    return 1;
}

static const db_bench_error usual = { 0.2, 0.003, 1.5, 0.5, 1.1, 0.1 };
static const db_bench_error usual_free = { 0.1, 0.002, 1, 0.5, 1.1, 0 };

/* Wall and processor time, the latter over all threads (s). */
typedef struct moment {
    double wall, work;
} moment;

static moment now(void) {
    return (moment){ db_bench_seconds(CLOCK_MONOTONIC),
                     db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID) };
}

static int time_scene(const bench *b, const char *name, const db_bench_scene *scene,
                      const db_bench_error *error) {
    moment least = { INFINITY, INFINITY };
    double stages = INFINITY;
    int evaluations = 0;
    for (int i = 0; i < b->repeats; i++) {
        db_experiment start;
        db_fit_result *result;
        if (db_bench_spoil(b->context, &scene->truth, error, 1, &start) != DB_OK)
            return complain(b, name);
        const moment begin = now();
        const db_status status =
            fit_still(b->context, &start, &scene->image, &scene->settings, NULL, NULL, &result);
        const moment end = now();
        db_experiment_clear(&start);
        if (!result) return complain(b, name);
        least.wall = fmin(least.wall, end.wall - begin.wall);
        least.work = fmin(least.work, end.work - begin.work);
        stages = fmin(stages, result->refining_seconds);
        evaluations = result->evaluations;
        for (size_t h = 0; h < result->history_count && getenv("DB_BENCH_VERBOSE"); h++)
            fprintf(stderr, "stage %d, evaluation %d: target %.6f\n", result->history[h].stage,
                    result->history[h].evaluation, result->history[h].target);
        if (status != DB_OK) fprintf(stderr, "%s: %s\n", name, result->reason);
        fit_still_destroy(&result);
    }
    printf("| %s | %d | %.3f | %.3f | %.3f |\n", name, evaluations, stages, least.wall, least.work);
    return 0;
}

static int time_still(const bench *b) {
    db_bench_scene scene;
    if (db_bench_still(b->context, 1, &scene) != DB_OK) return complain(b, "still");
    const int failed =
        time_scene(b, "512 x 512 pixels, known structure factors, 12 parameters", &scene, &usual);
    db_bench_scene_clear(&scene);
    return failed;
}

static int time_large(const bench *b) {
    db_bench_scene scene;
    if (db_bench_large_still(b->context, 1, &scene) != DB_OK) return complain(b, "large still");
    const int failed =
        time_scene(b, "2048 x 2048 pixels, 150 shoeboxes, free intensities, 10 parameters", &scene,
                   &usual_free);
    db_bench_scene_clear(&scene);
    return failed;
}

static int times(const bench *b) {
    printf("| refinement | evaluations | stages (s) | with statistics and errors (s) | processor "
           "(s) |\n"
           "|---|---:|---:|---:|---:|\n");
    return time_still(b) + time_large(b);
}

/* What of a refinement's processor time a device could do. */
static int share_scene(const bench *b) {
    static const char name[] = "spots in closed form";
    db_bench_scene scene;
    double best = INFINITY;
    if (db_bench_crowded_still(b->context, 1, 2048, 400, &scene) != DB_OK) return complain(b, name);
    for (int i = 0; i < b->repeats; i++) {
        db_experiment start;
        db_fit_result *result;
        db_bench_clock c = { .id = CLOCK_PROCESS_CPUTIME_ID };
        if (db_bench_spoil(b->context, &scene.truth, &usual_free, 1, &start) != DB_OK)
            return complain(b, name);
        db_context_set_stages(b->context, db_bench_take_stage, &c);
        const double begin = now().work;
        const db_status status = fit_still(b->context, &start, &scene.image, &scene.settings,
                                           db_bench_take_evaluation, &c, &result);
        const double whole = now().work - begin;
        db_context_set_stages(b->context, NULL, NULL);
        db_experiment_clear(&start);
        if (!result) return complain(b, name);
        if (status != DB_OK) fprintf(stderr, "%s: %s\n", name, result->reason);
        if (whole < best) { /* the fastest is printed, behind the others on a terminal */
            best = whole;
            printf("| %s | %zu | %d | %.3f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %.3f | %.1f "
                   "|\n",
                   name, result->shoebox_count, result->evaluations, whole,
                   100 * c.spent[DB_BENCH_RENDERING] / whole, 100 * c.spent[DB_BENCH_SPOTS] / whole,
                   100 * c.spent[DB_BENCH_SUMS] / whole,
                   100 * c.spent[DB_BENCH_SURROUNDINGS] / whole,
                   100 * c.spent[DB_BENCH_BOXES] / whole, 100 * db_bench_spent(&c) / whole,
                   c.last - c.first, 100 * (c.until_last - c.until_first) / (c.last - c.first));
        }
        fit_still_destroy(&result);
    }
    db_bench_scene_clear(&scene);
    return 0;
}

static int shares(const bench *b) {
    printf("| refinement | boxes | evaluations | whole (s) | rendering (%%) | list of spots (%%) | "
           "sums (%%) | surroundings (%%) | intensities (%%) | together (%%) | evaluations (s) | "
           "of these together (%%) |\n"
           "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    return share_scene(b);
}

/* Deviations of a result: orientation (degree), largest of the edges (relative), crystal size
 * (relative), distance (mm), beam centre (pixels). */
enum { DEVIATIONS = 5 };
static const char *const deviation_name[DEVIATIONS] = { "orientation (degree)", "cell edges",
                                                        "crystal size", "distance (mm)",
                                                        "beam centre (pixels)" };
static const double wanted[DEVIATIONS] = { 0.003, 2e-4, 0.03, 0.02, 0.1 };

static void deviations(const db_experiment *truth, const db_experiment *found, double *d) {
    d[0] = db_bench_angle(&truth->crystal, &found->crystal);
    d[1] = 0;
    for (int i = 0; i < 3; i++)
        d[1] = fmax(d[1], fabs(found->crystal.cell[i] / truth->crystal.cell[i] - 1));
    d[2] = fabs(found->crystal.Ncells[0] / truth->crystal.Ncells[0] - 1);
    d[3] = fabs(found->detector.distance - truth->detector.distance);
    d[4] = hypot(found->detector.centre[0] - truth->detector.centre[0],
                 found->detector.centre[1] - truth->detector.centre[1]) /
           0.172;
}

/* Deviations of single parameters, their errors by noise and the quotients, summed over images. */
typedef struct db_pulls {
    const char *name[DB_PARAMETER_COUNT];
    double deviation2[DB_PARAMETER_COUNT], error2[DB_PARAMETER_COUNT], pull2[DB_PARAMETER_COUNT];
} db_pulls;

static void add_pulls(const db_experiment *truth, const db_fit_result *result, db_pulls *pulls) {
    double turn[3];
    db_bench_turn(&truth->crystal, &result->experiment.crystal, turn);
    for (size_t i = 0; i < result->estimates.count; i++) {
        const db_parameter p = result->estimates.list[i].parameter;
        const double error = result->estimates.list[i].error_unscaled;
        const double deviation = p >= DB_MISSET_X && p <= DB_MISSET_Z
                                     ? turn[p - DB_MISSET_X]
                                     : result->estimates.list[i].value - db_parameter_get(truth, p);
        if (!isfinite(error)) continue; /* one that follows another */
        pulls->name[i] = db_parameter_describe(p)->name;
        pulls->deviation2[i] += deviation * deviation;
        pulls->error2[i] += error * error;
        pulls->pull2[i] += deviation * deviation / (error * error);
    }
}

static void print_pulls(const db_pulls *pulls, int count) {
    printf("\n| parameter | deviation, root mean square | error by noise | pull, root mean square "
           "|\n|---|---:|---:|---:|\n");
    for (size_t i = 0; i < DB_PARAMETER_COUNT; i++)
        if (pulls->name[i])
            printf("| `%s` | %.2g | %.2g | %.2f |\n", pulls->name[i],
                   sqrt(pulls->deviation2[i] / count), sqrt(pulls->error2[i] / count),
                   sqrt(pulls->pull2[i] / count));
}

static int recovery(const bench *b) {
    double sum[DEVIATIONS] = { 0 }, worst[DEVIATIONS] = { 0 };
    db_pulls pulls = { 0 };
    for (int i = 0; i < b->repeats; i++) {
        db_bench_scene scene;
        db_experiment start;
        db_fit_result *result;
        if (db_bench_still(b->context, (uint32_t)i + 1, &scene) != DB_OK ||
            db_bench_spoil(b->context, &scene.truth, &usual, (uint32_t)i + 1, &start) != DB_OK)
            return complain(b, "scene");
        fit_still(b->context, &start, &scene.image, &scene.settings, NULL, NULL, &result);
        if (!result) return complain(b, "recovery");
        double d[DEVIATIONS];
        deviations(&scene.truth, &result->experiment, d);
        for (int k = 0; k < DEVIATIONS; k++) {
            sum[k] += d[k] * d[k];
            worst[k] = fmax(worst[k], d[k]);
        }
        add_pulls(&scene.truth, result, &pulls);
        fit_still_destroy(&result);
        db_experiment_clear(&start);
        db_bench_scene_clear(&scene);
    }
    printf("| deviation from the truth, %d images | wanted | root mean square | largest |\n"
           "|---|---:|---:|---:|\n",
           b->repeats);
    for (int k = 0; k < DEVIATIONS; k++)
        printf("| %s | %.2g | %.2g | %.2g |\n", deviation_name[k], wanted[k],
               sqrt(sum[k] / b->repeats), worst[k]);
    print_pulls(&pulls, b->repeats);
    return 0;
}

/* Did a refinement end at the truth, within ten times what noise allows? */
static int came_back(const db_experiment *truth, const db_experiment *found) {
    double d[DEVIATIONS];
    deviations(truth, found, d);
    for (int k = 0; k < DEVIATIONS; k++)
        if (d[k] > 3 * wanted[k]) return 0;
    return 1;
}

/* The error of a random start: up to `factor` times the radius of convergence asked for. */
static db_bench_error random_error(uint32_t seed, double factor) {
    return (db_bench_error){ 0.5 * factor * cbrt(db_bench_uniform(seed, 20)),
                             0.005 * factor * db_bench_uniform(seed, 21),
                             pow(3, db_bench_uniform(seed, 22)),
                             factor * sqrt(db_bench_uniform(seed, 23)),
                             1.1,
                             0 };
}

/* How many large stills return to the truth from a misset off by up to so much, with and without
 * several starts. */
static int starts(const bench *b) {
    static const double missets[] = { 1, 2, 4, 6 };
    static const int counts[] = { 1, 30, 100 };
    db_bench_scene scene;
    if (db_bench_large_still(b->context, 1, &scene) != DB_OK) return complain(b, "scene");
    printf("| misset off by up to (degree) | starts | came back, of %d | processor seconds each, "
           "mean |\n"
           "|---|---:|---:|---:|\n",
           b->repeats);
    for (size_t m = 0; m < sizeof missets / sizeof missets[0]; m++)
        for (size_t c = 0; c < (missets[m] < 4 ? 2 : sizeof counts / sizeof counts[0]); c++) {
            int back = 0;
            const moment begin = now();
            scene.settings.starts.count = counts[c];
            scene.settings.starts.turn = missets[m];
            for (int i = 0; i < b->repeats; i++) {
                const uint32_t seed = (uint32_t)i + 1;
                db_bench_error error = random_error(seed, 1);
                error.turn = missets[m] * cbrt(db_bench_uniform(seed, 20));
                db_experiment start;
                db_fit_result *result;
                if (db_bench_spoil(b->context, &scene.truth, &error, seed, &start) != DB_OK)
                    return complain(b, "start");
                fit_still(b->context, &start, &scene.image, &scene.settings, NULL, NULL, &result);
                if (result) back += came_back(&scene.truth, &result->experiment);
                if (result && getenv("DB_BENCH_VERBOSE"))
                    for (size_t k = 0; k < result->start_count && k < 4; k++)
                        fprintf(stderr, "%u %.2f: %zu number %d target %.4f explained %.3f %.3f\n",
                                seed, error.turn, k, result->starts[k].number,
                                result->starts[k].target, result->starts[k].explained,
                                result->starts[k].refined_explained);
                fit_still_destroy(&result);
                db_experiment_clear(&start);
            }
            printf("| %g | %d | %d | %.2f |\n", missets[m], counts[c], back,
                   (now().work - begin.work) / b->repeats);
            fflush(stdout);
        }
    db_bench_scene_clear(&scene);
    return 0;
}

static int radius(const bench *b) {
    static const double factors[] = { 1, 1.5, 2, 3, 4 };
    db_bench_scene scene;
    if (db_bench_still(b->context, 1, &scene) != DB_OK) return complain(b, "scene");
    printf(
        "| start off by: misset, edges, beam centre, scale | came back, of %d | of these refused | "
        "of the others passed | evaluations, mean |\n"
        "|---|---:|---:|---:|---:|\n",
        b->repeats);
    for (size_t f = 0; f < sizeof factors / sizeof factors[0]; f++) {
        int back = 0, refused = 0, passed = 0, evaluations = 0;
        for (int i = 0; i < b->repeats; i++) {
            const uint32_t seed = (uint32_t)i + 1;
            const db_bench_error error = random_error(seed, factors[f]);
            db_experiment start;
            db_fit_result *result;
            if (db_bench_spoil(b->context, &scene.truth, &error, seed, &start) != DB_OK)
                return complain(b, "start");
            fit_still(b->context, &start, &scene.image, &scene.settings, NULL, NULL, &result);
            if (result) {
                const int good = came_back(&scene.truth, &result->experiment);
                back += good;
                refused += good && result->status != DB_OK;
                passed += !good && result->status == DB_OK;
                evaluations += result->evaluations;
                if (good != (result->status == DB_OK) && getenv("DB_BENCH_VERBOSE"))
                    fprintf(stderr, "seed %u: %.2f degree, off by %.3f after %d: %s\n", seed,
                            error.turn,
                            db_bench_angle(&scene.truth.crystal, &result->experiment.crystal),
                            result->evaluations, result->reason);
            }
            fit_still_destroy(&result);
            db_experiment_clear(&start);
        }
        printf("| up to %.2g degree, %.2g %%, %.2g pixels, factor 3 | %d | %d | %d | %.1f |\n",
               0.5 * factors[f], 0.5 * factors[f], factors[f], back, refused, passed,
               (double)evaluations / b->repeats);
        fflush(stdout);
    }
    db_bench_scene_clear(&scene);
    return 0;
}

static int render(int count, const char *folder) {
    db_context *context;
    if (db_context_create(&context) != DB_OK) return 1;
    const int failed = db_bench_shots_render(context, count, folder);
    db_context_destroy(&context);
    return failed;
}

static int shots(const char *folder, int threads) {
    db_context *context;
    if (db_context_create(&context) != DB_OK) return 1;
    db_context_set_threads(context, threads);
    const int failed = db_bench_shots_refine(context, folder);
    db_context_destroy(&context);
    return failed;
}

static int devices(int count, char **words) {
    const db_bench_work work = { .device = words[0],
                                 .repeats = count > 1 ? atoi(words[1]) : 3,
                                 .pixels = 2048,
                                 .boxes = 400,
                                 .shots = count > 2 ? atoi(words[2]) : 64 };
    return db_bench_devices(&work, stdout);
}

int main(int argc, char **argv) {
#ifdef DB_HAVE_CUDA
    db_cuda_register();
#endif
    static const struct {
        const char *name;
        int (*run)(const bench *b);
        int repeats;
    } kinds[] = { { "times", times, 5 },   { "still", time_still, 5 },   { "large", time_large, 5 },
                  { "shares", shares, 3 }, { "recovery", recovery, 20 }, { "radius", radius, 200 },
                  { "starts", starts, 40 } };
    if (argc > 3 && strcmp(argv[1], "render") == 0) return render(atoi(argv[2]), argv[3]);
    if (argc > 2 && strcmp(argv[1], "shots") == 0)
        return shots(argv[2], argc > 3 ? atoi(argv[3]) : 0);
    if (argc > 2 && strcmp(argv[1], "devices") == 0) return devices(argc - 2, argv + 2);
    bench b = { .repeats = argc > 2 ? atoi(argv[2]) : 0 };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0] && argc > 1; k++) {
        if (strcmp(argv[1], kinds[k].name) != 0) continue;
        if (b.repeats < 1) b.repeats = kinds[k].repeats;
        if (db_context_create(&b.context) != DB_OK) return 1;
        if (argc > 3) db_context_set_threads(b.context, atoi(argv[3]));
        const int failed = kinds[k].run(&b);
        db_context_destroy(&b.context);
        return failed;
    }
    fprintf(stderr, "usage: dualbragg_fit_bench times|still|large|shares|recovery|radius|starts "
                    "[REPEATS [THREADS]]\n"
                    "       dualbragg_fit_bench render SHOTS FOLDER, then shots FOLDER [THREADS]\n"
                    "       dualbragg_fit_bench devices DEVICE [REPEATS [SHOTS]]\n");
    return 2;
}
