/* Images of all predicted reflections of a model. */
#include "fit/objective/model_image.h"

#include "base/context_internal.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"
#include "fit/objective/evaluate.h"
#include "fit/objective/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t image_pixels(const db_fit_data *data) {
    return (size_t)data->image->fast_pixels * (size_t)data->image->slow_pixels;
}

/* Paints the local background alone, for an image without spots. */
static void paint_background(const db_fit_data *data, db_model_images *images) {
    memcpy(images->whole, data->strong->background, image_pixels(data) * sizeof *images->whole);
    memcpy(images->background, images->whole, image_pixels(data) * sizeof *images->background);
}

static void paint_row(const uint8_t *restrict own, const float *restrict shape, double intensity,
                      int count, float *restrict row) {
    for (int f = 0; f < count; f++) {
        const float painted = row[f] + (float)(intensity * (double)shape[f]);
        row[f] = own[f] ? painted : row[f];
    }
}

/* Adds Bragg parts of the boxes, each in its own pixels, to the local background. */
static void paint_boxes(const db_every_box *all, const db_fit_data *data, db_model_images *images) {
    const db_shoeboxes *const boxes = &all->taken.boxes;
    paint_background(data, images);
    for (size_t b = 0; b < boxes->count; b++)
        for (int s = 0; s < boxes->width; s++) {
            const size_t at = b * boxes->pixels + (size_t)s * (size_t)boxes->width;
            paint_row(boxes->own + at, all->shape + at, all->intensity[b], boxes->width,
                      images->whole + db_measured_index(data->image, &boxes->region[b], 0, s));
        }
}

/* Renders the whole detector with the common scale, on the local background. */
static db_status render_detector(db_context *context, const db_objective *objective,
                                 const db_fit_data *data, db_model_images *images) {
    const double scale = objective->solution[0].linear[0];
    db_plan *plan;
    DB_TRY(db_plan_create(context, &objective->experiment, NULL, &plan));
    const db_status status = db_plan_forward(plan, images->whole);
    db_plan_destroy(&plan);
    DB_TRY(status);
    for (size_t i = 0; i < image_pixels(data); i++) {
        images->background[i] = data->strong->background[i];
        images->whole[i] =
            (float)(scale * (double)images->whole[i] + (double)images->background[i]);
    }
    return DB_OK;
}

static void paint_tile(const db_objective *objective, const db_fit_data *data, size_t tile,
                       db_model_images *images) {
    const db_region *const r = &objective->blocks.region[tile];
    const db_block block = db_objective_block(objective, tile);
    for (int s = 0; s < r->slow_count; s++) {
        const size_t row = db_measured_index(data->image, r, 0, s);
        for (int f = 0; f < r->fast_count; f++) {
            const db_pixel_report pixel =
                db_block_pixel(&block, objective->solution[tile].linear, f, s);
            images->whole[row + (size_t)f] = (float)pixel.expected;
            images->background[row + (size_t)f] = (float)(pixel.expected - pixel.spot);
        }
    }
}

/* Paints planes in the tiles, and the local background elsewhere. */
static db_status paint_detector(db_context *context, const db_objective *objective,
                                const db_fit_data *data, db_model_images *images) {
    size_t covered = 0;
    for (size_t b = 0; b < objective->blocks.count; b++)
        covered += (size_t)objective->blocks.region[b].fast_count *
                   (size_t)objective->blocks.region[b].slow_count;
    if (covered < image_pixels(data)) DB_TRY(render_detector(context, objective, data, images));
    const long tiles = (long)objective->blocks.count;
#pragma omp parallel for num_threads(db_threads(context))
    for (long b = 0; b < tiles; b++) paint_tile(objective, data, (size_t)b, images);
    images->scale = objective->solution[0].linear[0];
    return DB_OK;
}

db_status db_model_image_of_region(db_context *context, db_objective *objective,
                                   const db_fit_data *data, size_t *explained,
                                   db_model_images *images) {
    const db_loss_target target = objective->loss_of.target;
    db_status status = DB_OK;
    /* The same loss for every target: the explained part must not depend on the distance of the model. */
    if (target != DB_LOSS_WEIGHTED) {
        objective->loss_of.target = DB_LOSS_WEIGHTED;
        status = db_objective_solve(objective);
    }
    *explained = db_statistics_explained(objective, data);
    if (images && status == DB_OK) status = paint_detector(context, objective, data, images);
    objective->loss_of.target = target;
    return status;
}

/* Image for known intensities: of the region, or of boxes. */
static db_status image_of_known(db_context *context, const db_experiment *experiment,
                                const db_fit_data *data, size_t *explained,
                                db_model_images *images) {
    db_stage_data taken;
    db_objective objective;
    *explained = 0;
    DB_TRY(db_stage_data_take(context, experiment, data, 0, 1, DB_SHOEBOXES_ALL, &taken));
    if (images) images->scale = 1;
    if (taken.blocks.count == 0) {
        if (images) paint_background(data, images);
        db_stage_data_clear(&taken);
        return DB_OK;
    }
    const db_objective_options request = { .target = DB_FIT_WEIGHTED };
    db_status status =
        db_stage_data_objective(context, experiment, data, &taken, &request, &objective);
    if (status == DB_OK) {
        status = db_stage_data_solve(&taken, data, &objective, NULL);
        if (status == DB_OK)
            status = db_model_image_of_region(context, &objective, data, explained, images);
        db_objective_destroy(&objective);
    }
    db_stage_data_clear(&taken);
    return status;
}

static int compare_given(const void *a, const void *b) {
    return db_compare_hkl(a, ((const db_given_intensity *)b)->hkl);
}

static double given_of(const db_model_images *images, const int hkl[3]) {
    const db_given_intensity *const found =
        bsearch(hkl, images->given, images->given_count, sizeof *images->given, compare_given);
    return found ? found->intensity : 0;
}

static void take_given(const db_model_images *images, db_every_box *all) {
    const db_shoeboxes *const boxes = &all->taken.boxes;
    for (size_t b = 0; b < boxes->count; b++)
        all->intensity[b] = given_of(images, boxes->reflection[b].hkl);
    for (size_t n = 0; n < all->reflection_count; n++)
        all->reflection[n].F = sqrt(given_of(images, all->reflection[n].hkl));
}

static db_status image_of_free(db_context *context, const db_experiment *experiment,
                               const db_fit_data *data, size_t *explained,
                               db_model_images *images) {
    db_every_box all;
    db_status status = DB_OK;
    DB_TRY(db_every_box_fit(context, experiment, data,
                            images ? DB_SHOEBOXES_ALL : DB_SHOEBOXES_TOUCHED, images != NULL,
                            &all));
    *explained = all.explained;
    if (images) {
        status = db_mates_widen(context, data->settings->amplitude_group, experiment->crystal.cell,
                                all.reflection, all.reflection_count, &images->mates);
        if (images->given) take_given(images, &all);
        paint_boxes(&all, data, images);
        images->scale = 1;
        images->reflection = all.reflection;
        images->reflection_count = all.reflection_count;
        all.reflection = NULL;
    }
    db_every_box_clear(&all);
    return status;
}

/* Known structure factors are rendered everywhere, whichever pixels were compared. */
db_status db_model_image(db_context *context, const db_experiment *experiment,
                         const db_fit_data *data, size_t *explained, db_model_images *images) {
    if (data->settings->intensity == DB_FIT_FREE)
        return image_of_free(context, experiment, data, explained, images);
    if (db_fit_takes_tiles(data->settings))
        return image_of_known(context, experiment, data, explained, images);
    db_fit_settings *const all = malloc(sizeof *all);
    if (!all) return db_fail_memory(context, "the settings of the model's image");
    *all = *data->settings;
    all->pixels = DB_FIT_PIXELS_ALL;
    all->intensity_error = 0; /* tiles have no factors */
    const db_fit_data everywhere = { data->image, data->strong, all };
    const db_status status = image_of_known(context, experiment, &everywhere, explained, images);
    free(all);
    return status;
}
