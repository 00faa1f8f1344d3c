#include "halves.h"

#include "centroid_fit.h"
#include "scene.h"

#include "fit/objective/evaluate.h"
#include "fit/objective/stage_data.h"
#include "fit/objective/statistics.h"
#include "fit/pixels/observed_spots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct halves {
    db_context *context;
    db_fit_config config;
    db_measured_image image;
    db_experiment start;
    db_strong_pixels strong;
    db_observed_spots spots; /* indexed by the start */
} halves;

/* Figures on the half that was not refined. */
typedef struct figures {
    double explained; /* percent of the strong pixels in the boxes */
    double signal;    /* percent: 1 - sum of squared residuals / sum of squares above background */
    double places;    /* pixels, rms of the best 90 % of the centroids' distances */
    double median;    /* pixels, of all of them */
    double chi2;      /* per degree of freedom */
    double correlation;
    double seconds; /* of the refinement */
    size_t boxes;
} figures;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int half_of(const int hkl[3]) {
    const uint32_t key =
        (uint32_t)(hkl[0] + 512) << 20 ^ (uint32_t)(hkl[1] + 512) << 10 ^ (uint32_t)(hkl[2] + 512);
    return db_bench_uniform(1, key) < 0.5;
}

static db_status prepare(halves *h, const char *configuration, const char *const *overrides,
                         size_t override_count) {
    db_context *const context = h->context;
    db_fit_settings *const settings = &h->config.settings;
    db_fit_geometry geometry;
    db_status status =
        db_fit_config_read(context, configuration, overrides, override_count, &h->config);
    if (status == DB_OK)
        status = db_fit_config_read_image(context, &h->config, &h->image, NULL, NULL);
    if (status == DB_OK)
        status = db_fit_config_start(context, &h->config, &h->image, &h->start, NULL, NULL);
    if (status == DB_OK) status = db_shoebox_size_settle(context, &h->start, settings);
    if (status == DB_OK) status = db_strong_pixels_find(context, &h->image, settings, &h->strong);
    if (status == DB_OK) status = db_observed_spots_find(context, &h->image, &h->strong, &h->spots);
    if (status == DB_OK) status = db_fit_geometry_of(context, &h->start, &geometry);
    if (status != DB_OK) return status;
    db_centroids_index(&geometry, settings->dmin, &h->spots);
    db_fit_geometry_clear(&geometry);
    return DB_OK;
}

static void list_half(const halves *h, int half, db_fit_spots *list) {
    list->count = 0;
    for (size_t i = 0; i < h->spots.count; i++)
        if (half_of(h->spots.spot[i].hkl) == half)
            memcpy(list->spot[list->count++].hkl, h->spots.spot[i].hkl, 3 * sizeof(int));
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure_places(const db_objective *objective, const db_shoeboxes *boxes, figures *f) {
    double *const distance = calloc(boxes->count + 1, sizeof *distance), offset[2], square = 0;
    size_t count = 0;
    for (size_t b = 0; b < boxes->count && distance; b++)
        if (db_statistics_centroid_offset(objective, boxes, b, offset))
            distance[count++] = hypot(offset[0], offset[1]);
    const size_t kept = count * 9 / 10;
    if (distance) qsort(distance, count, sizeof *distance, ascending);
    for (size_t i = 0; i < kept; i++) square += distance[i] * distance[i];
    f->places = kept ? sqrt(square / (double)kept) : NAN;
    f->median = kept ? distance[count / 2] : NAN;
    free(distance);
}

static void measure_pixels(const db_objective *objective, const db_shoeboxes *boxes, figures *f) {
    double residual = 0, signal = 0;
    size_t strong = 0;
    for (size_t b = 0; b < boxes->count; b++) {
        const db_block block = db_objective_block(objective, b);
        for (size_t i = 0; i < boxes->pixels; i++) {
            const size_t at = b * boxes->pixels + i, width = (size_t)boxes->width;
            if (!(boxes->weight[at] > 0)) continue;
            const db_pixel_report p = db_block_pixel(&block, objective->solution[b].linear,
                                                     (int)(i % width), (int)(i / width));
            const double measured = (double)boxes->value[at];
            residual += pow(measured - p.expected, 2) / p.variance;
            signal += pow(measured - (p.expected - p.spot), 2) / p.variance;
            strong += boxes->strong[at];
        }
    }
    f->signal = 100 * (1 - residual / signal);
    f->explained = strong ? 1 / (double)strong : 0;
}

static db_status judge(halves *h, const db_experiment *model, const db_fit_spots *list,
                       figures *f) {
    db_fit_settings settings = h->config.settings;
    settings.spots = list;
    settings.max_shoeboxes = 100000;
    const db_fit_data data = { &h->image, &h->strong, &settings };
    const db_objective_options request = { .target = DB_FIT_WEIGHTED };
    db_stage_data taken;
    db_objective shot;
    db_status status =
        db_stage_data_take(h->context, &h->start, &data, 0, 1, DB_SHOEBOXES_STRONG, &taken);
    if (status != DB_OK) return status;
    status = db_stage_data_objective(h->context, model, &data, &taken, &request, &shot);
    if (status == DB_OK) {
        db_fit_statistics s = { 0 };
        status = db_stage_data_solve(&taken, &data, &shot, NULL);
        db_statistics_residuals(&shot, &s);
        measure_places(&shot, &taken.boxes, f);
        measure_pixels(&shot, &taken.boxes, f);
        f->explained *= 100 * (double)db_statistics_explained(&shot, &data);
        f->chi2 = s.chi2_reduced;
        f->correlation = s.correlation;
        f->boxes = taken.boxes.count;
        db_objective_destroy(&shot);
    }
    db_stage_data_clear(&taken);
    return status;
}

static void print_figures(const char *name, const figures *f) {
    printf("%-28s %4zu boxes, explained %5.1f %%, signal %5.1f %%, places %.2f (median %.2f), "
           "chi2/dof %.3f, correlation %.3f, %.1f s\n",
           name, f->boxes, f->explained, f->signal, f->places, f->median, f->chi2, f->correlation,
           f->seconds);
    fflush(stdout);
}

static void print_model(const db_fit_result *r) {
    for (size_t i = 0; i < r->estimates.count; i++)
        printf("    %s %.5g -> %.5g +- %.2g%s\n", r->estimates.list[i].name,
               r->estimates.list[i].start, r->estimates.list[i].value, r->estimates.list[i].error,
               r->estimates.list[i].at_bound ? " (at its bound)" : "");
    printf("    %s\n", r->reason);
}

static db_status refine_and_judge(halves *h, int half, db_fit_spots *list) {
    db_fit_settings settings = h->config.settings;
    db_fit_result *result;
    figures before = { 0 }, after = { 0 };
    list_half(h, half, list);
    settings.spots = list;
    const double begin = now();
    db_fit_run(h->context, &h->start, &h->image, &settings, NULL, NULL, &result);
    after.seconds = now() - begin;
    if (!result) return DB_ERROR_INPUT;
    list_half(h, !half, list);
    db_status status = judge(h, &h->start, list, &before);
    if (status == DB_OK) status = judge(h, &result->experiment, list, &after);
    print_figures("start", &before);
    if (getenv("DB_BENCH_VERBOSE")) print_model(result);
    print_figures(half ? "refined on the second half" : "refined on the first half", &after);
    db_fit_result_destroy(&result);
    return status;
}

int db_bench_halves(db_context *context, const char *configuration, const char *const *overrides,
                    size_t override_count) {
    halves *const h = calloc(1, sizeof *h); /* too large for a stack */
    if (!h) return 1;
    h->context = context;
    db_status status = prepare(h, configuration, overrides, override_count);
    db_fit_spots list = { .spot = calloc(h->spots.count + 1, sizeof *list.spot) };
    printf("%s: %zu spots\n", configuration, h->spots.count);
    for (int half = 0; half < 2 && status == DB_OK && list.spot; half++)
        status = refine_and_judge(h, half, &list);
    if (status != DB_OK) fprintf(stderr, "%s: %s\n", configuration, db_context_message(context));
    free(list.spot);
    db_observed_spots_clear(&h->spots);
    db_strong_pixels_clear(&h->strong);
    db_experiment_clear(&h->start);
    db_measured_image_clear(&h->image);
    db_fit_config_clear(&h->config);
    free(h);
    return status != DB_OK;
}
