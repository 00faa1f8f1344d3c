#include "centroids.h"

#include "centroid_fit.h"
#include "held_out.h"
#include "scene.h"

#include "base/context_internal.h"
#include "fit/config/modes.h"
#include "fit/pixels/shoeboxes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The start; the start refined by centroids; both with size and shape of the spots refined by
 * pixels; all refined by pixels. */
enum { LISTED, LISTED_SHAPED, CENTROIDS, SHAPED, PIXELS, MODELS };
static const char *const model_name[MODELS] = { "start", "start, then shape by pixels", "centroids",
                                                "centroids, then shape by pixels", "pixels" };

typedef struct comparison {
    db_context *context;
    db_fit_config config;
    db_measured_image image;
    db_experiment start;
    db_strong_pixels strong;
    db_observed_spots spots;
    uint32_t seed; /* of the halves */
} comparison;

static int is_held_out(void *user, const int hkl[3]) {
    const comparison *const c = user;
    const uint32_t key =
        (uint32_t)(hkl[0] + 512) << 20 ^ (uint32_t)(hkl[1] + 512) << 10 ^ (uint32_t)(hkl[2] + 512);
    return db_bench_uniform(c->seed, key) < 0.5;
}

/* Reads image and start, finds and indexes the spots. */
static db_status prepare(comparison *c, const char *configuration) {
    db_context *const context = c->context;
    db_fit_geometry geometry;
    db_status status = db_fit_config_read(context, configuration, NULL, 0, &c->config);
    if (status == DB_OK)
        status = db_fit_config_read_image(context, &c->config, &c->image, NULL, NULL);
    if (status == DB_OK)
        status = db_fit_config_start(context, &c->config, &c->image, &c->start, NULL, NULL);
    db_fit_settings *const settings = &c->config.settings;
    /* one size for all models and both halves, as a fit of the whole image takes it */
    if (status == DB_OK) status = db_shoebox_size_settle(context, &c->start, settings);
    if (status == DB_OK) status = db_strong_pixels_find(context, &c->image, settings, &c->strong);
    if (status == DB_OK) status = db_observed_spots_find(context, &c->image, &c->strong, &c->spots);
    if (status == DB_OK) status = db_fit_geometry_of(context, &c->start, &geometry);
    if (status != DB_OK) return status;
    const size_t found = c->spots.count;
    db_centroids_index(&geometry, settings->dmin, &c->spots);
    db_fit_geometry_clear(&geometry);
    const int width = 2 * settings->shoebox_half_width + 1;
    printf("\n%s: %zu spots, %zu indexed to %.2g A, shoeboxes of %d x %d pixels\n\n", configuration,
           found, c->spots.count, settings->dmin, width, width);
    return DB_OK;
}

/* The half to refine on: as use[] of the spots and as a list. */
static void training_half(comparison *c, unsigned char *use, db_fit_spots *list) {
    list->count = 0;
    for (size_t i = 0; i < c->spots.count; i++) {
        use[i] = !is_held_out(c, c->spots.spot[i].hkl);
        if (use[i])
            memcpy(list->spot[list->count++].hkl, c->spots.spot[i].hkl,
                   sizeof c->spots.spot[i].hkl);
    }
}

static db_status refine_pixels(comparison *c, const db_fit_settings *settings,
                               db_experiment *model) {
    db_fit_result *result;
    db_fit_run(c->context, model, &c->image, settings, NULL, NULL, &result);
    if (!result) return DB_ERROR_INPUT;
    if (result->status != DB_OK) fprintf(stderr, "seed %u: %s\n", c->seed, result->reason);
    db_experiment refined = result->experiment;
    result->experiment = *model; /* the result is destroyed with what it no longer has */
    *model = refined;
    db_fit_result_destroy(&result);
    return DB_OK;
}

/* Crystal size and spreads, which move no spot but by how far it is from the Ewald sphere; modes do. */
static int is_shape(db_parameter p) {
    return (p >= DB_CELLS_A && p <= DB_CELLS_C) || p == DB_MOSAIC_SPREAD ||
           ((db_parameter_describe(p)->facts->moves & DB_MOVES_SPREAD) &&
            db_mode_of(p) >= DB_SPREAD_MODES);
}

/* The last stage that need not be earned, and not that of an ideal crystal's pixels. */
static size_t usual_stage(const db_fit_settings *settings) {
    size_t s = settings->stage_count - 1;
    if (settings->stages[s].most_misfit > 0)
        while (s > 0 && (settings->stages[s].most_misfit > 0 || settings->stages[s].earned)) s--;
    return s;
}

static int shape_stage(db_fit_settings *settings) {
    db_fit_stage *const stage = &settings->stages[0];
    int some = 0;
    *stage = settings->stages[usual_stage(settings)];
    stage->tolerance = 1e-5;
    settings->stage_count = 1;
    snprintf(stage->name, sizeof stage->name, "shape");
    for (size_t i = 0; i < settings->parameter_count; i++) {
        const int shape = is_shape(settings->parameters[i].parameter);
        db_fit_parameter_set_stage(&settings->parameters[i], 0, shape);
        some |= shape;
    }
    return some;
}

static db_status refine_by(comparison *c, int kind, const unsigned char *use,
                           db_fit_settings *settings, db_experiment *model) {
    if (kind == PIXELS) return refine_pixels(c, settings, model);
    if (kind == LISTED) return DB_OK;
    if (kind != LISTED_SHAPED) DB_TRY(db_centroid_fit(c->context, settings, &c->spots, use, model));
    if (kind == CENTROIDS || !shape_stage(settings)) return DB_OK;
    return refine_pixels(c, settings, model);
}

static db_status refine(comparison *c, int kind, const unsigned char *use, const db_fit_spots *list,
                        db_experiment *model) {
    db_fit_settings settings;
    db_status status = db_fit_settings_copy(c->context, &c->config.settings, &settings);
    if (status != DB_OK) return status;
    settings.spots = list;
    status = refine_by(c, kind, use, &settings, model);
    db_fit_settings_clear(&settings);
    return status;
}

static db_status measure(comparison *c, int kind, const unsigned char *use,
                         const db_fit_spots *list, double *figure) {
    const db_fit_data data = { &c->image, &c->strong, &c->config.settings };
    const db_held_out held = { .data = &data,
                               .placed_by = &c->start,
                               .spots = &c->spots,
                               .is_held_out = is_held_out,
                               .user = c,
                               .on_sphere = kind == LISTED || kind == CENTROIDS };
    db_experiment model;
    db_status status = db_experiment_copy(c->context, &c->start, &model);
    if (status != DB_OK) return status;
    status = refine(c, kind, use, list, &model);
    if (status == DB_OK) status = db_held_out_measure(c->context, &held, &model, figure);
    db_experiment_clear(&model);
    return status;
}

/* Mean and standard deviation over the splits. */
static void print_figure(const double *values, size_t stride, int splits) {
    double sum = 0, square = 0;
    for (int s = 0; s < splits; s++) sum += values[(size_t)s * stride];
    for (int s = 0; s < splits; s++) square += pow(values[(size_t)s * stride] - sum / splits, 2);
    printf(" %.4g (%.2g) |", sum / splits, splits > 1 ? sqrt(square / (splits - 1)) : 0);
}

static void print_table(const double *figures, int splits) {
    enum { STRIDE = MODELS * DB_HELD_FIGURES };
    printf("| held-out half |");
    for (int m = 0; m < MODELS; m++) printf(" %s |", model_name[m]);
    printf(" pixels - centroids |\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (int f = 0; f < DB_HELD_FIGURES; f++) {
        printf("| %s |", db_held_out_name[f]);
        double *const gain = calloc((size_t)splits, sizeof *gain);
        for (int m = 0; m < MODELS; m++)
            print_figure(figures + m * DB_HELD_FIGURES + f, STRIDE, splits);
        for (int s = 0; s < splits && gain; s++) {
            const double *const split = figures + (size_t)s * STRIDE;
            gain[s] = split[PIXELS * DB_HELD_FIGURES + f] - split[SHAPED * DB_HELD_FIGURES + f];
        }
        if (gain) print_figure(gain, 1, splits);
        printf("\n");
        free(gain);
    }
}

static db_status compare(comparison *c, int splits) {
    const size_t count = c->spots.count;
    db_fit_spots list = { .spot = calloc(count + 1, sizeof *list.spot) };
    unsigned char *const use = calloc(count + 1, 1);
    double *const figures = calloc((size_t)splits * MODELS * DB_HELD_FIGURES, sizeof *figures);
    db_status status = list.spot && use && figures ? DB_OK : DB_ERROR_MEMORY;
    for (int s = 0; s < splits && status == DB_OK; s++) {
        c->seed = (uint32_t)s + 1;
        training_half(c, use, &list);
        for (int m = 0; m < MODELS && status == DB_OK; m++)
            status = measure(c, m, use, &list, figures + (s * MODELS + m) * DB_HELD_FIGURES);
    }
    if (status == DB_OK) print_table(figures, splits);
    free(figures);
    free(use);
    free(list.spot);
    return status;
}

int db_bench_centroids(db_context *context, int splits, const char *configuration) {
    comparison *const c = calloc(1, sizeof *c); /* too large for a stack */
    if (!c) return 1;
    c->context = context;
    db_status status = prepare(c, configuration);
    if (status == DB_OK) status = compare(c, splits);
    if (status != DB_OK) fprintf(stderr, "%s: %s\n", configuration, db_context_message(context));
    db_observed_spots_clear(&c->spots);
    db_strong_pixels_clear(&c->strong);
    db_experiment_clear(&c->start);
    db_measured_image_clear(&c->image);
    db_fit_config_clear(&c->config);
    free(c);
    return status != DB_OK;
}
