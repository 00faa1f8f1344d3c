/* Spots of a measured image as groups of touching strong pixels. */
#include "fit/pixels/observed_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"

#include <stdlib.h>
#include <string.h>

/* Centroid of a group of pixels, which are counted from the panel's first one. */
static db_observed_spot centroid(const db_measured_image *panel, const float *background,
                                 const size_t *list, size_t count) {
    const size_t columns = (size_t)panel->fast_pixels;
    const double first[2] = { (double)(list[0] % columns), (double)(list[0] / columns) };
    db_observed_spot spot = { .pixels = count };
    double second[3] = { 0 };
    for (size_t k = 0; k < count; k++) {
        const size_t i = list[k];
        const double excess = (double)panel->value[i] - (double)background[i],
                     x = (double)(i % columns) - first[0], y = (double)(i / columns) - first[1];
        spot.counts += excess;
        spot.position[0] += excess * x;
        spot.position[1] += excess * y;
        second[0] += excess * x * x;
        second[1] += excess * y * y;
        second[2] += excess * x * y;
    }
    double *const mean = spot.position;
    for (int i = 0; i < 2; i++) mean[i] /= spot.counts;
    for (int i = 0; i < 3; i++)
        spot.covariance[i] = second[i] / spot.counts - mean[i == 1] * mean[i > 0];
    for (int i = 0; i < 2; i++) mean[i] += first[i] + 0.5;
    return spot;
}

/* left: the strong pixels of the panel, which become 2 on the way. */
static void find_on_panel(const db_measured_image *panel, size_t number, const float *background,
                          uint8_t *left, size_t most, size_t *list, db_observed_spots *spots) {
    const size_t pixels = db_measured_pixels(panel);
    for (size_t i = 0; i < pixels && spots->count < most; i++) {
        if (left[i] != 1) continue;
        const size_t count =
            db_collect_touching(left, panel->fast_pixels, panel->slow_pixels, i, list);
        db_observed_spot *const spot = &spots->spot[spots->count++];
        *spot = centroid(panel, background, list, count);
        spot->panel = number;
    }
}

db_status db_observed_spots_find(db_context *context, const db_measured_image *image,
                                 const db_strong_pixels *strong, db_observed_spots *spots) {
    const size_t pixels = db_measured_pixels(image);
    uint8_t *const left = malloc(pixels);
    size_t *const list = malloc(pixels * sizeof *list);
    *spots = (db_observed_spots){ 0, calloc(strong->spots + 1, sizeof *spots->spot) };
    const int enough = left && list && spots->spot;
    if (enough) memcpy(left, strong->strong, pixels);
    for (size_t p = 0; p < db_measured_panels(image) && enough; p++) {
        const db_measured_image panel = db_measured_panel(image, p);
        const size_t first = (size_t)(panel.value - image->value);
        find_on_panel(&panel, p, strong->background + first, left + first, strong->spots, list,
                      spots);
    }
    free(left);
    free(list);
    if (enough) return DB_OK;
    db_observed_spots_clear(spots);
    return db_fail_memory(context, "the spots of the image");
}

void db_observed_spots_clear(db_observed_spots *spots) {
    free(spots->spot);
    *spots = (db_observed_spots){ 0, NULL };
}
