#include "fit/picture_frames.h"

#include "core/context_internal.h"
#include "fit/strong_pixels.h"
#include "io/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_SIDE = 860 }; /* pixels of a picture */

/* The whole model: rendered, or at least the shoeboxes; NAN where there is none. NULL if out of
 * memory. */
static float *whole_model(const db_fit_result *r, int fast_pixels, int slow_pixels) {
    const size_t count = (size_t)fast_pixels * (size_t)slow_pixels;
    float *const model = malloc(count * sizeof *model);
    if (!model) return NULL;
    const int rendered =
        r->model_image && r->fast_pixels == fast_pixels && r->slow_pixels == slow_pixels;
    for (size_t i = 0; i < count; i++) model[i] = rendered ? r->model_image[i] : NAN;
    if (rendered) return model;
    for (size_t b = 0; b < r->shoebox_count; b++) {
        const db_fit_shoebox *const box = &r->shoeboxes[b];
        const db_region *const g = &box->region;
        for (int s = 0; s < g->slow_count; s++)
            for (int f = 0; f < g->fast_count; f++)
                model[(size_t)(g->slow_start + s) * (size_t)fast_pixels +
                      (size_t)(g->fast_start + f)] =
                    box->model[g->offset + (size_t)s * g->stride + (size_t)f];
    }
    return model;
}

static void reduce_block(const db_fit_settings *settings, const db_measured_image *image,
                         const float *model, int fast, int slow, const db_picture_frames *out) {
    float measured_most = NAN, model_most = NAN;
    double difference = 0, variance = 0;
    for (int s = slow * out->block; s < (slow + 1) * out->block && s < image->slow_pixels; s++)
        for (int f = fast * out->block; f < (fast + 1) * out->block && f < image->fast_pixels;
             f++) {
            const size_t i = (size_t)s * (size_t)image->fast_pixels + (size_t)f;
            model_most = fmaxf(model_most, model[i]);
            if (image->mask[i]) continue;
            measured_most = fmaxf(measured_most, image->value[i]);
            if (isnan(model[i])) continue;
            difference += (double)(image->value[i] - model[i]);
            variance += db_pixel_variance(settings, (double)model[i]);
        }
    const size_t o = (size_t)slow * (size_t)out->fast + (size_t)fast;
    out->measured[o] = measured_most;
    out->model[o] = model_most;
    out->residual[o] = variance > 0 ? (float)(difference / sqrt(variance)) : NAN;
}

/* From below the median to where the strongest half percent begins, and so far that the background
 * of an image with few spots stays light. */
static db_status choose_grey_scale(db_context *context, db_picture_frames *frames) {
    const size_t count = (size_t)frames->fast * (size_t)frames->slow;
    float low, high, median;
    DB_TRY(db_quantiles(context, frames->measured, count, 0.05, 0.995, &low, &high));
    DB_TRY(db_quantiles(context, frames->measured, count, 0.5, 0.5, &median, &median));
    frames->low = (double)low;
    frames->high = fmax((double)high, (double)low + fmax(1, 6 * (double)(median - low)));
    return DB_OK;
}

void db_picture_frames_clear(db_picture_frames *frames) {
    free(frames->measured);
    free(frames->model);
    free(frames->residual);
    memset(frames, 0, sizeof *frames);
}

db_status db_picture_frames_make(db_context *context, const db_fit_config *config,
                                 const db_measured_image *image, const db_fit_result *result,
                                 db_picture_frames *frames) {
    const int longest =
        image->fast_pixels > image->slow_pixels ? image->fast_pixels : image->slow_pixels;
    const int block = (longest + LONGEST_SIDE - 1) / LONGEST_SIDE;
    memset(frames, 0, sizeof *frames);
    frames->block = block;
    frames->fast = (image->fast_pixels + block - 1) / block;
    frames->slow = (image->slow_pixels + block - 1) / block;
    const size_t count = (size_t)frames->fast * (size_t)frames->slow;
    float *const model = whole_model(result, image->fast_pixels, image->slow_pixels);
    frames->measured = malloc(count * sizeof *frames->measured);
    frames->model = malloc(count * sizeof *frames->model);
    frames->residual = malloc(count * sizeof *frames->residual);
    db_status status;
    if (model && frames->measured && frames->model && frames->residual) {
        for (int s = 0; s < frames->slow; s++)
            for (int f = 0; f < frames->fast; f++)
                reduce_block(&config->settings, image, model, f, s, frames);
        status = choose_grey_scale(context, frames);
    } else {
        status = db_fail_memory(context, "the pictures of the image");
    }
    free(model);
    if (status != DB_OK) db_picture_frames_clear(frames);
    return status;
}
