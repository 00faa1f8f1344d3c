#include "fit/report/pixel_frames.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/strong_pixels.h"
#include "base/quantile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void db_pixel_frames_clear(db_pixel_frames *frames) {
    free(frames->measured);
    free(frames->model);
    free(frames->sigma);
    memset(frames, 0, sizeof *frames);
}

/* What the target saw, in the pixels that it used. */
static void paint_boxes(const db_fit_result *r, const db_measured_image *image,
                        db_pixel_frames *frames) {
    for (size_t b = 0; b < r->shoebox_count; b++) {
        const db_fit_shoebox *const box = &r->shoeboxes[b];
        const db_region *const g = &box->region;
        for (int s = 0; s < g->slow_count; s++)
            for (int f = 0; f < g->fast_count; f++) {
                const size_t from = g->offset + (size_t)s * g->stride + (size_t)f;
                const size_t to = db_measured_index(image, g, f, s);
                const int used = box->sigma[from] > 0;
                if (used || isnan(frames->model[to])) frames->model[to] = box->model[from];
                if (used) frames->sigma[to] = box->sigma[from];
            }
    }
}

/* Takes the place of *image, whose rows are those of one panel after the other. */
static db_status compose(db_context *context, const db_panel_layout *layout, float **image) {
    float *const picture = malloc((size_t)layout->fast * (size_t)layout->slow * sizeof *picture);
    if (!picture) return db_fail_memory(context, "the pictures of the image");
    db_panel_layout_compose(layout, *image, picture);
    free(*image);
    *image = picture;
    return DB_OK;
}

static db_status compose_all(db_context *context, const db_panel_layout *layout,
                             db_pixel_frames *frames) {
    DB_TRY(compose(context, layout, &frames->measured));
    DB_TRY(compose(context, layout, &frames->model));
    DB_TRY(compose(context, layout, &frames->sigma));
    frames->fast = layout->fast;
    frames->slow = layout->slow;
    return DB_OK;
}

db_status db_pixel_frames_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               const db_panel_layout *layout, db_pixel_frames *frames) {
    const size_t count = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const int rendered = result->model_image && result->fast_pixels == image->fast_pixels &&
                         result->slow_pixels == image->slow_pixels;
    frames->fast = image->fast_pixels;
    frames->slow = image->slow_pixels;
    frames->measured = malloc(count * sizeof *frames->measured);
    frames->model = malloc(count * sizeof *frames->model);
    frames->sigma = malloc(count * sizeof *frames->sigma);
    if (!frames->measured || !frames->model || !frames->sigma) {
        db_pixel_frames_clear(frames);
        return db_fail_memory(context, "the pictures of the image");
    }
    for (size_t i = 0; i < count; i++) {
        frames->measured[i] = image->mask[i] ? NAN : image->value[i];
        frames->model[i] = rendered ? result->model_image[i] : NAN;
    }
    for (size_t i = 0; i < count; i++)
        frames->sigma[i] =
            (float)sqrt(db_pixel_variance(&config->settings, (double)frames->model[i]));
    paint_boxes(result, image, frames);
    if (layout->count < 2) return DB_OK;
    const db_status status = compose_all(context, layout, frames);
    if (status != DB_OK) db_pixel_frames_clear(frames);
    return status;
}

static void reduce_block(const db_pixel_frames *in, int fast, int slow,
                         const db_picture_frames *out) {
    float measured_most = NAN, model_most = NAN;
    double difference = 0, variance = 0;
    for (int s = slow * out->block; s < (slow + 1) * out->block && s < in->slow; s++)
        for (int f = fast * out->block; f < (fast + 1) * out->block && f < in->fast; f++) {
            const size_t i = (size_t)s * (size_t)in->fast + (size_t)f;
            const double residual = (double)in->measured[i] - (double)in->model[i];
            model_most = fmaxf(model_most, in->model[i]);
            measured_most = fmaxf(measured_most, in->measured[i]);
            if (isnan(residual) || !(in->sigma[i] > 0)) continue;
            difference += residual;
            variance += (double)in->sigma[i] * (double)in->sigma[i];
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

db_status db_picture_frames_make(db_context *context, const db_pixel_frames *pixels, int longest,
                                 db_picture_frames *frames) {
    const int longer = pixels->fast > pixels->slow ? pixels->fast : pixels->slow;
    const int block = (longer + longest - 1) / longest;
    memset(frames, 0, sizeof *frames);
    frames->block = block;
    frames->fast = (pixels->fast + block - 1) / block;
    frames->slow = (pixels->slow + block - 1) / block;
    const size_t count = (size_t)frames->fast * (size_t)frames->slow;
    frames->measured = malloc(count * sizeof *frames->measured);
    frames->model = malloc(count * sizeof *frames->model);
    frames->residual = malloc(count * sizeof *frames->residual);
    db_status status;
    if (frames->measured && frames->model && frames->residual) {
        for (int s = 0; s < frames->slow; s++)
            for (int f = 0; f < frames->fast; f++) reduce_block(pixels, f, s, frames);
        status = choose_grey_scale(context, frames);
    } else {
        status = db_fail_memory(context, "the pictures of the image");
    }
    if (status != DB_OK) db_picture_frames_clear(frames);
    return status;
}
