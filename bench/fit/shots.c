#include "shots.h"

#include "parts.h"
#include "scene.h"

#include <dualbragg/expert/experiment_geometry.h>
#include <dualbragg/expert/image_arrays.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

/* How far shared parameters are off at the start, in their units. */
static const struct {
    db_parameter parameter;
    double off, range;
} shared[] = {
    { DB_DISTANCE, 0.3, 2 },      { DB_BEAM_FAST, 0.06, 1 },
    { DB_BEAM_SLOW, -0.05, 1 },   { DB_DETECTOR_ROTY, -0.15, 2 },
    { DB_DETECTOR_ROTZ, 0.2, 2 }, { DB_MOSAIC_VARIANCE, -0.002, 0.02 },
};
enum { SHARED = sizeof shared / sizeof *shared };

static int complain(db_context *context, const char *what) {
    fprintf(stderr, "%s: %s\n", what, db_context_message(context));
    return 1;
}

static const char configuration[] =
    "model: {cell: [%.6f, %.6f, %.6f, 90, 90, 90.05], shape: gauss, Ncells: [13, 13, 13], "
    "mosaic_rms: %g,\n"
    "        oversample: 1, wavelength: 1, distance: %.6f, beam_centre_px: "
    "[%.6f, %.6f],\n"
    "        detector_rotation: [0, %g, %g]}\n"
    "refine:\n"
    "  misset_x: {range: 1}\n  misset_y: {range: 1}\n  misset_z: {range: 1}\n"
    "  cell_a: {prior: [%.6f, %.6f]}\n  cell_b: {prior: [%.6f, %.6f]}\n"
    "  cell_c: {prior: [%.6f, %.6f]}\n  cell_gamma: {prior: [90, 0.1]}\n"
    "  Na: {min: 2, max: 60}\n  Nb: {min: 2, max: 60}\n  Nc: {min: 2, max: 60}\n"
    "  distance: {range: 2}\n  beam_fast: {range: 1}\n  beam_slow: {range: 1}\n"
    "  detector_roty: {range: 2}\n  detector_rotz: {range: 2}\n"
    "  mosaic_variance: {range: 0.02, shared: yes}\n"
    "data: {max_shoeboxes: 50, model_error: 0}\n"
    "shots: {list: shots.txt}\n";

static int write_configuration(const db_experiment *truth, const char *folder) {
    char path[4096];
    const double *const cell = truth->crystal.cell, pixel = truth->detector.panels[0].pixel_size[0];
    double off[SHARED];
    for (int i = 0; i < SHARED; i++)
        off[i] = db_parameter_get(truth, shared[i].parameter) + shared[i].off;
    snprintf(path, sizeof path, "%s/shots.yaml", folder);
    FILE *const file = fopen(path, "w");
    if (!file) return 0;
    fprintf(file, configuration, 1.001 * cell[0], 0.999 * cell[1], 1.0005 * cell[2], sqrt(off[5]),
            off[0], off[1] / pixel, off[2] / pixel, off[3], off[4], cell[0], 1e-3 * cell[0],
            cell[1], 1e-3 * cell[1], cell[2], 1e-3 * cell[2]);
    return fclose(file) == 0;
}

static db_status write_image(db_context *context, const db_bench_scene *scene, const char *path) {
    const size_t pixels = db_experiment_pixels(&scene->truth);
    int32_t *const numbers = malloc(pixels * sizeof *numbers);
    if (!numbers) return DB_ERROR_MEMORY;
    for (size_t i = 0; i < pixels; i++) numbers[i] = (int32_t)lround((double)scene->image.value[i]);
    const db_status status =
        db_write_smv_numbers(context, path, &scene->truth, numbers, 16, 1, 0, NULL);
    free(numbers);
    return status;
}

int db_bench_shots_render(db_context *context, int count, const char *folder) {
    char path[4096];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return complain(context, folder);
    snprintf(path, sizeof path, "%s/shots.txt", folder);
    FILE *const list = fopen(path, "w");
    if (!list) return complain(context, path);
    for (int i = 0; i < count; i++) {
        const uint32_t seed = (uint32_t)i + 1;
        db_bench_scene scene;
        if (db_bench_shot(context, seed, &scene) != DB_OK) return complain(context, "rendering");
        if (i == 0 && !write_configuration(&scene.truth, folder)) return complain(context, folder);
        snprintf(path, sizeof path, "%s/shot_%05d.img", folder, i + 1);
        if (write_image(context, &scene, path) != DB_OK) return complain(context, path);
        double misset[3];
        for (uint32_t k = 0; k < 3; k++)
            misset[k] =
                scene.truth.crystal.misset[k] + 0.3 * (db_bench_uniform(seed, 40 + k) - 0.5);
        fprintf(list, "shot_%05d.img model.misset=[%.6f, %.6f, %.6f]\n", i + 1, misset[0],
                misset[1], misset[2]);
        db_bench_scene_clear(&scene);
    }
    return fclose(list) == 0 ? 0 : 1;
}

static void tell(void *user, const db_fit_shots_event *event) {
    (void)user;
    if (event->kind == DB_SHOTS_EVALUATED)
        fprintf(stderr, "stage %d, evaluation %d: %.6f\n", event->stage + 1,
                event->entry->evaluation, event->entry->target);
    if (event->kind == DB_SHOTS_EXCLUDED)
        fprintf(stderr, "excluded: %s: %s\n", event->shot, event->reason);
}

static size_t place_of(const db_fit_shots_result *r, db_parameter p) {
    size_t i = 0;
    while (i + 1 < r->estimates.count && r->estimates.list[i].parameter != p) i++;
    return i;
}

/* Local quantities of all shots: root mean square deviation from the truth, and pulls. */
static void local_deviations(db_context *context, const db_fit_shots_result *r) {
    static const db_parameter list[] = { DB_CELL_A, DB_CELL_GAMMA, DB_CELLS_A };
    double turn = 0, sum[3] = { 0 }, pulls[3] = { 0 }, used = 0;
    for (size_t s = 0; s < r->shot_count; s++) {
        db_bench_scene scene;
        if (!r->shot[s].used || db_bench_shot(context, (uint32_t)s + 1, &scene) != DB_OK) continue;
        turn += pow(db_bench_angle(&r->shot[s].experiment.crystal, &scene.truth.crystal), 2);
        for (int k = 0; k < 3; k++) {
            const size_t p = place_of(r, list[k]);
            const double off =
                r->shot[s].estimates.list[p].value - db_parameter_get(&scene.truth, list[k]);
            sum[k] += off * off;
            pulls[k] += pow(off / r->shot[s].estimates.list[p].error, 2);
        }
        used++;
        db_bench_scene_clear(&scene);
    }
    printf("\n| each shot's own | rms deviation | rms pull |\n|---|---:|---:|\n"
           "| orientation (degree) | %.2g | |\n",
           sqrt(turn / used));
    for (int k = 0; k < 3; k++)
        printf("| %s | %.2g | %.2f |\n", db_parameter_describe(list[k])->name, sqrt(sum[k] / used),
               sqrt(pulls[k] / used));
}

static void print(db_context *context, const db_fit_shots_result *r, double wall, double work) {
    struct rusage usage;
    db_bench_scene scene;
    getrusage(RUSAGE_SELF, &usage);
    printf("%zu of %zu shots, %zu shoeboxes, %zu pixels: %zu joint evaluations, %zu of single "
           "shots, %.1f s (processor %.1f s), at most %.0f MB, chi2 per degree of freedom %.4f\n\n",
           r->used, r->shot_count, r->shoeboxes, r->pixels, r->history_count, r->shot_evaluations,
           wall, work, (double)usage.ru_maxrss / 1024, r->chi2_reduced[1]);
    if (db_bench_shot(context, 1, &scene) != DB_OK) return;
    printf("| shared | off at the start | refined | error |\n|---|---:|---:|---:|\n");
    for (int i = 0; i < SHARED; i++) {
        const size_t p = place_of(r, shared[i].parameter);
        printf("| %s | %g | %.2g | %.2g |\n", r->estimates.list[p].name, shared[i].off,
               r->estimates.list[p].value - db_parameter_get(&scene.truth, shared[i].parameter),
               r->estimates.list[p].error);
    }
    db_bench_scene_clear(&scene);
    local_deviations(context, r);
}

int db_bench_shots_refine(db_context *context, const char *folder) {
    char path[4096];
    db_fit_shot_list *list = NULL;
    db_fit_shots_result *result = NULL;
    db_fit_shots_options options = DB_FIT_SHOTS_OPTIONS_INIT;
    db_fit_config *const config = calloc(1, sizeof *config);
    snprintf(path, sizeof path, "%s/shots.yaml", folder);
    if (!config || db_fit_config_read(context, path, NULL, 0, config) != DB_OK ||
        db_fit_shot_list_read(context, config, NULL, 0, &list) != DB_OK) {
        if (config) db_fit_config_clear(config);
        free(config);
        return complain(context, path);
    }
    const db_fit_shot_source source = db_fit_shot_list_source(list);
    config->settings.gain = 1;
    snprintf(path, sizeof path, "%s/shots.checkpoint", folder);
    options.checkpoint = path;
    options.scratch = folder;
    options.progress = tell;
    const double wall = db_bench_seconds(CLOCK_MONOTONIC),
                 work = db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    const db_status status = db_fit_run(context, &source, &config->settings, &options, &result);
    const double wall_end = db_bench_seconds(CLOCK_MONOTONIC),
                 work_end = db_bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    if (status != DB_OK) complain(context, "shots");
    if (result) print(context, result, wall_end - wall, work_end - work);
    db_fit_shots_result_destroy(&result);
    db_fit_shot_list_destroy(&list);
    db_fit_config_clear(config);
    free(config);
    return status != DB_OK;
}
