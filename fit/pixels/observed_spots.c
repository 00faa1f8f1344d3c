#include "fit/pixels/observed_spots.h"

#include "base/context_internal.h"
#include "fit/pixels/predict.h"
#include "fit/pixels/measured_image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct search {
    const db_measured_image *image;
    const db_strong_pixels *strong;
    uint8_t *seen;
    size_t *list; /* pixels of the group */
} search;

/* The group that holds a pixel, within the rows of its panel; returns its size. */
static size_t collect(const search *s, size_t seed, int first_row, int rows) {
    const int columns = s->image->fast_pixels;
    size_t count = 0;
    s->seen[seed] = 1;
    s->list[count++] = seed;
    for (size_t next = 0; next < count; next++) {
        const int fast = (int)(s->list[next] % (size_t)columns),
                  slow = (int)(s->list[next] / (size_t)columns);
        for (int v = slow - 1; v <= slow + 1; v++)
            for (int u = fast - 1; u <= fast + 1; u++) {
                if (u < 0 || u >= columns || v < first_row || v >= first_row + rows) continue;
                const size_t i = (size_t)v * (size_t)columns + (size_t)u;
                if (!s->strong->strong[i] || s->seen[i]) continue;
                s->seen[i] = 1;
                s->list[count++] = i;
            }
    }
    return count;
}

static db_observed_spot centroid(const search *s, size_t count, size_t panel, int first_row) {
    const size_t columns = (size_t)s->image->fast_pixels;
    db_observed_spot spot = { .panel = panel };
    for (size_t k = 0; k < count; k++) {
        const size_t i = s->list[k], row = i / columns;
        const double excess = (double)s->image->value[i] - (double)s->strong->background[i];
        spot.counts += excess;
        spot.position[0] += excess * ((double)(i % columns) + 0.5);
        spot.position[1] += excess * ((double)row - first_row + 0.5);
    }
    for (int i = 0; i < 2; i++) spot.position[i] /= spot.counts;
    return spot;
}

db_status db_observed_spots_find(db_context *context, const db_measured_image *image,
                                 const db_strong_pixels *strong, db_observed_spots *spots) {
    const size_t columns = (size_t)image->fast_pixels,
                 pixels = columns * (size_t)image->slow_pixels;
    search s = { image, strong, calloc(pixels, 1), malloc(pixels * sizeof *s.list) };
    *spots = (db_observed_spots){ 0, calloc(strong->spots + 1, sizeof *spots->spot) };
    const int enough = s.seen && s.list && spots->spot;
    for (size_t p = 0; p < db_sheet_panels(image) && enough; p++) {
        const int first = db_sheet_first_row(image, p), rows = db_sheet_rows(image, p);
        for (size_t i = (size_t)first * columns; i < (size_t)(first + rows) * columns; i++) {
            if (!strong->strong[i] || s.seen[i] || spots->count == strong->spots) continue;
            const size_t count = collect(&s, i, first, rows);
            spots->spot[spots->count++] = centroid(&s, count, p, first);
        }
    }
    free(s.seen);
    free(s.list);
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
    const db_observed_spot *const x = a, *const y = b;
    for (int i = 0; i < 3; i++)
        if (x->hkl[i] != y->hkl[i]) return x->hkl[i] < y->hkl[i] ? -1 : 1;
    return (x->counts < y->counts) - (x->counts > y->counts);
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
