/* Background from the means of surroundings, spots clipped. */
#include "fit/pixels/background.h"

#include "base/context_internal.h"
#include "base/large_memory.h"
#include "base/threads.h"
#include "fit/pixels/background_band.h"

#include <stdlib.h>

/* Bands of so many rows are worked out by themselves, each from the same sums whatever thread does
 * it. */
enum { CLIPPING_PASSES = 4, BAND = 64 };

static db_status make_window(db_context *context, const db_background_pass *p,
                             db_background_window *w) {
    const size_t columns = (size_t)p->fast_pixels, padded = columns + 2 * (size_t)p->half_width;
    w->none = calloc(columns + 1, sizeof *w->none);
    w->sum = malloc((columns + 1) * sizeof *w->sum);
    w->sums[0] = malloc((4 * padded + 1) * sizeof *w->sums[0]);
    w->counts[0] = malloc((4 * padded + 1) * sizeof *w->counts[0]);
    if (!w->none || !w->sum || !w->sums[0] || !w->counts[0])
        return db_fail_memory(context, "the background of the image");
    for (size_t k = 1; k < 4; k++) {
        w->sums[k] = w->sums[0] + k * padded;
        w->counts[k] = w->counts[0] + k * padded;
    }
    return DB_OK;
}

static void free_window(db_background_window *w) {
    free(w->none);
    free(w->sum);
    free(w->sums[0]);
    free(w->counts[0]);
}

/* Sums of so many rows are whole numbers below 2^24, on the way, too. */
static float most_of_whole(const db_background_pass *p) {
    return (float)(1 << 23) / (float)(2 * p->half_width + 1);
}

/* Every pass reads which pixels count from what the last one wrote. */
static void average_all(db_context *context, db_background_pass *p, db_background_window *windows,
                        uint8_t *const kept[2], const db_background_rows *rows) {
    for (int pass = 0; pass <= CLIPPING_PASSES; pass++) {
        p->is_first = pass == 0;
        p->kept = pass == 0 ? p->trusted : kept[pass % 2];
        p->next = pass < CLIPPING_PASSES ? kept[1 - pass % 2] : NULL;
#pragma omp parallel for schedule(dynamic) num_threads(db_threads(context))
        for (int first = 0; first < p->slow_pixels; first += BAND)
            rows->average(p, &windows[db_thread_number()], first,
                          first + BAND < p->slow_pixels ? first + BAND : p->slow_pixels);
    }
}

db_status db_local_background(db_context *context, const db_measured_image *image,
                              const db_fit_settings *settings, int half_width, float *background) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const int threads = db_threads(context);
    db_background_pass p = { .value = image->value,
                             .fast_pixels = image->fast_pixels,
                             .slow_pixels = image->slow_pixels,
                             .half_width = half_width,
                             .gain = (float)settings->gain,
                             .readout_variance =
                                 (float)(settings->readout_noise * settings->readout_noise),
                             .mean = background };
    if (p.half_width > DB_BACKGROUND_WIDEST) p.half_width = DB_BACKGROUND_WIDEST;
    uint8_t *const kept = db_allocate_large(3 * pixels + 1);
    db_background_window *const windows = calloc((size_t)threads, sizeof *windows);
    db_status status =
        kept && windows ? DB_OK : db_fail_memory(context, "the background of the image");
    for (int t = 0; t < threads && status == DB_OK; t++)
        status = make_window(context, &p, &windows[t]);
    if (status == DB_OK) {
        const db_background_rows *const rows = db_background_rows_of(context);
        p.is_whole = rows->trust(image->value, image->mask, pixels, most_of_whole(&p), kept);
        p.trusted = kept;
        average_all(context, &p, windows, (uint8_t *const[2]){ kept + pixels, kept + 2 * pixels },
                    rows);
    }
    for (int t = 0; t < threads && windows; t++) free_window(&windows[t]);
    free(windows);
    free(kept);
    return status;
}
