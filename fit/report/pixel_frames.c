/* Paints shoeboxes and their models into frames with the size of the image. */
#include "fit/report/pixel_frames.h"

#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void db_pixel_frames_clear(db_pixel_frames *frames) {
    free(frames->measured);
    free(frames->model);
    free(frames->sigma);
    memset(frames, 0, sizeof *frames);
}

static db_status allocate_frames(db_context *context, int fast, int slow, int deviations,
                                 db_pixel_frames *frames) {
    const size_t count = (size_t)fast * (size_t)slow + 1; /* so that 0 elements are no failure */
    frames->fast = fast;
    frames->slow = slow;
    frames->measured = db_allocate_large(count * sizeof *frames->measured);
    frames->model = db_allocate_large(count * sizeof *frames->model);
    frames->sigma = deviations ? db_allocate_large(count * sizeof *frames->sigma) : NULL;
    if (frames->measured && frames->model && (frames->sigma || !deviations)) return DB_OK;
    db_pixel_frames_clear(frames);
    return db_fail_memory(context, "the pictures of the image");
}

db_status db_pixel_frames_allocate(db_context *context, int fast, int slow,
                                   db_pixel_frames *frames) {
    return allocate_frames(context, fast, slow, 1, frames);
}

/* Paints the target's values into the pixels that it used. */
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
                if (used && frames->sigma) frames->sigma[to] = box->sigma[from];
            }
    }
}

/* Replaces *image, whose rows are panel after panel, by the picture. */
static db_status compose_frame(db_context *context, const db_panel_layout *layout, float **image) {
    float *const picture = malloc((size_t)layout->fast * (size_t)layout->slow * sizeof *picture);
    if (!picture) return db_fail_memory(context, "the pictures of the image");
    db_panel_layout_compose(layout, *image, picture);
    free(*image);
    *image = picture;
    return DB_OK;
}

static db_status compose_all(db_context *context, const db_panel_layout *layout,
                             db_pixel_frames *frames) {
    DB_TRY(compose_frame(context, layout, &frames->measured));
    DB_TRY(compose_frame(context, layout, &frames->model));
    if (frames->sigma) DB_TRY(compose_frame(context, layout, &frames->sigma));
    frames->fast = layout->fast;
    frames->slow = layout->slow;
    return DB_OK;
}

/* Fills rows of the frames with measured pixels, and with the model of the whole image; NULL: there is none. */
static void fill_rows(const db_fit_config *config, const db_measured_image *image,
                      const float *model, size_t first, size_t end, const db_pixel_frames *frames) {
    const size_t columns = (size_t)image->fast_pixels;
    for (size_t i = first * columns; i < end * columns; i++) {
        frames->measured[i] = image->mask[i] ? NAN : image->value[i];
        frames->model[i] = model ? model[i] : NAN;
        if (frames->sigma)
            frames->sigma[i] =
                (float)sqrt(db_pixel_variance(&config->settings, (double)frames->model[i]));
    }
}

db_status db_pixel_frames_make(db_context *context, const db_fit_config *config,
                               const db_measured_image *image, const db_fit_result *result,
                               const db_panel_layout *layout, db_pixel_frames *frames) {
    enum { BAND = 64 };
    const size_t count = db_measured_pixels(image), rows = (size_t)image->slow_pixels,
                 bands = (rows + BAND - 1) / BAND;
    const int rendered = result->model_image && result->fast_pixels == image->fast_pixels &&
                         result->slow_pixels == image->slow_pixels;
    DB_TRY(
        allocate_frames(context, image->fast_pixels, image->slow_pixels, config != NULL, frames));
#if defined(_OPENMP)
    const int threads = db_threads_for(context, (long)bands);
#pragma omp parallel for num_threads(threads) if (threads > 1)
#endif
    for (size_t b = 0; b < bands; b++) {
        const size_t end = (b + 1) * BAND;
        fill_rows(config, image, rendered ? result->model_image : NULL, b * BAND,
                  end < rows ? end : rows, frames);
    }
    for (size_t k = 0; k < result->spot_pixel_count; k++)
        if (result->spot_pixels[k] < count)
            frames->measured[result->spot_pixels[k]] = image->value[result->spot_pixels[k]];
    paint_boxes(result, image, frames);
    if (layout->count < 2) return DB_OK;
    const db_status status = compose_all(context, layout, frames);
    if (status != DB_OK) db_pixel_frames_clear(frames);
    return status;
}

static void reduce_block(const db_pixel_frames *p, int bin, int fast, int slow,
                         const db_pixel_frames *to) {
    const size_t o = (size_t)slow * (size_t)to->fast + (size_t)fast;
    double measured = 0, model = 0, variance = 0;
    for (int k = 0; k < bin * bin; k++) {
        const size_t i =
            (size_t)(slow * bin + k / bin) * (size_t)p->fast + (size_t)(fast * bin + k % bin);
        measured += (double)p->measured[i];
        model += (double)p->model[i];
        variance += (double)p->sigma[i] * (double)p->sigma[i];
    }
    const double n = bin * bin;
    to->measured[o] = (float)(measured / n);
    to->model[o] = (float)(model / n);
    to->sigma[o] = (float)(sqrt(variance) / n);
}

db_status db_pixel_frames_reduce(db_context *context, int most, db_pixel_frames *frames, int *bin) {
    *bin = 1;
    while ((double)frames->fast * frames->slow / (*bin * *bin) > most) ++*bin;
    if (*bin == 1) return DB_OK;
    db_pixel_frames less;
    DB_TRY(db_pixel_frames_allocate(context, frames->fast / *bin, frames->slow / *bin, &less));
    for (int s = 0; s < less.slow; s++)
        for (int f = 0; f < less.fast; f++) reduce_block(frames, *bin, f, s, &less);
    db_pixel_frames_clear(frames);
    *frames = less;
    return DB_OK;
}
