#include "surroundings/surroundings.h"

#include "base/large_memory.h"
#include "base/measured_pixels.h"
#include "base/threads.h"
#include "surroundings/band.h"

#include <stdlib.h>

/* The first pass with all trusted pixels, later ones without pixels that exceed the means of the last one by three
 * standard deviations. They tell which pixels are strong. Where spots are crowded, means still hold tails of them, and of
 * few photons they lack some. One more pass gives the background, without pixels that hold light of spots and those
 * beside them. */
enum { PASSES = 5 };

/* An image, for its background and strong pixels. */
typedef struct surroundings_work {
    const db_measured_image *image;
    int half_width; /* at most DB_SURROUNDINGS_WIDEST */
    double gain, readout_noise;
    double limit; /* of strong pixels: variances */
    float *background;
    uint8_t *strong;
    const db_background_rows *rows;
    float most; /* largest counts whose sums do not depend on their order, if they are whole */
} surroundings_work;

/* Bands of BAND rows are computed independently, each from the same sums in any thread. */
enum { BAND = 64 };

/* Memory for all panels of an image. kept: three times the pixels of the largest one: trusted, in this pass, in
 * the next, or lit. */
typedef struct work_room {
    db_background_window *windows; /* one for each thread */
    uint8_t *kept;
    int threads;
} work_room;

static db_status make_window(db_context *context, const db_background_pass *p,
                             db_background_window *w) {
    const size_t columns = (size_t)p->fast_pixels, padded = columns + 2 * (size_t)p->half_width;
    w->none = calloc(columns + 1, sizeof *w->none);
    w->lit = calloc(columns + 2, sizeof *w->lit);
    w->sum = malloc((columns + 1) * sizeof *w->sum);
    w->sums[0] = malloc((4 * padded + 1) * sizeof *w->sums[0]);
    w->counts[0] = malloc((4 * padded + 1) * sizeof *w->counts[0]);
    if (!w->none || !w->lit || !w->sum || !w->sums[0] || !w->counts[0])
        return db_fail_memory(context, "the background of the image");
    for (size_t k = 1; k < 4; k++) {
        w->sums[k] = w->sums[0] + k * padded;
        w->counts[k] = w->counts[0] + k * padded;
    }
    return DB_OK;
}

static void free_window(db_background_window *w) {
    free(w->none);
    free(w->lit);
    free(w->sum);
    free(w->sums[0]);
    free(w->counts[0]);
}

/* Up to this many counts all sums of a window's rows are whole numbers below 2^24. */
static float most_of_whole(int half_width) {
    return (float)(1 << 23) / (float)(2 * half_width + 1);
}

/* Rows of a panel, once their background is known; `start`: of the first pixel in the image. */
static void mark_band(const surroundings_work *work, size_t start, size_t count) {
    work->rows->mark(work->image->value + start, work->image->mask + start,
                     work->background + start, count, work->gain, work->readout_noise, work->limit,
                     work->strong + start);
}

/* Means of one pass; once light is looked for, strong pixels, too. */
static void run_pass(const surroundings_work *work, size_t start, const db_background_pass *p,
                     const work_room *room) {
    const size_t columns = (size_t)p->fast_pixels;
#pragma omp parallel for schedule(dynamic) num_threads(room->threads)
    for (int first = 0; first < p->slow_pixels; first += BAND) {
        const int end = first + BAND < p->slow_pixels ? first + BAND : p->slow_pixels;
        work->rows->average(p, &room->windows[db_thread_number()], first, end);
        if (p->lit)
            mark_band(work, start + (size_t)first * columns, (size_t)(end - first) * columns);
    }
}

/* All rows must know their light, since bands have neighbours. */
static void leave_out_light(const surroundings_work *work, const db_background_pass *p,
                            const work_room *room) {
#pragma omp parallel for num_threads(room->threads)
    for (int first = 0; first < p->slow_pixels; first += BAND) {
        const int end = first + BAND < p->slow_pixels ? first + BAND : p->slow_pixels;
        work->rows->keep_dark(p, &room->windows[db_thread_number()], first, end);
    }
}

/* Every pass reads the pixels that the last one has kept. */
static void find_on_panel(const surroundings_work *work, size_t number, db_background_pass *p,
                          const work_room *room) {
    const db_measured_image panel = db_measured_panel(work->image, number);
    const size_t columns = (size_t)panel.fast_pixels, pixels = columns * (size_t)panel.slow_pixels,
                 start = (size_t)(panel.value - work->image->value);
    uint8_t *const kept[2] = { room->kept + pixels, room->kept + 2 * pixels };
    p->value = panel.value;
    p->mean = work->background + start;
    p->slow_pixels = panel.slow_pixels;
    p->is_whole = work->rows->trust(panel.value, panel.mask, pixels, work->most, room->kept);
    p->trusted = room->kept;
    for (int pass = 0; pass < PASSES; pass++) {
        const int is_last = pass + 1 == PASSES;
        p->is_first = pass == 0;
        p->kept = pass == 0 ? room->kept : kept[pass % 2];
        p->next = is_last ? NULL : kept[1 - pass % 2];
        p->lit = is_last ? kept[1 - pass % 2] : NULL;
        run_pass(work, start, p, room);
    }
    leave_out_light(work, p, room);
    p->lit = NULL;
    run_pass(work, start, p, room);
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
static db_status find_on_panels(db_context *context, const surroundings_work *work) {
    db_background_pass p = { .fast_pixels = work->image->fast_pixels,
                             .half_width = work->half_width,
                             .gain = (float)work->gain,
                             .readout_variance =
                                 (float)(work->readout_noise * work->readout_noise) };
    work_room room = { 0 };
    const db_status status = make_room(context, work->image, &p, &room);
    for (size_t i = 0; i < db_measured_panels(work->image) && status == DB_OK; i++)
        find_on_panel(work, i, &p, &room);
    free_room(&room);
    return status;
}

db_status db_surroundings_find(db_context *context, const db_measured_image *image,
                               const db_surroundings_options *options, float *background,
                               uint8_t *strong) {
    const int wanted = options->half_width,
              half = wanted < DB_SURROUNDINGS_WIDEST ? wanted : DB_SURROUNDINGS_WIDEST;
    const surroundings_work work = { .image = image,
                                     .half_width = half,
                                     .gain = options->gain,
                                     .readout_noise = options->readout_noise,
                                     .limit = options->strong_sigma * options->strong_sigma,
                                     .background = background,
                                     .strong = strong,
                                     .rows = db_background_rows_of(context),
                                     .most = most_of_whole(half) };
    db_enter_stage(context, "surroundings");
    const db_status status = find_on_panels(context, &work);
    db_leave_stage(context, "surroundings");
    return status;
}
