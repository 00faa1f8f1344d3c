#include "surroundings/surroundings.h"

#include "base/large_memory.h"
#include "base/measured_panels.h"
#include "base/threads.h"
#include "surroundings/band.h"

#include <stdlib.h>

/* Bands of so many rows are worked out by themselves, each from the same sums whatever thread does
 * it. */
enum { CLIPPING_PASSES = 4, BAND = 64 };

/* What the panels of an image share. kept: three times the pixels of the largest one: which are trusted,
 * count in this pass, and in the next. */
typedef struct work_room {
    db_background_window *windows; /* one for each thread */
    uint8_t *kept;
    int threads;
} work_room;

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
static float most_of_whole(int half_width) {
    return (float)(1 << 23) / (float)(2 * half_width + 1);
}

/* Rows of a panel that lie one below the other, once their background is known. */
static void mark_band(const db_background_rows *rows, const db_measured_image *panel,
                      const db_surroundings_options *options, int first, int end,
                      const float *background, uint8_t *strong) {
    const size_t columns = (size_t)panel->fast_pixels, start = (size_t)first * columns,
                 count = (size_t)(end - first) * columns;
    rows->mark(panel->value + start, panel->mask + start, background + start, count, options->gain,
               options->readout_noise, options->strong_sigma * options->strong_sigma,
               strong + start);
}

/* Every pass reads which pixels count from what the last one wrote. */
static void find_on_panel(db_context *context, const db_measured_image *panel,
                          const db_surroundings_options *options, db_background_pass *p,
                          const work_room *room, uint8_t *strong) {
    const db_background_rows *const rows = db_background_rows_of(context);
    const size_t pixels = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
    uint8_t *const kept[2] = { room->kept + pixels, room->kept + 2 * pixels };
    p->value = panel->value;
    p->slow_pixels = panel->slow_pixels;
    p->is_whole =
        rows->trust(panel->value, panel->mask, pixels, most_of_whole(p->half_width), room->kept);
    p->trusted = room->kept;
    for (int pass = 0; pass <= CLIPPING_PASSES; pass++) {
        p->is_first = pass == 0;
        p->kept = pass == 0 ? p->trusted : kept[pass % 2];
        p->next = pass < CLIPPING_PASSES ? kept[1 - pass % 2] : NULL;
#pragma omp parallel for schedule(dynamic) num_threads(room->threads)
        for (int first = 0; first < p->slow_pixels; first += BAND) {
            const int end = first + BAND < p->slow_pixels ? first + BAND : p->slow_pixels;
            rows->average(p, &room->windows[db_thread_number()], first, end);
            if (!p->next) mark_band(rows, panel, options, first, end, p->mean, strong);
        }
    }
}

static db_status make_room(db_context *context, const db_measured_image *image,
                           const db_background_pass *p, work_room *room) {
    size_t most = 0; /* rows of a panel */
    for (size_t i = 0; i < db_measured_panels(image); i++) {
        const size_t rows = (size_t)db_measured_rows(image, i);
        most = rows > most ? rows : most;
    }
    room->threads = db_threads(context);
    room->kept = db_allocate_large(3 * most * (size_t)image->fast_pixels + 1);
    room->windows = calloc((size_t)room->threads, sizeof *room->windows);
    if (!room->kept || !room->windows)
        return db_fail_memory(context, "the background of the image");
    for (int t = 0; t < room->threads; t++) DB_TRY(make_window(context, p, &room->windows[t]));
    return DB_OK;
}

static void free_room(work_room *room) {
    for (int t = 0; t < room->threads && room->windows; t++) free_window(&room->windows[t]);
    free(room->windows);
    free(room->kept);
}

/* Surroundings do not reach from one panel to the next. */
db_status db_surroundings_find(db_context *context, const db_measured_image *image,
                               const db_surroundings_options *options, float *background,
                               uint8_t *strong) {
    const int half = options->half_width;
    db_background_pass p = { .fast_pixels = image->fast_pixels,
                             .half_width =
                                 half < DB_SURROUNDINGS_WIDEST ? half : DB_SURROUNDINGS_WIDEST,
                             .gain = (float)options->gain,
                             .readout_variance =
                                 (float)(options->readout_noise * options->readout_noise) };
    work_room own = { 0 };
    db_enter_stage(context, "surroundings");
    const db_status status = make_room(context, image, &p, &own);
    for (size_t i = 0; i < db_measured_panels(image) && status == DB_OK; i++) {
        const db_measured_image panel = db_measured_panel(image, i);
        const size_t first = (size_t)(panel.value - image->value);
        p.mean = background + first;
        find_on_panel(context, &panel, options, &p, &own, strong + first);
    }
    free_room(&own);
    db_leave_stage(context, "surroundings");
    return status;
}
