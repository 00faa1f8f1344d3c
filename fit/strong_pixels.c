#include "fit/strong_pixels.h"

#include "core/context_internal.h"
#include "fit/local_background.h"
#include "fit/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_SPOT = 3 }; /* pixels; fewer are noise or hot pixels */

double db_pixel_variance(const db_fit_settings *settings, double counts) {
    /* Half a photon at least: an empty surrounding does not make one count significant. */
    return settings->gain * fmax(counts, 0.5 * settings->gain) +
           settings->readout_noise * settings->readout_noise;
}

static void mark(const db_measured_image *image, const db_fit_settings *settings,
                 db_strong_pixels *strong) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    for (size_t i = 0; i < pixels; i++) {
        const double background = (double)strong->background[i];
        const double excess = (double)image->value[i] - background;
        strong->strong[i] =
            image->mask[i] == DB_MASK_TRUSTED &&
            excess > settings->strong_sigma * sqrt(db_pixel_variance(settings, background));
    }
}

/* Collects the strong pixels that touch `seed` by side or corner into list, and marks them 2. */
static size_t collect(const db_measured_image *image, db_strong_pixels *strong, size_t seed,
                      size_t *list) {
    const size_t columns = (size_t)image->fast_pixels;
    size_t count = 0;
    strong->strong[seed] = 2;
    list[count++] = seed;
    for (size_t next = 0; next < count; next++) {
        const int fast = (int)(list[next] % columns), slow = (int)(list[next] / columns);
        for (int s = slow - 1; s <= slow + 1; s++) {
            for (int f = fast - 1; f <= fast + 1; f++) {
                if (f < 0 || s < 0 || f >= image->fast_pixels || s >= image->slow_pixels) continue;
                const size_t i = (size_t)s * columns + (size_t)f;
                if (strong->strong[i] != 1) continue;
                strong->strong[i] = 2;
                list[count++] = i;
            }
        }
    }
    return count;
}

/* Drops groups too small for a spot, and those larger than a shoebox (shadows, rings). */
static void keep_spots(const db_measured_image *image, const db_fit_settings *settings,
                       db_strong_pixels *strong, size_t *list) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    const size_t width = 2 * (size_t)settings->shoebox_half_width + 1;
    for (size_t i = 0; i < pixels; i++) {
        if (strong->strong[i] != 1) continue;
        const size_t size = collect(image, strong, i, list);
        if (size >= SMALLEST_SPOT && size <= width * width) {
            strong->spots++;
            strong->count += size;
        } else {
            for (size_t k = 0; k < size; k++) strong->strong[list[k]] = 0;
        }
    }
    for (size_t i = 0; i < pixels; i++) strong->strong[i] = strong->strong[i] != 0;
}

/* Neither surroundings nor spots reach from one panel to the next. */
static db_status find_on_panel(db_context *context, const db_measured_image *image, size_t panel,
                               const db_fit_settings *settings, db_strong_pixels *strong,
                               size_t *list) {
    const db_measured_image one = db_sheet_panel(image, panel);
    const size_t first = (size_t)(one.value - image->value);
    db_strong_pixels part = { strong->background + first, strong->strong + first, 0, 0 };
    DB_TRY(db_local_background(context, &one, settings, settings->shoebox_half_width,
                               part.background));
    mark(&one, settings, &part);
    keep_spots(&one, settings, &part, list);
    strong->count += part.count;
    strong->spots += part.spots;
    return DB_OK;
}

db_status db_strong_pixels_find(db_context *context, const db_measured_image *image,
                                const db_fit_settings *settings, db_strong_pixels *strong) {
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
    size_t *const list = malloc(pixels * sizeof *list);
    memset(strong, 0, sizeof *strong);
    strong->background = malloc(pixels * sizeof *strong->background);
    strong->strong = malloc(pixels);
    db_status status = list && strong->background && strong->strong
                           ? DB_OK
                           : db_fail_memory(context, "the strong pixels of the image");
    for (size_t p = 0; p < db_sheet_panels(image) && status == DB_OK; p++)
        status = find_on_panel(context, image, p, settings, strong, list);
    if (status != DB_OK) db_strong_pixels_clear(strong);
    free(list);
    return status;
}

void db_strong_pixels_clear(db_strong_pixels *strong) {
    free(strong->background);
    free(strong->strong);
    memset(strong, 0, sizeof *strong);
}
