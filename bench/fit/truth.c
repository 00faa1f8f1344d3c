#include "truth.h"

#include "centroid_fit.h"
#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Orientation (degree), largest of the edges (relative), beam centre (pixels). */
enum { DEVIATIONS = 3 };
static const char *const deviation_name[DEVIATIONS] = { "orientation (degree)", "cell edges",
                                                        "beam centre (pixels)" };

static void add_squares(const db_experiment *truth, const db_experiment *found, double *sum) {
    double edge = 0;
    for (int i = 0; i < 3; i++)
        edge = fmax(edge, fabs(found->crystal.cell[i] / truth->crystal.cell[i] - 1));
    sum[0] += pow(db_bench_angle(&truth->crystal, &found->crystal), 2);
    sum[1] += edge * edge;
    for (int i = 0; i < 2; i++)
        sum[2] += pow((found->detector.centre[i] - truth->detector.centre[i]) / 0.172, 2);
}

/* Moves the model to what the centroids say, indexed as the truth does; *used: how many spots. */
static db_status by_centroids(db_context *context, const db_bench_scene *scene,
                              db_experiment *model, size_t *used) {
    db_strong_pixels strong;
    db_observed_spots spots = { 0, NULL };
    db_fit_geometry geometry;
    db_status status = db_strong_pixels_find(context, &scene->image, &scene->settings, &strong);
    if (status != DB_OK) return status;
    status = db_observed_spots_find(context, &scene->image, &strong, &spots);
    if (status == DB_OK) status = db_fit_geometry_of(context, &scene->truth, &geometry);
    if (status == DB_OK) {
        db_centroids_index(&geometry, 0, &spots);
        db_fit_geometry_clear(&geometry);
        *used = spots.count;
        unsigned char *const use = malloc(spots.count + 1);
        if (use) memset(use, 1, spots.count + 1);
        status =
            use ? db_centroid_fit(context, &scene->settings, &spots, use, model) : DB_ERROR_MEMORY;
        free(use);
    }
    db_observed_spots_clear(&spots);
    db_strong_pixels_clear(&strong);
    return status;
}

/* One image; adds squares of both deviations. */
static db_status compare(db_context *context, uint32_t seed, double sums[2][DEVIATIONS],
                         double *spots) {
    static const db_bench_error error = { 0.1, 0.002, 1, 0.5, 1.1, 0 };
    db_bench_scene scene;
    db_experiment start = { 0 };
    db_fit_result *result = NULL;
    size_t used = 0;
    db_status status = db_bench_large_still(context, seed, &scene);
    if (status == DB_OK) status = db_bench_spoil(context, &scene.truth, &error, seed, &start);
    if (status == DB_OK) {
        scene.settings.max_shoeboxes = 4000; /* all strong spots, as for the centroids */
        db_fit_run(context, &start, &scene.image, &scene.settings, NULL, NULL, &result);
        status = result ? by_centroids(context, &scene, &start, &used) : DB_ERROR_INPUT;
    }
    if (status == DB_OK) {
        add_squares(&scene.truth, &start, sums[0]);
        add_squares(&scene.truth, &result->experiment, sums[1]);
        *spots += (double)used;
    }
    db_fit_result_destroy(&result);
    db_experiment_clear(&start);
    db_bench_scene_clear(&scene);
    return status;
}

int db_bench_truth(db_context *context, int images) {
    double sums[2][DEVIATIONS] = { { 0 } }, spots = 0;
    for (int i = 0; i < images; i++) {
        if (compare(context, (uint32_t)i + 1, sums, &spots) == DB_OK) continue;
        fprintf(stderr, "image %d: %s\n", i + 1, db_context_message(context));
        return 1;
    }
    printf("| root mean square deviation from the truth, %d images, %.0f spots each | centroids | "
           "pixels | ratio |\n|---|---:|---:|---:|\n",
           images, spots / images);
    for (int k = 0; k < DEVIATIONS; k++)
        printf("| %s | %.2g | %.2g | %.1f |\n", deviation_name[k], sqrt(sums[0][k] / images),
               sqrt(sums[1][k] / images), sqrt(sums[0][k] / sums[1][k]));
    return 0;
}
