/* Background and strong pixels of a measured image. */
#include "fit/pixels/strong_pixels.h"

#include "base/context_internal.h"
#include "base/large_memory.h"
#include "fit/pixels/smooth_background.h"
#include "fit/pixels/measured_image.h"
#include "surroundings/surroundings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_SPOT = 3 }; /* pixels; fewer are noise or hot pixels */

/* Size of the surroundings of a pixel. Crowded spots may have small shoeboxes, with few pixels between them. */
static int surroundings(const db_fit_settings *settings) {
    const int own = settings->shoebox_half_width, least = DB_SHOEBOX_USUAL;
    return own > least ? own : least;
}

size_t db_collect_touching(uint8_t *pixels, int columns, int rows, size_t seed, size_t *list) {
    size_t count = 0;
    pixels[seed] = 2;
    list[count++] = seed;
    for (size_t next = 0; next < count; next++) {
        const int fast = (int)(list[next] % (size_t)columns);
        const int slow = (int)(list[next] / (size_t)columns);
        for (int s = slow - 1; s <= slow + 1; s++) {
            for (int f = fast - 1; f <= fast + 1; f++) {
                if (f < 0 || s < 0 || f >= columns || s >= rows) continue;
                const size_t i = (size_t)s * (size_t)columns + (size_t)f;
                if (pixels[i] != 1) continue;
                pixels[i] = 2;
                list[count++] = i;
            }
        }
    }
    return count;
}

/* Drops groups too small for a spot, or larger than a shoebox (shadows, rings). Lists the pixels of the others. */
static void keep_spots(const db_measured_image *panel, const db_fit_settings *settings,
                       db_strong_pixels *strong, size_t *list) {
    const size_t pixels = db_measured_pixels(panel);
    const size_t width = 2 * (size_t)surroundings(settings) + 1;
    const uint8_t *const end = strong->strong + pixels;
    const uint8_t *next = strong->strong;
    strong->count = strong->spots = 0;
    while (next < end && (next = memchr(next, 1, (size_t)(end - next))) != NULL) {
        size_t *const group = list + strong->count;
        const size_t size =
            db_collect_touching(strong->strong, panel->fast_pixels, panel->slow_pixels,
                                (size_t)(next - strong->strong), group);
        if (size >= SMALLEST_SPOT && size <= width * width) {
            strong->spots++;
            strong->count += size;
        } else {
            for (size_t k = 0; k < size; k++) strong->strong[group[k]] = 0;
        }
    }
    for (size_t k = 0; k < strong->count; k++) strong->strong[list[k]] = 1;
}

/* In an unmasked shadow the smooth surface may be above pixels that exceed their surroundings. Returns the number
 * of dropped pixels. */
static size_t drop_below(const db_measured_image *panel, const db_strong_pixels *strong,
                         const size_t *list) {
    size_t dropped = 0;
    for (size_t k = 0; k < strong->count; k++) {
        if (panel->value[list[k]] > strong->background[list[k]]) continue;
        strong->strong[list[k]] = 0;
        dropped++;
    }
    return dropped;
}

/* bits: from the panel's first row. */
static void set_bits(const db_measured_image *panel, const db_strong_pixels *strong,
                     const size_t *list, uint64_t *bits) {
    const size_t columns = (size_t)panel->fast_pixels;
    for (size_t k = 0; k < strong->count; k++) {
        const size_t row = list[k] / columns, column = list[k] % columns;
        const uint64_t bit = (uint64_t)1 << column % DB_STRONG_WORD;
        bits[row * strong->words + column / DB_STRONG_WORD] |= bit;
    }
}

/* Finds strong pixels of a panel, in which pixels above their surroundings are 1. coefficient: as db_smooth_background has it;
 * list: room for its pixels. */
static db_status find_on_panel(db_context *context, const db_measured_image *image, size_t panel,
                               const db_fit_settings *settings, double *coefficient,
                               db_strong_pixels *strong, size_t *list) {
    const db_measured_image one = db_measured_panel(image, panel);
    const size_t row = (size_t)db_measured_first_row(image, panel),
                 first = row * (size_t)image->fast_pixels;
    db_strong_pixels part = { .background = strong->background + first,
                              .strong = strong->strong + first,
                              .words = strong->words };
    keep_spots(&one, settings, &part, list);
    if (settings->background == DB_FIT_BACKGROUND_SMOOTH) {
        DB_TRY(db_smooth_background(context, &one, settings, part.strong, part.background,
                                    coefficient));
        if (drop_below(&one, &part, list)) keep_spots(&one, settings, &part, list);
    }
    set_bits(&one, &part, list, strong->bits + row * strong->words);
    strong->count += part.count;
    strong->spots += part.spots;
    return DB_OK;
}

/* coefficient: room for those of all panels; NULL: not wanted. */
static db_status find_on_panels(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, double *coefficient,
                                db_strong_pixels *strong, size_t *list) {
    const db_surroundings_options options = { .half_width = surroundings(settings),
                                              .gain = settings->gain,
                                              .readout_noise = settings->readout_noise,
                                              .strong_sigma = settings->strong_sigma };
    DB_TRY(db_surroundings_find(context, image, &options, strong->background, strong->strong));
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image one = db_measured_panel(image, p);
        DB_TRY(find_on_panel(context, image, p, settings, coefficient, strong, list));
        if (coefficient) coefficient += db_smooth_coefficients(&one);
    }
    return DB_OK;
}

static db_status make_room(db_context *context, const db_measured_image *image,
                           db_strong_pixels *strong) {
    const size_t pixels = db_measured_pixels(image);
    memset(strong, 0, sizeof *strong);
    strong->words = (size_t)image->fast_pixels / DB_STRONG_WORD + 2;
    strong->background = db_allocate_large(pixels * sizeof *strong->background);
    strong->strong = malloc(pixels);
    strong->bits = calloc(strong->words * (size_t)image->slow_pixels, sizeof *strong->bits);
    strong->seen = calloc(1, sizeof *strong->seen);
    return db_need_memory(context,
                          strong->background && strong->strong && strong->bits && strong->seen,
                          "the strong pixels of the image");
}

static db_status find_strong(db_context *context, const db_measured_image *image,
                             const db_fit_settings *settings, double *coefficient,
                             db_strong_pixels *strong) {
    size_t *const list = malloc(db_measured_pixels(image) * sizeof *list);
    db_status status = make_room(context, image, strong);
    if (status == DB_OK)
        status = list ? find_on_panels(context, image, settings, coefficient, strong, list)
                      : db_fail_memory(context, "the strong pixels of the image");
    free(list);
    if (status != DB_OK) db_strong_pixels_clear(strong);
    return status;
}

db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong) {
    return find_strong(context, image, settings, NULL, strong);
}

/* Makes the strong pixels of an image from what is remembered. */
static db_status remake(db_context *context, const db_measured_image *image,
                        const db_strong_memory *memory, db_strong_pixels *strong) {
    const size_t columns = (size_t)image->fast_pixels;
    const double *coefficient = memory->coefficient;
    db_status status = make_room(context, image, strong);
    if (status == DB_OK) memset(strong->strong, 0, db_measured_pixels(image));
    for (size_t k = 0; k < memory->count && status == DB_OK; k++) {
        const size_t at = memory->pixel[k], column = at % columns;
        strong->strong[at] = 1;
        strong->bits[at / columns * strong->words + column / DB_STRONG_WORD] |=
            (uint64_t)1 << column % DB_STRONG_WORD;
    }
    strong->count = memory->count;
    strong->spots = memory->spots;
    for (size_t p = 0; p < db_measured_panels(image) && status == DB_OK; p++) {
        const db_measured_image one = db_measured_panel(image, p);
        status = db_smooth_background_again(context, &one, coefficient,
                                            strong->background +
                                                (size_t)db_measured_first_row(image, p) * columns);
        coefficient += db_smooth_coefficients(&one);
    }
    if (status != DB_OK) db_strong_pixels_clear(strong);
    return status;
}

/* Remembers, unless a panel has no surface. Without memory it does nothing. */
static void remember_strong(const db_measured_image *image, const db_strong_pixels *strong,
                            double *coefficient, db_strong_memory *memory) {
    const double *first = coefficient;
    int fitted = 1;
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image one = db_measured_panel(image, p);
        fitted &= !isnan(*first);
        first += db_smooth_coefficients(&one);
    }
    uint32_t *const pixel = fitted ? malloc((strong->count + 1) * sizeof *pixel) : NULL;
    if (!pixel) {
        free(coefficient);
        return;
    }
    *memory = (db_strong_memory){
        .masked = image->masked, .spots = strong->spots, .pixel = pixel, .coefficient = coefficient
    };
    for (size_t i = 0; i < db_measured_pixels(image); i++)
        if (strong->strong[i]) pixel[memory->count++] = (uint32_t)i;
}

void db_strong_pixels_leave(const db_measured_image *image, const db_fit_settings *settings,
                            db_strong_pixels *strong, db_strong_memory *memory) {
    if (settings->background == DB_FIT_BACKGROUND_SMOOTH) return;
    *memory = (db_strong_memory){ .masked = image->masked,
                                  .waiting = *strong,
                                  .value = image->value,
                                  .gain = settings->gain,
                                  .readout_noise = settings->readout_noise,
                                  .strong_sigma = settings->strong_sigma,
                                  .half_width = surroundings(settings) };
    *strong = (db_strong_pixels){ .count = 0 };
}

/* Are the strong pixels that wait those of an image and settings? */
static int is_waiting(const db_strong_memory *memory, const db_measured_image *image,
                      const db_fit_settings *settings) {
    return memory->waiting.background && memory->masked == image->masked &&
           memory->value == image->value && memory->gain == settings->gain &&
           memory->readout_noise == settings->readout_noise &&
           memory->strong_sigma == settings->strong_sigma &&
           memory->half_width == surroundings(settings) &&
           settings->background != DB_FIT_BACKGROUND_SMOOTH;
}

db_status db_strong_pixels_recall(db_context *context, const db_measured_image *image,
                                  const db_fit_settings *settings, db_strong_memory *memory,
                                  db_strong_pixels *strong) {
    size_t count = 0;
    if (memory->coefficient && memory->masked == image->masked)
        return remake(context, image, memory, strong);
    if (is_waiting(memory, image, settings)) {
        *strong = memory->waiting;
        *memory = (db_strong_memory){ .masked = 0 };
        return DB_OK;
    }
    db_strong_memory_clear(memory);
    for (size_t p = 0; p < db_measured_panels(image); p++) {
        const db_measured_image one = db_measured_panel(image, p);
        count += db_smooth_coefficients(&one);
    }
    double *const coefficient = settings->background == DB_FIT_BACKGROUND_SMOOTH
                                    ? malloc(count * sizeof *coefficient)
                                    : NULL;
    const db_status status = find_strong(context, image, settings, coefficient, strong);
    if (status == DB_OK && coefficient)
        remember_strong(image, strong, coefficient, memory);
    else
        free(coefficient);
    return status;
}

void db_strong_memory_clear(db_strong_memory *memory) {
    free(memory->pixel);
    free(memory->coefficient);
    db_strong_pixels_clear(&memory->waiting);
    *memory = (db_strong_memory){ 0 };
}

static void forget_spots(const db_strong_pixels *strong) {
    free(strong->seen->spot);
    *strong->seen = (db_observed_spots){ 0, NULL };
}

/* The bits stay: more than there are now is still an upper bound. */
void db_strong_pixels_add_light(const db_measured_image *image, const float *light,
                                db_strong_pixels *strong) {
    const size_t pixels = db_measured_pixels(image);
    strong->count = 0;
    strong->holds_light = 1;
    forget_spots(strong);
    for (size_t i = 0; i < pixels; i++) {
        const float excess = image->value[i] - strong->background[i];
        strong->background[i] += light[i];
        if (excess - light[i] < 0.5F * excess) strong->strong[i] = 0;
        strong->count += strong->strong[i];
    }
}

size_t db_strong_pixels_at_most(const db_strong_pixels *strong, const int fast[2],
                                const int slow[2]) {
    size_t number = 0;
    for (int first = fast[0]; first <= fast[1]; first += DB_STRONG_WORD)
        for (int row = slow[0]; row <= slow[1]; row++)
            for (uint64_t some = db_strong_bits(strong, row, first, fast[1] - first + 1); some;
                 some &= some - 1)
                number++;
    return number;
}

void db_strong_pixels_clear(db_strong_pixels *strong) {
    free(strong->background);
    free(strong->strong);
    free(strong->bits);
    if (strong->seen) forget_spots(strong);
    free(strong->seen);
    memset(strong, 0, sizeof *strong);
}
