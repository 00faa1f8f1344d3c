#include "fit/pixels/observed_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/measured_image.h"
#include "fit/pixels/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Centroid of a group of pixels, which are counted from the panel's first one. */
static db_observed_spot centroid(const db_measured_image *panel, const float *background,
                                 const size_t *list, size_t count) {
    const size_t columns = (size_t)panel->fast_pixels;
    db_observed_spot spot = { 0 };
    for (size_t k = 0; k < count; k++) {
        const size_t i = list[k], row = i / columns;
        const double excess = (double)panel->value[i] - (double)background[i];
        spot.counts += excess;
        spot.position[0] += excess * ((double)(i % columns) + 0.5);
        spot.position[1] += excess * ((double)row + 0.5);
    }
    for (int i = 0; i < 2; i++) spot.position[i] /= spot.counts;
    return spot;
}

/* left: the strong pixels of the panel, which become 2 on the way. */
static void find_on_panel(const db_measured_image *panel, size_t number, const float *background,
                          uint8_t *left, size_t most, size_t *list, db_observed_spots *spots) {
    const size_t pixels = (size_t)panel->fast_pixels * (size_t)panel->slow_pixels;
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
    const size_t pixels = (size_t)image->fast_pixels * (size_t)image->slow_pixels;
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

/* By h, k, l; of the same the strongest first. */
static int in_order(const void *a, const void *b) {
    const db_observed_spot *const x = a;
    const db_observed_spot *const y = b;
    const int order = db_compare_hkl(x->hkl, y->hkl);
    return order ? order : (x->counts < y->counts) - (x->counts > y->counts);
}

static int is_indexed(const db_fit_geometry *geometry, double dmin, db_observed_spot *spot) {
    double index[3];
    if (db_fit_geometry_resolution(geometry, spot->panel, spot->position[0], spot->position[1]) <
        dmin)
        return 0;
    db_index_point(geometry, spot->panel, spot->position, index);
    for (int i = 0; i < 3; i++) {
        spot->hkl[i] = (int)lrint(index[i]);
        if (fabs(index[i] - spot->hkl[i]) > 0.25) return 0;
    }
    return 1;
}

void db_observed_spots_index(const db_fit_geometry *geometry, double dmin,
                             db_observed_spots *spots) {
    size_t kept = 0;
    for (size_t i = 0; i < spots->count; i++) {
        db_observed_spot spot = spots->spot[i];
        if (is_indexed(geometry, dmin, &spot)) spots->spot[kept++] = spot;
    }
    qsort(spots->spot, kept, sizeof *spots->spot, in_order);
    spots->count = 0;
    for (size_t i = 0; i < kept; i++) {
        const db_observed_spot spot = spots->spot[i];
        const size_t n = spots->count;
        if (n && memcmp(spots->spot[n - 1].hkl, spot.hkl, sizeof spot.hkl) == 0) continue;
        spots->spot[spots->count++] = spot;
    }
}
